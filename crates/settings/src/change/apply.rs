//! Writes wanted values, each after its journal has the one before.

use rustix::io::Errno;
use seatrial_model::machine::Machine;
use seatrial_model::profile::{Requirement, SettingRule};
use seatrial_model::setting::{
    ChangeOutcome, ChangeState, Privilege, SettingAbout, SettingChange, SettingFile, SettingReading,
    SettingsAnswer,
};
use seatrial_model::{Subject, Value};
use seatrial_sys::root::SysRoot;

use super::boot::{self, BootValue};
use super::files::{KernelFiles, expand, is_same};
use super::journal::{Announced, Journal, Journals};
use crate::Setting;

pub(super) fn apply(
    files: &dyn KernelFiles,
    look: &dyn Fn() -> Machine,
    id: &str,
    changes: &[SettingChange],
    persist: bool,
) -> Result<SettingsAnswer, String> {
    let journals = Journals::open(files.root())?;
    let mut journal = journals.begin(id, files)?;
    let mut answer = SettingsAnswer::default();
    let machine = look();
    let mut made = Vec::new();
    for change in changes {
        match (Write { files, machine: &machine, journal: &mut journal }).change(change) {
            Ok(one) => made.push((change, one)),
            Err(why) => {
                answer.refused = Some(why);
                break;
            }
        }
    }
    // Read back after all is written: what one setting changes in another is seen, and the host is looked at once.
    let has_written = made.iter().any(|(_, made)| matches!(made, Made::Wrote { writes: 1.., .. }));
    let machine = if has_written { look() } else { machine };
    let mut at_boot = Vec::new();
    for (change, made) in made {
        let (outcome, values) = made.outcome(files.root(), &machine, change);
        if outcome.state.is_good() {
            at_boot.extend(values);
        }
        answer.outcomes.push(outcome);
    }
    if persist && answer.refused.is_none() {
        match boot::write(files, &mut journal, id, &at_boot) {
            Ok(outcomes) => answer.outcomes.extend(outcomes),
            Err(why) => answer.refused = Some(why),
        }
    }
    if !journal.has_open_entries() {
        journals.remove(&journal, files)?;
    } else {
        answer.journals.push(id.to_owned());
    }
    Ok(answer)
}

struct Write<'a> {
    files: &'a dyn KernelFiles,
    machine: &'a Machine,
    journal: &'a mut Journal,
}

/// What came of a change before it was read back.
enum Made {
    Not(String),
    Wrote {
        setting: &'static dyn Setting,
        before: String,
        writes: usize,
        refused: Vec<String>,
        values: Vec<BootValue>,
    },
}

impl Made {
    /// Reads `change` back; also what is to be set at boot.
    fn outcome(
        self,
        root: &SysRoot,
        machine: &Machine,
        change: &SettingChange,
    ) -> (ChangeOutcome, Vec<BootValue>) {
        let outcome = |before, after, state, why| ChangeOutcome {
            setting: change.setting.clone(),
            place: change.subject.to_string(),
            before,
            after,
            state,
            why,
        };
        let (setting, before, writes, refused, values) = match self {
            Self::Not(why) => {
                return (outcome(String::new(), String::new(), ChangeState::Failed, why), Vec::new());
            }
            Self::Wrote { setting, before, writes, refused, values } => {
                (setting, before, writes, refused, values)
            }
        };
        let about = setting.about();
        let readings = readings(root, machine, setting, &change.subject);
        let after = shown(&readings);
        let is_met =
            !readings.is_empty() && readings.iter().all(|reading| is_met(setting, reading, &change.wanted));
        let (state, why) = match (is_met, refused.first()) {
            (true, None) if writes == 0 => (ChangeState::Unchanged, String::new()),
            (true, None) => (ChangeState::Done, String::new()),
            (_, Some(why)) => (ChangeState::Failed, why.clone()),
            (false, None) => {
                (ChangeState::Failed, format!("the system took it, but holds {after}: {}", about.traps))
            }
        };
        (outcome(before, after, state, why), values)
    }
}

/// The readings that a change of `subject` is for: of CPUs all, since groups change with their values.
fn readings(
    root: &SysRoot,
    machine: &Machine,
    setting: &dyn Setting,
    subject: &Subject,
) -> Vec<SettingReading> {
    let is_of_cpus = |subject: &Subject| ["node", "cpus"].contains(&subject.kind());
    let mut readings = setting.read(root, machine);
    readings
        .retain(|reading| reading.subject == *subject || is_of_cpus(&reading.subject) && is_of_cpus(subject));
    readings
}

impl Write<'_> {
    /// Makes one change; an error is one of the journal, after which nothing more may be changed.
    fn change(&mut self, change: &SettingChange) -> Result<Made, String> {
        let not = |why: &str| Ok(Made::Not(why.to_owned()));
        let registry = crate::registry();
        let Some(setting) = registry.find(&change.setting) else {
            return not("this version does not know the setting");
        };
        let (about, root) = (setting.about(), self.files.root());
        let readings = readings(root, self.machine, setting, &change.subject);
        let Some(reading) = readings.first() else {
            return not("the node has no such subject now; read it again with `seatrial settings`");
        };
        let Some(file) = about.file(reading, &change.wanted) else {
            return not("only its command changes it, which a person has to type");
        };
        let command = about.command(reading, &change.wanted).unwrap_or_default();
        let texts = match setting.files(root, self.machine, reading, file) {
            Ok(texts) => texts,
            Err(why) => return not(&why),
        };
        let (mut writes, mut refused, mut values) = (0, Vec::new(), Vec::new());
        for SettingFile { path, text } in texts {
            let paths = match expand(root, &path) {
                Ok(paths) => paths,
                Err(why) => return not(&why),
            };
            for path in &paths {
                match self.write(about, path, &text)? {
                    Written::Yes => writes += 1,
                    Written::Same => {}
                    Written::No(why) => refused.push(why),
                }
            }
            values.push(BootValue { path, text, command: command.clone() });
        }
        Ok(Made::Wrote { setting, before: shown(&readings), writes, refused, values })
    }

    fn write(&mut self, about: &SettingAbout, path: &str, text: &str) -> Result<Written, String> {
        let before = match self.files.text(path) {
            Ok(before) => before,
            // A policy whose CPUs are offline.
            Err(error) if error.errno() == Some(Errno::BUSY) => return Ok(Written::Same),
            Err(error) => return Ok(Written::No(format!("{error}, so it could not be restored"))),
        };
        if is_same(&before, text) {
            return Ok(Written::Same);
        }
        let announced = Announced {
            setting: about.id.to_owned(),
            path: path.to_owned(),
            before: before.clone(),
            wanted: text.to_owned(),
            is_file: false,
        };
        let entry = self.journal.announce(announced, self.files)?;
        let written = self.files.write(path, &format!("{text}\n"));
        let after = self.files.text(path);
        match (&written, &after) {
            (Err(_), Ok(after)) if is_same(after, &before) => self.journal.close(entry, self.files)?,
            (_, Ok(after)) => self.journal.hold(entry, after, self.files)?,
            // Taken back as a change that was not read back.
            (_, Err(_)) => {}
        }
        Ok(match written {
            Ok(()) => Written::Yes,
            Err(errno) => Written::No(refusal(about, path, text, errno)),
        })
    }
}

enum Written {
    Yes,
    Same,
    No(String),
}

fn shown(readings: &[SettingReading]) -> String {
    let values: Vec<String> =
        readings.iter().filter_map(|reading| reading.present.value().map(Value::to_string)).collect();
    values.join(" and ")
}

/// Whether the reading has the value that was wanted; sizes and times may be written differently.
fn is_met(setting: &dyn Setting, reading: &SettingReading, wanted: &Value) -> bool {
    let (about, text) = (setting.about(), wanted.to_string());
    let require = about.split(&text).into_iter().map(|part| {
        let at_most = part.parse().ok().filter(|_| setting.is_bound());
        let equals = at_most.is_none().then(|| about.parse(part).unwrap_or_else(|_| part.into()));
        Requirement { at_most, equals, ..Requirement::default() }
    });
    let rule = SettingRule { require: require.collect(), ..SettingRule::default() };
    reading.present.value().is_some_and(|value| rule.met_by(value) == Ok(true))
}

/// Why a file did not take `text`, and what can be done.
fn refusal(about: &SettingAbout, path: &str, text: &str, errno: Errno) -> String {
    let remedy = match errno {
        Errno::PERM | Errno::ACCESS => {
            let needs = if about.privilege == Privilege::None { "root" } else { about.privilege.words() };
            format!("it needs {needs}; in a container apply it on the host. {}", about.traps)
        }
        Errno::NOENT => {
            format!("the kernel has nothing of this name; `modprobe` may load it. {}", about.traps)
        }
        Errno::ROFS => "it is mounted read-only here, as in containers: apply it on the host".to_owned(),
        _ => about.traps.to_owned(),
    };
    format!("{path} does not take '{text}' ({errno}): {remedy}")
}

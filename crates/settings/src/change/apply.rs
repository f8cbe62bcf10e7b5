//! Writes wanted values, each after its journal has the one before.

use rustix::io::Errno;
use seatrial_model::machine::Machine;
use seatrial_model::profile::{Requirement, SettingRule};
use seatrial_model::setting::{
    ChangeOutcome, ChangeState, Privilege, SettingAbout, SettingChange, SettingReading, SettingsAnswer,
};
use seatrial_model::{Subject, Value};

use super::boot::{self, BootValue};
use super::files::{KernelFiles, expand, is_same};
use super::journal::{Announced, Journal, Journals};
use crate::Setting;

pub(super) fn apply(
    files: &dyn KernelFiles,
    machine: &Machine,
    id: &str,
    changes: &[SettingChange],
    persist: bool,
) -> Result<SettingsAnswer, String> {
    let journals = Journals::open(files.root())?;
    let mut journal = journals.begin(id, files)?;
    let mut answer = SettingsAnswer::default();
    let mut at_boot = Vec::new();
    for change in changes {
        let mut write = Write { files, machine, journal: &mut journal, at_boot: &mut at_boot };
        match write.change(change) {
            Ok(outcome) => answer.outcomes.push(outcome),
            Err(why) => {
                answer.refused = Some(why);
                break;
            }
        }
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
    /// What was set and can be set again at boot.
    at_boot: &'a mut Vec<BootValue>,
}

impl Write<'_> {
    /// Makes one change; an error is one of the journal, after which nothing more may be changed.
    fn change(&mut self, change: &SettingChange) -> Result<ChangeOutcome, String> {
        let outcome = |state, why: String| ChangeOutcome {
            setting: change.setting.clone(),
            place: change.subject.to_string(),
            before: String::new(),
            after: String::new(),
            state,
            why,
        };
        let failed = |why: &str| Ok(outcome(ChangeState::Failed, why.to_owned()));
        let registry = crate::registry();
        let Some(setting) = registry.find(&change.setting) else {
            return failed("this version does not know the setting");
        };
        let about = setting.about();
        let readings = self.readings(setting, &change.subject);
        let before = shown(&readings);
        let Some(reading) = readings.first() else {
            return failed("the node has no such subject now; read it again with `seatrial settings`");
        };
        let Some(file) = about.file(reading, &change.wanted) else {
            return failed("only its command changes it, which a person has to type");
        };
        let command = about.command(reading, &change.wanted).unwrap_or_default();
        let paths = match expand(self.files.root(), &file.path) {
            Ok(paths) => paths,
            Err(why) => return failed(&why),
        };
        let (mut writes, mut refused) = (0, Vec::new());
        for path in &paths {
            match self.write(about, path, &file.text)? {
                Written::Yes => writes += 1,
                Written::Same => {}
                Written::No(why) => refused.push(why),
            }
        }
        let readings = self.readings(setting, &change.subject);
        let after = shown(&readings);
        let is_met =
            !readings.is_empty() && readings.iter().all(|reading| is_met(about, reading, &change.wanted));
        let (state, why) = match (is_met, refused.first()) {
            (true, None) if writes == 0 => (ChangeState::Unchanged, String::new()),
            (true, None) => (ChangeState::Done, String::new()),
            (_, Some(why)) => (ChangeState::Failed, why.clone()),
            (false, None) => {
                (ChangeState::Failed, format!("the system took it, but holds {after}: {}", about.traps))
            }
        };
        if state.is_good() {
            self.at_boot.push(BootValue { path: file.path, text: file.text, command });
        }
        Ok(ChangeOutcome { before, after, ..outcome(state, why) })
    }

    /// The readings that the change is for: of CPUs all, since groups change with their values.
    fn readings(&self, setting: &dyn Setting, subject: &Subject) -> Vec<SettingReading> {
        let is_of_cpus = |subject: &Subject| ["node", "cpus"].contains(&subject.kind());
        let mut readings = setting.read(self.files.root(), self.machine);
        readings.retain(|reading| {
            reading.subject == *subject || is_of_cpus(&reading.subject) && is_of_cpus(subject)
        });
        readings
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
fn is_met(about: &SettingAbout, reading: &SettingReading, wanted: &Value) -> bool {
    let text = wanted.to_string();
    let require = about.split(&text).into_iter().map(|part| Requirement {
        equals: Some(about.parse(part).unwrap_or_else(|_| part.into())),
        ..Requirement::default()
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
        Errno::ROFS => "it is mounted read-only here, as in containers: apply it on the host".to_owned(),
        _ => about.traps.to_owned(),
    };
    format!("{path} does not take '{text}' ({errno}): {remedy}")
}

//! What `seatrial settings apply` would do, as data and as text.

use seatrial_analysis::Audit;
use seatrial_model::profile::fold;
use seatrial_model::setting::{AuditedSetting, Privilege, SettingAbout, SettingChange, SettingFile, Wanted};
use seatrial_model::{Value, Verdict};
use serde_json::json;

/// A setting that is not as wanted, on the nodes where all of it is the same.
pub struct PlannedChange {
    pub nodes: Vec<String>,
    pub change: SettingChange,
    pub present: String,
    about: &'static SettingAbout,
    /// What is written; `None` where Seatrial does not set it.
    pub file: Option<SettingFile>,
    /// What a person types.
    command: Option<String>,
}

/// The changes that meet the demands on `settings`, in the order of the list of settings.
pub fn planned(settings: &[AuditedSetting]) -> Vec<PlannedChange> {
    let registry = seatrial_settings::registry();
    let mut planned: Vec<PlannedChange> = Vec::new();
    for AuditedSetting { node, reading, wanted } in settings {
        let mut values =
            wanted.iter().filter(|want| want.waiver.is_none()).filter_map(|want| want.value.clone());
        let (Some(value), Some(present)) = (values.next_back(), reading.present.value()) else { continue };
        let Some(setting) = registry.find(&reading.setting) else { continue };
        let about = setting.about();
        let row = PlannedChange {
            nodes: vec![node.clone()],
            present: present.to_string(),
            file: about.file(reading, &value),
            command: about.command(reading, &value),
            change: SettingChange {
                setting: reading.setting.clone(),
                subject: reading.subject.clone(),
                wanted: value,
            },
            about,
        };
        match planned.iter_mut().find(|known| known.is_same(&row)) {
            Some(known) => known.nodes.push(node.clone()),
            None => planned.push(row),
        }
    }
    planned
}

/// Demands that could not be judged, or that no one value meets: why, and on which nodes.
pub fn unclear(audit: &Audit) -> Vec<(String, Vec<String>)> {
    let mut unclear: Vec<(String, Vec<String>)> = Vec::new();
    let mut note = |setting: &str, why: &Option<String>, node: &str| {
        let text = format!("{setting}: {}", why.as_deref().unwrap_or("the reason is unknown"));
        match unclear.iter_mut().find(|(known, _)| *known == text) {
            Some((_, nodes)) => nodes.push(node.to_owned()),
            None => unclear.push((text, vec![node.to_owned()])),
        }
    };
    for record in audit.verdicts.iter().filter(|record| record.verdict == Verdict::Unknown) {
        note(&record.criterion, &record.reason, record.node.as_deref().unwrap_or("the fleet"));
    }
    for AuditedSetting { node, reading, wanted } in &audit.settings {
        let is_open = |want: &&Wanted| {
            matches!(want.verdict, Verdict::Fail | Verdict::Warn)
                && want.waiver.is_none()
                && want.value.is_none()
        };
        wanted.iter().filter(is_open).for_each(|want| note(&reading.setting, &want.reason, node));
    }
    unclear
}

impl PlannedChange {
    fn is_same(&self, other: &Self) -> bool {
        (&self.change, &self.present, &self.command) == (&other.change, &other.present, &other.command)
    }

    fn text(&self, width: u16) -> String {
        let SettingChange { setting, subject, wanted } = &self.change;
        let place = if subject.as_str() == "node" { String::new() } else { format!(" of {subject}") };
        let change = format!("  {} {setting}{place}: {} -> {wanted}", fold(&self.nodes), self.present);
        let needs = match self.about.privilege {
            Privilege::None => String::new(),
            privilege => format!("; needs {}", privilege.words()),
        };
        let how = match (&self.file, &self.command) {
            (Some(SettingFile { path, text }), _) if path.starts_with("/ethtool/") => {
                let number = path.rsplit('/').next().unwrap_or_default();
                format!("sets {number} of the driver to {text}, by an ioctl of ethtool{needs}")
            }
            (Some(SettingFile { path, .. }), Some(command)) if is_call(path) => {
                format!("sets it as `{command}` does{needs}")
            }
            (Some(SettingFile { path, .. }), _) if path.contains('*') && self.has_own_text() => {
                format!("writes {path}{needs}")
            }
            (Some(SettingFile { path, text }), _) => format!("writes '{text}' to {path}{needs}"),
            (None, Some(command)) => command.clone(),
            (None, None) if self.about.remedy.is_empty() => "cannot be set while the system runs".to_owned(),
            (None, None) => self.about.remedy.to_owned(),
        };
        // A line that is a command stays whole.
        let is_command = self.file.is_none() && self.command.is_some();
        let how = if is_command { format!("      {how}\n") } else { wrapped(&format!("      {how}"), width) };
        wrapped(&change, width) + &how + &wrapped(&format!("      mind: {}", self.about.traps), width)
    }

    /// Whether each file gets a text of its own, which is known on the node only: the definition has a command beside it.
    fn has_own_text(&self) -> bool {
        self.about.apply.iter().any(|apply| !apply.command.is_empty())
    }

    pub fn document(&self) -> serde_json::Value {
        let SettingChange { setting, subject, wanted } = &self.change;
        json!({
            "nodes": self.nodes,
            "setting": setting,
            "subject": subject,
            "present": self.present,
            "wanted": Value::to_string(wanted),
            "file": self.file.as_ref().map(|file| &file.path),
            "text": self.file.as_ref().map(|file| &file.text),
            "command": self.command,
            "privilege": self.about.privilege,
            "mind": self.about.traps,
        })
    }
}

/// The plan as text of `width` columns.
pub fn text(planned: &[PlannedChange], unclear: &[(String, Vec<String>)], width: u16) -> String {
    let mut text = String::new();
    let (written, typed): (Vec<_>, Vec<_>) = planned.iter().partition(|row| row.file.is_some());
    for (title, rows) in [
        ("Seatrial sets, and restores with `seatrial settings restore`:", written),
        ("Seatrial does not set; a person has to type it:", typed),
    ] {
        if !rows.is_empty() {
            text += &format!("{title}\n");
            text.extend(rows.into_iter().map(|row| row.text(width)));
        }
    }
    if !unclear.is_empty() {
        text += "cannot be judged, and is left:\n";
        let line = |(why, nodes): &(String, Vec<String>)| wrapped(&format!("  {} {why}", fold(nodes)), width);
        text.extend(unclear.iter().map(line));
    }
    text
}

/// `line` in lines of `width` columns, the further ones indented; a command in backquotes stays whole.
pub fn wrapped(line: &str, width: u16) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut in_command = false;
    let words = line.trim_start().split(|c: char| {
        in_command ^= c == '`';
        c == ' ' && !in_command
    });
    let (mut text, mut used) = (" ".repeat(indent), indent);
    for (at, word) in words.enumerate() {
        let length = word.chars().count();
        if at > 0 && used + 1 + length > usize::from(width) {
            text += &format!("\n{}", " ".repeat(indent + 2));
            used = indent + 2;
        } else if at > 0 {
            text.push(' ');
            used += 1;
        }
        text += word;
        used += length;
    }
    text + "\n"
}

/// Whether a path is no file of the kernel.
fn is_call(path: &str) -> bool {
    !["/proc/", "/sys/"].iter().any(|tree| path.starts_with(tree))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_and_never_in_a_command() {
        let line = "  mind: test the whole path: `ping -M do -s 8972 HOST` for 9000";
        assert_eq!(
            wrapped(line, 33),
            "  mind: test the whole path:\n    `ping -M do -s 8972 HOST` for\n    9000\n"
        );
        assert_eq!(wrapped(line, 20).lines().nth(2), Some("    `ping -M do -s 8972 HOST`"));
        assert_eq!(wrapped("left out: nothing", 80), "left out: nothing\n");
    }
}

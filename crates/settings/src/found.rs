//! Converts the content of files to readings.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{Present, SettingAbout, SettingReading, UNLIMITED};
use seatrial_model::{Bytes, Kind, Nanos, Subject, Value};
use seatrial_sys::root::{ReadError, SysRoot};

pub(crate) fn on_node(about: &SettingAbout, present: Present) -> Vec<SettingReading> {
    vec![SettingReading::new(about, Subject::node(), present)]
}

pub(crate) fn present(root: &SysRoot, read: Result<Value, ReadError>) -> Present {
    match read {
        Ok(value) => Present::Value(value),
        Err(ReadError::Missing { path }) => missing(root, &path),
        Err(error) => Present::Unreadable(error.to_string()),
    }
}

/// The reading for a missing file: no such setting, unless the whole tree, such as `/sys`, is missing.
pub(crate) fn missing(root: &SysRoot, path: &str) -> Present {
    let trees = [("/sys/", "/sys/devices"), ("/proc/", "/proc/sys")];
    match trees.into_iter().find(|(start, _)| path.starts_with(start)) {
        Some((_, tree)) if !root.exists(tree) => {
            Present::Unreadable(format!("{path} does not exist, and neither does {tree}"))
        }
        _ => Present::Absent(format!("{path} does not exist")),
    }
}

pub(crate) fn is_virtual(machine: &Machine) -> bool {
    machine.virtualization.known().is_some_and(|layers| layers.hypervisor.is_some())
}

/// Parses the values of `about` in a file of the kernel: sizes in bytes, times in microseconds, flags as 1 and 0.
pub(crate) fn parse(about: &SettingAbout, path: &str, text: &str) -> Result<Value, ReadError> {
    let garbage = || ReadError::garbage(path, text, &expected(about));
    let parts: Vec<&str> = text.split_whitespace().collect();
    if parts.len() != about.count() {
        return Err(garbage());
    }
    let values: Option<Vec<Value>> = parts.into_iter().map(|part| one(about, part)).collect();
    values.map(|values| SettingAbout::join(&values)).ok_or_else(garbage)
}

fn one(about: &SettingAbout, part: &str) -> Option<Value> {
    if about.unlimited == Some(part) {
        return Some(Value::from(UNLIMITED));
    }
    match about.kind {
        Kind::Count(..) | Kind::Load(..) => part.parse().ok().map(Value::Count),
        Kind::Size(..) => part.parse().ok().map(|bytes| Bytes(bytes).into()),
        Kind::Time(..) => micros(part.parse().ok()?),
        Kind::Flag => ["0", "1"].iter().position(|word| *word == part).map(|set| Value::Flag(set == 1)),
        // A kernel may have words that our list lacks.
        Kind::Choice(_) | Kind::Text => is_word(part).then(|| Value::from(part)),
        Kind::Number(..) => None,
    }
}

fn expected(about: &SettingAbout) -> String {
    let one = match about.kind {
        Kind::Count(..) | Kind::Load(..) => "a whole number",
        Kind::Size(..) => "a number of bytes",
        Kind::Time(..) => "a number of microseconds",
        Kind::Flag => "0 or 1",
        _ => "one word",
    };
    match about.fields {
        [] => one.to_owned(),
        fields => format!("{one} for each of {}", fields.join(", ")),
    }
}

pub(crate) fn micros(micros: u64) -> Option<Value> {
    micros.checked_mul(1000).map(|nanos| Nanos(nanos).into())
}

/// The text that sets what a file holds: of `always [madvise] never` the word in brackets, else all of it.
pub(crate) fn written_form(text: &str) -> &str {
    let text = text.trim();
    let chosen = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    chosen.unwrap_or(text)
}

/// Whether `text` could be a word of the kernel.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())
}

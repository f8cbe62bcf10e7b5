//! Settings of devices in the inventory: one reading for each device that has the setting.

use seatrial_model::machine::{Known, Machine, Nic};
use seatrial_model::setting::{Present, SettingAbout, SettingReading};
use seatrial_model::{Params, Subject, Value};
use seatrial_sys::root::ReadError;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    present: Present,
    note: Option<String>,
    counted: Option<u64>,
}

impl From<Present> for Found {
    fn from(present: Present) -> Self {
        Self { present, note: None, counted: None }
    }
}

impl Found {
    pub(crate) fn value(value: Value) -> Self {
        Present::Value(value).into()
    }

    pub(crate) fn absent(why: &str) -> Self {
        Present::Absent(why.to_owned()).into()
    }

    pub(crate) fn unreadable(why: &str) -> Self {
        Present::Unreadable(why.to_owned()).into()
    }

    /// A value with the counter behind it, which only grows until it is reset.
    pub(crate) fn counted(value: Value, counted: u64) -> Self {
        Self { counted: Some(counted), ..Self::value(value) }
    }

    /// No such thing, or nobody could look.
    pub(crate) fn failed(error: &ReadError) -> Self {
        match error {
            ReadError::Missing { .. } => Self::absent(&error.to_string()),
            error => Self::unreadable(&error.to_string()),
        }
    }

    pub(crate) fn known(known: Known<Value>) -> Self {
        match known {
            Known::Known(value) => Self::value(value),
            Known::Unknown(why) => Self::unreadable(&why),
        }
    }

    /// Adds a note to a value; a missing value keeps only its reason.
    pub(crate) fn noted(self, note: Option<String>) -> Self {
        let note = note.filter(|_| matches!(self.present, Present::Value(_)));
        Self { note, ..self }
    }
}

pub(crate) struct Device {
    /// Name as in subjects: `eth0`, `mlx5_0/1`.
    pub(crate) name: String,
    pub(crate) facts: Params,
    pub(crate) found: Found,
}

impl Device {
    pub(crate) fn nic(nic: &Nic, found: impl Into<Found>) -> Self {
        Self { name: nic.name.clone(), facts: nic.facts(), found: found.into() }
    }
}

/// The interface of `reading`.
pub(crate) fn nic<'m>(machine: &'m Machine, reading: &SettingReading) -> Result<&'m Nic, String> {
    let subject = reading.subject.as_str();
    let name = subject.split_once(':').map_or(subject, |(_, name)| name);
    let mut nics = machine.nics.listed().iter();
    nics.find(|nic| nic.name == name).ok_or_else(|| format!("there is no interface {name} now"))
}

/// Readings of `about` for all devices of a kind, in the order of the inventory; `of` selects those with the setting.
/// Without any, or when the inventory is unknown, one reading of the node: `none`, or why.
pub(crate) fn readings<'a, T, I: IntoIterator<Item = Device>>(
    about: &SettingAbout,
    known: &'a Known<Vec<T>>,
    none: &str,
    of: impl FnMut(&'a T) -> I,
) -> Vec<SettingReading> {
    let nobody = |present| {
        let Ok(subject) = about.subject.parse::<Subject>();
        vec![SettingReading::new(about, subject, present)]
    };
    let all = match known {
        Known::Known(all) => all,
        Known::Unknown(why) => return nobody(Present::Unreadable(why.clone())),
    };
    let reading = |Device { name, facts, found }: Device| {
        let subject = Subject::device(about.subject, &name);
        let Found { present, note, counted } = found;
        SettingReading { facts, note, counted, ..SettingReading::new(about, subject, present) }
    };
    let readings: Vec<SettingReading> = all.iter().flat_map(of).map(reading).collect();
    if readings.is_empty() {
        return nobody(Present::Absent(none.to_owned()));
    }
    readings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysctl::ROW;

    fn told(known: &Known<Vec<u64>>) -> Vec<(String, Present, Option<String>)> {
        // Odd numbers have it, with twice their value; for 5 it is unknown.
        let readings = readings(&ROW, known, "none is odd", |number| {
            let found = match number {
                5 => Found::known(Known::unknown("a secret")),
                _ => Found::known(Known::Known(Value::Count(2 * number))),
            };
            let device = Device {
                name: number.to_string(),
                facts: Params::default(),
                found: found.noted(Some("odd".to_owned())),
            };
            (number % 2 == 1).then_some(device)
        });
        readings
            .into_iter()
            .map(|reading| (reading.subject.to_string(), reading.present, reading.note))
            .collect()
    }

    #[test]
    fn each_that_has_it_is_told_and_else_one_of_nobody_says_why() {
        let value = |name: &str, count| {
            let subject = Subject::device(ROW.subject, name).to_string();
            (subject, Present::Value(Value::Count(count)), Some("odd".to_owned()))
        };
        assert_eq!(told(&Known::Known(vec![1, 2, 3])), [value("1", 2), value("3", 6)]);
        let Ok(nobody) = ROW.subject.parse::<Subject>();
        let alone = |present| [(nobody.to_string(), present, None)];
        assert_eq!(told(&Known::Known(vec![2])), alone(Present::Absent("none is odd".to_owned())));
        assert_eq!(told(&Known::unknown("no file")), alone(Present::Unreadable("no file".to_owned())));
        // Only values have notes.
        assert!(told(&Known::Known(vec![5]))[0].2.is_none());
    }
}

//! Settings of devices that the inventory knows: one reading for each that has the knob.

use seatrial_model::machine::{Known, Nic};
use seatrial_model::setting::{Present, SettingAbout, SettingReading};
use seatrial_model::{Params, Subject, Value};

/// What was found of a device, with a note on it.
pub(crate) struct Found {
    present: Present,
    note: Option<String>,
}

impl From<Present> for Found {
    fn from(present: Present) -> Self {
        Self { present, note: None }
    }
}

impl Found {
    pub(crate) fn value(value: Value) -> Self {
        Present::Value(value).into()
    }

    /// There is no such knob, and why.
    pub(crate) fn absent(why: &str) -> Self {
        Present::Absent(why.to_owned()).into()
    }

    /// There is one, and why it could not be told.
    pub(crate) fn unreadable(why: &str) -> Self {
        Present::Unreadable(why.to_owned()).into()
    }

    /// What the inventory knows.
    pub(crate) fn known(known: Known<Value>) -> Self {
        match known {
            Known::Known(value) => Self::value(value),
            Known::Unknown(why) => Self::unreadable(&why),
        }
    }

    /// The same with a note beside the value; what has no value says why, and nothing else.
    pub(crate) fn noted(self, note: Option<String>) -> Self {
        let note = note.filter(|_| matches!(self.present, Present::Value(_)));
        Self { note, ..self }
    }
}

/// A device that has the knob.
pub(crate) struct Device {
    /// As subjects name it: `eth0`, `mlx5_0/1`.
    pub(crate) name: String,
    /// What a profile may select it by.
    pub(crate) facts: Params,
    pub(crate) found: Found,
}

impl Device {
    pub(crate) fn nic(nic: &Nic, found: impl Into<Found>) -> Self {
        Self { name: nic.name.clone(), facts: nic.facts(), found: found.into() }
    }
}

/// The readings of `about` of all that the inventory knows of a sort, in its order; `of` gives those that have the knob. Where
/// it knows of none, or could not look, there is one reading of nobody: `none`, or why.
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
        SettingReading { facts, note: found.note, ..SettingReading::new(about, subject, found.present) }
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
        // Odd ones have it, and it is twice their number; of 5 it is not known.
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
        // A note stands beside a value only.
        assert!(told(&Known::Known(vec![5]))[0].2.is_none());
    }
}

//! Facts by which a profile selects devices.

use super::Known;
use crate::param::{Params, Value};
use crate::units::{Bytes, Quantity, Unit};

/// Facts of one subject; an unknown value is left out and matches nothing.
pub(super) struct Facts(Params);

impl Facts {
    pub(super) fn of(kind: &str) -> Self {
        let mut facts = Params::default();
        facts.set("kind", kind);
        Self(facts)
    }

    #[must_use]
    pub(super) fn text(mut self, name: &str, text: Option<&str>) -> Self {
        if let Some(text) = text {
            self.0.set(name, text);
        }
        self
    }

    #[must_use]
    pub(super) fn known(self, name: &str, text: &Known<String>) -> Self {
        self.text(name, text.known().map(String::as_str))
    }

    #[must_use]
    pub(super) fn flag(mut self, name: &str, flag: Option<bool>) -> Self {
        if let Some(flag) = flag {
            self.0.set(name, Value::Flag(flag));
        }
        self
    }

    #[must_use]
    pub(super) fn count(mut self, name: &str, count: Option<u64>) -> Self {
        if let Some(count) = count {
            self.0.set(name, count);
        }
        self
    }

    #[must_use]
    pub(super) fn number(mut self, name: &str, number: Option<f64>) -> Self {
        if let Some(number) = number {
            self.0.set(name, Value::Number(number));
        }
        self
    }

    #[must_use]
    pub(super) fn size(mut self, name: &str, bytes: Option<u64>) -> Self {
        if let Some(bytes) = bytes {
            self.0.set(name, Bytes(bytes));
        }
        self
    }

    /// A rate given in Mbit/s, in its usual unit.
    #[must_use]
    pub(super) fn rate(self, name: &str, mbit_s: Option<f64>) -> Self {
        let rate = mbit_s.and_then(|mbit| match mbit {
            _ if mbit >= 1000.0 => Quantity::new(mbit / 1000.0, Unit::GigabitsPerSecond).ok(),
            _ => Quantity::new(mbit, Unit::MegabitsPerSecond).ok(),
        });
        let text = rate.map(|rate| rate.to_string());
        self.text(name, text.as_deref())
    }

    pub(super) fn done(self) -> Params {
        self.0
    }
}

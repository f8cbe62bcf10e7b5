//! Values of parameters, in the form of the record.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use super::ParamError;
use crate::units::{Bytes, Nanos};

/// One value of a parameter. Sizes and durations are canonical text with their unit (`64 KiB`, `200 ms`).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A switch: `true` or `false`.
    Flag(bool),
    /// A whole number, not negative.
    Count(u64),
    /// A number with a fraction.
    Number(f64),
    /// A word, a size or a duration.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Value::Count(count)
    }
}

impl From<Bytes> for Value {
    fn from(bytes: Bytes) -> Self {
        Value::Text(bytes.to_string())
    }
}

impl From<Nanos> for Value {
    fn from(nanos: Nanos) -> Self {
        Value::Text(nanos.to_string())
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::Count(count) => serializer.serialize_u64(*count),
            Value::Number(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyValue;
        impl Visitor<'_> for AnyValue {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a flag, a number or a text")
            }

            fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Value, E> {
                Ok(Value::Flag(flag))
            }

            fn visit_u64<E: de::Error>(self, count: u64) -> Result<Value, E> {
                Ok(Value::Count(count))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
                Ok(u64::try_from(number).map_or(Value::Number(number as f64), Value::Count))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
                Ok(Value::Number(number))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(AnyValue)
    }
}

impl schemars::JsonSchema for Value {
    fn schema_name() -> Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["boolean", "number", "string"],
            "description": "A parameter's value; sizes and durations are text with their unit."
        })
    }
}

/// Every parameter of a case with its value, defaults included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Params(BTreeMap<String, Value>);

impl<const N: usize> From<[(&str, Value); N]> for Params {
    fn from(values: [(&str, Value); N]) -> Self {
        values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Params {
    /// Sets `name` to `value`.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Removes `name` and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// The value of `name`, if there is one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Whether it has no names.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The text of `name`, or [`ParamError::Missing`]: a bug, since the plan resolves every parameter.
    pub fn text(&self, name: &str) -> Result<&str, ParamError> {
        match self.get(name) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(ParamError::missing(name, "a word")),
        }
    }

    /// The whole number of `name`; fails as [`Self::text`] does.
    pub fn count(&self, name: &str) -> Result<u64, ParamError> {
        match self.get(name) {
            Some(Value::Count(count)) => Ok(*count),
            _ => Err(ParamError::missing(name, "a whole number")),
        }
    }

    /// The switch `name`; fails as [`Self::text`] does.
    pub fn flag(&self, name: &str) -> Result<bool, ParamError> {
        match self.get(name) {
            Some(Value::Flag(flag)) => Ok(*flag),
            _ => Err(ParamError::missing(name, "true or false")),
        }
    }

    /// The size of `name`, `None` when it holds a word such as `auto`; fails as [`Self::text`] does.
    pub fn bytes(&self, name: &str) -> Result<Option<Bytes>, ParamError> {
        self.text(name).map(|text| text.parse().ok())
    }

    /// The duration of `name`; fails as [`Self::text`] does.
    pub fn nanos(&self, name: &str) -> Result<Nanos, ParamError> {
        self.text(name)?.parse().map_err(|_| ParamError::missing(name, "a duration"))
    }
}

impl fmt::Display for Params {
    /// `kernel=triad,store=nt`, as in case ids.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, value)) in self.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl FromIterator<(String, Value)> for Params {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

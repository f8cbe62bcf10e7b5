//! Types of parameters, and parsing of their values.

use super::Value;
use crate::name::{did_you_mean, nearest};
use crate::units::{Bytes, Nanos, Quantity, QuantityError};

/// Type and range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A whole number in an inclusive range.
    Count(u64, u64),
    /// A count of things that work at the same time, such as threads: more is more load. A sweep saturates along it
    /// and backs off along it after a failure.
    Load(u64, u64),
    /// A fraction in an inclusive range.
    Number(f64, f64),
    /// A size in an inclusive range.
    Size(Bytes, Bytes),
    /// A duration in an inclusive range.
    Time(Nanos, Nanos),
    /// A switch: `true` or `false`.
    Flag,
    /// Text of any form, which the benchmark reads.
    Text,
}

impl Kind {
    /// Parses `typed`; an error is a fragment that follows "parameter X: ".
    pub fn parse(&self, typed: &str) -> Result<Value, String> {
        let typed = typed.trim();
        match *self {
            Kind::Choice(words) => match words.iter().find(|word| **word == typed) {
                Some(word) => Ok(Value::from(*word)),
                None => {
                    let near = nearest(typed, words.iter().copied()).map(str::to_owned);
                    Err(format!("'{typed}' is not one of {}{}", words.join(", "), did_you_mean(&near)))
                }
            },
            Kind::Count(least, most) | Kind::Load(least, most) => {
                let count = typed.parse::<u64>().map_err(|_| no_count(typed))?;
                within(count, least, most)?;
                Ok(Value::Count(count))
            }
            Kind::Number(least, most) => {
                let number = typed.parse::<f64>().map_err(|_| no_number(typed))?;
                within(number, least, most)?;
                Ok(Value::Number(number))
            }
            Kind::Size(least, most) => {
                let bytes =
                    typed.parse::<Bytes>().map_err(|error| as_said(&error, "a size such as '64 MiB'"))?;
                within(bytes, least, most)?;
                Ok(bytes.into())
            }
            Kind::Time(least, most) => {
                let nanos =
                    typed.parse::<Nanos>().map_err(|error| as_said(&error, "a duration such as '200 ms'"))?;
                within(nanos, least, most)?;
                Ok(nanos.into())
            }
            Kind::Flag => {
                typed.parse().map(Value::Flag).map_err(|_| format!("'{typed}' is neither true nor false"))
            }
            Kind::Text => Ok(Value::from(typed)),
        }
    }

    /// The type in words: `1 KiB to 1 TiB`, `read, write or copy`.
    pub fn describe(&self) -> String {
        match self {
            Kind::Choice(words) => words.join(" | "),
            Kind::Count(least, most) | Kind::Load(least, most) => format!("{least} to {most}"),
            Kind::Number(least, most) => format!("{least} to {most}"),
            Kind::Size(least, most) => format!("size, {least} to {most}"),
            Kind::Time(least, most) => format!("duration, {least} to {most}"),
            Kind::Flag => "true | false".to_owned(),
            Kind::Text => "text".to_owned(),
        }
    }
}

/// `error`, with what is `wanted` in place of any quantity.
fn as_said(error: &QuantityError, wanted: &str) -> String {
    match error {
        QuantityError::NotANumber { text } => format!("'{text}' is not {wanted}"),
        error => error.to_string(),
    }
}

/// Why a text is not a number; a quantity has a unit where the parameter has its own.
fn no_number(typed: &str) -> String {
    match typed.parse::<Quantity>() {
        Ok(_) => format!("'{typed}' is not a number: leave out the unit, which the parameter has"),
        Err(_) => format!("'{typed}' is not a number"),
    }
}

/// Why a text is not a whole number; for a size, such as an MTU with its unit, the number to type.
fn no_count(typed: &str) -> String {
    let without = match typed.parse::<Bytes>() {
        Ok(bytes) => format!(": write {}, without a unit", bytes.get()),
        Err(_) => String::new(),
    };
    format!("'{typed}' is not a whole number{without}")
}

/// NaN fails every comparison, so it is refused too.
fn within<T: PartialOrd + std::fmt::Display>(value: T, least: T, most: T) -> Result<(), String> {
    if value >= least && value <= most {
        Ok(())
    } else {
        Err(format!("{value} is outside {least} to {most}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_with_a_unit_is_told_without_it() {
        let error = |typed: &str| Kind::Count(68, 65_535).parse(typed).expect_err("no count");
        let number = Kind::Number(0.0, 1e6).parse("10Gbit/s").expect_err("no number");
        assert_eq!(number, "'10Gbit/s' is not a number: leave out the unit, which the parameter has");
        assert_eq!(error("9 kB"), "'9 kB' is not a whole number: write 9000, without a unit");
        assert_eq!(error("9000 B"), "'9000 B' is not a whole number: write 9000, without a unit");
        assert_eq!(
            (error("-1"), error("few")),
            ("'-1' is not a whole number".to_owned(), "'few' is not a whole number".to_owned())
        );
    }
}

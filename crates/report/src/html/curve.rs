//! A figure of curves: caption, plot, legend, remark.

use askama::Template;
use seatrial_model::{Bytes, Dimension, Nanos, Unit, Value};

use super::plot::{Plot, Scale, sample};
use super::words::text;

pub const MOST_CURVES: usize = 8;

/// Fewest values of an axis for a curve.
pub const FEWEST_POINTS: usize = 3;

#[derive(Clone, Debug, Template)]
#[template(path = "figure.html")]
pub struct Figure {
    pub caption: String,
    pub unit: String,
    pub svg: String,
    pub legend: Vec<(String, String)>,
    /// How to read the figure.
    pub note: String,
}

impl Figure {
    /// The figure of `plot`; `None` for an empty plot.
    pub fn new(caption: &str, unit: &str, note: &str, plot: &Plot) -> Option<Self> {
        let named = plot.curves.iter().enumerate().filter(|(_, curve)| !curve.name.is_empty());
        Some(Self {
            caption: text(caption),
            unit: text(unit),
            svg: plot.draw()?,
            legend: named.map(|(style, curve)| (sample(style), text(&curve.name))).collect(),
            note: text(note),
        })
    }
}

/// The position of a value on an axis, and whether it is a size in bytes. `None` for words.
pub fn place(value: &Value, unit: Unit) -> Option<(f64, bool)> {
    let is_size = unit.dimension() == Dimension::Size;
    let number = |number: f64| (if is_size { number * unit.factor() } else { number }, is_size);
    match value {
        Value::Count(count) => Some(number(*count as f64)),
        Value::Number(value) => Some(number(*value)),
        Value::Flag(_) => None,
        Value::Text(text) => match (text.parse::<Bytes>(), text.parse::<Nanos>()) {
            (Ok(bytes), _) => Some((bytes.get() as f64, true)),
            (_, Ok(span)) => Some((span.as_secs() * 1e3, false)),
            _ => None,
        },
    }
}

/// The name of an axis of such values, with the unit that their positions have and their words do not show.
pub fn axis_name(name: &str, value: &Value) -> String {
    let is_span = |text: &str| text.parse::<Bytes>().is_err() && text.parse::<Nanos>().is_ok();
    match value {
        Value::Text(text) if is_span(text) => format!("{name} [ms]"),
        _ => name.to_owned(),
    }
}

/// The scale for these positions: by doubling for sizes and for numbers that span a wide range.
pub fn scale(places: &[(f64, bool)]) -> Scale {
    let bytes = places.iter().all(|(_, is_size)| *is_size);
    let (low, high) =
        places.iter().fold((f64::MAX, 0.0_f64), |(low, high), (at, _)| (low.min(*at), high.max(*at)));
    if low > 0.0 && (high / low >= 16.0 || (bytes && high / low >= 4.0)) {
        Scale::Doubling { bytes }
    } else {
        Scale::Linear
    }
}

/// The scale for these values: logarithmic when they span more than an order of magnitude.
pub fn height(values: impl Iterator<Item = f64>) -> Scale {
    let (low, high) =
        values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low > 0.0 && high / low > 20.0 { Scale::Log } else { Scale::Linear }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_spans_are_places_and_words_are_none() {
        let of = |value: Value| place(&value, Unit::Count);
        assert_eq!(of("64 KiB".into()), Some((65536.0, true)));
        assert_eq!(of("200 ms".into()), Some((200.0, false)));
        assert_eq!(axis_name("time", &"200 ms".into()), "time [ms]");
        assert_eq!(axis_name("message", &"64 KiB".into()), "message");
        assert_eq!(of(Value::Count(16)), Some((16.0, false)));
        assert_eq!(of("triad".into()), None);
        assert_eq!(place(&Value::Count(4), Unit::Kibibyte), Some((4096.0, true)));
    }

    #[test]
    fn ladders_of_sizes_are_drawn_by_doubling_and_short_counts_evenly() {
        let ladder: Vec<(f64, bool)> = (9..20).map(|power| (f64::from(power).exp2(), true)).collect();
        assert_eq!(scale(&ladder), Scale::Doubling { bytes: true });
        assert_eq!(scale(&[(1.0, false), (2.0, false), (4.0, false)]), Scale::Linear);
        assert_eq!(scale(&[(0.0, false), (100.0, false)]), Scale::Linear);
    }
}

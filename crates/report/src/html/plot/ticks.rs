//! Labels of axis ticks.

use seatrial_model::Bytes;

use crate::html::words::number;

/// A label without trailing zeros.
pub fn tick(at: f64, decimals: usize) -> String {
    if at.abs() >= 1e5 {
        return si(at);
    }
    let text = format!("{at:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The label on a logarithmic axis.
pub fn power_of_ten(at: f64) -> String {
    tick(at, (-at.log10().floor()).max(0.0) as usize)
}

/// A large number in thousands: `250 k`.
fn si(at: f64) -> String {
    let (value, sign) = match at.abs() {
        many if many >= 1e9 => (at / 1e9, "G"),
        many if many >= 1e6 => (at / 1e6, "M"),
        _ => (at / 1e3, "k"),
    };
    format!("{} {sign}", tick(value, 2))
}

/// The label on a doubling axis.
pub fn power(at: f64, bytes: bool) -> String {
    let value = at.exp2();
    match bytes {
        true => Bytes(value.round() as u64).to_string(),
        false if value.fract() == 0.0 => tick(value, 0),
        false => number(value),
    }
}

/// The label on an axis of nines: 0 is the smallest, 1 is 90 %, 2 is 99 %.
pub fn quantile(at: f64) -> String {
    match at.round() as i32 {
        nines if nines <= 0 => "0".to_owned(),
        1 => "90 %".to_owned(),
        2 => "99 %".to_owned(),
        more => format!("99.{} %", "9".repeat(more as usize - 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_say_no_more_than_they_have_to() {
        assert_eq!([tick(2.50, 2), tick(40.0, 1), tick(250_000.0, 0)], ["2.5", "40", "250 k"]);
        assert_eq!([0.0004, 0.05, 3.0, 40.0].map(power_of_ten), ["0.0004", "0.05", "3", "40"]);
        assert_eq!([power(16.0, true), power(3.0, false)], ["64 KiB", "8"]);
        assert_eq!([0.0, 1.0, 2.0, 3.0, 4.0].map(quantile), ["0", "90 %", "99 %", "99.9 %", "99.99 %"]);
    }
}

//! Numbers for people: significant digits only, the same number of decimals in a column.

/// Significant digits of the smallest number of a column.
const DIGITS: i32 = 3;

/// Smaller numbers are shown as zero, so a benchmark should choose a smaller unit.
const MOST_DECIMALS: i32 = 6;

/// Decimals that give the smallest of `values` three significant digits; zeros do not count.
pub fn decimals(values: impl IntoIterator<Item = f64>) -> usize {
    let magnitude = values.into_iter().map(f64::abs).filter(|value| *value > 0.0).reduce(f64::min);
    let Some(magnitude) = magnitude else { return 0 };
    // A value just under a power of ten may round up to it; the extra decimal does no harm.
    let leading = magnitude.log10().floor() as i32;
    (DIGITS - 1 - leading).clamp(0, MOST_DECIMALS) as usize
}

pub fn plain(value: f64) -> String {
    let decimals = decimals([value]);
    format!("{value:.decimals$}")
}

/// Half the width of an interval in percent of the median, which need not be its centre: `±0.6%`. Absolute when the
/// median is zero.
pub fn half_width(median: f64, interval: (f64, f64)) -> String {
    let half = (interval.1 - interval.0).abs() / 2.0;
    if median == 0.0 {
        format!("±{}", plain(half))
    } else {
        format!("±{}", percentage(100.0 * half / median.abs()))
    }
}

/// As [`half_width`]; `±?` without an interval, from too few values.
pub fn plus_minus(median: f64, interval: Option<(f64, f64)>) -> String {
    interval.map_or("±?".to_owned(), |interval| half_width(median, interval))
}

/// A percentage with the digits that matter: `0.04%`, `0.6%`, `12%`.
pub fn percentage(percent: f64) -> String {
    let decimals = match percent.abs() {
        0.0 => 0,
        small if small < 0.095 => 2,
        middling if middling < 9.95 => 1,
        _ => 0,
    };
    format!("{percent:.decimals$}%")
}

/// A change in percent, with its sign and the digits that matter: `+0.4%`, `-12%`.
pub fn change(percent: f64) -> String {
    let plus = if percent > 0.0 { "+" } else { "" };
    format!("{plus}{}", percentage(percent))
}

/// A whole percentage of a limit or a bound: `83%`, `-14%`. A difference keeps its sign.
pub fn whole_percent(percent: f64) -> String {
    // 99.6 % is not the limit, and -0.4 % is not zero: near such values decimals are shown.
    let distance = (percent - 100.0).abs().min(percent.abs());
    let decimals = if distance < 0.95 { decimals_apart(distance) } else { 0 };
    format!("{percent:.decimals$}%")
}

/// Decimals with which two numbers that differ by `difference` do not look equal.
pub fn decimals_apart(difference: f64) -> usize {
    let magnitude = difference.abs().log10();
    if magnitude.is_finite() { (-magnitude).ceil().clamp(0.0, f64::from(MOST_DECIMALS)) as usize } else { 0 }
}

/// As [`whole_percent`], with a plus. From ten times the bound on, as a multiple: `12.5x`.
pub fn signed_percent(percent: f64) -> String {
    if percent >= 900.0 {
        return format!("{}x", plain(1.0 + percent / 100.0));
    }
    let plus = if percent > 0.0 { "+" } else { "" };
    format!("{plus}{}", whole_percent(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_decimals_of_its_smallest_number() {
        assert_eq!(decimals([148.23, 21.34]), 1);
        assert_eq!(decimals([9.412, 0.0]), 2);
        assert_eq!(decimals([1234.0, 812.5]), 0);
        assert_eq!(decimals([0.0]), 0);
        assert_eq!(decimals([1e-30]), 6);
        assert_eq!(decimals([]), 0);
    }

    #[test]
    fn half_widths_are_percent_of_the_median() {
        assert_eq!(half_width(20.0, (19.9, 20.1)), "±0.5%");
        assert_eq!(half_width(20.0, (19.999, 20.001)), "±0.01%");
        assert_eq!(half_width(-20.0, (-24.0, -16.0)), "±20%");
        assert_eq!(half_width(0.0, (-0.1, 0.1)), "±0.100");
    }

    #[test]
    fn a_change_has_its_sign_and_no_change_has_none() {
        assert_eq!([0.42, -12.3, 0.0].map(change), ["+0.4%", "-12%", "0%"]);
    }

    #[test]
    fn a_share_close_to_a_border_shows_on_which_side_it_is() {
        assert_eq!(
            [83.4, 99.7, 100.0, 100.4, -0.3, -0.04, 0.0].map(whole_percent),
            ["83%", "99.7%", "100%", "100.4%", "-0.3%", "-0.04%", "0%"]
        );
        assert_eq!([51.2, -14.0, 0.2].map(signed_percent), ["+51%", "-14%", "+0.2%"]);
        assert_eq!([899.0, 1150.0, 12_201_466.0].map(signed_percent), ["+899%", "12.5x", "122016x"]);
    }
}

//! Counters that only a boot sets to 0: which part has most, and how many that is a day.

use seatrial_model::Value;
use seatrial_sys::root::SysRoot;

use crate::devices::Found;

const SECONDS_A_DAY: f64 = 86_400.0;

/// Parts that a note names.
const MOST_NAMED: usize = 3;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counted {
    pub name: String,
    pub count: u64,
}

pub(crate) fn worst(counted: &[Counted]) -> Option<&Counted> {
    counted.iter().reduce(|worst, one| if one.count > worst.count { one } else { worst })
}

/// Days since the boot, at least one: a burst while the machine boots is no rate.
fn days(root: &SysRoot) -> f64 {
    let uptime = root.text("/proc/uptime").ok();
    let seconds = uptime.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    (seconds.unwrap_or(0.0) / SECONDS_A_DAY).max(1.0)
}

/// `count` by the days since the boot, with two digits; a count above 0 never becomes 0.
pub(crate) fn a_day(root: &SysRoot, count: u64) -> f64 {
    (count as f64 / days(root) * 100.0).ceil() / 100.0
}

/// The counter in the file at `path`, of the part `name`, by the days since the boot.
pub(crate) fn found(root: &SysRoot, name: &str, path: &str) -> Found {
    match root.value(path) {
        Ok(count) => {
            let counted = Counted { name: name.to_owned(), count };
            Found::counted(Value::Number(a_day(root, count)), count).noted(note(root, &[counted]))
        }
        Err(error) => Found::failed(&error),
    }
}

/// The parts with errors, the worst first; `None` where all have none.
pub(crate) fn note(root: &SysRoot, counted: &[Counted]) -> Option<String> {
    let mut bad: Vec<&Counted> = counted.iter().filter(|one| one.count > 0).collect();
    bad.sort_by_key(|one| std::cmp::Reverse(one.count));
    let named: Vec<String> =
        bad.iter().take(MOST_NAMED).map(|one| format!("{} {}", one.name, one.count)).collect();
    let more = bad.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("{}{more}, in {:.1} days", named.join(", "), days(root)))
}

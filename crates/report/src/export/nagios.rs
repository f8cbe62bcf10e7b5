//! One line for Nagios, Icinga and Naemon: status, text, performance data.
//!
//! Uses the exit codes of the plugin interface, not Seatrial's own: 0 ok, 1 warning, 2 critical, 3 unknown
//! (<https://www.monitoring-plugins.org/doc/guidelines.html>).

use std::io::{self, Write};

use seatrial_model::record::Document;
use seatrial_model::{Dimension, Quantity, Unit, Verdict, VerdictRecord};

use super::{About, Export, Material, judged};
use crate::view::values::value_of;

pub struct Nagios;

/// Criteria named in the text; more are counted.
const MOST_NAMED: usize = 3;

/// Limit of the performance data in bytes. Nagios reads 8 KiB of a plugin, older NRPE 1 KiB of the whole line, and
/// both cut the rest in the middle of a number; so whole entries are left out here, the least important first.
const MOST_PERFDATA: usize = 4096;

impl Export for Nagios {
    fn about(&self) -> &'static About {
        &About {
            flag: "nagios",
            value: "FILE",
            help: "A line for Nagios: STATUS - text | performance data; on standard output the exit code is the \
                   plugin's too: 0 ok, 1 warning, 2 critical, 3 unknown",
            bare: true,
        }
    }

    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
        writeln!(out, "{}", line(run.document))
    }

    fn exit(&self, run: &Material<'_>) -> Option<u8> {
        Some(status(run.document).1)
    }

    /// Any other exit code would mean a service in a critical state.
    fn failed(&self, why: &str) -> Option<(String, u8)> {
        Some((format!("SEATRIAL UNKNOWN - {}", plain(why)), 3))
    }
}

/// The word and the exit code. A run that judged nothing or skipped everything is unknown.
fn status(document: &Document) -> (&'static str, u8) {
    match document.verdict {
        Some(Verdict::Pass) => ("OK", 0),
        Some(Verdict::Warn) => ("WARNING", 1),
        Some(Verdict::Fail) => ("CRITICAL", 2),
        Some(Verdict::Unknown | Verdict::Skip) | None => ("UNKNOWN", 3),
    }
}

fn line(document: &Document) -> String {
    let (word, _) = status(document);
    // Worst first, in the text and in the performance data.
    let mut verdicts: Vec<&VerdictRecord> = document.verdicts.iter().collect();
    verdicts.sort_by_key(|verdict| std::cmp::Reverse(verdict.verdict));
    let label = |verdict: &VerdictRecord| format!("{} {}", verdict.criterion, judged(verdict));
    let text = text(&verdicts, &label);
    let data = performance(&verdicts, &label);
    let data = if data.is_empty() { data } else { format!(" |{data}") };
    format!("SEATRIAL {word} - {text}{data}")
}

/// The number of criteria that are met, and the worst of the others by name.
fn text(verdicts: &[&VerdictRecord], label: &dyn Fn(&VerdictRecord) -> String) -> String {
    let is_met = |verdict: &&&VerdictRecord| matches!(verdict.verdict, Verdict::Pass | Verdict::Skip);
    let open: Vec<&&VerdictRecord> = verdicts.iter().filter(|verdict| !is_met(verdict)).collect();
    let warned = open.iter().filter(|verdict| verdict.verdict == Verdict::Warn).count();
    let skipped = verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Skip).count();
    let mut text = match (verdicts.len() - skipped, open.len() - warned) {
        (0, _) => "nothing was judged".to_owned(),
        (all, 0) => format!("{all} of {all} criteria met"),
        (all, open) => format!("{open} of {all} criteria not met or not judged"),
    };
    if warned > 0 {
        text += &format!(", {warned} met with a warning");
    }
    if skipped > 0 {
        text += &format!(", {skipped} skipped");
    }
    let named = open.iter().take(MOST_NAMED).map(|verdict| {
        let measured = value_of(verdict).map(|it| format!(" {it}")).unwrap_or_default();
        format!("{} {}{measured}, wanted {}", verdict.verdict, label(verdict), verdict.bound)
    });
    for named in named {
        text += &format!("; {named}");
    }
    if open.len() > MOST_NAMED {
        text += &format!("; and {} more", open.len() - MOST_NAMED);
    }
    plain(&text)
}

/// A bar begins the performance data and a line feed ends the text, so neither may occur in the text.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c == '|' || c.is_control() { ' ' } else { c }).collect()
}

/// As many numbers as fit, the worst first, each after a blank.
fn performance(verdicts: &[&VerdictRecord], label: &dyn Fn(&VerdictRecord) -> String) -> String {
    let mut data = String::new();
    for entry in verdicts.iter().filter_map(|verdict| entry(&label(verdict), verdict)) {
        if data.len() + entry.len() + 1 > MOST_PERFDATA {
            break;
        }
        data += " ";
        data += &entry;
    }
    data
}

/// `'label'=value[UOM];warn;crit;;`. Seatrial's bound is the critical range; there is no warning range.
fn entry(label: &str, verdict: &VerdictRecord) -> Option<String> {
    let measured = verdict.measured?;
    let (uom, scale, named) = uom(measured.unit());
    let critical = critical(verdict, measured, scale).unwrap_or_default();
    // An equals sign or a quote would end the label; a doubled quote is an escaped quote.
    let label: String = format!("{label}{named}")
        .chars()
        .map(|c| if c == '=' || c == '|' || c.is_control() { ':' } else { c })
        .collect();
    Some(format!("'{}'={}{uom};;{critical};;", label.replace('\'', "''"), number(measured.value() * scale)))
}

/// The unit of the interface, the factor from `unit`, and the suffix of the label if the interface has no such unit
/// and the number is plain.
fn uom(unit: Unit) -> (&'static str, f64, String) {
    match unit.dimension() {
        Dimension::Time => ("s", unit.factor() / 1e9, String::new()),
        Dimension::Size => ("B", unit.factor(), String::new()),
        Dimension::Share => ("%", unit.factor(), String::new()),
        Dimension::Count => ("", 1.0, String::new()),
        Dimension::DataRate
        | Dimension::Frequency
        | Dimension::OperationRate
        | Dimension::Power
        | Dimension::Temperature
        | Dimension::Efficiency
        | Dimension::Price => ("", 1.0, format!(" [{unit}]")),
    }
}

/// The range outside of which the plugin interface raises an alarm: `9:` is below 9, `~:9` is above.
fn critical(verdict: &VerdictRecord, measured: Quantity, scale: f64) -> Option<String> {
    let bound = verdict.bound.as_str();
    let level = |text: &str| {
        // A percentage has its value in brackets: `at least 65 % of the limit (52 GB/s)`.
        let text = text.rsplit_once('(').map_or(text, |(_, inner)| inner.trim_end_matches(')'));
        let quantity: Quantity = text.parse().ok()?;
        Some(number(quantity.to(measured.unit()).ok()?.value() * scale))
    };
    if let Some(text) = bound.strip_prefix("at least ") {
        Some(format!("{}:", level(text)?))
    } else if let Some(text) = bound.strip_prefix("at most ") {
        Some(format!("~:{}", level(text)?))
    } else if let Some(text) = bound.strip_prefix("exactly ") {
        let level = level(text)?;
        Some(format!("{level}:{level}"))
    } else {
        let (low, high) = bound.strip_prefix("from ")?.split_once(" to ")?;
        Some(format!("{}:{}", level(low)?, level(high)?))
    }
}

/// Plain digits: the interface has no exponents.
fn number(value: f64) -> String {
    let digits = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    // Nine significant digits are more than any measurement has.
    let decimals = (8.0 - digits).clamp(0.0, 17.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use seatrial_model::Subject;

    use super::*;

    fn verdict(measured: &str, bound: &str) -> VerdictRecord {
        VerdictRecord {
            node: Some("n1".to_owned()),
            measured: Some(measured.parse().expect("a quantity")),
            ..VerdictRecord::new("fast", "t", Subject::node(), Verdict::Pass, bound)
        }
    }

    #[test]
    fn units_and_ranges_are_those_of_the_plugin_interface() {
        for (measured, bound, line) in [
            ("131.9 GB/s", "at least 55 % of the limit (168.96 GB/s)", "'fast [GB/s]'=131.9;;168.96:;;"),
            ("9.5 Gbit/s", "at least 9 Gbit/s", "'fast [Gbit/s]'=9.5;;9:;;"),
            ("62 us", "at most 0.1 ms", "'fast'=0.000062s;;~:0.0001;;"),
            ("0 %", "at most 0.0005 %", "'fast'=0%;;~:0.0005;;"),
            ("0 us", "at most 1 us", "'fast'=0s;;~:0.000001;;"),
            ("4 MiB", "from 1 MiB to 8 MiB", "'fast'=4194304B;;1048576:8388608;;"),
            ("3", "exactly 3", "'fast'=3;;3:3;;"),
            ("3", "at least 2 things", "'fast'=3;;;;"),
        ] {
            assert_eq!(entry("fast", &verdict(measured, bound)).as_deref(), Some(line));
        }
    }

    #[test]
    fn what_was_skipped_is_not_met_and_a_value_that_misses_does_not_look_equal() {
        let skipped = VerdictRecord { verdict: Verdict::Skip, ..verdict("1", "at least 1") };
        let missed = VerdictRecord {
            verdict: Verdict::Fail,
            margin_percent: Some(-0.0444),
            ..verdict("8.996 Gbit/s", "at least 9 Gbit/s")
        };
        let label = |verdict: &VerdictRecord| verdict.criterion.clone();
        assert_eq!(text(&[&skipped, &skipped], &label), "nothing was judged, 2 skipped");
        assert_eq!(
            text(&[&missed, &skipped], &label),
            "1 of 1 criteria not met or not judged, 1 skipped; fail fast 8.996 Gbit/s, wanted at least 9 Gbit/s"
        );
    }

    #[test]
    fn a_label_ends_neither_early_nor_the_line() {
        let found = entry("it's a=b|c\n", &verdict("1", "at least 1")).expect("an entry");
        assert_eq!(found, "'it''s a:b:c:'=1;;1:;;");
    }

    #[test]
    fn numbers_have_no_exponent() {
        assert_eq!(
            [1e-9, 6.2e-5, 1e12, 0.0, -2.5].map(number),
            ["0.000000001", "0.000062", "1000000000000", "0", "-2.5"]
        );
    }
}

//! The text format of Prometheus, for the textfile collector of node_exporter.
//!
//! Numbers have no timestamp: the collector refuses files with timestamps, and `seatrial_run_start_time_seconds`
//! gives their age. No label contains the id of a run, since every value of a label is a time series of its own for
//! as long as the server keeps it. Units are base units, by the naming rules of Prometheus.
//!
//! Written without a library: the format is a few lines of escaping, while prometheus-client (0.24) does not escape
//! label values (prometheus/client_rust, issue 151), and subjects, keys and parameters hold arbitrary device names.
//! The format: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

use jiff::Timestamp;
use seatrial_analysis::{Assignment, named_params};
use seatrial_model::profile::Profile;
use seatrial_model::record::{CaseRecord, Document};
use seatrial_model::{node_names, Dimension, Outcome, Unit, Verdict, VerdictRecord};

use super::columns::{ExportRow, Source, called, rows};
use super::{About, Export, Material, judged, nodes_of};
use crate::view::cases::by_id;

/// Gauges for the textfile collector.
pub struct Prometheus;

type Labels = BTreeMap<String, String>;

struct Family {
    help: String,
    samples: Vec<(Labels, f64)>,
}

#[derive(Default)]
struct Families(BTreeMap<String, Family>);

impl Export for Prometheus {
    fn about(&self) -> &'static About {
        &About {
            flag: "prometheus",
            value: "FILE.prom",
            help: "Prometheus text format, for the textfile collector of node_exporter: figures, limits and verdicts",
            bare: false,
        }
    }

    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
        out.write_all(families(run).text().as_bytes())
    }
}

fn families(run: &Material<'_>) -> Families {
    let document = run.document;
    let nobody = Profile::default();
    let roles = Assignment::new(run.profile.unwrap_or(&nobody), &document.run.nodes, &BTreeMap::new());
    let records = by_id(document);
    let mut families = Families::default();
    families.add_run(document);
    for verdict in &document.verdicts {
        families.add_verdict(verdict, of_nodes(&nodes_of(verdict, &records), &roles));
    }
    for record in &document.results {
        families.add_case(record, labels_of(record, &roles));
    }
    for row in rows(document) {
        families.add_number(&row, labels_of(row.case, &roles));
    }
    families
}

/// The labels of `nodes`, joined by `+`.
fn of_nodes(nodes: &str, roles: &Assignment) -> Labels {
    let mut all: Vec<String> = nodes.split('+').flat_map(|node| roles.roles_of(node)).collect();
    all.sort();
    all.dedup();
    labels(&[("node", nodes), ("role", &all.join("+"))])
}

fn labels_of(record: &CaseRecord, roles: &Assignment) -> Labels {
    let mut of = of_nodes(&node_names(&record.nodes), roles);
    of.extend(labels(&[
        ("subject", record.subject.as_str()),
        ("device", record.key.as_deref().unwrap_or_default()),
        ("test", &record.group),
    ]));
    of
}

/// The columns of the record that are gauges: suffix of the name, and help.
const GAUGES: [(&str, &str, &str); 4] = [
    ("median", "", "Median"),
    ("lo", "_lower", "Lower end of the 95 % interval of the median"),
    ("hi", "_upper", "Upper end of the 95 % interval of the median"),
    ("limit", "_limit", "The limit of the hardware"),
];

const VERDICTS: &str = "0 skip, 1 pass, 2 warn, 3 unknown, 4 fail, so that the largest is the overall \
                        verdict";

fn weight(verdict: Verdict) -> f64 {
    match verdict {
        Verdict::Skip => 0.0,
        Verdict::Pass => 1.0,
        Verdict::Warn => 2.0,
        Verdict::Unknown => 3.0,
        Verdict::Fail => 4.0,
    }
}

fn outcome(outcome: Outcome) -> f64 {
    match outcome {
        Outcome::Measured => 0.0,
        Outcome::Skipped => 1.0,
        Outcome::Unmeasured => 2.0,
        Outcome::Failed => 3.0,
    }
}

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The base unit as a suffix of a name, and the factor from `unit`.
fn base(unit: Unit) -> (&'static str, f64) {
    match unit.dimension() {
        Dimension::DataRate => ("_bytes_per_second", unit.factor()),
        Dimension::Size => ("_bytes", unit.factor()),
        // The base of the units' table is the nanosecond and the percent.
        Dimension::Time => ("_seconds", unit.factor() / 1e9),
        Dimension::Share => ("_ratio", unit.factor() / 100.0),
        Dimension::Count => ("", 1.0),
        Dimension::Frequency => ("_hertz", unit.factor()),
        Dimension::OperationRate => ("_per_second", unit.factor()),
        Dimension::Power => ("_watts", unit.factor()),
        Dimension::Temperature => ("_celsius", unit.factor()),
        Dimension::Efficiency => ("_per_joule", unit.factor()),
        Dimension::Price => ("_per_gigabit_per_second", unit.factor()),
    }
}

impl Families {
    fn add(&mut self, name: &str, help: &str, labels: Labels, value: f64) {
        let family = self.0.entry(name.to_owned());
        let family = family.or_insert_with(|| Family { help: help.to_owned(), samples: Vec::new() });
        family.samples.push((labels, value));
    }

    fn add_run(&mut self, document: &Document) {
        let info = &document.run;
        let profile = info.profile.as_ref().map(|profile| profile.id.as_str()).unwrap_or_default();
        let made = labels(&[("version", &info.seatrial), ("profile", profile)]);
        self.add("seatrial_run_info", "What made these figures; the value is always 1.", made, 1.0);
        let mut at = |name: &str, help: &str, at: Timestamp| {
            self.add(name, help, Labels::new(), at.as_millisecond() as f64 / 1e3);
        };
        let start = "When the run began, in seconds since 1970.";
        at("seatrial_run_start_time_seconds", start, info.started);
        if let Some(ended) = &info.ended {
            let end = "When the run ended, in seconds since 1970.";
            at("seatrial_run_end_time_seconds", end, ended.at);
        }
        // A profile without verdicts counts as unknown, so that alerts fire.
        let unjudged = info.profile.as_ref().map(|_| Verdict::Unknown);
        if let Some(verdict) = document.verdict.or(unjudged) {
            let help = format!("The judgement of the whole run: {VERDICTS}.");
            self.add("seatrial_run_verdict", &help, Labels::new(), weight(verdict));
        }
    }

    fn add_verdict(&mut self, verdict: &VerdictRecord, mut of: Labels) {
        of.extend(labels(&[
            ("test", &verdict.test),
            ("criterion", &verdict.criterion),
            ("subject", verdict.subject.as_str()),
            ("judged", &judged(verdict)),
        ]));
        if let Some(margin) = verdict.margin_percent {
            let help = "Margin of a figure to its bound, as a share of the bound; negative when the bound is \
                        missed.";
            self.add("seatrial_criterion_margin_ratio", help, of.clone(), margin / 100.0);
        }
        let help = format!("The judgement of a criterion: {VERDICTS}.");
        self.add("seatrial_criterion_verdict", &help, of, weight(verdict.verdict));
    }

    fn add_case(&mut self, record: &CaseRecord, mut of: Labels) {
        of.insert("case".to_owned(), record.case.to_string());
        let help = "How a case ended: 0 measured, 1 skipped, 2 could not be measured, 3 failed.";
        self.add("seatrial_case_outcome", help, of, outcome(record.outcome));
    }

    /// The number of `row`, if it is of a metric.
    fn add_number(&mut self, row: &ExportRow<'_>, mut of: Labels) {
        let Some(number) = row.number.filter(|_| row.metric().is_some()) else { return };
        for pair in named_params(row.case) {
            if let Some((name, value)) = pair.split_once('=') {
                of.insert(format!("param_{}", word(name)), value.to_owned());
            }
        }
        // Cases beside others and those of a growing group are no repeats of each other.
        let origin = &row.case.origin;
        of.extend(origin.step.map(|step| ("step".to_owned(), step.to_string())));
        if let Some(beside) = &origin.beside {
            of.insert("load".to_owned(), beside.load.clone());
            of.insert("load_percent".to_owned(), beside.percent.to_string());
            of.insert("is_load".to_owned(), beside.is_load.to_string());
        }
        let (bench, name, (unit, factor)) = (&row.case.bench, number.name, base(number.unit));
        let stem = format!("seatrial_{}_{}", word(bench), word(name));
        for (column, part, help) in GAUGES {
            let value = called(&[column]).into_iter().find_map(|(_, source)| match source {
                Source::Double(of) => of(row),
                _ => None,
            });
            if let Some(value) = value {
                let help = format!("{help} of {name} of {bench}.");
                self.add(&proper(&format!("{stem}{part}{unit}")), &help, of.clone(), value * factor);
            }
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (name, family) in &self.0 {
            // Writing to a String does not fail.
            let _ = writeln!(text, "# HELP {name} {}", escaped(&family.help, false));
            let _ = writeln!(text, "# TYPE {name} gauge");
            // All numbers of a name have the same labels, or a query that groups by one label would lose some.
            let names: BTreeSet<&String> =
                family.samples.iter().flat_map(|(labels, _)| labels.keys()).collect();
            // Two cases with the same labels, such as repeats of a study, are one series: the last one counts.
            let mut lines: BTreeMap<String, f64> = BTreeMap::new();
            for (labels, value) in &family.samples {
                let pair = |name: &&String| {
                    let value = labels.get(*name).map_or("", String::as_str);
                    format!("{name}=\"{}\"", escaped(value, true))
                };
                let pairs: Vec<String> = names.iter().map(pair).collect();
                lines.insert(pairs.join(","), *value);
            }
            for (labels, value) in lines {
                let _ = match labels.as_str() {
                    "" => writeln!(text, "{name} {value}"),
                    labels => writeln!(text, "{name}{{{labels}}} {value}"),
                };
            }
        }
        text
    }
}

/// Names with these suffixes are reserved for counters, histograms and summaries.
const RESERVED: [&str; 5] = ["_total", "_count", "_sum", "_bucket", "_info"];

fn proper(name: &str) -> String {
    if RESERVED.iter().any(|ending| name.ends_with(ending)) {
        format!("{name}_value")
    } else {
        name.to_owned()
    }
}

fn word(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

/// Escapes backslash and line feed, and in the value of a label also the quote.
fn escaped(text: &str, is_label: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '"' if is_label => out += "\\\"",
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_format_has_a_meaning_for_is_escaped() {
        assert_eq!(escaped("a\\b\n\"c\"", true), "a\\\\b\\n\\\"c\\\"");
        assert_eq!(escaped("say \"so\"", false), "say \"so\"");
    }

    #[test]
    fn units_become_base_units() {
        assert_eq!(base(Unit::GigabitsPerSecond), ("_bytes_per_second", 125e6));
        assert_eq!(base(Unit::Microsecond).0, "_seconds");
        assert!((base(Unit::Microsecond).1 - 1e-6).abs() < 1e-18);
        assert_eq!(base(Unit::Percent), ("_ratio", 0.01));
        assert_eq!(base(Unit::Ratio), ("_ratio", 1.0));
    }

    #[test]
    fn a_name_that_promises_a_counter_gets_another_end() {
        assert_eq!(proper("seatrial_a_count"), "seatrial_a_count_value");
        assert_eq!(proper("seatrial_a_bytes"), "seatrial_a_bytes");
    }

    #[test]
    fn a_family_has_the_same_labels_in_every_line() {
        let mut families = Families::default();
        families.add("a", "A.", labels(&[("x", "1")]), 1.0);
        families.add("a", "A.", labels(&[("y", "2")]), 2.5);
        assert_eq!(
            families.text(),
            "# HELP a A.\n# TYPE a gauge\na{x=\"\",y=\"2\"} 2.5\na{x=\"1\",y=\"\"} 1\n"
        );
    }
}

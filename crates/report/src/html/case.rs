//! One case in full: all numbers, the derivation of its limits, its curves, the command to repeat it, its raw
//! samples.

use askama::Template;
use seatrial_model::record::{CaseRecord, MetricRecord};
use seatrial_model::{Bound, Outcome, VerdictRecord};

use super::case_plots::CasePlots;
use super::curve::Figure;
use super::download::{Download, samples};
use super::filter::Filter;
use super::heat::Heat;
use super::shown::Shown;
use super::table::PageTable;
use super::waterfall::{Drawn, drawn};
use super::words::{grouped, text};
use crate::number::signed_percent;
use crate::repeat_command::repeat;
use crate::view::cases::{headline, in_full};
use crate::view::values::measured;
use crate::words::{Badge, cut, span};
use seatrial_analysis::Waterfall;

/// Waterfalls per case; metrics often share their limit.
const MOST_FALLS: usize = 3;

const LONGEST_EVIDENCE: usize = 400;

#[derive(Clone, Debug, Template)]
#[template(path = "case.html")]
pub struct Full {
    pub id: String,
    pub title: String,
    pub badge: Badge,
    pub filter: Filter,
    /// Why it has no numbers, or another remark.
    pub why: String,
    pub judged: Vec<(Badge, String)>,
    pub numbers: PageTable,
    pub falls: Vec<Drawn>,
    /// Reasons for missing limits: reason and metrics.
    pub unlimited: Vec<(String, String)>,
    pub figures: Vec<Figure>,
    pub heats: Vec<Heat>,
    pub tables: Vec<PageTable>,
    pub command: String,
    pub download: Option<Download>,
    /// Where the samples are instead.
    pub no_download: String,
    /// Parameters, choices, duration.
    pub facts: Vec<(String, String)>,
    pub evidence: Vec<(String, String)>,
}

/// `case` in full, with `plots`; `left` is the number of bytes of samples that still fit into the page.
pub fn full(shown: &Shown<'_>, case: &CaseRecord, plots: CasePlots, left: &mut usize) -> Full {
    let id = shown.place(case.case.as_str());
    let CasePlots { figures, heats, tables } = plots;
    let (download, no_download) = match samples(case, &id, left) {
        Ok(download) => (Some(download), String::new()),
        Err(instead) => (None, text(&instead)),
    };
    let falls = falls(case);
    let again = case
        .retry_of
        .as_ref()
        .map(|lost| format!("Measured in place of {lost}, in which the partner failed."));
    let why = case.reason.clone().or(again).unwrap_or_default();
    Full {
        title: text(case.case.as_str()),
        badge: match (shown.verdict(case), case.outcome) {
            (Some(verdict), _) => verdict.into(),
            (None, Outcome::Measured) if shown.document.verdict.is_some() => Badge::NOT_JUDGED,
            (None, outcome) => outcome.into(),
        },
        filter: shown.filter(case),
        why: text(&why),
        judged: shown.judgements(case).iter().map(|record| judged(record)).collect(),
        numbers: PageTable::new(&in_full(case), usize::MAX),
        falls,
        unlimited: unlimited(case),
        figures,
        heats,
        tables,
        command: text(&repeat(case, &shown.document.run)),
        download,
        no_download,
        facts: facts(case),
        evidence: evidence(case),
        id,
    }
}

/// The waterfalls. Metrics with the same bounds lose at the same places: the first of them is shown.
fn falls(case: &CaseRecord) -> Vec<Drawn> {
    let mut metrics: Vec<(&String, &MetricRecord)> = case.metrics.iter().collect();
    let first = headline(&[case]);
    metrics.sort_by_key(|(name, _)| Some(name.as_str()) != first);
    let mut told: Vec<&[Bound]> = Vec::new();
    let mut falls = Vec::new();
    for (name, metric) in metrics {
        let chain = metric.limit.chain.as_slice();
        if falls.len() < MOST_FALLS && !told.contains(&chain) {
            told.push(chain);
            falls.extend(Waterfall::of(case, name, metric).map(|found| drawn(name, metric, &found)));
        }
    }
    falls
}

fn judged(record: &VerdictRecord) -> (Badge, String) {
    let measured = measured(record).map(|measured| format!(": {}", grouped(&measured)));
    let margin = record.margin_percent.map(|margin| format!(", margin {}", signed_percent(margin)));
    let rest = [&record.reason, &record.waiver].into_iter().flatten().map(|said| format!(". {said}"));
    let said = [
        record.criterion.clone(),
        measured.unwrap_or_default(),
        format!(", {} wanted", record.bound),
        margin.unwrap_or_default(),
    ];
    (record.verdict.into(), text(&said.into_iter().chain(rest).collect::<String>()))
}

fn unlimited(case: &CaseRecord) -> Vec<(String, String)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, metric) in case.metrics.iter().filter(|(_, metric)| metric.limit.value.is_none()) {
        let reason = text(metric.limit.reason.as_deref().unwrap_or("the reason was not recorded"));
        match found.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => found.push((reason, vec![name])),
        }
    }
    found.into_iter().map(|(reason, names)| (reason, text(&names.join(", ")))).collect()
}

fn facts(case: &CaseRecord) -> Vec<(String, String)> {
    let params = |params: &seatrial_model::Params| text(&params.to_string().replace(',', ", "));
    let took = std::time::Duration::try_from_secs_f64(case.seconds).map(span).unwrap_or_default();
    let key = case.key.as_ref().map(|key| format!(" · {key}")).unwrap_or_default();
    let facts = [
        ("nodes", text(&case.nodes.join(", "))),
        ("subject", text(&format!("{}{key}", case.subject))),
        ("asked for", params(&case.params)),
        ("chosen", params(&case.chosen)),
        ("layout", params(&case.layout)),
        ("origin", text(&case.origin.to_string())),
        ("took", if case.outcome == Outcome::Skipped { String::new() } else { took }),
        ("version", format!("{} {}", text(&case.bench), case.version)),
    ];
    facts
        .into_iter()
        .filter(|(_, said)| !said.is_empty())
        .map(|(name, said)| (name.to_owned(), said))
        .collect()
}

fn evidence(case: &CaseRecord) -> Vec<(String, String)> {
    let said = |value: &serde_json::Value| match value {
        serde_json::Value::String(said) => said.clone(),
        value => value.to_string(),
    };
    case.evidence
        .iter()
        .map(|(name, value)| (text(name), cut(&text(&said(value)), LONGEST_EVIDENCE)))
        .collect()
}

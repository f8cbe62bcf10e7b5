//! Metrics and findings of the searches of all trials.

use std::collections::BTreeMap;

use seatrial_model::{
    Case, Cause, Finding, Measures, Nanos, Params, PartRecord, Quantity, Reason, Row, Severity, Unit, Values,
};
use serde::Deserialize;
use serde_json::json;

use super::rate_search::{Border, Came, Step, found};
use super::record::STEPS;
use seatrial_bench::Transferred;

/// Gbit/s of one byte per second.
const GBIT: f64 = 8e-9;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let trials: Vec<Vec<Step>> = parts.iter().filter_map(steps).collect();
    let (mut best, mut borders, mut without) = (Vec::new(), Vec::new(), None);
    for steps in &trials {
        match found(steps) {
            (Some(step), border) => {
                best.push(vec![step.offered * GBIT]);
                borders.push(border);
            }
            (None, _) => without = Some(steps),
        }
    }
    if best.len() * 2 <= trials.len() {
        return Err(nothing_found(without.map_or(&[][..], Vec::as_slice)));
    }
    let mut measures = Measures::default();
    let gbit = Unit::GigabitsPerSecond;
    measures.metric("loss_free", gbit, best);
    for (name, unit, of) in [
        ("step_offered", gbit, (|step| step.offered * GBIT) as fn(&Step) -> f64),
        ("step_received", gbit, |step| step.offered * GBIT * step.received as f64 / step.sent.max(1) as f64),
        ("step_sent", Unit::Count, |step| step.sent as f64),
        ("step_lost", Unit::Count, |step| step.lost as f64),
    ] {
        measures.series.insert(name.to_owned(), rows(&trials, unit, of));
    }
    measures.evidence.insert("search".to_owned(), json!(trials));
    measures.evidence.insert("search_border".to_owned(), json!(borders));
    transferred(parts).tell(case, &mut measures);
    measures.findings.extend(not_reached(case, &trials, &borders));
    Ok(measures)
}

fn steps(part: &PartRecord) -> Option<Vec<Step>> {
    Vec::deserialize(part.evidence.get(STEPS)?).ok()
}

/// Payload that arrived in all steps. No datagrams are in flight when a step ends.
fn transferred(parts: &[PartRecord]) -> Transferred {
    let mut moved = Transferred::default();
    for part in parts {
        let came = |step: &Step| {
            let offered = step.offered * Nanos(step.span_ns).as_secs();
            offered * step.received as f64 / step.sent.max(1) as f64
        };
        let bytes: f64 = steps(part).iter().flatten().map(came).sum();
        *(if part.index == 0 { &mut moved.forward } else { &mut moved.reverse }) += bytes as u64;
    }
    moved
}

fn rows(trials: &[Vec<Step>], unit: Unit, of: fn(&Step) -> f64) -> Vec<Row> {
    let most = trials.iter().map(Vec::len).max().unwrap_or(0);
    let row = |at: usize| Row {
        at: [("step".to_owned(), (at as u64 + 1).into())].into_iter().collect::<Params>(),
        values: Values {
            unit,
            trials: trials.iter().filter_map(|steps| Some(vec![of(steps.get(at)?)])).collect(),
        },
    };
    (0..most).map(row).collect()
}

/// A trial without loss gives the highest offered rate; the path may carry more.
fn not_reached(case: &Case, trials: &[Vec<Step>], borders: &[Border]) -> Option<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for border in borders {
        let why = match border {
            Border::Lost => continue,
            Border::Refused => "the sender's own link accepted no more",
            Border::NotReached => "the sender could offer no more, and all datagrams arrived",
            Border::Unfinished => "the time ended before the search (raise -p time=)",
        };
        *counts.entry(why).or_default() += 1;
    }
    if counts.is_empty() {
        return None;
    }
    let why: Vec<String> =
        counts.iter().map(|(why, count)| format!("in {count} of {} trials {why}", trials.len())).collect();
    let text = format!("the rate at which loss begins was not reached: {}", why.join("; "));
    let mut finding = Finding::new("loss-free-not-reached", Severity::Info, case.subject.clone(), text);
    finding.value = Quantity::new(counts.values().sum::<usize>() as f64, Unit::Count).ok();
    finding.evidence = vec!["search".to_owned(), "search_border".to_owned()];
    Some(finding)
}

fn nothing_found(steps: &[Step]) -> Reason {
    let slowest = |came: Came| {
        let those = steps.iter().filter(move |step| step.came == came);
        those.min_by(|one, other| one.offered.total_cmp(&other.offered))
    };
    match (slowest(Came::Lost), slowest(Came::Late)) {
        (Some(lost), _) => {
            let text = format!(
                "no rate was loss-free: even at {:.6} Gbit/s, {} of {} datagrams were lost; run with \
                 -p rate= to see where",
                lost.offered * GBIT,
                lost.lost,
                lost.sent
            );
            Reason::new(Cause::TooShort, text)
        }
        (None, Some(late)) => {
            let text = format!(
                "the sender could not offer {:.6} Gbit/s in any step; raise -p threads= or use a faster sender",
                late.asked.unwrap_or(late.offered) * GBIT
            );
            Reason::new(Cause::Underloaded, text)
        }
        (None, None) => Reason::new(Cause::TooShort, "no step of the search was complete; raise -p time="),
    }
}

//! Reduces slices to the matrix of pairs, and the slowest pair per operation.

use seatrial_model::{
    About, Case, Cause, Finding, Measures, Params, PartRecord, Reason, Row, Severity, Subject, Unit, Values,
};

use crate::{Slice, by_slice, missing, tell};
use seatrial_bench::{Trials, by_coords, median};

#[derive(PartialEq)]
struct What {
    operation: String,
    gpu: u64,
    peer: Option<u64>,
}

const LATENCIES: [(&str, &str); 2] = [("latency", "latencies"), ("latency_memory", "memory_latencies")];

pub fn reduce(about: &About, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let (cells, lost) = by_slice(parts, of_slice);
    let chases = LATENCIES.map(|(metric, series)| {
        let each =
            by_coords(parts, metric, |sample| Some(sample.span().get() as f64 / sample.amount.value()));
        (metric, series, each)
    });
    if cells.is_empty() && chases.iter().all(|(.., places)| places.is_empty()) {
        let text = "no slice of copies finished within the time; raise -p time= or lower -p size=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let rates = |trials: &Trials| Values { unit: Unit::GigabytesPerSecond, trials: trials.clone() };
    // A missing pair may be the slowest.
    if missing(parts).is_empty() {
        for metric in about.metrics {
            let of = cells.iter().filter(|(what, _)| what.operation == metric.name);
            if let Some((_, trials)) = of.min_by(|(_, a), (_, b)| median(a).total_cmp(&median(b))) {
                measures.metrics.insert(metric.name.to_owned(), rates(trials));
            }
        }
        for (metric, _, places) in &chases {
            let slowest = places.iter().max_by(|a, b| a.median().total_cmp(&b.median()));
            slowest.into_iter().for_each(|place| {
                measures.metrics.insert((*metric).to_owned(), place.values(Unit::Nanosecond));
            });
        }
    }
    let row = |(what, trials): &(What, Trials)| {
        let mut at = Params::default();
        at.set("operation", what.operation.as_str());
        match what.peer {
            Some(peer) => {
                at.set("from", what.gpu);
                at.set("to", peer);
            }
            None => at.set("gpu", what.gpu),
        }
        Row { at, values: rates(trials) }
    };
    for (name, pairs) in [("pairs", true), ("groups", false)] {
        let rows: Vec<Row> = cells.iter().filter(|(what, _)| what.peer.is_some() == pairs).map(row).collect();
        if !rows.is_empty() {
            measures.series.insert(name.to_owned(), rows);
        }
    }
    for (_, series, places) in chases.iter().filter(|(.., places)| !places.is_empty()) {
        let rows = places.iter().map(|place| place.row(Unit::Nanosecond));
        measures.series.insert((*series).to_owned(), rows.collect());
    }
    tell(&mut measures, case, parts);
    measures.findings.extend(lost.finding());
    let apart =
        parts.last().and_then(|part| part.evidence.get("apart")?.as_array().map(Vec::len)).unwrap_or(0);
    if apart > 0 {
        let text = format!(
            "{apart} pairs of GPUs have no peer access: the driver copies through host memory; see \
             nvidia-smi topo -p2p rw"
        );
        measures.findings.push(Finding::new("no-peer-access", Severity::Warning, Subject::node(), text));
    }
    Ok(measures)
}

/// Sum of all flows of a slice, in GB/s. The flows of a pair run at the same time; those of a group may queue behind
/// one another, because one copy engine may serve several targets.
fn of_slice(slice: Slice<'_>) -> Vec<(What, f64)> {
    let at = slice.at();
    let operation = at.text("operation").unwrap_or_default().to_owned();
    let what = What { operation, gpu: at.count("gpu").unwrap_or(0), peer: at.count("peer").ok() };
    let bytes_per_second = match what.peer {
        Some(_) => slice.rates().map(|rates| rates.iter().map(|rate| rate.bytes_per_second).sum()),
        None => slice.whole(),
    };
    bytes_per_second.map(|rate: f64| (what, rate / 1e9)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::{Nanos, Sample};

    /// A slice of an operation of GPU 0, in which each lane moves 40 GB from start to end, in milliseconds.
    fn slice(operation: &str, peer: Option<u64>, lanes: &[(u64, u64)]) -> Vec<Sample> {
        let sample = |(lane, (start, end)): (usize, &(u64, u64))| {
            let mut at = Params::default();
            at.set("operation", operation);
            at.set("gpu", 0_u64);
            peer.into_iter().for_each(|peer| at.set("peer", peer));
            at.set("lane", lane as u64);
            at.set("slice", u64::from(peer.is_some()));
            Sample {
                channel: "copy".to_owned(),
                at,
                start: Nanos::millis(*start),
                end: Nanos::millis(*end),
                amount: "40 GB".parse().expect("an amount"),
            }
        };
        lanes.iter().enumerate().map(sample).collect()
    }

    #[test]
    fn copies_of_a_group_that_queue_behind_one_another_count_and_those_of_a_pair_are_told() {
        let queued = [(0, 125), (125, 250), (250, 375)];
        let part = seatrial_testkit::part(
            [slice("one_to_all", None, &queued), slice("both_write", Some(1), &queued[..2])].concat(),
        );
        let (cells, lost) = by_slice(&[part], of_slice);
        let [(what, trials)] = cells.as_slice() else { panic!("{} cells", cells.len()) };
        assert_eq!((what.operation.as_str(), trials), ("one_to_all", &vec![vec![320.0]]));
        assert!(lost.finding().is_some_and(|finding| finding.text.starts_with("in 1 of 2 slices")));
    }
}

//! Reduces timed runs to the latency of a hop.

use seatrial_model::{
    Bytes, Case, Cause, Finding, Measures, Params, PartRecord, Reason, Severity, Subject, Unit,
};
use seatrial_stats::Sorted;

use super::part::CHANNEL;
use super::plateau;
use crate::chase::hop_ns;
use seatrial_bench::{AtCoords, by_coords, numa_check};

/// Least share of memory in huge pages, in percent; below it, a finding names TLB misses.
const MOSTLY_HUGE: f64 = 90.0;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let mut places = by_coords(parts, CHANNEL, hop_ns);
    if places.is_empty() {
        let text = "no run was long enough for the resolution of the clock; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    let mut measures = Measures::default();
    let mut metric = |name: &str, place: Option<&AtCoords>| {
        if let Some(place) = place {
            measures.metrics.insert(name.to_owned(), place.values(Unit::Nanosecond));
        }
    };
    let matrix = places.iter().all(|place| place.at.get("memory_node").is_some());
    if matrix {
        let is_local = |place: &&AtCoords| place.at.get("cpu_node") == place.at.get("memory_node");
        metric("local", slowest(places.iter().filter(is_local)));
        metric("remote", slowest(places.iter().filter(|place| !is_local(place))));
        if let Some(trials) = nearest_other(&places) {
            measures.metric("nearest_other", Unit::Percent, trials);
        }
    } else {
        places.sort_by_key(|place| size(&place.at));
        let of_size = |name: &str| {
            let wanted = case.planned.bytes(name).ok().flatten()?;
            places.iter().find(|place| size(&place.at) == Some(wanted))
        };
        metric("latency", of_size("size"));
        for level in ["l1", "l2", "l3"] {
            metric(level, of_size(&format!("{level}_at")));
        }
    }
    if !matrix && !measures.metrics.contains_key("latency") {
        let text = "the time was over before the largest ring was measured; raise -p time=";
        return Err(Reason::new(Cause::TooShort, text));
    }
    if !matrix {
        measures.findings.extend(levels(case, &places));
    }
    let rows = places.iter().map(|place| place.row(Unit::Nanosecond)).collect();
    measures.series.insert(if matrix { "matrix" } else { "by_size" }.to_owned(), rows);
    measures.keep_evidence(parts.first(), &["place", "pages", "clock", "probes"]);
    measures.keep_integrity(parts.first());
    measures.findings.extend(parts.iter().find_map(|part| numa_check(&part.evidence)));
    measures.findings.extend(parts.iter().find_map(|part| in_base_pages(case, part)));
    Ok(measures)
}

fn size(at: &Params) -> Option<Bytes> {
    at.bytes("size").ok().flatten()
}

fn slowest<'a>(places: impl Iterator<Item = &'a AtCoords>) -> Option<&'a AtCoords> {
    places.max_by(|a, b| a.median().total_cmp(&b.median()))
}

/// By trial, the latency of the nearest other memory in percent of that of the own memory, of the node where this is least.
/// Nodes without memory of their own have none.
fn nearest_other(places: &[AtCoords]) -> Option<Vec<Vec<f64>>> {
    let node = |place: &AtCoords, axis: &str| place.at.count(axis).ok();
    let in_trial = |place: &AtCoords, trial: usize| {
        Sorted::pooled(place.trials.get(trial..=trial)?).ok().map(|sorted| sorted.median())
    };
    let of_node = |own: &AtCoords, trial: usize| {
        let cpus = node(own, "cpu_node");
        let others = places.iter().filter(|other| {
            node(other, "cpu_node") == cpus && node(other, "memory_node") != node(own, "memory_node")
        });
        let nearest = others.filter_map(|other| in_trial(other, trial)).reduce(f64::min)?;
        Some(100.0 * nearest / in_trial(own, trial)?)
    };
    let own: Vec<&AtCoords> =
        places.iter().filter(|place| node(place, "cpu_node") == node(place, "memory_node")).collect();
    let trials = own.iter().map(|place| place.trials.len()).min()?;
    let least = |trial: usize| own.iter().filter_map(|own| of_node(own, trial)).reduce(f64::min);
    let values: Vec<Vec<f64>> = (0..trials).filter_map(|trial| Some(vec![least(trial)?])).collect();
    (!values.is_empty()).then_some(values)
}

fn levels(case: &Case, places: &[AtCoords]) -> Option<Finding> {
    let curve: Vec<(u64, f64)> =
        places.iter().filter_map(|place| Some((size(&place.at)?.get(), place.median()))).collect();
    let cache = |level: u32| {
        let bytes = case.planned.bytes(&format!("l{level}")).ok().flatten()?;
        Some((level, bytes.get()))
    };
    let caches: Vec<(u32, u64)> = (1..=4).filter_map(cache).collect();
    let text = plateau::describe(&curve, &caches)?;
    let mut finding = Finding::new("cache-levels", Severity::Info, Subject::node(), text);
    finding.evidence = vec!["by_size".to_owned()];
    Some(finding)
}

/// Finding: huge pages were requested, but most of the memory is in base pages.
fn in_base_pages(case: &Case, part: &PartRecord) -> Option<Finding> {
    let share = part.evidence.get("pages")?.get("huge_percent")?.as_f64()?;
    let asked = case.params.text("pages").is_ok_and(|pages| pages == "base");
    if asked || share >= MOSTLY_HUGE {
        return None;
    }
    let text = format!(
        "only {share:.0} % of the memory is in huge pages, so the latency of large sizes includes TLB \
         misses: check /sys/kernel/mm/transparent_hugepage/enabled, or whether memory is fragmented"
    );
    Some(Finding::new("base-pages", Severity::Info, Subject::node(), text))
}

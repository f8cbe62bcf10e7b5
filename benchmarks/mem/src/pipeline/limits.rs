//! Limits of the hardware.

use seatrial_inventory::memory_bandwidth;
use seatrial_model::machine::Known;
use seatrial_model::{About, Bound, Case, Limit, Limits, Quantity, Site, Unit};

use super::settings::{Mode, Settings};

pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let memory = memory(case, site);
    let pace = Settings::of(&case.params).ok().filter(|settings| settings.mode == Mode::Paced);
    let limit = |metric: &str| match metric {
        "throughput" => {
            let desired = pace.as_ref().map(|settings| {
                let desired = settings.scenario.desired();
                let formula = format!("{desired}: the scenario supplies blocks at this rate and no faster");
                Bound { value: desired, formula, provenance: "scenario".to_owned(), nominal: None }
            });
            chain(memory.clone(), desired)
        }
        "achieved" => {
            let value = Quantity::new(100.0, Unit::Percent).ok();
            let formula = "the pace of the scenario".to_owned();
            let whole =
                value.map(|value| Bound { value, formula, provenance: "scenario".to_owned(), nominal: None });
            chain(Err(String::new()), whole)
        }
        "headroom" => headroom(case, memory.clone()),
        "traffic_least" => chain(memory.clone(), None),
        "traffic_most" => unknown("an upper estimate, which may exceed the bandwidth of the memory bus"),
        _ => unknown("no hardware fact bounds the lateness of a thread"),
    };
    about.limits(limit)
}

/// Memory bandwidth, or why it is no bound. Every counted byte is loaded or stored once, and crosses the memory bus
/// at least once unless a cache holds it. The bus may carry more (write-allocate reads), so the bound is loose but
/// valid.
fn memory(case: &Case, site: &Site) -> Result<Bound, String> {
    if case.findings.iter().any(|finding| finding.kind == "cache-resident") {
        return Err("part of the blocks stays in the caches, so memory does not bound the traffic".to_owned());
    }
    match case.nodes.first().and_then(|node| site.machine(node)).map(memory_bandwidth) {
        Some(Known::Known(bound)) => Ok(bound),
        Some(Known::Unknown(reason)) => Err(reason),
        None => Err("the node is not in the inventory".to_owned()),
    }
}

/// The pace at which the counted bytes alone fill the memory bus.
fn headroom(case: &Case, memory: Result<Bound, String>) -> Limit {
    let desired = Settings::of(&case.params).map(|settings| settings.scenario.desired());
    let Ok(desired) = desired else { return unknown("the case names an unknown scenario") };
    let bound = memory.and_then(|bound| {
        let memory = bound.value.to(desired.unit()).map_err(|error| error.to_string())?;
        let value = Quantity::new(memory.value() / desired.value(), Unit::Count);
        let formula = format!("{} / {desired}", bound.formula);
        Ok(Bound {
            value: value.map_err(|error| error.to_string())?,
            formula,
            provenance: bound.provenance,
            nominal: None,
        })
    });
    chain(bound, None)
}

fn chain(first: Result<Bound, String>, second: Option<Bound>) -> Limit {
    match (first, second) {
        (Err(reason), None) => Limit::Unknown { reason },
        (first, second) => Limit::Chain(first.into_iter().chain(second).collect()),
    }
}

fn unknown(reason: &str) -> Limit {
    Limit::unknown(reason)
}

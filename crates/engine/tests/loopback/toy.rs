//! Registry, definitions and cases of the toys.

use seatrial_bench::Registry;
use seatrial_model::{
    About, Budget, Case, Kind, MetricSpec, Nanos, ParamSpec, Params, PartPlacement, Parts, Site, Subject,
    Unit,
};

use crate::{pair, ring};

pub static REGISTRY: Registry =
    Registry { families: &[&[pair::BENCHMARK, ring::BENCHMARK]], planned: &[], aliases: &[] };

const METRICS: &[MetricSpec] = &[
    MetricSpec::higher_is_better("throughput", Unit::MegabytesPerSecond)
        .doc("Bytes received in the common window."),
    MetricSpec::lower_is_better("lost", Unit::Byte).doc("Bytes sent and not received."),
    MetricSpec::higher_is_better("laps", Unit::PerSecond).doc("Laps of the token."),
];

/// The definition of a toy with its own parameters.
pub const fn about(id: &'static str, params: &'static [ParamSpec], parts: Parts) -> About {
    About {
        id,
        title: "a toy",
        doc: "# A toy",
        params,
        metrics: METRICS,
        parts,
        probes: &["vmstat"],
        ..About::WORKER
    }
}

/// The parameter that injects a fault.
pub const FAULT: ParamSpec = ParamSpec::new(
    "fault",
    Kind::Choice(&["none", "receiver-aborts", "sender-hangs", "sender-loses-a-byte", "corrupt", "endless"]),
    "none",
)
.doc("What goes wrong.");

/// A case of `about` with parts `names`, all on the first node of `site`.
pub fn case(about: &About, names: &[&str], params: &Params, site: &Site) -> Case {
    let endless = params.text("fault").is_ok_and(|fault| fault == "endless");
    let budget = Budget {
        trials: 2,
        max_trials: 2,
        warm_up: Nanos::millis(20),
        measure: if endless { Nanos::secs(600) } else { Nanos::millis(80) },
        prepare: Nanos::secs(120),
        precision_percent: 50.0,
        ..Budget::NOTHING
    };
    let node = &site.nodes[0].name;
    let mut case = Case::new(about, node, Subject::node(), params, budget);
    let place = |(index, part): (u32, &&str)| PartPlacement {
        part: (*part).to_owned(),
        index,
        node: node.clone(),
        bindings: Vec::new(),
    };
    case.places = (0..).zip(names).map(place).collect();
    case
}

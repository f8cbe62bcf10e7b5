//! The case between two nodes, and the limits of its path.

use seatrial_model::{About, Case, Cause, Limit, Limits, Nanos, Params, Reason, Site};

use super::method_probe;
use seatrial_bench::affinity::{place_threads, place_threads_over};
use seatrial_bench::ends::Ends;
use seatrial_bench::link_limits;
use seatrial_bench::{Direction, WARM_UP};

use crate::rails;

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    contradictions(params)?;
    let directions = Direction::asked(params).len();
    let flows = params.count("flows").unwrap_or(1) as usize;
    let rails = rails::asked(params, site)?;
    let placement = match rails.as_slice() {
        [] => place_threads(&ends, site, params, flows * directions)?,
        rails => {
            let nics = rails::interfaces(rails, params, site)?;
            if flows < rails.len() {
                let (list, needed) = (rails::word(rails), rails.len());
                let text = format!(
                    "rails={list}: {flows} flows do not use all interfaces; set -p flows={needed} or more"
                );
                return Err(Reason::new(Cause::Contradiction, text));
            }
            let path_of: Vec<usize> = (0..flows * directions)
                .map(|thread| rails::rail_of((thread % flows) as u32, rails.len()))
                .collect();
            place_threads_over(&ends, site, params, &nics, &path_of)?
        }
    };
    let mut budget = seatrial_bench::budget(params)?;
    let auto = |name: &str| params.text(name) == Ok("auto");
    let tcp = params.text("protocol") == Ok("tcp");
    let needed = method_probe::warm_up(tcp && auto("send"), tcp && auto("receive"));
    if params.nanos(WARM_UP.name).is_err() {
        budget.warm_up = needed;
    } else if budget.warm_up < needed {
        let text = format!(
            "warm_up={} is too short to try all methods, which takes {needed}: raise it, or set send= and receive=",
            budget.warm_up
        );
        return Err(Reason::new(Cause::Contradiction, text));
    }
    budget.overhead = Nanos::millis(250);
    let mut case = ends.case(about, params, budget);
    if !rails.is_empty() {
        rails::plan(&mut case, &rails);
    }
    placement.apply(&ends, about.parts.names(), &mut case);
    Ok(vec![case])
}

fn contradictions(params: &Params) -> Result<(), Reason> {
    let text = |name: &str| params.text(name).unwrap_or("auto").to_owned();
    let protocol = text("protocol");
    let refuse = |text: String| Err(Reason::new(Cause::Contradiction, text));
    if protocol == "sctp" {
        for (name, only) in [("send", "write"), ("receive", "read"), ("congestion", "auto")] {
            let asked = text(name);
            if asked != "auto" && asked != only {
                return refuse(format!("protocol=sctp does not support {name}={asked}"));
            }
        }
    }
    if protocol != "tcp" && params.count("mtu").is_ok() {
        return refuse(format!("protocol={protocol} does not support mtu="));
    }
    if protocol == "mptcp" && text("receive") == "zerocopy" {
        return refuse("protocol=mptcp does not support receive=zerocopy".to_owned());
    }
    Ok(())
}

/// The tightest of both cards' bounds, times the payload share of the frames on the wire.
pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let one_direction = rails::limits(case, site, link_limits::tcp);
    let directions = Direction::of_case(case).len();
    let limit = |metric: &str| match (metric, &one_direction) {
        ("throughput" | "slowest", Ok(bounds)) => Limit::Chain(link_limits::times(bounds, directions)),
        ("forward" | "reverse", Ok(bounds)) if directions > 1 => Limit::Chain(bounds.clone()),
        ("throughput" | "slowest" | "forward" | "reverse", Err(reason)) => Limit::unknown(reason.clone()),
        ("forward" | "reverse", Ok(_)) => Limit::unknown("only with direction=both"),
        ("fairness", _) => {
            Limit::Unknown { reason: "1 by definition, so no limit of the hardware".to_owned() }
        }
        ("retransmits", _) => Limit::Unknown {
            reason: "0 is best; no number of retransmissions follows from the path".to_owned(),
        },
        _ => seatrial_bench::no_limit(),
    };
    about.limits(limit)
}

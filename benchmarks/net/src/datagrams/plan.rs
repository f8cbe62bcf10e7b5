//! The case between two ends, its threads, and the limits of its path.

use seatrial_model::{
    About, Binding, Bound, Bytes, Case, Cause, Limit, Limits, Nanos, Params, Reason, Site, Value,
};

use super::config::search_time;
use super::config::{MOST_MESSAGE, SEARCH, rate};
use seatrial_bench::Direction;
use seatrial_bench::affinity::place_threads;
use seatrial_bench::ends::Ends;
use seatrial_bench::goodput::{Goodput, Ip, Transport};
use seatrial_bench::{core_bindings, link_limits};

/// Default receive buffer: 20 ms at 3 Gbit/s, so that a receiver without a CPU for a moment loses nothing.
const BUFFER: Bytes = Bytes::mib(8);

pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let ends = Ends::of(site, params)?;
    let directions = Direction::asked(params);
    Ok(vec![between(about, params, site, &ends, directions)?])
}

pub fn between(
    about: &About,
    params: &Params,
    site: &Site,
    ends: &Ends<'_>,
    directions: &[Direction],
) -> Result<Case, Reason> {
    contradictions(params)?;
    let roles = directions.len();
    let flows = params.count("flows").unwrap_or(1) as usize;
    let cores = cores(site)?;
    let most = (cores / roles / if ends.on_one_kernel() { 2 } else { 1 }).max(1);
    let threads = match params.get("threads") {
        Some(Value::Count(asked)) => (*asked as usize).min(flows),
        _ => flows.min(most),
    };
    let placement = place_threads(ends, site, params, threads * roles)?;
    let mut case = ends.case(about, params, seatrial_bench::budget(params)?);
    case.planned.set("threads", threads as u64);
    case.planned.set("buffer", params.bytes("buffer").ok().flatten().unwrap_or(BUFFER));
    let pacing = match params.text("pacing") {
        Ok("auto") => pacing(&placement.bindings, ends.on_one_kernel()),
        Ok(asked) => asked,
        Err(_) => "sleep",
    };
    case.planned.set("pacing", pacing);
    let mut parts = about.parts.names().to_vec();
    if directions == [Direction::Reverse] {
        parts.reverse();
    }
    placement.apply(ends, &parts, &mut case);
    if params.get("direction").is_none() {
        case.planned.set("direction", directions[0].word());
    }
    // After each phase the ends wait for datagrams in flight.
    case.budget.overhead = Nanos::millis(600);
    if params.text("rate") == Ok(SEARCH) {
        case.budget.measure = search_time(case.budget.measure);
    }
    Ok(case)
}

fn contradictions(params: &Params) -> Result<(), Reason> {
    let refuse = |text: String| Err(Reason::new(Cause::Contradiction, text));
    let text = |name: &str| params.text(name).unwrap_or("auto");
    let asked = text("rate");
    if asked == SEARCH {
        if text("direction") == "both" {
            return refuse(
                "rate=search needs one direction; set direction=forward or direction=reverse".to_owned(),
            );
        }
        if text("pacing") == "kernel" {
            return refuse(
                "rate=search changes the rate in every step, which pacing=kernel cannot".to_owned(),
            );
        }
    } else if asked != "max" {
        rate(asked).or_else(refuse_rate)?;
    }
    if asked == "max" && text("pacing") != "auto" {
        return refuse(format!("pacing={} needs a rate; set -p rate=", text("pacing")));
    }
    let message = params.bytes("message").ok().flatten().map_or(0, |bytes| bytes.get() as usize);
    let batch = params.count("batch").unwrap_or(1) as usize;
    if message > MOST_MESSAGE / 2 && text("offload") == "gso" {
        return refuse(format!(
            "offload=gso sends several datagrams in 64 KiB; two of message={message} do not fit"
        ));
    }
    if batch == 1 && text("offload") == "gso" {
        return refuse("offload=gso sends several datagrams per call; batch=1 allows one".to_owned());
    }
    if let Some(Value::Count(port)) = params.get("port")
        && port + params.count("flows").unwrap_or(1) > 1 << 16
    {
        return refuse(format!("port={port}: the flows need ports above 65535; choose a lower port="));
    }
    Ok(())
}

fn refuse_rate(why: String) -> Result<f64, Reason> {
    Err(Reason::new(Cause::Contradiction, why))
}

fn cores(site: &Site) -> Result<usize, Reason> {
    let mut least = usize::MAX;
    for node in site.nodes.iter().take(2) {
        least = least.min(core_bindings(&node.machine)?.len());
    }
    Ok(least)
}

/// Polling the clock takes a core for each thread.
fn pacing(bindings: &[Vec<Binding>; 2], alone: bool) -> &'static str {
    let distinct = |bindings: &mut dyn Iterator<Item = u32>| {
        let mut cpus: Vec<u32> = bindings.collect();
        let count = cpus.len();
        cpus.sort_unstable();
        cpus.dedup();
        count > 0 && cpus.len() == count
    };
    let mut all = bindings.iter().flatten().map(|binding| binding.cpu);
    let is_free = if alone {
        distinct(&mut all)
    } else {
        bindings.iter().all(|end| distinct(&mut end.iter().map(|binding| binding.cpu)))
    };
    if is_free { "spin" } else { "sleep" }
}

/// The tightest of both cards' bounds, times the payload share of the frames on the wire.
pub fn limits(about: &About, case: &Case, site: &Site) -> Limits {
    let bounds = bounds(case, site);
    let directions = Direction::of_case(case).len();
    let limit = |metric: &str| match (metric, &bounds) {
        ("throughput" | "loss_free", Ok(bounds)) => Limit::Chain(link_limits::times(bounds, directions)),
        ("forward" | "reverse", Ok(bounds)) if directions > 1 => Limit::Chain(bounds.clone()),
        ("throughput" | "loss_free" | "forward" | "reverse", Err(reason)) => Limit::unknown(reason.clone()),
        ("forward" | "reverse", Ok(_)) => Limit::unknown("only with direction=both"),
        ("offered", _) => Limit::Unknown {
            reason: "the kernel may accept more than the card sends; see throughput".to_owned(),
        },
        ("loss" | "duplicates" | "reordered", _) => {
            Limit::Unknown { reason: "0 is best; no lower bound follows from the path".to_owned() }
        }
        _ => seatrial_bench::no_limit(),
    };
    about.limits(limit)
}

/// Bounds on the payload of one direction. Packets smaller than the MTU carry fewer bytes for the same headers.
/// Larger messages are fragmented, for which full packets are the best case.
fn bounds(case: &Case, site: &Site) -> Result<Vec<Bound>, String> {
    link_limits::bounds(case, site, "the datagrams take", |framing, ip, mtu| {
        let headers = 8 + if ip == Ip::V4 { 20 } else { 40 };
        let message = case.params.bytes("message").ok().flatten().map(|bytes| bytes.get() + headers);
        let packet = message.unwrap_or(mtu).min(mtu);
        Goodput::of(framing, ip, Transport::Udp, packet)
            .ok_or_else(|| format!("a packet of {packet} B leaves no room for payload"))
    })
}

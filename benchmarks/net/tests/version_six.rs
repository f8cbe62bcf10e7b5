//! Two nodes with IPv6 only: every benchmark between nodes measures them.

use std::time::Duration;

use seatrial_model::{Integrity, Phase, Reason};

#[path = "machine/between.rs"]
mod between;
#[path = "udp/space.rs"]
#[expect(dead_code, reason = "shared with the tests of datagrams, which use all of it")]
mod space;

use between::{Ends, bench, case};
use space::{Net, Pair};

const BENCHES: [&str; 6] =
    ["net.tcp_stream", "net.udp_stream", "net.rr", "net.connect", "net.pingpong", "net.mtu"];

/// Tries of a benchmark: ends without a CPU for some time have no samples, or take each other for gone.
const TRIES: usize = 20;

fn measured(name: &str, pair: &Pair) -> Result<(), String> {
    let quick = [("time", "200 ms"), ("to", "4 KiB"), ("send", "write"), ("receive", "read")];
    let about = bench(name).about;
    let own: Vec<(&str, &str)> = quick.into_iter().filter(|(name, _)| about.param(name).is_some()).collect();
    let case = case(name, 2, &own);
    fn fine<T>(what: &str, done: Result<T, Reason>) -> Result<T, String> {
        done.map_err(|error| format!("{what}: {error}"))
    }
    let mut ends = fine("connects", Ends::connected(&case, pair))?;
    let span = Duration::from_millis(400);
    fine("warms up", ends.run(Phase::WarmUp, span))?;
    let measured = fine("measures", ends.run(Phase::Measure, span))?;
    let records = fine("checks", ends.records(measured))?;
    let checked: Vec<&Integrity> = records.iter().map(|record| &record.integrity).collect();
    let is_corrupt = checked.iter().any(|end| matches!(end, Integrity::Corrupt { .. }));
    assert!(!is_corrupt, "{name}: {checked:?}");
    if !checked.iter().any(|end| matches!(end, Integrity::Verified { .. })) {
        return Err(format!("checks: {checked:?}"));
    }
    let measures = bench(name).reduce(&case, &records).map_err(|why| why.to_string())?;
    assert!(!measures.metrics.is_empty(), "{name}");
    Ok(())
}

#[test]
fn every_benchmark_between_nodes_measures_over_version_six_alone() {
    let Some(pair) = Pair::new(&Net { four: false, six: true, mtu: 1500 }) else { return };
    for name in BENCHES {
        let mut failed = Vec::new();
        while let Err(why) = measured(name, &pair) {
            failed.push(why);
            assert!(failed.len() < TRIES, "{name}: {failed:#?}");
        }
    }
}

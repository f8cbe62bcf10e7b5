//! What limits real flows is named rightly.

use std::time::Duration;

use super::super::limited::{Factor, Shares, limited};
use super::super::record::End;
use super::super::terms::Terms;
use super::rig::{Both, alone};

/// Runs of the same flow. A machine that others keep busy may take the CPU away, and then the flow is limited by that,
/// which is named as well: such a run says nothing about the rest.
const RUNS: usize = 5;

/// Least runs that must have said something.
const TOLD: usize = 1;

fn runs(changed: &[(&str, &str)], change: impl Fn(&mut Terms)) -> Vec<(Factor, Shares)> {
    let mut all = Vec::new();
    for _ in 0..RUNS {
        let changed: Vec<_> =
            [("send", "write"), ("receive", "read")].into_iter().chain(changed.iter().copied()).collect();
        let records = Both::connected(alone(&changed), &change).measured(Duration::from_millis(300));
        let ends: Vec<End> = records.iter().flat_map(|record| End::all(&record.evidence)).collect();
        let of = |sends: bool| ends.iter().find(|end| end.sends == sends).expect("both ends");
        let (factor, shares) = (limited(of(true), of(false)), Shares::of(of(true), of(false)));
        let starved = shares.sender_waited.unwrap_or(0.0) + shares.receiver_waited.unwrap_or(0.0);
        if starved < 0.15 {
            all.push((factor, shares));
        }
    }
    all
}

fn assert_named(runs: &[(Factor, Shares)], wanted: &[Factor]) {
    for (factor, shares) in runs {
        assert!(wanted.contains(factor), "{} with {shares:?}", factor.word());
    }
    if runs.len() < TOLD {
        #[expect(clippy::print_stdout, reason = "says why nothing was tested")]
        {
            println!("skipped: other work kept the CPUs busy in every run");
        }
    }
}

#[test]
fn a_slow_reader() {
    assert_named(
        &runs(&[("buffer", "256 KiB")], |terms| terms.rest = Duration::from_millis(20)),
        &[Factor::Reader],
    );
}

#[test]
fn a_paced_flow() {
    assert_named(&runs(&[("pacing", "100")], |_| ()), &[Factor::Pacing]);
}

#[test]
fn a_healthy_flow_over_the_loopback_is_limited_by_a_cpu_and_nobody_is_blamed() {
    let found = runs(&[("congestion", "reno")], |_| ());
    assert!(found.iter().all(|(factor, _)| !factor.is_fault()), "{found:?}");
}

#[test]
fn a_small_receive_buffer_is_noticed_by_the_senders_kernel() {
    let mut most: f64 = 0.0;
    for _ in 0..RUNS {
        let small = |terms: &mut Terms| terms.buffer = (!terms.client).then_some(4 << 10);
        let case = alone(&[("send", "write"), ("receive", "read")]);
        let records = Both::connected(case, small).measured(Duration::from_millis(200));
        let ends: Vec<End> = records.iter().flat_map(|record| End::all(&record.evidence)).collect();
        let of = |sends: bool| ends.iter().find(|end| end.sends == sends).expect("both ends");
        most = most.max(Shares::of(of(true), of(false)).rwnd_limited.unwrap_or(0.0));
        // On the loopback the receiver may be as busy with it as it can be, or kept from its CPU by other work.
        let factor = limited(of(true), of(false));
        assert!(
            !matches!(factor, Factor::SendBuffer | Factor::Loss | Factor::Pacing | Factor::Reader),
            "{}",
            factor.word()
        );
    }
    assert!(most > 0.3, "{most} of the time");
}

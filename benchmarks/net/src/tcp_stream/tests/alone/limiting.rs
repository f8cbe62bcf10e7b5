//! The limiting factor of real flows is found, in 20 of 20 runs of each kind, with no finding for a healthy flow.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::super::super::bottleneck::{Bottleneck, Shares, bottleneck};
use super::super::super::config::TcpStreamConfig;
use super::super::super::record::End;
use super::super::delayed::{Delayed, INTERFACE};
use super::super::rig::{Both, Enter, alone, pair_of_nodes, placed};
use super::super::space::{Net, Pair};
use seatrial_testkit::starved::Watch;

/// Runs of each kind; the number of the run seeds its parameters.
const SEEDS: u64 = 20;

/// Share of the time that an end may have waited for a CPU in a valid run. With a busy machine the flow is limited by
/// that, and the run is repeated.
const DISTURBED: f64 = 0.1;

/// The same for steal time: a hypervisor takes CPUs away without any thread counting as waiting.
const TAKEN: f64 = 0.02;

const TRIES: usize = 6;

/// Time after which no run of a kind is repeated. A disturbed run then says nothing.
const PATIENCE: Duration = Duration::from_secs(40);

const SPAN: Duration = Duration::from_millis(250);

static ALONE: Mutex<()> = Mutex::new(());

/// A value in a range, the same in every test run.
fn between(low: u64, high: u64, seed: u64) -> u64 {
    // The finaliser of MurmurHash3 (A. Appleby, in the public domain).
    let mixed = (seed + 1).wrapping_mul(0xff51_afd7_ed55_8ccd);
    low + (mixed ^ (mixed >> 33)) % (high - low + 1)
}

/// Parameters of a seed, and a change to the configuration of both ends.
type Make<'a> = &'a dyn Fn(u64) -> (Vec<(&'static str, String)>, fn(&mut TcpStreamConfig, u64));

/// The run of every seed, between these ends, must be limited by one of `wanted`.
fn assert_named(what: &str, enter: Option<[&Enter<'_>; 2]>, wanted: &[Bottleneck], make: Make<'_>) {
    // One kind after the other: in parallel they would take each other's CPUs.
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let began = Instant::now();
    let mut told = Vec::new();
    for seed in 0..SEEDS {
        let (changed, change) = make(seed);
        let mut changed: Vec<(&str, &str)> =
            changed.iter().map(|(name, value)| (*name, value.as_str())).collect();
        changed.extend([("send", "write"), ("receive", "read")]);
        for tried in 1.. {
            let change = |config: &mut TcpStreamConfig| change(config, seed);
            let both = match enter {
                Some(enter) => Both::connected_in(placed(pair_of_nodes(&changed)), change, enter),
                None => Both::connected(placed(alone(&changed)), change),
            };
            let watch = Watch::begin();
            let records = both.measured(SPAN);
            let taken = watch.taken();
            let ends: Vec<End> = records.iter().flat_map(|record| End::all(&record.evidence)).collect();
            let of = |sends: bool| ends.iter().find(|end| end.sends == sends).expect("both ends");
            let (factor, shares) = (bottleneck(of(true), of(false)), Shares::of(of(true), of(false)));
            let waited = [shares.sender_waited, shares.receiver_waited].map(|share| share.unwrap_or(0.0));
            let is_disturbed = waited[0].max(waited[1]) > DISTURBED || taken > TAKEN;
            if is_disturbed && tried < TRIES && began.elapsed() < PATIENCE {
                continue;
            }
            // A flow that lost its CPUs is limited by that, whatever factor is found.
            let is_right = wanted.contains(&factor) || is_disturbed;
            told.push((
                seed,
                is_right,
                is_disturbed,
                factor,
                format!("{changed:?}"),
                shares,
                of(true).tcp,
                of(true).socket.clone(),
                of(true).drained,
            ));
            break;
        }
    }
    let wrong: Vec<_> = told.iter().filter(|(_, is_right, ..)| !is_right).collect();
    let disturbed = told.iter().filter(|(_, _, is_disturbed, ..)| *is_disturbed).count();
    #[expect(clippy::print_stdout, reason = "says how much was tested")]
    {
        let others: Vec<_> = told.iter().filter(|(_, _, _, factor, ..)| !wanted.contains(factor)).collect();
        let named = told.len() - others.len();
        let others: Vec<_> = others.iter().map(|told| (told.3, told.8)).collect();
        println!("{what}: {named} of {SEEDS} named rightly, {disturbed} disturbed, the others {others:?}");
    }
    assert!(wrong.is_empty(), "{what}: {} of {SEEDS} named wrongly: {wrong:#?}", wrong.len());
}

fn namespaces() -> Option<Pair> {
    Pair::new(&Net { four: true, six: false, mtu: 1500 })
}

/// A congestion control that every user may choose (`tcp_allowed_congestion_control` of
/// linux/Documentation/networking/ip-sysctl.rst).
const UNPRIVILEGED: &str = "reno";

#[test]
#[ignore = "needs the machine for itself: cargo xtask test runs it last"]
fn a_small_receive_buffer_on_a_long_way_is_named_in_20_of_20_runs() {
    let Some(pair) = namespaces() else { return };
    let way = Delayed::between(&pair);
    let enter: [&Enter<'_>; 2] = [&|| pair.first.enter(), &|| pair.second.enter()];
    assert_named("small receive buffer", Some(enter), &[Bottleneck::ReceiveWindow], &|seed| {
        way.set_one_way(Duration::from_millis(between(4, 15, seed)));
        // Only the receiver's buffer, so that the send buffer is not full first.
        let small = |config: &mut TcpStreamConfig, seed: u64| {
            config.buffer = (!config.client).then(|| between(8, 48, seed) as usize * 1024);
        };
        (vec![("interface", INTERFACE.to_owned()), ("congestion", "cubic".to_owned())], small)
    });
}

#[test]
#[ignore = "needs the machine for itself: cargo xtask test runs it last"]
fn a_small_send_buffer_on_a_long_way_is_named_in_20_of_20_runs() {
    let Some(pair) = namespaces() else { return };
    let way = Delayed::between(&pair);
    let enter: [&Enter<'_>; 2] = [&|| pair.first.enter(), &|| pair.second.enter()];
    assert_named("small send buffer", Some(enter), &[Bottleneck::SendBuffer], &|seed| {
        way.set_one_way(Duration::from_millis(between(4, 15, seed)));
        // Only the sender's buffer, so that the receive window is not full first.
        let small = |config: &mut TcpStreamConfig, seed: u64| {
            config.buffer = config.client.then(|| between(8, 48, seed) as usize * 1024);
        };
        (vec![("interface", INTERFACE.to_owned()), ("congestion", "cubic".to_owned())], small)
    });
}

#[test]
#[ignore = "needs the machine for itself: cargo xtask test runs it last"]
fn a_shaped_link_is_named_in_20_of_20_runs() {
    let Some(pair) = namespaces() else { return };
    let enter: [&Enter<'_>; 2] = [&|| pair.first.enter(), &|| pair.second.enter()];
    assert_named("shaped link", Some(enter), &[Bottleneck::Path], &|seed| {
        let mbit = between(20, 400, seed);
        let queue_ms = between(5, 30, seed);
        pair.first.run(&format!(
            "tc qdisc replace dev v1 root tbf rate {mbit}mbit burst 64kb latency {queue_ms}ms"
        ));
        (vec![("congestion", "cubic".to_owned())], |_, _| ())
    });
}

#[test]
#[ignore = "needs the machine for itself: cargo xtask test runs it last"]
fn a_slow_reader_is_named_in_20_of_20_runs() {
    assert_named("slow reader", None, &[Bottleneck::Reader], &|seed| {
        let rests = |config: &mut TcpStreamConfig, seed: u64| {
            config.rest = Duration::from_millis(between(5, 30, seed));
        };
        (vec![("buffer", format!("{} KiB", between(64, 512, seed)))], rests)
    });
}

#[test]
#[ignore = "needs the machine for itself: cargo xtask test runs it last"]
fn a_cpu_is_named_in_20_of_20_runs_of_the_loopback() {
    // Either end may be busier; the loopback costs nothing but their time.
    assert_named("CPU", None, &[Bottleneck::SenderCpu, Bottleneck::ReceiverCpu], &|seed| {
        // Small messages cost a call for every few bytes.
        (
            vec![
                ("message", format!("{} B", between(200, 2000, seed))),
                ("congestion", UNPRIVILEGED.to_owned()),
            ],
            |_, _| (),
        )
    });
}

#[test]
#[ignore = "needs the machine for itself: cargo xtask test runs it last"]
fn a_pace_is_named_in_20_of_20_runs() {
    assert_named("pacing", None, &[Bottleneck::Pacing], &|seed| {
        (
            vec![("pacing", between(20, 400, seed).to_string()), ("congestion", UNPRIVILEGED.to_owned())],
            |_, _| (),
        )
    });
}

#[test]
#[ignore = "needs the machine for itself: cargo xtask test runs it last"]
fn nobody_is_blamed_in_20_of_20_healthy_runs() {
    let healthy = [Bottleneck::SenderCpu, Bottleneck::ReceiverCpu, Bottleneck::Path];
    let Some(pair) = namespaces() else { return };
    let enter: [&Enter<'_>; 2] = [&|| pair.first.enter(), &|| pair.second.enter()];
    assert_named("healthy", Some(enter), &healthy, &|seed| {
        let control = if seed % 2 == 0 { "cubic" } else { "reno" };
        let message = format!("{} KiB", 16 << between(0, 4, seed));
        (vec![("congestion", control.to_owned()), ("message", message)], |_, _| ())
    });
}

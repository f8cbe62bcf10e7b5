//! Ends that are killed, frozen or cut off in each phase: the other end must finish all the same, for every benchmark
//! between nodes, on either side.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use seatrial_bench::testing::{at_once, prepare_all};
use seatrial_bench::{Benchmark, Prepared, Running, Sink, Stop, find};
use seatrial_model::{Case, Params, Phase, Reason, Sample, Site};

#[path = "udp/space.rs"]
#[expect(dead_code, reason = "shared with the tests of datagrams, which use all of it")]
mod space;

use space::{Net, Pair};

type Tried = (&'static str, &'static [(&'static str, &'static str)], Duration);

const TRIED: [Tried; 8] = [
    ("net.tcp_stream", &[], SPAN),
    // Its warm-up tries all send and receive methods, by a timetable that both ends follow.
    ("net.tcp_stream", &[("send", "auto"), ("receive", "auto")], SPAN),
    ("net.udp_stream", &[], SPAN),
    ("net.udp_stream", &[("rate", "search"), ("pacing", "sleep")], Duration::from_millis(900)),
    ("net.rr", &[], SPAN),
    ("net.connect", &[], SPAN),
    ("net.pingpong", &[], SPAN),
    ("net.mtu", &[], SPAN),
];

const SPAN: Duration = Duration::from_millis(150);

/// Longer than any timeout of an end and any phase here, even on a busy machine. A supervisor would have ended the
/// case before.
const NEVER: Duration = Duration::from_secs(300);

/// Tries of a case until it reaches the fault: ends without a CPU for seconds take each other for gone before.
const TRIES: usize = 20;

/// Cases in parallel: they mostly wait.
const AT_ONCE: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Connecting,
    WarmingUp,
    Measuring,
    Verifying,
}

const PHASES: [When; 4] = [When::Connecting, When::WarmingUp, When::Measuring, When::Verifying];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The end is killed: its connections are closed.
    Killed,
    /// The end stops running, and its connections stay open.
    Frozen,
    /// Both ends run, and no packet gets through.
    Cut,
}

struct Nothing;

impl Sink for Nothing {
    fn sample(&mut self, _: Sample) {}

    fn evidence(&mut self, _: &str, _: serde_json::Value) {}
}

fn case(bench: &Benchmark, changed: &[(&str, &str)], nodes: &[&str]) -> Case {
    let about = bench.about;
    let mut params: Params = about.defaults();
    let usual = [("time", "200 ms"), ("to", "4 KiB"), ("send", "write"), ("receive", "read")];
    for (name, value) in usual.iter().chain(changed) {
        if let Some(spec) = about.param(name) {
            params.set(name, spec.parse(value).expect("a value"));
        }
    }
    let nodes = nodes.iter().map(|name| seatrial_testkit::node(name, 2)).collect();
    let mut case = bench.plan(&params, &Site { nodes }).expect("a plan").remove(0);
    case.places.iter_mut().for_each(|place| place.bindings.clear());
    case
}

enum End {
    Prepared(Prepared),
    Running(Box<dyn Running>),
}

type Ends = [Option<End>; 2];

type Act<'a> = dyn Fn(&mut dyn Running) -> Result<(), Reason> + Sync + 'a;

type Step<'a> = (When, &'a mut dyn FnMut(&mut Ends) -> Vec<Result<(), Reason>>);

/// Runs `act` for each end that is left, each in its own thread and namespace; removes ends that fail.
fn each(
    ends: &mut Ends,
    pair: Option<&Pair>,
    act: impl Fn(End) -> Result<End, Reason> + Sync,
) -> Vec<Result<(), Reason>> {
    let go = |at: usize| match pair {
        Some(pair) if at == 0 => pair.first.enter(),
        Some(pair) => pair.second.enter(),
        None => {}
    };
    let there = ends.iter_mut().enumerate().filter_map(|(at, end)| Some((at, end.take()?)));
    let ended = at_once(there.collect::<Vec<_>>(), &[], |(at, end)| {
        go(at);
        (at, act(end))
    });
    let ended = ended.into_iter().map(|(at, end)| end.map(|end| ends[at] = Some(end)));
    ended.collect()
}

/// Runs a case through its phases, with fault `what` at the end `gone` in phase `when`. Returns the results of the
/// remaining ends, or the error that came before the fault. `None` without namespaces.
fn run(tried: Tried, when: When, what: What, gone: usize) -> Option<Result<Vec<Result<(), Reason>>, Reason>> {
    let (name, changed, span) = tried;
    let pair = match what {
        What::Cut => Some(Pair::new(&Net { four: true, six: false, mtu: 1500 })?),
        _ => None,
    };
    let pair = pair.as_ref();
    let bench = find(seatrial_net::BENCHMARKS, name).expect("shipped");
    let case = case(bench, changed, if pair.is_some() { &["n1", "n2"] } else { &["n1"] });
    let parts = case.places.iter().map(|place| bench.part(&case, place));
    let prepared = match pair {
        Some(pair) => prepare_all(parts, &[&|| pair.first.enter(), &|| pair.second.enter()]),
        None => prepare_all(parts, &[]),
    };
    let (prepared, offers) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return Some(Err(error)),
    };
    let prepared: [Prepared; 2] = prepared.try_into().ok().expect("two ends");
    let mut ends: Ends = prepared.map(|end| Some(End::Prepared(end)));
    let mut kept = None;
    let mut happen = |ends: &mut Ends| match (what, pair) {
        (What::Killed, _) => drop(ends[gone].take()),
        (What::Frozen, _) => kept = ends[gone].take(),
        (What::Cut, Some(pair)) => {
            for space in [&pair.first, &pair.second] {
                space.run("nft 'add table inet cut; add chain inet cut c { type filter hook input priority 0; policy drop; }'");
            }
        }
        (What::Cut, None) => {}
    };
    let warm_up = SPAN.max(Duration::from_nanos(case.budget.warm_up.get()));
    let running = |ends: &mut Ends, act: &Act<'_>| {
        each(ends, pair, |end| match end {
            End::Running(mut end) => act(&mut *end).map(|()| End::Running(end)),
            End::Prepared(_) => unreachable!("it was connected"),
        })
    };
    let phase = |ends: &mut Ends, phase| {
        let span = if phase == Phase::WarmUp { warm_up } else { span };
        running(ends, &|end| end.run(phase, &Stop::after(span), &mut Nothing))
    };
    let connect = |ends: &mut Ends| {
        each(ends, pair, |end| match end {
            End::Prepared(end) => end.connect(&offers).map(End::Running),
            running @ End::Running(_) => Ok(running),
        })
    };
    let mut verify = |ends: &mut Ends| running(ends, &|end| end.verify().map(drop));
    let (mut warm, mut measure, mut connect) = (
        |ends: &mut Ends| phase(ends, Phase::WarmUp),
        |ends: &mut Ends| phase(ends, Phase::Measure),
        connect,
    );
    let steps: [Step<'_>; 4] = [
        (When::Connecting, &mut connect),
        (When::WarmingUp, &mut warm),
        (When::Measuring, &mut measure),
        (When::Verifying, &mut verify),
    ];
    let mut ended = Vec::new();
    for (at, step) in steps {
        if at == when {
            happen(&mut ends);
            ended = step(&mut ends);
            break;
        }
        if let Some(error) = step(&mut ends).into_iter().find_map(Result::err) {
            return Some(Err(error));
        }
    }
    drop(kept);
    Some(Ok(ended))
}

fn all(what: What) -> Vec<(Tried, When, What, usize)> {
    let sides: &[usize] = if what == What::Cut { &[0] } else { &[0, 1] };
    let of =
        |tried| PHASES.iter().flat_map(move |when| sides.iter().map(move |gone| (tried, *when, what, *gone)));
    TRIED.into_iter().flat_map(of).collect()
}

fn assert_all_end(what: What) {
    let cases = all(what);
    let (next, hung) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((tried, when, what, gone)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = format!("{} {:?}", tried.0, tried.1);
                    let (mut failed, mut began) = (Vec::new(), Instant::now());
                    let ended = loop {
                        match run(*tried, *when, *what, *gone) {
                            None => return,
                            Some(Ok(ended)) => break ended,
                            Some(Err(error)) => failed.push(error),
                        }
                        assert!(failed.len() < TRIES, "{name}: nothing happened yet, and {failed:#?}");
                        began = Instant::now();
                    };
                    let took = began.elapsed();
                    // An end that never finishes makes this test run into its own timeout; this reports ends that
                    // finish late.
                    if took > NEVER {
                        hung.lock().expect("held").push(format!("{name} {when:?} {what:?} {gone}: {took:?}"));
                    }
                    for error in ended.into_iter().filter_map(Result::err) {
                        assert!(
                            !error.text.is_empty(),
                            "{name} {when:?} {what:?} {gone}: it does not say why"
                        );
                    }
                }
            });
        }
    });
    let hung = hung.into_inner().expect("not poisoned");
    assert!(hung.is_empty(), "{hung:#?}");
}

#[test]
fn no_end_hangs_when_the_other_is_killed_in_any_phase() {
    assert_all_end(What::Killed);
}

#[test]
fn no_end_hangs_when_the_other_freezes_in_any_phase() {
    assert_all_end(What::Frozen);
}

#[test]
fn no_end_hangs_when_they_are_cut_off_from_each_other_in_any_phase() {
    assert_all_end(What::Cut);
}

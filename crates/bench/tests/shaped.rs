//! `net.tcp_stream` over a link of a known rate: a veth into a network namespace, shaped by a token bucket.
//!
//! Needs root, `ip` and `tc` (package `iproute2`); without them the test is loud in CI and says elsewhere that it was
//! skipped.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use seatrial_bench::{Benchmark, Error, Offer, Part, Sink, Stop, registry};
use seatrial_model::machine::{Cpu, CpuThread, Machine};
use seatrial_model::{
    Case, Evidence, Integrity, Measures, Params, PartRecord, Phase, Sample, Site, SiteNode,
};

/// Tries of one measurement. Other work on the machine can keep both ends from their CPUs, which lowers the rate of any
/// single one; an error of the method would show in all.
const TRIES: usize = 8;

/// A namespace with a shaped link to it, taken down when dropped.
struct Link {
    name: String,
    device: String,
}

fn run(command: &str) -> Result<String, String> {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let output = Command::new(program).args(words).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{command}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

impl Link {
    /// A link whose first end, here, sends `mbit` Mbit/s at most, counted with Ethernet headers.
    fn shaped(number: u8, mbit: u32) -> Result<Self, String> {
        let id = std::process::id();
        let link =
            Self { name: format!("seatrial-{id}-{number}"), device: format!("st{number}x{}", id % 100_000) };
        let Self { name, device } = &link;
        run(&format!("ip netns add {name}"))?;
        run(&format!("ip link add {device} type veth peer name inside netns {name}"))?;
        run(&format!("ip addr add 198.18.{number}.1/24 dev {device}"))?;
        run(&format!("ip link set {device} up"))?;
        run(&format!("ip netns exec {name} ip addr add 198.18.{number}.2/24 dev inside"))?;
        run(&format!("ip netns exec {name} ip link set inside up"))?;
        // What flows in 5 ms, so that a machine that is busy with other things for a moment loses nothing of the rate; and
        // no less than the largest chain of segments that the kernel hands down in one piece.
        let burst = (mbit * 125_000 / 200).max(64 << 10);
        run(&format!("tc qdisc add dev {device} root tbf rate {mbit}mbit burst {burst} latency 20ms"))?;
        Ok(link)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Whatever of it is there.
        let _ = run(&format!("ip link del {}", self.device));
        let _ = run(&format!("ip netns del {}", self.name));
    }
}

/// A link, or why there is none.
fn link(number: u8, mbit: u32) -> Option<Link> {
    match Link::shaped(number, mbit) {
        Ok(link) => Some(link),
        Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("{why}"),
        Err(why) => {
            #[expect(clippy::print_stdout, reason = "says why nothing was tested")]
            {
                println!("skipped: no shaped link: {why}");
            }
            None
        }
    }
}

#[derive(Default)]
struct Kept {
    samples: Vec<Sample>,
    facts: Evidence,
}

impl Sink for Kept {
    fn sample(&mut self, sample: Sample) {
        self.samples.push(sample);
    }

    fn evidence(&mut self, name: &str, value: serde_json::Value) {
        self.facts.insert(name.to_owned(), value);
    }
}

fn bench() -> &'static dyn Benchmark {
    registry().find("net.tcp_stream").expect("shipped")
}

/// A case between two nodes, whose threads run where there is room.
fn case(changed: &[(&str, &str)]) -> Case {
    let about = bench().about();
    let mut params: Params =
        about.params.iter().map(|spec| (spec.name.to_owned(), spec.default_value())).collect();
    for (name, value) in changed {
        params.set(name, about.param(name).expect("a parameter").parse(value).expect("a value"));
    }
    let thread = CpuThread { online: true, allowed: true, ..CpuThread::default() };
    let machine = Machine { cpu: Cpu { threads: vec![thread], ..Cpu::default() }, ..Machine::default() };
    let nodes = ["n1", "n2"].map(|name| SiteNode::new(name, machine.clone())).to_vec();
    let mut case = bench().plan(&params, &Site { nodes }).expect("a plan").remove(0);
    case.places.iter_mut().for_each(|place| place.seats.clear());
    case
}

/// What both ends measured, and what the sender told of the shaper: bytes a second that it let through meanwhile.
fn measured(link: &Link, case: &Case, span: Duration) -> Result<(Measures, f64), Error> {
    let mut client = bench().part(case, &case.places[0])?;
    let mut server = bench().part(case, &case.places[1])?;
    let inside = File::open(format!("/run/netns/{}", link.name)).expect("the namespace");
    let enter =
        || move_into_link_name_space(inside.as_fd(), Some(LinkNameSpaceType::Network)).expect("entered");
    let listening = thread::scope(|scope| {
        let prepare = || {
            enter();
            server.prepare()
        };
        scope.spawn(prepare).join().expect("joined")
    })?;
    let offers: Vec<Offer> = vec![client.prepare()?, listening];
    thread::scope(|scope| {
        let accept = scope.spawn(|| server.connect(&offers));
        client.connect(&offers).and(accept.join().expect("joined"))
    })?;
    let through = |part: &mut dyn Part, phase, span| {
        let mut kept = Kept::default();
        part.run(phase, &Stop::after(span), &mut kept).map(|()| kept)
    };
    let mut both = |phase, span| {
        thread::scope(|scope| {
            let server = scope.spawn(|| through(&mut *server, phase, span));
            let client = through(&mut *client, phase, span);
            Ok::<_, Error>((client?, server.join().expect("joined")?))
        })
    };
    both(Phase::WarmUp, Duration::from_millis(500))?;
    let (one, other) = both(Phase::Measure, span)?;
    let queue = &one.facts["queues"][0];
    assert_eq!(queue["kinds"], serde_json::json!(["tbf"]), "{queue}");
    let counted = |name: &str| queue[name].as_u64().expect("a count") as f64;
    let counted = counted("bytes") / counted("window_ns") * 1e9;
    let checked = thread::scope(|scope| {
        let server = scope.spawn(|| server.verify());
        [client.verify(), server.join().expect("joined")]
    });
    let mut records = Vec::new();
    for ((place, kept), integrity) in case.places.iter().zip([one, other]).zip(checked) {
        let integrity = integrity?;
        assert!(matches!(integrity, Integrity::Verified { .. }), "{integrity:?}");
        records.push(PartRecord {
            part: place.part.clone(),
            index: place.index,
            node: place.node.clone(),
            trial: 0,
            samples: kept.samples,
            integrity,
            evidence: kept.facts,
        });
    }
    Ok((bench().reduce(case, &records).expect("numbers"), counted))
}

/// Bytes a second of the whole window.
fn rate(measures: &Measures) -> f64 {
    let intervals = measures.metrics["throughput"].trials.concat();
    intervals.iter().sum::<f64>() / intervals.len() as f64 * 1.25e8
}

/// Payload of a full frame, as the shaper counts it: MTU 1500 with IPv4, TCP and timestamps, behind 14 B of header.
const PAYLOAD: f64 = 1448.0 / 1514.0;

#[test]
fn a_shaped_links_rate_is_found_and_the_link_is_named_as_the_limit() {
    for (number, mbit) in [(1, 50), (2, 150), (3, 400), (4, 1000), (5, 2000)] {
        let Some(link) = link(number, mbit) else { return };
        let case = case(&[("congestion", "cubic"), ("send", "write"), ("receive", "read")]);
        let (mut seen, mut met) = (Vec::new(), false);
        while !met && seen.len() < TRIES {
            let (measures, counted) = measured(&link, &case, Duration::from_millis(1500)).expect("measures");
            let nominal = f64::from(mbit) * 125_000.0 * PAYLOAD;
            let (of_nominal, of_counted) =
                (rate(&measures) / nominal - 1.0, rate(&measures) / (counted * PAYLOAD) - 1.0);
            let limited = measures.evidence["limited_by"].clone();
            let right = of_nominal.abs() < 0.003 && of_counted.abs() < 0.002;
            // At 2 Gbit/s two busy CPUs may be no faster than the link.
            let named = mbit > 400 || limited.get("path").is_some() && measures.findings.is_empty();
            seen.push(format!(
                "{of_nominal:+.5} of nominal, {of_counted:+.5} of counted, limited by {limited}"
            ));
            met = right && named;
        }
        #[expect(clippy::print_stdout, reason = "shown when the test fails or is asked to")]
        {
            println!("{mbit} Mbit/s: {}", seen.join("; "));
        }
        assert!(met, "{mbit} Mbit/s: {}", seen.join("; "));
    }
}

//! The requesting end, and the end whose card executes the atomics.

use std::sync::Arc;
use std::time::Duration;

use seatrial_model::{Case, Integrity, Nanos, PartPlacement, Phase, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::memory::Pages;
use seatrial_sys::tsc::FastClock;
use serde_json::json;

use super::run::{Operation, WORD, Words};
use crate::bandwidth::counts::{Tally, between_looks, moved, samplers};
use seatrial_bench::Direction;
use seatrial_bench::Sliced;
use seatrial_bench::verbs::endpoint::{connect_all, connection_infos, facts, pin};
use seatrial_bench::verbs::{Method, RdmaConfig, RdmaEndpoint, Side};
use seatrial_bench::{Prepared, Running, Sink, Stop, ThreadSpec, ThreadTeam};

/// Channels of atomics one after the other: number in a slice, and their median.
pub const ONE: [&str; 2] = ["one", "median"];

pub fn prepare(method: Method, case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let operation = match case.params.text(super::OPERATION.name)? {
        "compare_swap" => Operation::CompareSwap,
        _ => Operation::FetchAdd,
    };
    let config = RdmaConfig::all(method, case, place)?;
    pin(&config[0], 0)?;
    // The first one of a process takes a while.
    let _ = FastClock::new();
    let mut endpoints = Vec::new();
    for config in &config {
        let endpoint = RdmaEndpoint::open(config, &[Pages::Base])?;
        for pair in 0..endpoint.pairs.len() {
            let first = endpoint.layout.at(pair, Side::In, 0);
            for word in 0..config.words {
                endpoint.region.set_word((first + WORD * word) as usize, 0);
            }
        }
        endpoints.push(endpoint);
    }
    let index = place.index;
    Prepared::new(place, connection_infos(endpoints.iter()), move |peers| {
        connect_all(endpoints.iter_mut(), index, peers)?;
        let mut words = Vec::new();
        for endpoint in endpoints.iter().filter(|endpoint| endpoint.config.initiates()) {
            let own = (0..endpoint.config.threads).map(|thread| Words::new(endpoint, operation, thread));
            words.push(own.collect::<Result<_, _>>()?);
        }
        Ok(Counting { words, endpoints })
    })
}

struct Counting {
    /// By port and thread; empty at the passive end.
    words: Vec<Vec<Words>>,
    endpoints: Vec<RdmaEndpoint>,
}

impl Running for Counting {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if self.words.is_empty() {
            stop.rest(stop.left());
            return Ok(());
        }
        // Half of the time at full depth, half with one in flight.
        let until = now_ns() + stop.left().as_nanos() as u64 / 2;
        let mut moved = many(&self.endpoints, &mut self.words, stop, until, out)?;
        let first = &mut self.words[0][0];
        let (mut latencies, clock) = (Sliced::new(ONE), FastClock::new());
        latencies.begin(Nanos(clock.end_ns()));
        while !stop.is_over() {
            let (start, end) = first.one(&self.endpoints[0], &clock)?;
            latencies.add(Nanos(end - start), Nanos(end), out);
        }
        latencies.end(Nanos(clock.end_ns()), out);
        if phase == Phase::Measure {
            moved[0] += WORD * latencies.all().count();
            out.evidence("moved", json!(moved));
            out.evidence("one_by_one", latencies.all().to_evidence());
            out.evidence("device", facts(self.endpoints.iter()));
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        if self.words.is_empty() {
            return Ok(Integrity::Unverified { why: "the requesting end checks every result".to_owned() });
        }
        let told = |words: &Words| {
            let (done, wrong, first) = words.results();
            match first {
                Some(first) => Integrity::Corrupt { wrong, of: done, first: first.to_owned() },
                None => Integrity::Verified { checked: WORD * done },
            }
        };
        Ok(Integrity::of_all(self.words.iter().flatten().map(told)))
    }
}

fn many(
    endpoints: &[RdmaEndpoint],
    words: &mut [Vec<Words>],
    stop: &Stop,
    until: u64,
    out: &mut dyn Sink,
) -> Result<Vec<u64>, Reason> {
    let tallies: Vec<Vec<Arc<Tally>>> =
        words.iter().map(|own| own.iter().map(|_| Arc::new(Tally::new(1))).collect()).collect();
    let grouped = endpoints[0].config.moderation(WORD) as u64;
    let mut all = samplers(Direction::Forward, &[WORD], &[grouped], &tallies);
    std::thread::scope(|scope| {
        let by_port = endpoints.iter().zip(words).zip(&tallies);
        let threads = by_port.flat_map(|((endpoint, words), tallies)| {
            words.iter_mut().zip(tallies).enumerate().map(move |(number, (words, tally))| {
                let spec = ThreadSpec::new(format!("post-{number}"), endpoint.config.cpu(number));
                (spec, move || Ok((endpoint, words, tally)))
            })
        });
        let team = ThreadTeam::start_in(scope, threads, "-p threads=")?;
        let done = team.begin(0..team.len(), move |_, (endpoint, words, tally)| {
            let done = words.many(endpoint, stop, until, tally);
            if done.is_err() {
                stop.raise();
            }
            done
        });
        let left = || Duration::from_nanos(until.saturating_sub(now_ns()));
        let look = between_looks(left());
        while !stop.is_over() && !left().is_zero() {
            stop.rest(look.min(left()));
            // A look that comes late must not make a stall of the time after the end.
            let now = now_ns().min(until);
            all.iter_mut().for_each(|sampler| sampler.read_counts(now, out));
        }
        done.collect(Duration::MAX).map(drop)
    })?;
    all.iter_mut().for_each(|sampler| sampler.end(out));
    Ok(moved(&all, Direction::Forward, endpoints.len()))
}

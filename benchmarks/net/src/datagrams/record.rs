//! What the ends of a trial record, and how the controller reads it.

use std::collections::BTreeMap;

use seatrial_model::{Evidence, Integrity, PartRecord};
use seatrial_sys::net::datagram::DatagramCounters;
use serde::{Deserialize, Serialize};

pub const SENT: &str = "sent";

pub const RECEIVED: &str = "received";

pub const STEPS: &str = "steps";

/// Share of the time by which a sender may miss its schedule. Ten times as much would not be the requested load; ten
/// times less would reject a sender for one interrupt.
const MOST_SLIPPED: f64 = 0.001;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub counts: BTreeMap<String, u64>,
    pub unknown: Vec<String>,
}

impl From<DatagramCounters> for Counts {
    fn from(counters: DatagramCounters) -> Self {
        let counts = counters.counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        Self { counts, unknown: counters.unknown }
    }
}

impl Counts {
    pub fn sum(&self, names: &[&str]) -> u64 {
        names.iter().filter_map(|name| self.counts.get(*name)).sum()
    }
}

/// CPU time of an end's threads, and of the whole machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// From the first thread's start to the last thread's end.
    pub span_ns: u64,
    /// Of all threads together.
    pub user_ns: u64,
    pub system_ns: u64,
    /// Time in which threads were runnable, but had no CPU; `None` if the kernel does not report it.
    pub waited_ns: Option<u64>,
    /// Length of the whole phase, which the machine's times refer to.
    pub phase_ns: u64,
    /// All CPUs of the machine, interrupts included; `None` if /proc/stat could not be read.
    pub machine_busy_ns: Option<u64>,
    /// Softirq part of the busy time, in which the kernel receives datagrams.
    pub machine_softirq_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFlow {
    pub datagrams: u64,
    pub span_ns: u64,
    /// Time by which the schedule was moved, because it could not be kept.
    pub slipped_ns: u64,
    pub behind_ns: u64,
    /// Calls that a full queue of this node refused; their datagrams were sent later.
    pub refused: u64,
    /// Calls that sent only the first datagrams, for the same reason or because of the call's timeout.
    pub cut_short: u64,
    /// Calls that returned an ICMP error: port unreachable or rejected by a firewall.
    pub rejected: u64,
}

impl SentFlow {
    pub fn is_late(&self) -> bool {
        self.span_ns == 0 || self.slipped_ns as f64 > MOST_SLIPPED * self.span_ns as f64
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    pub message: usize,
    /// Requested payload of each flow, in bytes per second.
    pub rate: Option<f64>,
    /// IP packets that are larger are fragmented.
    pub path_mtu: Option<u32>,
    pub headers: usize,
    /// Datagrams per `UDP_SEGMENT` call.
    pub segments: usize,
    pub queues: Vec<String>,
    pub interface: Option<String>,
    pub flows: Vec<SentFlow>,
    pub effort: Effort,
    pub counters: Counts,
    pub silent: Option<String>,
}

impl Sent {
    pub fn offered(&self) -> f64 {
        let each = self.flows.iter().filter(|flow| flow.span_ns > 0);
        each.map(|flow| flow.datagrams as f64 * self.message as f64 * 8.0 / flow.span_ns as f64).sum()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub port: u16,
    /// By the count of the sending end.
    pub sent: u64,
    pub received: u64,
    pub lost: u64,
    pub duplicates: u64,
    pub reordered: u64,
    /// Largest reordering extent (RFC 4737).
    pub extent: u64,
    pub late: u64,
    /// Loss runs by class: shortest length, longest length, number.
    pub bursts: Vec<(u64, u64, u64)>,
    /// All loss runs, and the longest.
    pub burst_count: u64,
    pub longest_burst: u64,
    /// Datagrams with a wrong cookie, or from no flow of this trial.
    pub foreign: u64,
    /// Datagrams of an earlier phase.
    pub stale: u64,
    /// Datagrams that were compared byte by byte, how many of these differ, and the first difference.
    pub checked: u64,
    pub wrong: u64,
    pub first_wrong: Option<String>,
    /// Interarrival jitter of RFC 3550, in nanoseconds; `None` from fewer than two datagrams.
    pub jitter_ns: Option<f64>,
    /// Drops because of a full receive buffer, in coalesced pieces.
    pub socket_drops: Option<u64>,
    pub reads: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Received {
    pub message: usize,
    /// Receive buffer of each flow in bytes, and whether it took `SO_RCVBUFFORCE`.
    pub buffer: u64,
    pub forced: bool,
    /// Whether UDP_GRO was on.
    pub coalesced: bool,
    pub interface: Option<String>,
    pub flows: Vec<Tally>,
    pub effort: Effort,
    pub counters: Counts,
    pub silent: Option<String>,
}

impl Received {
    pub fn total(&self, of: impl Fn(&Tally) -> u64) -> u64 {
        self.flows.iter().map(of).sum()
    }
}

#[derive(Clone, Debug)]
pub struct Trial<'a> {
    pub number: u32,
    pub directions: Vec<DirectionRecord<'a>>,
}

#[derive(Clone, Debug)]
pub struct DirectionRecord<'a> {
    pub part: &'a PartRecord,
    pub received: Received,
    pub sent: Sent,
}

/// Groups `parts` by trial. Ends without a record are left out.
pub fn trials(parts: &[PartRecord]) -> Vec<Trial<'_>> {
    let of = |parts: &'_ [PartRecord]| -> Vec<(usize, Received, Sent)> {
        let found = parts.iter().enumerate().filter_map(|(at, part)| {
            let received = read(&part.evidence, RECEIVED)?;
            let other = parts.iter().find(|other| other.index != part.index)?;
            Some((at, received, read(&other.evidence, SENT)?))
        });
        found.collect()
    };
    let each = parts.chunk_by(|before, after| before.trial == after.trial);
    each.map(|parts| {
        let directions = of(parts).into_iter();
        let directions = directions
            .map(|(at, received, sent)| DirectionRecord { part: &parts[at], received, sent })
            .collect();
        Trial { number: parts[0].trial, directions }
    })
    .filter(|trial| !trial.directions.is_empty())
    .collect()
}

fn read<T: for<'a> Deserialize<'a>>(evidence: &Evidence, name: &str) -> Option<T> {
    T::deserialize(evidence.get(name)?).ok()
}

pub fn integrity(received: &Received) -> Integrity {
    let (checked, wrong) = (received.total(|flow| flow.checked), received.total(|flow| flow.wrong));
    let first = received.flows.iter().find_map(|flow: &Tally| flow.first_wrong.clone());
    match (checked, first) {
        (_, Some(first)) => Integrity::Corrupt { wrong, of: checked, first },
        (0, None) => Integrity::Unverified { why: "nothing was received".to_owned() },
        (_, None) => Integrity::Verified { checked: checked * received.message as u64 },
    }
}

//! What the ends of a trial put down, and what is read from it again.

use std::collections::BTreeMap;

use seatrial_model::{Evidence, Integrity, PartRecord};
use seatrial_sys::net::datagram::DatagramCounters;
use serde::{Deserialize, Serialize};

/// Under what name an end that sends puts it down.
pub const SENT: &str = "sent";

/// The same of one that receives.
pub const RECEIVED: &str = "received";

/// Under what name an end that searched puts its steps down.
pub const STEPS: &str = "steps";

/// Part of the time by which a sender may miss its schedule. Ten times as much as the throughput's usual interval is
/// narrow would be no load as asked for; ten times less would blame a sender for one interrupt.
const MOST_SLIPPED: f64 = 0.001;

/// Counters of the system over a phase.
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
    /// The sum of those that are known.
    pub fn sum(&self, names: &[&str]) -> u64 {
        names.iter().filter_map(|name| self.counts.get(*name)).sum()
    }
}

/// Time that the threads of an end took, and the whole machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// From the first thread's start to the last one's end.
    pub span_ns: u64,
    /// Of all threads together.
    pub user_ns: u64,
    pub system_ns: u64,
    /// Ready to run while something else ran; none where the kernel does not tell.
    pub waited_ns: Option<u64>,
    /// The whole phase, over which the machine's times are.
    pub phase_ns: u64,
    /// All CPUs of the machine, interrupts included; none where it could not be read.
    pub machine_busy_ns: Option<u64>,
    /// Of it what interrupts leave for later, which is where datagrams are taken in.
    pub machine_softirq_ns: Option<u64>,
}

/// A flow at the end that sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentFlow {
    pub datagrams: u64,
    /// From the start of its schedule to the last look at it.
    pub span_ns: u64,
    /// Time by which the schedule could not be kept.
    pub slipped_ns: u64,
    /// The longest it was behind.
    pub behind_ns: u64,
    /// Calls that a full queue of this node refused; what they were to send went later.
    pub refused: u64,
    /// Calls of which only the first datagrams were taken, for the same reason or because the time of the call was over.
    pub cut_short: u64,
    /// Calls that were told that nobody listens there, or that a firewall rejects.
    pub rejected: u64,
}

impl SentFlow {
    /// Whether it was sent more slowly than it was to be.
    pub fn is_late(&self) -> bool {
        self.span_ns == 0 || self.slipped_ns as f64 > MOST_SLIPPED * self.span_ns as f64
    }
}

/// What the end that sends knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Payload of a datagram in bytes.
    pub message: usize,
    /// Payload that was asked for of each flow, in bytes a second.
    pub rate: Option<f64>,
    /// IP packets that are larger are fragmented.
    pub path_mtu: Option<u32>,
    /// Bytes of the IP and UDP headers.
    pub headers: usize,
    /// Datagrams of a piece.
    pub segments: usize,
    /// The queueing disciplines of the interface.
    pub queues: Vec<String>,
    pub interface: Option<String>,
    pub flows: Vec<SentFlow>,
    pub effort: Effort,
    pub counters: Counts,
    /// Why there is no count: the other end did not answer.
    pub silent: Option<String>,
}

impl Sent {
    /// Payload that was handed over, in Gbit/s.
    pub fn offered(&self) -> f64 {
        let each = self.flows.iter().filter(|flow| flow.span_ns > 0);
        each.map(|flow| flow.datagrams as f64 * self.message as f64 * 8.0 / flow.span_ns as f64).sum()
    }
}

/// A flow at the end that receives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub port: u16,
    /// By the count of the end that sent.
    pub sent: u64,
    pub received: u64,
    pub lost: u64,
    pub duplicates: u64,
    pub reordered: u64,
    /// The largest reordering extent.
    pub extent: u64,
    pub late: u64,
    /// Shortest and longest length of a class of runs of lost ones, and how many there were.
    pub bursts: Vec<(u64, u64, u64)>,
    /// All runs of lost ones, and the longest.
    pub burst_count: u64,
    pub longest_burst: u64,
    /// Datagrams that do not know the secret, or are no datagrams of this flow.
    pub strangers: u64,
    /// Datagrams of an earlier phase.
    pub stale: u64,
    /// Datagrams that were compared byte by byte, of them that differ, and how the first one did.
    pub checked: u64,
    pub wrong: u64,
    pub first_wrong: Option<String>,
    /// Interarrival jitter of RFC 3550, in nanoseconds; none from fewer than two.
    pub jitter_ns: Option<f64>,
    /// What found no room in the receive buffer, in pieces.
    pub socket_drops: Option<u64>,
    pub reads: u64,
}

/// What the end that receives knows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Received {
    pub message: usize,
    /// Bytes of the receive buffer of each flow, and whether it took a privilege to get them.
    pub buffer: u64,
    pub forced: bool,
    /// Whether the kernel was allowed to hand over several datagrams as one piece.
    pub coalesced: bool,
    pub interface: Option<String>,
    pub flows: Vec<Tally>,
    pub effort: Effort,
    pub counters: Counts,
    /// Why there is no count: the other end did not answer.
    pub silent: Option<String>,
}

impl Received {
    /// The sum over the flows.
    pub fn total(&self, of: impl Fn(&Tally) -> u64) -> u64 {
        self.flows.iter().map(of).sum()
    }
}

#[derive(Clone, Debug)]
pub struct Trial<'a> {
    pub number: u32,
    /// The ends that receive, each with what the end that sends to it knows.
    pub directions: Vec<DirectionRecord<'a>>,
}

/// From one end to the other.
#[derive(Clone, Debug)]
pub struct DirectionRecord<'a> {
    /// The record of the end that receives.
    pub part: &'a PartRecord,
    pub received: Received,
    pub sent: Sent,
}

/// The trials that `parts` are of. Ends that put nothing down are left out.
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

/// What the comparison of the datagrams came to.
pub fn integrity(received: &Received) -> Integrity {
    let (checked, wrong) = (received.total(|flow| flow.checked), received.total(|flow| flow.wrong));
    let first = received.flows.iter().find_map(|flow: &Tally| flow.first_wrong.clone());
    match (checked, first) {
        (_, Some(first)) => Integrity::Corrupt { wrong, of: checked, first },
        (0, None) => Integrity::Unverified { why: "nothing was received".to_owned() },
        (_, None) => Integrity::Verified { checked: checked * received.message as u64 },
    }
}

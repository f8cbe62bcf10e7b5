//! Findings from the counters: where datagrams were lost, fragments, foreign datagrams, bursts of the sender.

use seatrial_model::{Case, Finding, Quantity, Severity, Unit};
use seatrial_sys::net::datagram::most_segments;

use super::record::{Counts, DirectionRecord, Received, Sent, Tally, Trial};

/// Delay of a paced sender, in nanoseconds, from which its catch-up bursts may overrun a queue.
const BURST_NS: u64 = 1_000_000;

struct Place {
    name: &'static str,
    /// Count at this place; pieces may hold several datagrams.
    count: u64,
    remedy: String,
}

pub fn findings(case: &Case, trials: &[Trial<'_>]) -> Vec<Finding> {
    let mut found = Vec::new();
    let make = |kind: &str, severity, text: String, count: u64, of: &str| {
        let mut finding = Finding::new(kind, severity, case.subject.clone(), text);
        finding.value = Quantity::new(count as f64, Unit::Count).ok();
        finding.evidence = vec![of.to_owned()];
        finding
    };
    let directions = || trials.iter().flat_map(|trial| &trial.directions);
    let sum =
        |of: fn(&Tally) -> u64| -> u64 { directions().map(|direction| direction.received.total(of)).sum() };
    let lost = sum(|flow| flow.lost);
    if lost > 0 {
        let text = attribution(trials, lost, sum(|flow| flow.sent));
        found.push(make("datagrams-lost", Severity::Warning, text, lost, "loss"));
    }
    if let Some((count, text)) = fragments(trials) {
        found.push(make("fragmented", Severity::Warning, text, count, "trials"));
    }
    let rejected: u64 =
        directions().flat_map(|direction| &direction.sent.flows).map(|flow| flow.rejected).sum();
    if rejected > 0 {
        let text = format!(
            "{rejected} sends returned an ICMP error: a firewall rejects some of the datagrams, or another host \
             has the receiver's address too"
        );
        found.push(make("rejected", Severity::Warning, text, rejected, "trials"));
    }
    let foreign = sum(|flow| flow.foreign);
    if foreign > 0 {
        let text = format!(
            "{foreign} datagrams from other programs arrived at the ports of the measurement; they are not \
             counted, but took CPU time and buffer space of the receiver"
        );
        found.push(make("foreign-datagrams", Severity::Warning, text, foreign, "trials"));
    }
    let late = sum(|flow| flow.late);
    if late > 0 {
        let text = format!(
            "{late} datagrams were so late that they count as lost: a device on the path delays or repeats them"
        );
        found.push(make("datagrams-late", Severity::Warning, text, late, "trials"));
    }
    found
}

fn attribution(trials: &[Trial<'_>], lost: u64, sent: u64) -> String {
    let mut places: Vec<Place> = Vec::new();
    let mut per_piece = 1;
    for direction in trials.iter().flat_map(|trial| &trial.directions) {
        if direction.received.coalesced || direction.sent.segments > 1 {
            per_piece = most_segments(direction.sent.message.max(1)).max(direction.sent.segments) as u64;
        }
        for place in of_direction(direction) {
            match places.iter_mut().find(|known| known.name == place.name) {
                Some(known) => known.count += place.count,
                None => places.push(place),
            }
        }
    }
    places.retain(|place| place.count > 0);
    places.sort_by_key(|place| std::cmp::Reverse(place.count));
    let counted: u64 = places.iter().map(|place| place.count).sum();
    let share = 100.0 * lost as f64 / sent.max(1) as f64;
    let mut text = format!("{lost} of {sent} datagrams were lost ({share:.4} %)");
    let rest = lost.saturating_sub(counted.saturating_mul(per_piece));
    for place in &places {
        text.push_str(&format!(", {} in {}", place.count, place.name));
    }
    if per_piece > 1 && counted > 0 && rest == 0 {
        text.push_str(&format!(" (counted in pieces of up to {per_piece} datagrams)"));
    }
    if rest > 0 {
        let unknown = unknown(trials);
        let where_to = if unknown.is_empty() {
            "in the network"
        } else {
            "in the network or where no counter could be read"
        };
        text.push_str(&format!(", {rest} {where_to}"));
        if !unknown.is_empty() {
            text.push_str(&format!(" ({unknown})"));
        }
    }
    if let Some(first) = places.first() {
        text.push_str(&format!("; {}", first.remedy));
    } else if let Some(burst) = bursts(trials) {
        text.push_str(&format!("; {burst}"));
    }
    text
}

fn of_direction(direction: &DirectionRecord<'_>) -> Vec<Place> {
    let DirectionRecord { sent, received, .. } = direction;
    let place = |name, count, remedy: String| Place { name, count, remedy };
    // Drops of the sockets, or of all sockets of the node if the kernel does not count per socket.
    let own: Option<u64> = received.flows.iter().map(|flow| flow.socket_drops).sum();
    let socket = own.unwrap_or_else(|| received.counters.sum(&["udp_receive_buffer_full"]));
    // Whole refused pieces were sent again. A discipline that segments pieces itself counts each datagram, and
    // reports no error if it drops a part of them.
    let refused: u64 = sent.flows.iter().map(|flow| flow.refused + flow.cut_short).sum();
    let sent_again = refused.saturating_mul(sent.segments as u64);
    let on = |interface: &Option<String>| interface.clone().unwrap_or_else(|| "the interface".to_owned());
    let (ours, theirs) = (on(&received.interface), on(&sent.interface));
    let at = |counts: &Counts, names: &[&str]| counts.sum(names);
    vec![
        place("the receive buffer of the socket", socket, socket_remedy(received)),
        place(
            "the queue of packets for the receiver's CPUs",
            at(&received.counters, &["backlog_dropped"]),
            "raise net.core.netdev_max_backlog, or spread the interrupts over more cores".to_owned(),
        ),
        place(
            "the receiver's memory for UDP",
            at(&received.counters, &["udp_memory_short"]),
            "raise net.ipv4.udp_mem".to_owned(),
        ),
        place(
            "the receiver's card",
            // The kernel's own devices count packets they cannot take as dropped.
            at(&received.counters, &["interface_rx_dropped", "interface_rx_missed", "interface_rx_fifo"]),
            format!(
                "enlarge the RX ring of {ours} (ethtool -G {ours} rx), or spread its queues over more cores"
            ),
        ),
        place(
            "damaged packets at the receiver",
            at(&received.counters, &["interface_rx_crc", "udp_checksum_wrong"]),
            format!("check the cables and transceivers of {ours}"),
        ),
        place(
            "incomplete fragments",
            at(&received.counters, &["reassembly_failed"]),
            "set -p message= to fit the path MTU".to_owned(),
        ),
        place(
            "the sender's queue",
            at(&sent.counters, &["queue_dropped"]).saturating_sub(sent_again)
                + at(&sent.counters, &["interface_tx_dropped"]),
            format!("lower -p rate=: {theirs} is slower than the sender, or shaped"),
        ),
        place(
            "the sender's card",
            at(&sent.counters, &["interface_tx_errors", "interface_tx_carrier"]),
            format!("check the link of {theirs}"),
        ),
    ]
}

fn socket_remedy(received: &Received) -> String {
    let granted = received.buffer;
    format!(
        "the receiver did not read for longer than its buffer of {granted} B per flow lasts: raise net.core.rmem_max \
         and -p buffer=, or give it more cores"
    )
}

/// Counters that could not be read at the ends; empty if all were read.
fn unknown(trials: &[Trial<'_>]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for direction in trials.iter().flat_map(|trial| &trial.directions) {
        let all = direction.sent.counters.unknown.iter().chain(&direction.received.counters.unknown);
        for reason in all.map(String::as_str) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    reasons.join("; ")
}

/// Whether a paced sender was late and caught up in bursts, which may overrun a queue.
fn bursts(trials: &[Trial<'_>]) -> Option<String> {
    let paced =
        trials.iter().flat_map(|trial| &trial.directions).filter(|direction| direction.sent.rate.is_some());
    let behind = paced.flat_map(|direction| &direction.sent.flows).map(|flow| flow.behind_ns).max()?;
    (behind > BURST_NS).then(|| {
        format!(
            "the sender was up to {:.1} ms behind its schedule and caught up in a burst, which may have overrun a \
             queue on the path",
            behind as f64 / 1e6
        )
    })
}

/// Fragments during the trials: of messages above the path MTU, or made by the path.
fn fragments(trials: &[Trial<'_>]) -> Option<(u64, String)> {
    let directions = || trials.iter().flat_map(|trial| &trial.directions);
    let sum = |of: &dyn Fn(&DirectionRecord<'_>) -> u64| -> u64 { directions().map(of).sum() };
    let made = sum(&|direction| direction.sent.counters.sum(&["fragments_made"]));
    let came = sum(&|direction| direction.received.counters.sum(&["fragments_come"]));
    let too_large = |sent: &Sent| sent.path_mtu.is_some_and(|mtu| sent.message + sent.headers > mtu as usize);
    let large = directions().find(|direction| too_large(&direction.sent));
    let text = match large {
        Some(direction) => format!(
            "messages of {} B do not fit the path MTU of {} B and were fragmented ({made} made, {came} \
             received): one lost fragment loses the message, and no card spreads fragments over its queues; \
             enable jumbo frames on the whole path, or lower -p message=",
            direction.sent.message,
            direction.sent.path_mtu.unwrap_or(0)
        ),
        None if came > 0 => format!(
            "{came} fragments arrived although the messages fit the sender's path MTU: a device on the path \
             fragments them, or other programs on the receiver get fragments"
        ),
        None => return None,
    };
    Some((made.max(came), text))
}

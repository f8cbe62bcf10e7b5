//! The measured loops. They do not allocate and take no lock, except once if the kernel turns out not to segment.

use std::net::UdpSocket;
use std::time::Duration;

use seatrial_sys::Errno;
use seatrial_sys::clock::{now_ns, sleep_until_ns};
use seatrial_sys::net::datagram::{Incoming, Outgoing, Readable, segment};

use super::config::Pacing;
use super::header::Header;
use super::inbound::Inbound;
use super::outbound::Outbound;
use super::rules::Rules;
use super::shared::Shared;
use seatrial_bench::Stop;

/// Longest wait of a thread before it checks whether the phase is over.
pub const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Polls in a row without a datagram after which lost ones are given up, once the other end has finished: 300 ms,
/// longer than any queue on the path delays one. Polls are counted and not time, so that a receiver without a CPU
/// does not take that for silence.
const SILENT_LOOKS: u32 = 60;

/// The same when all have arrived, and only duplicates can be in flight.
const COPIES_LOOKS: u32 = 4;

/// Longest time after the other end has finished, whatever still arrives.
const MOST_NS: u64 = 4_000_000_000;

pub fn send(
    flows: &mut [Outbound],
    out: &mut Outgoing,
    rules: Rules<'_>,
    pacing: Pacing,
    stop: &Stop,
    shared: &Shared,
) -> Result<(), (usize, Errno)> {
    let most = out.layout().slots as u64;
    loop {
        let mut next = u64::MAX;
        for (at, flow) in flows.iter_mut().enumerate() {
            if stop.is_over() || shared.is_halted() {
                return Ok(());
            }
            let now = now_ns();
            let due = flow.pace.due(now, flow.sent).min(most) as usize;
            flow.span_ns = now.saturating_sub(flow.start_ns);
            if due > 0 {
                hand_over(flow, out, rules, due, now).map_err(|error| (at, error))?;
            }
            next = next.min(flow.pace.next_ns(flow.sent));
        }
        let now = now_ns();
        if next > now {
            match pacing {
                Pacing::Spin => std::hint::spin_loop(),
                Pacing::Sleep | Pacing::Kernel => {
                    sleep_until_ns(next.min(now + POLL_INTERVAL.as_nanos() as u64));
                }
            }
        }
    }
}

fn hand_over(
    flow: &mut Outbound,
    out: &mut Outgoing,
    rules: Rules<'_>,
    due: usize,
    now: u64,
) -> Result<(), Errno> {
    let slots = out.layout().slots;
    let first = (flow.sent % slots as u64) as usize;
    let mut header = Header {
        cookie: rules.cookie,
        sequence: flow.sent,
        sent_ns: now,
        flow: flow.number,
        phase: rules.phase,
        message: rules.message as u32,
    };
    for ahead in 0..due {
        header.write(out.slot((first + ahead) % slots));
        header.sequence += 1;
    }
    match out.send(&flow.socket, first, due) {
        Ok(taken) => {
            flow.sent += taken as u64;
            flow.cut_short += u64::from(taken < due);
        }
        // The timeout that allows a check of `stop`, or a signal.
        Err(Errno::AGAIN | Errno::INTR) => {}
        Err(Errno::NOBUFS) => flow.refused += 1,
        // The ICMP error of an earlier datagram; this one was not sent.
        Err(Errno::CONNREFUSED | Errno::HOSTUNREACH) => flow.rejected += 1,
        // The card computes no checksums, without which the kernel does not segment (net/ipv4/udp.c, `udp_send_skb`).
        Err(Errno::IO) if flow.may_be_uncut => {
            segment(&flow.socket, 0)?;
            out.uncut();
            flow.may_be_uncut = false;
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Receives the datagrams of all flows in turn, until the other end has finished and no more can arrive.
pub fn receive(
    flows: &mut [Inbound],
    sockets: &[UdpSocket],
    incoming: &mut Incoming,
    rules: Rules<'_>,
    shared: &Shared,
) -> Result<(), Errno> {
    let mut readable = Readable::new(sockets);
    let mut silent_looks = 0;
    shared.is_ready();
    loop {
        let mut idle = true;
        for (flow, socket) in flows.iter_mut().zip(sockets) {
            match incoming.receive(socket) {
                Ok(_) => {
                    idle = false;
                    if flow.take(incoming, rules, now_ns()) {
                        silent_looks = 0;
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        if shared.is_halted() {
            return Ok(());
        }
        if let Some(ended_ns) = shared.ended_ns() {
            let complete =
                flows.iter().all(|flow| flow.window.received >= shared.sent(usize::from(flow.number)));
            let patience = if complete { COPIES_LOOKS } else { SILENT_LOOKS };
            if silent_looks >= patience || now_ns() > ended_ns + MOST_NS {
                return Ok(());
            }
        } else {
            silent_looks = 0;
        }
        if idle && !readable.wait(POLL_INTERVAL)? {
            silent_looks += 1;
        }
    }
}

//! What limited a flow, derived from the counters of its two ends over the measuring phase.
//!
//! The loops of this benchmark sleep only when the peer or the network delays them, so an end that never sleeps is
//! the limit. If both ends sleep, the sender's kernel says how long it had data to send, and for how much of that
//! time the receive window or the send buffer delayed it (`tcpi_busy_time`, `tcpi_rwnd_limited`,
//! `tcpi_sndbuf_limited` of linux/tcp.h, since Linux 4.10). The rest is the congestion window: the path is full or
//! loses packets.

use seatrial_bench::is_lossy;
use seatrial_model::Nanos;

use super::method::{Method, Sending};
use super::record::End;

/// Share of the time for which an end must be busy to be the limit; even a busy end sleeps for the rest.
const BUSY: f64 = 0.85;

/// Share of the time for which a window or buffer must delay sending to be the limit.
const HELD: f64 = 0.5;

/// Share of the time with nothing to send that makes the program the limit.
const IDLE: f64 = 0.25;

/// Share of the time for which an end must have waited for a CPU to count as starved. Waiting only counts if the end
/// never slept, if its kernel had nothing to send, or if its window was closed.
const STARVED: f64 = 0.25;

/// Share of lost segments that counts as loss. A queue that overflows now and then loses less.
const LOSS: f64 = 0.001;

/// Bottleneck and least difference (us) of the smoothed to the shortest round trip time that show a queue in the path;
/// hosts and cards alone add some hundred microseconds.
const QUEUED: f64 = 2.0;
const QUEUED_US: u32 = 300;

/// Share of the requested pacing rate from which pacing is the limit.
const PACED: f64 = 0.93;

/// The same if nothing else delayed the flow, and if in addition there was no queue in its path.
const NEARLY_PACED: f64 = 0.8;
const LOOSELY_PACED: f64 = 0.6;

/// Share of the time with nothing to send above which the sender's waiting for a CPU matters.
const DRAINED: f64 = 0.1;

/// Busy time of both ends together from which closed windows and full buffers are due to the ends taking turns.
const IN_TURN: f64 = 0.9;

/// Share of the send buffer that must be in flight on average for the buffer to be full. The kernel lets a program
/// write again when a third of the buffer is free (net/core/stream.c, `sk_stream_write_space`), so a buffer that is
/// too small has between two thirds and all of its size in flight, less the kernel's overhead. A buffer that the
/// kernel sizes is never as full: it has room for twice the congestion window and as much overhead
/// (net/ipv4/tcp_input.c, `tcp_sndbuf_expand`), and at most a third of it is payload in flight.
const FULL: f64 = 0.45;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bottleneck {
    SenderCpu,
    ReceiverCpu,
    /// Other programs took the sender's CPU.
    SenderStarved,
    ReceiverStarved,
    /// The receiving program did not read.
    Reader,
    /// The sending program had nothing to send.
    Application,
    ReceiveWindow,
    SendBuffer,
    /// Segments were lost, and not because a queue was full.
    Loss,
    Pacing,
    /// A link, a shaper or competing traffic, as found by congestion control.
    Path,
    /// The kernel gives too few counters.
    Unknown,
}

impl Bottleneck {
    pub const fn word(self) -> &'static str {
        match self {
            Self::SenderCpu => "sender-cpu",
            Self::ReceiverCpu => "receiver-cpu",
            Self::SenderStarved => "sender-starved",
            Self::ReceiverStarved => "receiver-starved",
            Self::Reader => "reader",
            Self::Application => "application",
            Self::ReceiveWindow => "receive-window",
            Self::SendBuffer => "send-buffer",
            Self::Loss => "loss",
            Self::Pacing => "pacing",
            Self::Path => "path",
            Self::Unknown => "unknown",
        }
    }

    /// Whether an administrator can mend this; a healthy flow is limited by its path, its CPU or requested pacing.
    pub const fn is_fault(self) -> bool {
        matches!(
            self,
            Self::SenderStarved
                | Self::ReceiverStarved
                | Self::Reader
                | Self::Application
                | Self::ReceiveWindow
                | Self::SendBuffer
                | Self::Loss
        )
    }
}

/// Shares of the time, 0 to 1, from which the verdict is derived.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Shares {
    pub sender_cpu: f64,
    /// Time in which the sending thread was runnable, but had no CPU.
    pub sender_waited: Option<f64>,
    pub receiver_cpu: f64,
    pub receiver_waited: Option<f64>,
    /// Time in which the receiving program rested in user space.
    pub receiver_rested: f64,
    /// Time with data unsent or unacknowledged.
    pub busy: Option<f64>,
    pub rwnd_limited: Option<f64>,
    pub sndbuf_limited: Option<f64>,
    /// Retransmitted share of all segments, without spurious retransmissions.
    pub lost: Option<f64>,
    /// Share of the receiver's acknowledgements that the sender did not get.
    pub acknowledgements_lost: Option<f64>,
    pub lost_segments: u64,
    /// Share of the segments that the receiver got twice without a retransmission: TCP_INFO `dsack_dups` above `total_retrans`.
    pub duplicated: Option<f64>,
    /// Share of the segments that were sent again although they only came late: retransmissions that the receiver has twice.
    pub reordered: Option<f64>,
}

impl Shares {
    pub fn of(sender: &End, receiver: &End) -> Self {
        let part = |ns: u64, of: &End| (ns as f64 / of.window_ns.max(1) as f64).min(1.0);
        let sent = |ns: Option<u64>| ns.map(|ns| part(ns, sender));
        let (tcp, segments) = (&sender.tcp, sender.tcp.segments.filter(|count| *count > 0));
        // The receiver reports what it has twice, whether it was sent once or twice.
        let twice = tcp.spurious.zip(tcp.retransmits);
        let enough = |count: u64| if count < FEWEST_LATE { 0 } else { count };
        let of_segments = |count: Option<u64>| {
            let all = segments.filter(|all| *all >= FEWEST_SEGMENTS)?;
            Some(count? as f64 / all as f64)
        };
        let lost = tcp.retransmits.map(|again| again.saturating_sub(tcp.spurious.unwrap_or(0)));
        Self {
            sender_cpu: part(sender.cpu_ns(), sender),
            sender_waited: sent(sender.waited_ns),
            receiver_cpu: part(receiver.cpu_ns(), receiver),
            receiver_waited: receiver.waited_ns.map(|ns| part(ns, receiver)),
            receiver_rested: part(receiver.rested_ns, receiver),
            busy: sent(tcp.busy_ns),
            rwnd_limited: sent(tcp.rwnd_limited_ns),
            sndbuf_limited: sent(tcp.sndbuf_limited_ns),
            lost: lost.zip(segments).map(|(lost, all)| lost as f64 / all as f64),
            acknowledgements_lost: acknowledgements_lost(sender, receiver),
            lost_segments: lost.unwrap_or(0),
            duplicated: of_segments(twice.map(|(twice, again)| twice.saturating_sub(again))),
            reordered: of_segments(twice.map(|(twice, again)| twice.min(again)).map(enough)),
        }
    }
}

/// Fewest acknowledgements of which a share says something.
const FEWEST_ACKNOWLEDGEMENTS: u64 = 100;

/// The same of segments.
const FEWEST_SEGMENTS: u64 = 100;

/// Fewest segments sent again without need that say something: a delay of the whole flow makes a few.
const FEWEST_LATE: u64 = 10;

/// By the bytes of each end, since the phases of the ends begin and end at different moments.
fn acknowledgements_lost(sender: &End, receiver: &End) -> Option<f64> {
    let per_byte = |count: u64, end: &End| count as f64 / end.bytes.max(1) as f64;
    let sent = receiver.tcp.segments_out.filter(|count| *count >= FEWEST_ACKNOWLEDGEMENTS)?;
    let came = sender.tcp.segments_in?;
    Some((1.0 - per_byte(came, sender) / per_byte(sent, receiver)).max(0.0))
}

pub fn bottleneck(sender: &End, receiver: &End) -> Bottleneck {
    let signs = Signs {
        paced: pacing_reached(sender),
        queued: is_queued(sender),
        full: is_full(sender),
        drained: is_drained(sender),
    };
    verdict(&Shares::of(sender, receiver), signs)
}

#[derive(Clone, Copy, Debug, Default)]
struct Signs {
    /// Reached share of the pacing rate, if one was set.
    paced: Option<f64>,
    queued: bool,
    full: bool,
    drained: bool,
}

/// The verdict on shares. Losses are counted and not timed, so they take precedence over the time shares of windows,
/// buffers and CPUs.
fn verdict(shares: &Shares, signs: Signs) -> Bottleneck {
    let is_lossy = shares.lost.is_some_and(|lost| is_lossy(lost, shares.lost_segments));
    match in_time(shares, signs) {
        factor @ (Bottleneck::Path | Bottleneck::Pacing | Bottleneck::Unknown) => factor,
        // An end that waits for its CPU makes round trips longer without a queue in the path.
        Bottleneck::SenderStarved | Bottleneck::ReceiverStarved if is_lossy => Bottleneck::Loss,
        // A full queue drops packets too, which is how congestion control learns that it is full.
        _ if is_lossy && !signs.queued => Bottleneck::Loss,
        factor => factor,
    }
}

fn in_time(shares: &Shares, Signs { paced, queued, full, drained }: Signs) -> Bottleneck {
    let sides = Sides::of(shares);
    if sides.sender.max(sides.reading) >= BUSY {
        return sides.busier(shares);
    }
    let (Some(busy), Some(window), Some(buffer)) = (shares.busy, shares.rwnd_limited, shares.sndbuf_limited)
    else {
        return if sides.most_waited() >= STARVED { sides.starved() } else { Bottleneck::Unknown };
    };
    let idle = 1.0 - busy;
    let is_lossy = shares.lost.is_some_and(|lost| lost >= LOSS) && !queued;
    let held = window.max(buffer) >= HELD;
    // On a busy machine the kernel's pacing timer fires late, and what it holds back makes round trips longer. A path
    // that is much slower than the pacing rate has a queue.
    let is_free = !held && !is_lossy && idle < IDLE;
    let is_nearly = |part: f64| is_free && part >= if queued { NEARLY_PACED } else { LOOSELY_PACED };
    if paced.is_some_and(|part| part >= PACED || is_nearly(part)) {
        return Bottleneck::Pacing;
    }
    // A sender that waits for its CPU costs nothing while its kernel still has data to send.
    if sides.sender_waited >= STARVED && idle >= DRAINED {
        return Bottleneck::SenderStarved;
    }
    // With a queue in the path, more data in flight only makes the queue longer: the path is full already.
    if held && !queued {
        return match window >= buffer {
            // The ends take turns, each while the other waits; this alone closes windows and fills buffers.
            _ if sides.sender + sides.reading >= IN_TURN => sides.busier(shares),
            true if sides.receiver_waited >= STARVED => Bottleneck::ReceiverStarved,
            // A window that is closed because the program does not read is not too small.
            true if shares.receiver_rested > IDLE => Bottleneck::Reader,
            true => Bottleneck::ReceiveWindow,
            false => Bottleneck::SendBuffer,
        };
    }
    if idle >= IDLE {
        return if sides.most_waited() >= STARVED { sides.starved() } else { Bottleneck::Application };
    }
    // A sender sleeps only if its buffer is full. If all of that data is in flight, nothing else delays sending:
    // losses would leave data to send, behind a smaller congestion window.
    if drained && sides.sender <= 1.0 - HELD && !queued {
        return Bottleneck::SendBuffer;
    }
    if is_lossy {
        return Bottleneck::Loss;
    }
    // The kernel counts time as limited by the buffer only if the last write left data to send. Large messages often
    // leave none, and acknowledgements are waited for all the same.
    if full && !queued {
        return Bottleneck::SendBuffer;
    }
    Bottleneck::Path
}

struct Sides {
    sender: f64,
    sender_waited: f64,
    receiver: f64,
    receiver_waited: f64,
    /// The receiver, including the time that its program rested.
    reading: f64,
}

impl Sides {
    fn of(shares: &Shares) -> Self {
        let waited = |share: Option<f64>| share.unwrap_or(0.0);
        let (sender_waited, receiver_waited) = (waited(shares.sender_waited), waited(shares.receiver_waited));
        let receiver = shares.receiver_cpu + receiver_waited;
        Self {
            sender: shares.sender_cpu + sender_waited,
            sender_waited,
            receiver,
            receiver_waited,
            reading: receiver + shares.receiver_rested,
        }
    }

    fn most_waited(&self) -> f64 {
        self.sender_waited.max(self.receiver_waited)
    }

    fn starved(&self) -> Bottleneck {
        if self.sender_waited > self.receiver_waited {
            Bottleneck::SenderStarved
        } else {
            Bottleneck::ReceiverStarved
        }
    }

    fn busier(&self, shares: &Shares) -> Bottleneck {
        match self.reading < self.sender {
            true if self.sender_waited >= STARVED => Bottleneck::SenderStarved,
            true => Bottleneck::SenderCpu,
            false if self.receiver_waited >= STARVED => Bottleneck::ReceiverStarved,
            false if shares.receiver_rested > self.receiver => Bottleneck::Reader,
            false => Bottleneck::ReceiverCpu,
        }
    }
}

fn pacing_reached(sender: &End) -> Option<f64> {
    let rate = sender.bytes as f64 / Nanos(sender.window_ns.max(1)).as_secs();
    sender.socket.pacing.map(|pacing| rate / pacing.max(1) as f64)
}

fn is_queued(sender: &End) -> bool {
    let (rtt, least) = (sender.tcp.rtt_us, sender.tcp.min_rtt_us);
    rtt.zip(least).is_some_and(|(rtt, least)| {
        f64::from(rtt) >= QUEUED * f64::from(least) && rtt.saturating_sub(least) >= QUEUED_US
    })
}

/// Whether the data in flight (rate times round trip time) fills the send buffer.
fn is_full(sender: &End) -> bool {
    let rate = sender.bytes as f64 / Nanos(sender.window_ns.max(1)).as_secs();
    let under_way = sender.tcp.rtt_us.map(|us| rate * f64::from(us) * 1e-6);
    under_way.zip(sender.socket.send_buffer).is_some_and(|(bytes, buffer)| bytes >= FULL * buffer as f64)
}

/// Whether most readings found all data of the send buffer in flight. A `MSG_ZEROCOPY` sender also sleeps if too many
/// of its pages are pinned, which says nothing about the buffer.
fn is_drained(sender: &End) -> bool {
    sender.drained.is_some_and(|share| share >= HELD) && sender.method != Sending::Zerocopy.word()
}

#[cfg(test)]
mod tests {
    use super::super::advice::advice;
    use super::super::record::{Socket, TcpCounts};
    use super::*;
    use seatrial_bench::Direction;

    /// An end over one second; times in percent.
    fn end(sends: bool, cpu: u64, waited: u64) -> End {
        End {
            way: Direction::Forward,
            flow: 0,
            sends,
            method: "write".to_owned(),
            cpu: Some(0),
            window_ns: 1_000_000_000,
            bytes: 125_000_000,
            user_ns: 0,
            system_ns: cpu * 10_000_000,
            waited_ns: Some(waited * 10_000_000),
            rested_ns: 0,
            socket: Socket::default(),
            tcp: TcpCounts::default(),
            zero_copied: None,
            mapped_bytes: None,
            wake_bytes: None,
            drained: None,
        }
    }

    fn sender(cpu: u64, waited: u64, busy: u64, window: u64, buffer: u64) -> End {
        let share = |percent: u64| Some(percent * 10_000_000);
        let tcp = TcpCounts {
            busy_ns: share(busy),
            rwnd_limited_ns: share(window),
            sndbuf_limited_ns: share(buffer),
            retransmits: Some(0),
            segments: Some(100_000),
            rtt_us: Some(110),
            min_rtt_us: Some(100),
            ..TcpCounts::default()
        };
        End { tcp, ..end(true, cpu, waited) }
    }

    #[test]
    fn the_busier_end_is_the_limit_and_what_its_window_says_is_no_cause() {
        // Loopback: the receiver copies as fast as it can, so its window is closed all the time.
        assert_eq!(bottleneck(&sender(60, 0, 100, 90, 0), &end(false, 98, 1)), Bottleneck::ReceiverCpu);
        assert_eq!(bottleneck(&sender(97, 2, 100, 0, 0), &end(false, 70, 0)), Bottleneck::SenderCpu);
        assert_eq!(bottleneck(&sender(45, 50, 100, 0, 0), &end(false, 30, 20)), Bottleneck::SenderStarved);
        assert_eq!(bottleneck(&sender(40, 10, 100, 80, 0), &end(false, 50, 45)), Bottleneck::ReceiverStarved);
    }

    #[test]
    fn acknowledgements_are_counted_by_the_bytes_of_each_end() {
        let counted = |sends, segments: u64, bytes| {
            let tcp = match sends {
                true => TcpCounts { segments_in: Some(segments), ..TcpCounts::default() },
                false => TcpCounts { segments_out: Some(segments), ..TcpCounts::default() },
            };
            End { tcp, bytes, ..end(sends, 10, 0) }
        };
        let lost = |came, (sent, bytes)| {
            acknowledgements_lost(&counted(true, came, 1_000_000), &counted(false, sent, bytes))
        };
        assert!(lost(300, (900, 1_000_000)).is_some_and(|share| (share - 2.0 / 3.0).abs() < 1e-9));
        // The receiver's phase was half as long.
        assert_eq!(lost(900, (450, 500_000)), Some(0.0));
        assert_eq!(lost(20, (60, 1_000_000)), None, "too few");
        assert_eq!(acknowledgements_lost(&end(true, 10, 0), &end(false, 10, 0)), None);
    }

    #[test]
    fn windows_and_buffers_are_the_limit_when_nobody_is_busy() {
        assert_eq!(bottleneck(&sender(10, 0, 100, 93, 0), &end(false, 8, 1)), Bottleneck::ReceiveWindow);
        assert_eq!(bottleneck(&sender(10, 0, 100, 5, 88), &end(false, 8, 1)), Bottleneck::SendBuffer);
        // A window that fills the queue of a full link costs nothing.
        let mut queued = sender(10, 0, 100, 93, 0);
        queued.tcp.rtt_us = Some(2_700);
        assert_eq!(bottleneck(&queued, &end(false, 8, 1)), Bottleneck::Path);
        let resting = End { rested_ns: 900_000_000, ..end(false, 5, 0) };
        assert_eq!(bottleneck(&sender(10, 0, 100, 93, 0), &resting), Bottleneck::Reader);
        let often = End { rested_ns: 400_000_000, ..end(false, 5, 0) };
        assert_eq!(bottleneck(&sender(10, 0, 100, 93, 0), &often), Bottleneck::Reader);
    }

    #[test]
    fn a_send_buffer_that_is_full_of_what_is_under_way_is_named_though_the_kernel_does_not_count_it() {
        // 125 MB in a second with round trips of 110 us: 13,750 B are in flight.
        let mut flow = sender(12, 1, 100, 2, 10);
        for (buffer, wanted) in
            [(30_000, Bottleneck::SendBuffer), (31_000, Bottleneck::Path), (60_000, Bottleneck::Path)]
        {
            flow.socket.send_buffer = Some(buffer);
            assert_eq!(bottleneck(&flow, &end(false, 15, 1)), wanted, "{buffer}");
        }
        flow.socket.send_buffer = Some(30_000);
        // If the path has a queue or an end is busy, a full buffer says nothing.
        let queued = End { tcp: TcpCounts { rtt_us: Some(2_700), ..flow.tcp }, ..flow.clone() };
        assert_eq!(bottleneck(&queued, &end(false, 15, 1)), Bottleneck::Path);
        assert_eq!(bottleneck(&flow, &end(false, 97, 1)), Bottleneck::ReceiverCpu);
    }

    #[test]
    fn a_sender_that_sleeps_with_nothing_left_to_send_waits_for_room_in_its_buffer() {
        let asleep = End { drained: Some(0.8), ..sender(12, 1, 100, 2, 10) };
        assert_eq!(bottleneck(&asleep, &end(false, 15, 1)), Bottleneck::SendBuffer);
        // A late acknowledgement makes the kernel retransmit segments that were not lost, and may cross the phase's
        // end.
        let again = End { tcp: TcpCounts { retransmits: Some(500), ..asleep.tcp }, ..asleep.clone() };
        assert_eq!(bottleneck(&again, &end(false, 15, 1)), Bottleneck::SendBuffer);
        assert_eq!(bottleneck(&End { drained: Some(0.3), ..again }, &end(false, 15, 1)), Bottleneck::Loss);
        // With data waiting in the buffer, the buffer is not too small; a sender that is awake is the limit itself;
        // and on a full link all data is in flight as well.
        let rest = [
            End { drained: Some(0.3), ..asleep.clone() },
            End { drained: None, ..asleep.clone() },
            End { system_ns: 600_000_000, ..asleep.clone() },
            End { tcp: TcpCounts { rtt_us: Some(2_700), ..asleep.tcp }, ..asleep.clone() },
            End { method: "zerocopy".to_owned(), ..asleep.clone() },
        ];
        for flow in rest {
            assert_eq!(bottleneck(&flow, &end(false, 15, 1)), Bottleneck::Path, "{flow:?}");
        }
    }

    #[test]
    fn the_path_is_what_is_left_and_loss_only_without_a_queue() {
        let flow = sender(12, 1, 100, 2, 0);
        assert_eq!(bottleneck(&flow, &end(false, 15, 1)), Bottleneck::Path);
        let mut lossy = flow.clone();
        lossy.tcp.retransmits = Some(500);
        assert_eq!(bottleneck(&lossy, &end(false, 15, 1)), Bottleneck::Loss);
        // A shaper with a full queue drops packets too.
        lossy.tcp.rtt_us = Some(4_000);
        assert_eq!(bottleneck(&lossy, &end(false, 15, 1)), Bottleneck::Path);
        let mut paced = flow;
        paced.socket.pacing = Some(130_000_000);
        assert_eq!(bottleneck(&paced, &end(false, 15, 1)), Bottleneck::Pacing);
    }

    #[test]
    fn a_loss_of_one_percent_goes_before_buffers_windows_and_cpus() {
        let one_percent = |mut flow: End| {
            flow.tcp.retransmits = Some(1_000);
            flow
        };
        let mut drained = sender(20, 0, 100, 0, 0);
        drained.drained = Some(0.9);
        let rested = end(false, 15, 1);
        assert_eq!(bottleneck(&drained, &rested), Bottleneck::SendBuffer, "without a loss");
        for (flow, receiver) in [
            (drained, rested.clone()),
            (sender(10, 0, 100, 0, 90), rested.clone()),
            (sender(10, 0, 100, 90, 0), rested.clone()),
            (sender(45, 50, 80, 0, 0), rested.clone()),
            (sender(20, 30, 70, 0, 0), rested),
            (sender(20, 0, 100, 0, 0), end(false, 98, 1)),
        ] {
            assert_ne!(bottleneck(&flow, &receiver), Bottleneck::Loss);
            assert_eq!(bottleneck(&one_percent(flow), &receiver), Bottleneck::Loss);
        }
        // If other programs take the CPU, round trips are longer without a queue.
        let mut starved = one_percent(sender(20, 30, 70, 0, 0));
        starved.tcp.rtt_us = Some(900);
        assert_eq!(bottleneck(&starved, &end(false, 15, 1)), Bottleneck::Loss);
        // A few segments of a short flow do not count as loss.
        let mut few = sender(45, 50, 100, 0, 0);
        (few.tcp.retransmits, few.tcp.segments) = (Some(5), Some(500));
        assert_eq!(bottleneck(&few, &end(false, 15, 1)), Bottleneck::SenderStarved);
    }

    #[test]
    fn nothing_to_send_is_told_and_what_the_kernel_leaves_out_is_unknown() {
        assert_eq!(bottleneck(&sender(20, 0, 40, 0, 0), &end(false, 15, 0)), Bottleneck::Application);
        assert_eq!(bottleneck(&end(true, 20, 0), &end(false, 15, 0)), Bottleneck::Unknown);
    }

    /// Shares in the order of their fields: the sender's, the receiver's, and then the kernel's.
    fn recorded(sender: [f64; 2], receiver: [f64; 2], kernel: [f64; 4]) -> Shares {
        let [busy, rwnd_limited, sndbuf_limited, lost] = kernel.map(Some);
        Shares {
            sender_cpu: sender[0],
            sender_waited: Some(sender[1]),
            receiver_cpu: receiver[0],
            receiver_waited: Some(receiver[1]),
            receiver_rested: 0.0,
            busy,
            rwnd_limited,
            sndbuf_limited,
            lost,
            acknowledgements_lost: None,
            lost_segments: 0,
            duplicated: None,
            reordered: None,
        }
    }

    /// Captured on Linux 6.18 with two CPUs, rounded: loopback, and a veth shaped to 200 Mbit/s.
    #[test]
    fn recorded_flows_are_named_as_they_were_made() {
        for (shares, queued, wanted) in [
            // Buffers of 1 KiB on the loopback: the sender probes the closed window every 200 ms.
            (recorded([0.002, 0.0], [0.002, 0.0], [1.0, 1.0, 0.0, 0.0]), false, Bottleneck::ReceiveWindow),
            // A receive buffer of 8 KiB costs the receiver a call for every few bytes.
            (recorded([0.122, 0.072], [0.858, 0.141], [1.0, 1.0, 0.0, 0.0]), false, Bottleneck::ReceiverCpu),
            // A receive buffer of 2 KiB, while other work took both CPUs.
            (
                recorded([0.052, 0.449], [0.338, 0.662], [1.0, 1.0, 0.0, 0.0006]),
                false,
                Bottleneck::ReceiverStarved,
            ),
            // With large buffers: the sender had no CPU, and its kernel had nothing to send for a third of the time.
            (
                recorded([0.174, 0.379], [0.115, 0.553], [0.685, 0.0, 0.004, 0.003]),
                true,
                Bottleneck::SenderStarved,
            ),
            // Shaped, with other work on both CPUs.
            (recorded([0.015, 0.011], [0.133, 0.140], [1.0, 0.0, 0.0, 0.0]), true, Bottleneck::Path),
        ] {
            assert_eq!(verdict(&shares, Signs { queued, ..Signs::default() }), wanted, "{shares:?}");
        }
    }

    #[test]
    fn only_faults_are_blamed_and_each_with_its_remedy() {
        let (from, to) = (sender(10, 0, 100, 93, 0), end(false, 8, 1));
        for factor in [
            Bottleneck::SenderCpu,
            Bottleneck::ReceiverCpu,
            Bottleneck::SenderStarved,
            Bottleneck::ReceiverStarved,
            Bottleneck::Reader,
            Bottleneck::Application,
            Bottleneck::ReceiveWindow,
            Bottleneck::SendBuffer,
            Bottleneck::Loss,
            Bottleneck::Pacing,
            Bottleneck::Path,
            Bottleneck::Unknown,
        ] {
            assert_eq!(advice(factor, &from, &to).is_some(), factor.is_fault(), "{}", factor.word());
        }
        let text = advice(Bottleneck::ReceiveWindow, &from, &to).expect("a fault");
        assert!(text.contains("93 % of the time"), "{text}");
    }
}

//! What kept a flow from being faster, from what its two ends counted over the measuring phase.
//!
//! A sender that never sleeps, or a receiver that never does, is the limit by itself: the loops of this benchmark sleep
//! only where the other side or the network holds them up. Where both do, the sender's kernel tells for how long it had
//! data to send, and for how long of that the receiver's window or its own buffer kept it back (`tcpi_busy_time`,
//! `tcpi_rwnd_limited`, `tcpi_sndbuf_limited` of linux/tcp.h, since Linux 4.10). What is
//! left is the congestion window: the path, because it is full or because it loses.

use seatrial_model::Nanos;

use super::method::{Method, Sending};
use super::record::End;

/// Share of the time that an end must be busy to be the limit: the rest is what a busy end still sleeps in between.
const BUSY: f64 = 0.85;

/// Share of the time in which a window or buffer must hold sending up to be the limit.
const HELD: f64 = 0.5;

/// Share of the time with nothing to send that makes the program the limit.
const IDLE: f64 = 0.25;

/// Share of the time that an end must have waited for a CPU for others to be the limit, where its waiting shows: it never
/// slept, its kernel had nothing to send, or its window was shut.
const STARVED: f64 = 0.25;

/// Part of all segments that must be lost to speak of loss. A queue that overflows now and then loses less.
const LOSS: f64 = 0.001;

/// Part of all segments that no sound path loses, and how many of them are more than chance: congestion control that gives
/// way so often is what limits the flow, however busy its ends are or full its buffers between two losses.
const LOSSY: f64 = 0.006;
const FEWEST_LOST: u64 = 10;

/// How much longer than the shortest round trips must be to say that a queue stands in the path; and by how many
/// microseconds at least, since what hosts and cards take differs by some hundred.
const QUEUED: f64 = 2.0;
const QUEUED_US: u32 = 300;

/// How near to the asked pacing a rate must be to be held by it.
const PACED: f64 = 0.93;

/// The same where nothing else held the flow up, and where there was no queue in its path either.
const NEARLY_PACED: f64 = 0.8;
const LOOSELY_PACED: f64 = 0.6;

/// Share of the time with nothing to send behind which a sender's waiting for its CPU shows.
const DRAINED: f64 = 0.1;

/// How busy both ends together must be for windows and buffers to be shut because each waits for the other.
const IN_TURN: f64 = 0.9;

/// Part of the send buffer that must have been under way, on average, for it to be full. The kernel lets a program write
/// again when a third of it is free (net/core/stream.c, `sk_stream_write_space`), so that a buffer which is too small has
/// between two thirds and all of it under way, less what the kernel needs for itself. One that the kernel fits is never as
/// full: it gets room for twice the congestion window, and for that much of overhead (net/ipv4/tcp_input.c,
/// `tcp_sndbuf_expand`), of which a third at most is payload under way.
const FULL: f64 = 0.45;

/// What limited a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    /// The sender's CPU was busy all the time.
    SenderCpu,
    /// The receiver's CPU was.
    ReceiverCpu,
    /// The sender's CPU was taken by others.
    SenderStarved,
    /// The receiver's CPU was.
    ReceiverStarved,
    /// The receiving program took its time.
    Reader,
    /// The sending program had nothing to send.
    Application,
    /// The receive window was too small for the path.
    ReceiveWindow,
    SendBuffer,
    /// Segments were lost, and not because a queue was full.
    Loss,
    /// The rate was asked for.
    Pacing,
    /// The path: a link, a shaper or a neighbour's traffic, as far as congestion control found out.
    Path,
    /// The kernel does not tell enough.
    Unknown,
}

impl Factor {
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

    /// Whether it is something to be mended, and not what a sound flow runs into: its path, or what its CPU can do.
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

/// Shares of the time, 0 to 1, that the verdict rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Shares {
    pub sender_cpu: f64,
    /// Sender ready, but without a CPU.
    pub sender_waited: Option<f64>,
    pub receiver_cpu: f64,
    pub receiver_waited: Option<f64>,
    /// Receiving program at rest outside of the kernel.
    pub receiver_rested: f64,
    /// Data unsent or unacknowledged.
    pub busy: Option<f64>,
    pub rwnd_limited: Option<f64>,
    pub sndbuf_limited: Option<f64>,
    /// Retransmissions of all segments, those left out that had come the first time.
    pub lost: Option<f64>,
    /// How many these were.
    #[serde(skip)]
    pub lost_segments: u64,
}

impl Shares {
    /// Those of a flow.
    pub fn of(sender: &End, receiver: &End) -> Self {
        let part = |ns: u64, of: &End| (ns as f64 / of.window_ns.max(1) as f64).min(1.0);
        let sent = |ns: Option<u64>| ns.map(|ns| part(ns, sender));
        let (tcp, segments) = (&sender.tcp, sender.tcp.segments.filter(|count| *count > 0));
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
            lost_segments: lost.unwrap_or(0),
        }
    }
}

/// What limited the flow with these ends.
pub fn limited(sender: &End, receiver: &End) -> Factor {
    let signs = Signs {
        paced: pacing_reached(sender),
        queued: is_queued(sender),
        full: is_full(sender),
        drained: is_drained(sender),
    };
    verdict(&Shares::of(sender, receiver), signs)
}

/// What the ends tell beside their shares of the time.
#[derive(Clone, Copy, Debug, Default)]
struct Signs {
    /// The part of the rate that the flow was to be paced to which it reached, if it was.
    paced: Option<f64>,
    /// A queue stood in its path.
    queued: bool,
    /// The send buffer was full of what was under way.
    full: bool,
    /// Most of the time nothing waited to be sent.
    drained: bool,
}

/// The verdict on shares. What was lost is counted and not timed, so that it goes before what windows, buffers and CPUs tell
/// of their part of the time.
fn verdict(shares: &Shares, signs: Signs) -> Factor {
    let is_lossy = shares.lost.is_some_and(|lost| lost >= LOSSY) && shares.lost_segments >= FEWEST_LOST;
    match in_time(shares, signs) {
        factor @ (Factor::Path | Factor::Pacing | Factor::Unknown) => factor,
        // An end that waits for its CPU makes round trips longer without a queue in the path.
        Factor::SenderStarved | Factor::ReceiverStarved if is_lossy => Factor::Loss,
        // A queue that is full loses too: that is how it says that it is full.
        _ if is_lossy && !signs.queued => Factor::Loss,
        factor => factor,
    }
}

/// The verdict on shares of the time.
fn in_time(shares: &Shares, Signs { paced, queued, full, drained }: Signs) -> Factor {
    let sides = Sides::of(shares);
    // Who never sleeps is the limit by itself.
    if sides.sender.max(sides.reading) >= BUSY {
        return sides.busier(shares);
    }
    let (Some(busy), Some(window), Some(buffer)) = (shares.busy, shares.rwnd_limited, shares.sndbuf_limited)
    else {
        return if sides.most_waited() >= STARVED { sides.starved() } else { Factor::Unknown };
    };
    let idle = 1.0 - busy;
    let is_lossy = shares.lost.is_some_and(|lost| lost >= LOSS) && !queued;
    let held = window.max(buffer) >= HELD;
    // The kernel's timer that paces comes late on a busy machine, and round trips are longer by what it holds back. A path
    // that is much slower than the pace has a queue.
    let is_free = !held && !is_lossy && idle < IDLE;
    let is_nearly = |part: f64| is_free && part >= if queued { NEARLY_PACED } else { LOOSELY_PACED };
    if paced.is_some_and(|part| part >= PACED || is_nearly(part)) {
        return Factor::Pacing;
    }
    // A sender that waits for its CPU costs nothing while its kernel still has something to send.
    if sides.sender_waited >= STARVED && idle >= DRAINED {
        return Factor::SenderStarved;
    }
    // With a queue in the path, more data under way would only make it longer: the path is full already.
    if held && !queued {
        return match window >= buffer {
            // The ends work in turn, each while the other waits for it: windows and buffers are shut because of that.
            _ if sides.sender + sides.reading >= IN_TURN => sides.busier(shares),
            true if sides.receiver_waited >= STARVED => Factor::ReceiverStarved,
            // A window that is shut since the program does not read is not too small.
            true if shares.receiver_rested > IDLE => Factor::Reader,
            true => Factor::ReceiveWindow,
            false => Factor::SendBuffer,
        };
    }
    if idle >= IDLE {
        return if sides.most_waited() >= STARVED { sides.starved() } else { Factor::Application };
    }
    // A sender sleeps only where its buffer is full: when all of that is under way, nothing else holds it up. Losses would
    // leave something to send, behind a smaller congestion window.
    if drained && sides.sender <= 1.0 - HELD && !queued {
        return Factor::SendBuffer;
    }
    if is_lossy {
        return Factor::Loss;
    }
    // The kernel counts time as limited by the buffer only where the last write left something to send; where messages are
    // large it often left nothing, and the acknowledgements are waited for all the same.
    if full && !queued {
        return Factor::SendBuffer;
    }
    Factor::Path
}

/// How busy both ends were: on a CPU, or ready for one.
struct Sides {
    sender: f64,
    sender_waited: f64,
    receiver: f64,
    receiver_waited: f64,
    /// The receiver with the time that its program rested.
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

    /// Whichever waited more for its CPU.
    fn starved(&self) -> Factor {
        if self.sender_waited > self.receiver_waited {
            Factor::SenderStarved
        } else {
            Factor::ReceiverStarved
        }
    }

    /// What kept the busier end busy.
    fn busier(&self, shares: &Shares) -> Factor {
        match self.reading < self.sender {
            true if self.sender_waited >= STARVED => Factor::SenderStarved,
            true => Factor::SenderCpu,
            false if self.receiver_waited >= STARVED => Factor::ReceiverStarved,
            false if shares.receiver_rested > self.receiver => Factor::Reader,
            false => Factor::ReceiverCpu,
        }
    }
}

/// The part of the asked pacing that the flow reached, if it was paced.
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

/// Whether as much as the send buffer can hold was under way: the rate times the round trip.
fn is_full(sender: &End) -> bool {
    let rate = sender.bytes as f64 / Nanos(sender.window_ns.max(1)).as_secs();
    let under_way = sender.tcp.rtt_us.map(|us| rate * f64::from(us) * 1e-6);
    under_way.zip(sender.socket.send_buffer).is_some_and(|(bytes, buffer)| bytes >= FULL * buffer as f64)
}

/// Whether most looks found all that was in the send buffer under way. A sender that lends its pages also sleeps where too
/// many of them are out, and that says nothing of the buffer.
fn is_drained(sender: &End) -> bool {
    sender.drained.is_some_and(|share| share >= HELD) && sender.method != Sending::Zerocopy.word()
}

#[cfg(test)]
mod tests {
    use super::super::advice::advice;
    use super::super::record::{Socket, TcpCounts};
    use super::*;
    use seatrial_bench::Direction;

    /// An end over one second; times in percent of it.
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
        // Loopback: the receiver copies as fast as it can, so that its window is shut all the time.
        assert_eq!(limited(&sender(60, 0, 100, 90, 0), &end(false, 98, 1)), Factor::ReceiverCpu);
        assert_eq!(limited(&sender(97, 2, 100, 0, 0), &end(false, 70, 0)), Factor::SenderCpu);
        assert_eq!(limited(&sender(45, 50, 100, 0, 0), &end(false, 30, 20)), Factor::SenderStarved);
        assert_eq!(limited(&sender(40, 10, 100, 80, 0), &end(false, 50, 45)), Factor::ReceiverStarved);
    }

    #[test]
    fn windows_and_buffers_are_the_limit_when_nobody_is_busy() {
        assert_eq!(limited(&sender(10, 0, 100, 93, 0), &end(false, 8, 1)), Factor::ReceiveWindow);
        assert_eq!(limited(&sender(10, 0, 100, 5, 88), &end(false, 8, 1)), Factor::SendBuffer);
        // A window that fills a full link's queue costs nothing.
        let mut queued = sender(10, 0, 100, 93, 0);
        queued.tcp.rtt_us = Some(2_700);
        assert_eq!(limited(&queued, &end(false, 8, 1)), Factor::Path);
        let resting = End { rested_ns: 900_000_000, ..end(false, 5, 0) };
        assert_eq!(limited(&sender(10, 0, 100, 93, 0), &resting), Factor::Reader);
        let often = End { rested_ns: 400_000_000, ..end(false, 5, 0) };
        assert_eq!(limited(&sender(10, 0, 100, 93, 0), &often), Factor::Reader);
    }

    #[test]
    fn a_send_buffer_that_is_full_of_what_is_under_way_is_named_though_the_kernel_does_not_count_it() {
        // 125 MB in a second with round trips of 110 us: 13,750 B are under way.
        let mut flow = sender(12, 1, 100, 2, 10);
        for (buffer, wanted) in [(30_000, Factor::SendBuffer), (31_000, Factor::Path), (60_000, Factor::Path)]
        {
            flow.socket.send_buffer = Some(buffer);
            assert_eq!(limited(&flow, &end(false, 15, 1)), wanted, "{buffer}");
        }
        flow.socket.send_buffer = Some(30_000);
        // Of a path with a queue, and of an end that is busy, a full buffer says nothing.
        let queued = End { tcp: TcpCounts { rtt_us: Some(2_700), ..flow.tcp }, ..flow.clone() };
        assert_eq!(limited(&queued, &end(false, 15, 1)), Factor::Path);
        assert_eq!(limited(&flow, &end(false, 97, 1)), Factor::ReceiverCpu);
    }

    #[test]
    fn a_sender_that_sleeps_with_nothing_left_to_send_waits_for_room_in_its_buffer() {
        let asleep = End { drained: Some(0.8), ..sender(12, 1, 100, 2, 10) };
        assert_eq!(limited(&asleep, &end(false, 15, 1)), Factor::SendBuffer);
        // A late acknowledgement makes the kernel send again what was not lost, and may cross the phase's end.
        let again = End { tcp: TcpCounts { retransmits: Some(500), ..asleep.tcp }, ..asleep.clone() };
        assert_eq!(limited(&again, &end(false, 15, 1)), Factor::SendBuffer);
        assert_eq!(limited(&End { drained: Some(0.3), ..again }, &end(false, 15, 1)), Factor::Loss);
        // With a queue of its own the buffer is not too small; awake the sender is what is waited for; and a full link has
        // all under way as well.
        let rest = [
            End { drained: Some(0.3), ..asleep.clone() },
            End { drained: None, ..asleep.clone() },
            End { system_ns: 600_000_000, ..asleep.clone() },
            End { tcp: TcpCounts { rtt_us: Some(2_700), ..asleep.tcp }, ..asleep.clone() },
            End { method: "zerocopy".to_owned(), ..asleep.clone() },
        ];
        for flow in rest {
            assert_eq!(limited(&flow, &end(false, 15, 1)), Factor::Path, "{flow:?}");
        }
    }

    #[test]
    fn the_path_is_what_is_left_and_loss_only_without_a_queue() {
        let flow = sender(12, 1, 100, 2, 0);
        assert_eq!(limited(&flow, &end(false, 15, 1)), Factor::Path);
        let mut lossy = flow.clone();
        lossy.tcp.retransmits = Some(500);
        assert_eq!(limited(&lossy, &end(false, 15, 1)), Factor::Loss);
        // A shaper whose queue is full loses too: that is how it says that it is full.
        lossy.tcp.rtt_us = Some(4_000);
        assert_eq!(limited(&lossy, &end(false, 15, 1)), Factor::Path);
        let mut paced = flow;
        paced.socket.pacing = Some(130_000_000);
        assert_eq!(limited(&paced, &end(false, 15, 1)), Factor::Pacing);
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
        assert_eq!(limited(&drained, &rested), Factor::SendBuffer, "without a loss");
        for (flow, receiver) in [
            (drained, rested.clone()),
            (sender(10, 0, 100, 0, 90), rested.clone()),
            (sender(10, 0, 100, 90, 0), rested.clone()),
            (sender(45, 50, 80, 0, 0), rested.clone()),
            (sender(20, 30, 70, 0, 0), rested),
            (sender(20, 0, 100, 0, 0), end(false, 98, 1)),
        ] {
            assert_ne!(limited(&flow, &receiver), Factor::Loss);
            assert_eq!(limited(&one_percent(flow), &receiver), Factor::Loss);
        }
        // Where others take the CPU, round trips are longer by that: it is no queue.
        let mut starved = one_percent(sender(20, 30, 70, 0, 0));
        starved.tcp.rtt_us = Some(900);
        assert_eq!(limited(&starved, &end(false, 15, 1)), Factor::Loss);
        // A few segments of a short flow are no loss to speak of.
        let mut few = sender(45, 50, 100, 0, 0);
        (few.tcp.retransmits, few.tcp.segments) = (Some(5), Some(500));
        assert_eq!(limited(&few, &end(false, 15, 1)), Factor::SenderStarved);
    }

    #[test]
    fn nothing_to_send_is_told_and_what_the_kernel_leaves_out_is_unknown() {
        assert_eq!(limited(&sender(20, 0, 40, 0, 0), &end(false, 15, 0)), Factor::Application);
        assert_eq!(limited(&end(true, 20, 0), &end(false, 15, 0)), Factor::Unknown);
    }

    /// Shares in the order of their fields, the sender's and the receiver's, and then the kernel's.
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
            lost_segments: 0,
        }
    }

    /// Captured on Linux 6.18 with two CPUs, rounded: loopback, and a veth shaped to 200 Mbit/s.
    #[test]
    fn recorded_flows_are_named_as_they_were_made() {
        for (shares, queued, wanted) in [
            // Buffers of 1 KiB on the loopback: the sender probes the shut window every 200 ms.
            (recorded([0.002, 0.0], [0.002, 0.0], [1.0, 1.0, 0.0, 0.0]), false, Factor::ReceiveWindow),
            // A receive buffer of 8 KiB costs the receiver a call for every few bytes.
            (recorded([0.122, 0.072], [0.858, 0.141], [1.0, 1.0, 0.0, 0.0]), false, Factor::ReceiverCpu),
            // One of 2 KiB, while other work took both CPUs.
            (
                recorded([0.052, 0.449], [0.338, 0.662], [1.0, 1.0, 0.0, 0.0006]),
                false,
                Factor::ReceiverStarved,
            ),
            // With large ones the sender's kernel had nothing to send for a third of the time, as the sender was not run.
            (
                recorded([0.174, 0.379], [0.115, 0.553], [0.685, 0.0, 0.004, 0.003]),
                true,
                Factor::SenderStarved,
            ),
            // Shaped, with other work on both CPUs.
            (recorded([0.015, 0.011], [0.133, 0.140], [1.0, 0.0, 0.0, 0.0]), true, Factor::Path),
        ] {
            assert_eq!(verdict(&shares, Signs { queued, ..Signs::default() }), wanted, "{shares:?}");
        }
    }

    #[test]
    fn only_faults_are_blamed_and_each_with_its_remedy() {
        let (from, to) = (sender(10, 0, 100, 93, 0), end(false, 8, 1));
        for factor in [
            Factor::SenderCpu,
            Factor::ReceiverCpu,
            Factor::SenderStarved,
            Factor::ReceiverStarved,
            Factor::Reader,
            Factor::Application,
            Factor::ReceiveWindow,
            Factor::SendBuffer,
            Factor::Loss,
            Factor::Pacing,
            Factor::Path,
            Factor::Unknown,
        ] {
            assert_eq!(advice(factor, &from, &to).is_some(), factor.is_fault(), "{}", factor.word());
        }
        let text = advice(Factor::ReceiveWindow, &from, &to).expect("a fault");
        assert!(text.contains("93 % of the time"), "{text}");
    }
}

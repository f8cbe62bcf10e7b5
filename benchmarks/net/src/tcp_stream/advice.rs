//! What a person can do about what limited a flow.

use super::limited::{Factor, Shares};
use super::record::End;

/// What to do about it, in one sentence; none where nothing is wrong.
pub fn advice(factor: Factor, sender: &End, receiver: &End) -> Option<String> {
    let shares = Shares::of(sender, receiver);
    let percent = |share: Option<f64>| format!("{:.0} %", 100.0 * share.unwrap_or(0.0));
    Some(match factor {
        Factor::ReceiveWindow => {
            let window = sender.tcp.send_window.map_or_else(String::new, |bytes| format!(" of {bytes} B"));
            let buffer = receiver.socket.receive_buffer.map_or_else(String::new, |bytes| {
                format!(" (its buffer is {bytes} B by the kernel's count)")
            });
            format!(
                "the receive window{window}{buffer} held sending up for {} of the time: raise net.ipv4.tcp_rmem or, \
                 where a size was asked for, buffer= and net.core.rmem_max; a flow needs its rate times its round trip",
                percent(shares.rwnd_limited)
            )
        }
        Factor::SendBuffer => {
            let buffer = sender.socket.send_buffer.map_or_else(String::new, |bytes| format!(" of {bytes} B"));
            format!(
                "the send buffer{buffer} was full of what was under way and held sending up, for {} of the time by the \
                 kernel's count, which misses some: raise net.ipv4.tcp_wmem or, where a size was asked for, buffer= and \
                 net.core.wmem_max",
                percent(shares.sndbuf_limited)
            )
        }
        Factor::Loss => format!(
            "{:.2} % of the segments were lost although no queue stood in the path: look at the error counters of both \
             cards and of the switch, at rings that overflow, and at policers",
            100.0 * shares.lost.unwrap_or(0.0)
        ),
        Factor::Reader => "the receiving program did not read: it rested while data waited".to_owned(),
        Factor::Application => format!(
            "there was nothing to send for {} of the time, while the sender's CPU was not busy",
            percent(shares.busy.map(|busy| 1.0 - busy))
        ),
        Factor::SenderStarved => format!(
            "the sender's thread was ready but had no CPU for {} of the time: something else runs on its core, or there \
             are fewer cores than flows",
            percent(shares.sender_waited)
        ),
        Factor::ReceiverStarved => format!(
            "the receiver's thread was ready but had no CPU for {} of the time: something else runs on its core, or \
             there are fewer cores than flows",
            percent(shares.receiver_waited)
        ),
        Factor::SenderCpu | Factor::ReceiverCpu | Factor::Pacing | Factor::Path | Factor::Unknown => {
            return None;
        }
    })
}

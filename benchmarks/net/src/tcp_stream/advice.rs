//! Advice on what limited a flow.

use super::bottleneck::{Bottleneck, Shares};
use super::record::End;

/// One sentence of advice; `None` if the factor is no fault.
pub fn advice(factor: Bottleneck, sender: &End, receiver: &End) -> Option<String> {
    let shares = Shares::of(sender, receiver);
    let percent = |share: Option<f64>| format!("{:.0} %", 100.0 * share.unwrap_or(0.0));
    Some(match factor {
        Bottleneck::ReceiveWindow => {
            let window = sender.tcp.send_window.map_or_else(String::new, |bytes| format!(" of {bytes} B"));
            let buffer = receiver.socket.receive_buffer.map_or_else(String::new, |bytes| {
                format!(" (receive buffer {bytes} B by the kernel's count)")
            });
            format!(
                "the receive window{window}{buffer} delayed sending for {} of the time: raise net.ipv4.tcp_rmem, or \
                 buffer= and net.core.rmem_max if you set buffer=; a flow needs a window of its rate times its round \
                 trip time",
                percent(shares.rwnd_limited)
            )
        }
        Bottleneck::SendBuffer => {
            let buffer = sender.socket.send_buffer.map_or_else(String::new, |bytes| format!(" of {bytes} B"));
            format!(
                "the send buffer{buffer} was full of data in flight and delayed sending, for {} of the time by the \
                 kernel's count, which misses some: raise net.ipv4.tcp_wmem, or buffer= and net.core.wmem_max if you \
                 set buffer=",
                percent(shares.sndbuf_limited)
            )
        }
        Bottleneck::Loss => format!(
            "{:.2} % of the segments had to be sent again, and there was no queue in the path: check the error counters of both \
             cards and of the switch, the RX ring sizes (ethtool -g), and policers",
            100.0 * shares.lost.unwrap_or(0.0)
        ),
        Bottleneck::Reader => "the receiving program did not read while data waited".to_owned(),
        Bottleneck::Application => format!(
            "the sending program had nothing to send for {} of the time, and its CPU was not busy",
            percent(shares.busy.map(|busy| 1.0 - busy))
        ),
        Bottleneck::SenderStarved => format!(
            "the sender's thread was runnable, but had no CPU for {} of the time: another program runs on its core, \
             or there are fewer cores than flows",
            percent(shares.sender_waited)
        ),
        Bottleneck::ReceiverStarved => format!(
            "the receiver's thread was runnable, but had no CPU for {} of the time: another program runs on its \
             core, or there are fewer cores than flows",
            percent(shares.receiver_waited)
        ),
        Bottleneck::SenderCpu
        | Bottleneck::ReceiverCpu
        | Bottleneck::Pacing
        | Bottleneck::Path
        | Bottleneck::Unknown => {
            return None;
        }
    })
}

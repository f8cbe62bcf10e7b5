//! What a part tells of its end of a flow, as it stands in the evidence.

use std::net::TcpStream;

use seatrial_model::Evidence;
use seatrial_sys::net::{TcpInfo, ThreadTime, ZeroCopied};
use serde::{Deserialize, Serialize};
use socket2::SockRef;

use super::config::Name;
use seatrial_bench::Direction;

/// Under what name the list of [`End`]s stands.
pub const ENDS: &str = "ends";

/// One end of a flow over the measuring phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    pub way: Direction,
    pub flow: u32,
    /// Whether this end sends.
    pub sends: bool,
    pub method: String,
    /// The CPU that its thread is pinned to.
    pub cpu: Option<u32>,
    /// From its first to its last look at the clock.
    pub window_ns: u64,
    pub bytes: u64,
    pub user_ns: u64,
    pub system_ns: u64,
    /// Ready to run while the CPU ran something else.
    pub waited_ns: Option<u64>,
    /// Time that the program itself rested: none but in tests.
    #[serde(default)]
    pub rested_ns: u64,
    pub socket: Socket,
    pub tcp: TcpCounts,
    /// Sends without a copy, and those of them that were copied after all.
    pub zero_copied: Option<(u64, u64)>,
    /// Bytes whose pages were mapped.
    pub mapped_bytes: Option<u64>,
    /// Bytes that had to be there before the receiver was woken; none for a sender.
    #[serde(default)]
    pub wake_bytes: Option<u32>,
    /// Share of the looks, 0 to 1, at which all that a sender's kernel held was under way and nothing waited to be sent; none
    /// for a receiver, and where the kernel does not tell.
    #[serde(default)]
    pub drained: Option<f64>,
}

/// How a connection is set up, as the kernel tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Socket {
    pub local: Option<String>,
    pub peer: Option<String>,
    /// Sizes of the buffers as granted, in bytes of the kernel's accounting; automatic ones move.
    pub send_buffer: Option<usize>,
    pub receive_buffer: Option<usize>,
    pub congestion: Option<String>,
    /// In bytes a second.
    pub pacing: Option<u64>,
}

/// What the kernel counted of a connection over the phase, and how it was at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpCounts {
    pub busy_ns: Option<u64>,
    pub rwnd_limited_ns: Option<u64>,
    pub sndbuf_limited_ns: Option<u64>,
    pub retransmits: Option<u64>,
    pub segments: Option<u64>,
    pub delivered: Option<u64>,
    pub delivered_ce: Option<u64>,
    pub retransmitted_bytes: Option<u64>,
    /// Of the segments sent again those that had not been lost, as the receiver tells (RFC 2883).
    #[serde(default)]
    pub spurious: Option<u64>,
    pub out_of_order: Option<u64>,
    /// The smoothed round trip time: the median over the phase, or that at its end where it was not looked at before.
    pub rtt_us: Option<u32>,
    pub min_rtt_us: Option<u32>,
    pub cwnd: Option<u32>,
    pub mss: Option<u32>,
    pub pmtu: Option<u32>,
    /// Window that the peer offers.
    pub send_window: Option<u32>,
    /// In bytes a second.
    pub delivery_rate: Option<u64>,
}

impl TcpCounts {
    /// The difference of two looks, none where the kernel told nothing.
    pub fn between(first: Option<TcpInfo>, last: Option<TcpInfo>) -> Self {
        let (Some(first), Some(last)) = (first, last) else { return Self::default() };
        let times = |field: fn(&TcpInfo) -> Option<u64>| -> Option<u64> {
            Some(field(&last)?.saturating_sub(field(&first)?).saturating_mul(1000))
        };
        // 32 bits may go round.
        let counts = |field: fn(&TcpInfo) -> Option<u32>| -> Option<u64> {
            Some(field(&last)?.wrapping_sub(field(&first)?).into())
        };
        Self {
            busy_ns: times(|info| info.busy_us),
            rwnd_limited_ns: times(|info| info.rwnd_limited_us),
            sndbuf_limited_ns: times(|info| info.sndbuf_limited_us),
            retransmits: counts(|info| info.total_retrans),
            segments: counts(|info| info.data_segs_out),
            delivered: counts(|info| info.delivered),
            delivered_ce: counts(|info| info.delivered_ce),
            retransmitted_bytes: last
                .bytes_retrans
                .zip(first.bytes_retrans)
                .map(|(now, then)| now.saturating_sub(then)),
            spurious: counts(|info| info.dsack_dups),
            out_of_order: counts(|info| info.rcv_ooopack),
            rtt_us: last.rtt_us.filter(|us| *us > 0),
            min_rtt_us: last.min_rtt_us,
            cwnd: last.snd_cwnd,
            mss: last.snd_mss,
            pmtu: last.pmtu,
            send_window: last.snd_wnd,
            delivery_rate: last.delivery_rate,
        }
    }
}

impl Socket {
    /// As it is now.
    pub fn of(stream: &TcpStream) -> Self {
        let socket = SockRef::from(stream);
        let address =
            |end: std::io::Result<std::net::SocketAddr>| end.ok().map(|address| address.to_string());
        let congestion = socket.tcp_congestion().ok().map(|name| {
            let name: Vec<u8> = name.into_iter().take_while(|byte| *byte != 0).collect();
            String::from_utf8_lossy(&name).into_owned()
        });
        Self {
            local: address(stream.local_addr()),
            peer: address(stream.peer_addr()),
            send_buffer: socket.send_buffer_size().ok(),
            receive_buffer: socket.recv_buffer_size().ok(),
            congestion,
            pacing: seatrial_sys::net::max_pacing_rate(stream).ok().flatten(),
        }
    }
}

impl End {
    pub fn name(&self) -> Name {
        Name { direction: self.way, flow: self.flow }
    }

    /// Time on a CPU.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }

    /// Reads what parts wrote; an entry of another form is left out.
    pub fn all(evidence: &Evidence) -> Vec<Self> {
        let list = evidence.get(ENDS).and_then(serde_json::Value::as_array);
        list.into_iter().flatten().filter_map(|end| Self::deserialize(end).ok()).collect()
    }

    /// Notes the thread's time.
    pub fn took(&mut self, time: ThreadTime) {
        (self.user_ns, self.system_ns, self.waited_ns) = (time.user_ns, time.system_ns, time.waited_ns);
    }

    /// Notes what became of lent pages.
    pub fn lent(&mut self, seen: Option<ZeroCopied>) {
        self.zero_copied = seen.map(|seen| (seen.ended, seen.copied));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_taken_field_by_field() {
        let first = TcpInfo {
            busy_us: Some(10),
            total_retrans: Some(u32::MAX),
            rtt_us: Some(1),
            bytes_retrans: Some(5),
            ..TcpInfo::default()
        };
        let last = TcpInfo {
            busy_us: Some(25),
            total_retrans: Some(2),
            rtt_us: Some(70),
            bytes_retrans: Some(9),
            ..TcpInfo::default()
        };
        let tcp = TcpCounts::between(Some(first), Some(last));
        assert_eq!((tcp.busy_ns, tcp.retransmits, tcp.rtt_us), (Some(15_000), Some(3), Some(70)));
        assert_eq!((tcp.retransmitted_bytes, tcp.rwnd_limited_ns), (Some(4), None));
        assert_eq!(TcpCounts::between(None, Some(last)), TcpCounts::default());
    }
}

//! What a part records of its end of a flow, in the form of the evidence.

use std::net::TcpStream;

use seatrial_model::Evidence;
use seatrial_sys::net::{TcpInfo, ThreadTime, ZeroCopied};
use serde::{Deserialize, Serialize};
use socket2::SockRef;

use super::config::Name;
use seatrial_bench::Direction;

pub const ENDS: &str = "ends";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    pub way: Direction,
    pub flow: u32,
    pub sends: bool,
    pub method: String,
    pub cpu: Option<u32>,
    /// Time between the first and the last clock reading.
    pub window_ns: u64,
    pub bytes: u64,
    pub user_ns: u64,
    pub system_ns: u64,
    /// Time in which the thread was runnable, but had no CPU.
    pub waited_ns: Option<u64>,
    /// Time that the program itself rested; 0 except in tests.
    #[serde(default)]
    pub rested_ns: u64,
    pub socket: Socket,
    pub tcp: TcpCounts,
    /// Zero-copy sends, and how many of them the kernel copied after all.
    pub zero_copied: Option<(u64, u64)>,
    /// Bytes whose pages were mapped.
    pub mapped_bytes: Option<u64>,
    /// `SO_RCVLOWAT` of the receiver; `None` for a sender.
    #[serde(default)]
    pub wake_bytes: Option<u32>,
    /// Share of readings, 0 to 1, at which all data of the send buffer was in flight and none waited to be sent;
    /// `None` for a receiver, and if the kernel does not give the value.
    #[serde(default)]
    pub drained: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Socket {
    pub local: Option<String>,
    pub peer: Option<String>,
    /// Granted buffer sizes in bytes of the kernel's accounting; automatic sizes change.
    pub send_buffer: Option<usize>,
    pub receive_buffer: Option<usize>,
    pub congestion: Option<String>,
    pub pacing: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TcpCounts {
    pub busy_ns: Option<u64>,
    pub rwnd_limited_ns: Option<u64>,
    pub sndbuf_limited_ns: Option<u64>,
    pub retransmits: Option<u64>,
    pub segments: Option<u64>,
    /// Segments sent and received, with and without data: of a receiver, what it sends are acknowledgements.
    #[serde(default)]
    pub segments_out: Option<u64>,
    #[serde(default)]
    pub segments_in: Option<u64>,
    pub delivered: Option<u64>,
    pub delivered_ce: Option<u64>,
    pub retransmitted_bytes: Option<u64>,
    /// Spurious retransmissions: segments that the receiver reports as duplicates (RFC 2883).
    #[serde(default)]
    pub spurious: Option<u64>,
    pub out_of_order: Option<u64>,
    /// Smoothed round trip time: the median over the phase, or the value at its end if there are no readings.
    pub rtt_us: Option<u32>,
    pub min_rtt_us: Option<u32>,
    pub cwnd: Option<u32>,
    pub mss: Option<u32>,
    pub pmtu: Option<u32>,
    /// Window that the peer advertises, in bytes.
    pub send_window: Option<u32>,
    /// Bytes per second.
    pub delivery_rate: Option<u64>,
}

impl TcpCounts {
    /// Difference of two readings; `None` fields if the kernel gave none.
    pub fn between(first: Option<TcpInfo>, last: Option<TcpInfo>) -> Self {
        let (Some(first), Some(last)) = (first, last) else { return Self::default() };
        let times = |field: fn(&TcpInfo) -> Option<u64>| -> Option<u64> {
            Some(field(&last)?.saturating_sub(field(&first)?).saturating_mul(1000))
        };
        // 32-bit counters may wrap.
        let counts = |field: fn(&TcpInfo) -> Option<u32>| -> Option<u64> {
            Some(field(&last)?.wrapping_sub(field(&first)?).into())
        };
        Self {
            busy_ns: times(|info| info.busy_us),
            rwnd_limited_ns: times(|info| info.rwnd_limited_us),
            sndbuf_limited_ns: times(|info| info.sndbuf_limited_us),
            retransmits: counts(|info| info.total_retrans),
            segments: counts(|info| info.data_segs_out),
            segments_out: counts(|info| info.segs_out),
            segments_in: counts(|info| info.segs_in),
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

    pub fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }

    pub fn all(evidence: &Evidence) -> Vec<Self> {
        let list = evidence.get(ENDS).and_then(serde_json::Value::as_array);
        list.into_iter().flatten().filter_map(|end| Self::deserialize(end).ok()).collect()
    }

    pub fn took(&mut self, time: ThreadTime) {
        (self.user_ns, self.system_ns, self.waited_ns) = (time.user_ns, time.system_ns, time.waited_ns);
    }

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

//! Kernel counters of a TCP connection (`TCP_INFO`, tcp(7)).
#![expect(unsafe_code, reason = "getsockopt of a structure that grows from kernel to kernel")]

use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;

use crate::last_errno;

/// Room for this kernel's structure and longer ones to come.
const ROOM: usize = 512;

/// The state of a connection at one moment; `None` where the kernel is too old.
///
/// Names and meanings are those of `struct tcp_info` in `linux/tcp.h`: kernels only append fields, and the returned
/// length says how many they know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Timeouts of the oldest segment since the last answer; 0 again with every answer.
    pub retransmits: Option<u8>,
    /// Probes of an idle connection or a closed window since the last answer.
    pub probes: Option<u8>,
    /// Sent segments without an answer.
    pub unacked: Option<u32>,
    /// Milliseconds since data came, and since an acknowledgement that was looked at.
    pub last_data_recv_ms: Option<u32>,
    pub last_ack_recv_ms: Option<u32>,
    /// Payload bytes of a sent segment at most.
    pub snd_mss: Option<u32>,
    pub pmtu: Option<u32>,
    pub rtt_us: Option<u32>,
    pub min_rtt_us: Option<u32>,
    pub snd_cwnd: Option<u32>,
    pub snd_ssthresh: Option<u32>,
    /// Window offered by the receiver, in bytes.
    pub snd_wnd: Option<u32>,
    pub rcv_wnd: Option<u32>,
    pub total_retrans: Option<u32>,
    /// Data segments sent, retransmissions included.
    pub data_segs_out: Option<u32>,
    /// Segments sent and received, with and without data.
    pub segs_out: Option<u32>,
    pub segs_in: Option<u32>,
    pub delivered: Option<u32>,
    /// Delivered segments with an ECN congestion mark.
    pub delivered_ce: Option<u32>,
    pub bytes_acked: Option<u64>,
    pub bytes_received: Option<u64>,
    pub bytes_retrans: Option<u64>,
    /// Segments that the receiver got twice: spurious retransmissions (RFC 2883).
    pub dsack_dups: Option<u32>,
    pub pacing_rate: Option<u64>,
    pub delivery_rate: Option<u64>,
    /// Microseconds with data unsent or unacknowledged; the next two are parts of it.
    pub busy_us: Option<u64>,
    /// Microseconds in which the receiver's window limited sending.
    pub rwnd_limited_us: Option<u64>,
    /// Microseconds in which the send buffer limited sending.
    pub sndbuf_limited_us: Option<u64>,
    pub rcv_ooopack: Option<u32>,
}

impl TcpInfo {
    pub fn parse(bytes: &[u8]) -> Self {
        let four = |at: usize| {
            bytes.get(at..at + 4).map(|four| u32::from_ne_bytes([four[0], four[1], four[2], four[3]]))
        };
        let eight = |at: usize| {
            let eight = bytes.get(at..at + 8)?;
            Some(u64::from_ne_bytes(eight.try_into().ok()?))
        };
        // Offsets of linux/tcp.h: eight bytes, then 32-bit numbers, and from 104 on 64-bit numbers in between.
        Self {
            retransmits: bytes.get(2).copied(),
            probes: bytes.get(3).copied(),
            snd_mss: four(16),
            unacked: four(24),
            last_data_recv_ms: four(52),
            last_ack_recv_ms: four(56),
            pmtu: four(60),
            rtt_us: four(68),
            snd_ssthresh: four(76),
            snd_cwnd: four(80),
            total_retrans: four(100),
            pacing_rate: eight(104),
            bytes_acked: eight(120),
            bytes_received: eight(128),
            segs_out: four(136),
            segs_in: four(140),
            // The kernel writes all ones for "no value yet".
            min_rtt_us: four(148).filter(|us| *us != u32::MAX),
            data_segs_out: four(156),
            delivery_rate: eight(160),
            busy_us: eight(168),
            rwnd_limited_us: eight(176),
            sndbuf_limited_us: eight(184),
            delivered: four(192),
            delivered_ce: four(196),
            bytes_retrans: eight(208),
            dsack_dups: four(216),
            rcv_ooopack: four(224),
            snd_wnd: four(228),
            rcv_wnd: four(232),
        }
    }
}

pub fn tcp_info(socket: impl AsFd) -> Result<TcpInfo, Errno> {
    let mut room = [0_u8; ROOM];
    let mut length = ROOM as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `room`, which is that long, and sets `length` to how many.
    let rc = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            room.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if rc != 0 {
        return Err(last_errno());
    }
    Ok(TcpInfo::parse(&room[..(length as usize).min(ROOM)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_tells_what_went_through_it() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut ours = TcpStream::connect(listener.local_addr().expect("told")).expect("connected");
        let (mut theirs, _) = listener.accept().expect("accepted");
        ours.write_all(&[1; 5000]).expect("written");
        theirs.read_exact(&mut [0; 5000]).expect("read");
        assert_eq!(tcp_info(&theirs).expect("told").bytes_received, Some(5000));
        let ours = tcp_info(&ours).expect("told");
        assert!(ours.bytes_acked.is_some_and(|bytes| bytes <= 5001), "{ours:?}");
        assert!(ours.snd_mss.is_some_and(|mss| mss > 500) && ours.snd_cwnd.is_some_and(|cwnd| cwnd > 0));
        assert!(ours.data_segs_out.is_some_and(|count| (1..=12).contains(&count)), "{ours:?}");
        assert_eq!((ours.unacked, ours.probes), (Some(0), Some(0)));
        assert!(ours.last_ack_recv_ms.is_some_and(|ms| ms < 60_000), "{ours:?}");
        // Beside the data at least the request for the connection and its answer.
        assert!(
            ours.segs_out > ours.data_segs_out && ours.segs_in.is_some_and(|count| count > 0),
            "{ours:?}"
        );
    }

    #[test]
    fn what_a_kernel_leaves_out_is_none() {
        let mut bytes = vec![0; 104];
        bytes[100..104].copy_from_slice(&7_u32.to_ne_bytes());
        let old = TcpInfo::parse(&bytes);
        assert_eq!((old.total_retrans, old.pacing_rate, old.busy_us), (Some(7), None, None));
        assert_eq!(TcpInfo::parse(&[]), TcpInfo::default());
    }

    #[test]
    fn a_socket_of_another_protocol_has_none() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
        assert!(tcp_info(&socket).is_err());
    }
}

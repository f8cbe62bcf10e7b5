//! The queueing disciplines of an interface: which they are, and what they dropped.
#![expect(unsafe_code, reason = "a netlink socket, which the usual libraries do not open")]

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::io::Errno;

use crate::net::option::last_errno;

/// A queueing discipline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qdisc {
    /// Its name: `fq`, `fq_codel`, `tbf`, `mq`, `noqueue`.
    pub kind: String,
    /// Whether packets come to it first, and not from another discipline.
    pub is_root: bool,
    /// Packets it dropped since it was set up; the kernel counts in 32 bits.
    pub dropped: u64,
}

// Of linux/rtnetlink.h, linux/netlink.h, linux/gen_stats.h: the numbers are the kernel's interface and do not change.
const RTM_GETQDISC: u16 = 38;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;
const TC_H_ROOT: u32 = 0xffff_ffff;
const HEADER: usize = 16;
const TCMSG: usize = 20;

/// The disciplines of the interface in the network namespace of the calling thread, by netlink (rtnetlink(7)). No
/// privilege is needed.
///
/// # Errors
/// What the kernel answers; `ENODEV` for an interface that is not there.
pub fn qdiscs(interface: &str) -> Result<Vec<Qdisc>, Errno> {
    let name = CString::new(interface).map_err(|_| Errno::INVAL)?;
    // SAFETY: the kernel reads a string that ends with a zero byte and lives through the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(last_errno());
    }
    // SAFETY: no pointer is passed.
    let fd =
        unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE) };
    if fd < 0 {
        return Err(last_errno());
    }
    // SAFETY: the descriptor was just made and nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    ask(&socket, index)?;
    let mut found = Vec::new();
    let mut answer = vec![0_u8; 1 << 16];
    loop {
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let got = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
        let got = usize::try_from(got).map_err(|_| last_errno())?;
        if read(&answer[..got], index, &mut found)? {
            return Ok(found);
        }
    }
}

fn ask(socket: &OwnedFd, index: u32) -> Result<(), Errno> {
    let mut request = Vec::with_capacity(HEADER + TCMSG);
    request.extend_from_slice(&((HEADER + TCMSG) as u32).to_ne_bytes());
    request.extend_from_slice(&RTM_GETQDISC.to_ne_bytes());
    request.extend_from_slice(&NLM_F_REQUEST_DUMP.to_ne_bytes());
    request.extend_from_slice(&[0; 12]);
    request.extend_from_slice(&index.to_ne_bytes());
    request.extend_from_slice(&[0; 12]);
    // SAFETY: the kernel reads as many bytes as it is told, from a buffer that is that long.
    let sent = unsafe { libc::send(socket.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) };
    if sent < 0 { Err(last_errno()) } else { Ok(()) }
}

/// Reads a buffer full of messages; whether the last one was among them. A kernel may answer for every interface.
fn read(mut messages: &[u8], index: u32, found: &mut Vec<Qdisc>) -> Result<bool, Errno> {
    while messages.len() >= HEADER {
        let length = number(messages, 0).map_or(0, |length| length as usize);
        if length < HEADER || length > messages.len() {
            return Err(Errno::BADMSG);
        }
        let (message, kind) = (&messages[..length], half(messages, 4));
        match kind {
            Some(NLMSG_DONE) => return Ok(true),
            Some(NLMSG_ERROR) => {
                let errno = number(message, HEADER).unwrap_or(0).cast_signed();
                return Err(Errno::from_raw_os_error(errno.saturating_neg().max(1)));
            }
            _ => found.extend(discipline(&message[HEADER..], index)),
        }
        messages = &messages[length.next_multiple_of(4).min(messages.len())..];
    }
    Ok(false)
}

fn discipline(message: &[u8], index: u32) -> Option<Qdisc> {
    if number(message, 4)? != index {
        return None;
    }
    let mut qdisc = Qdisc { is_root: number(message, 12)? == TC_H_ROOT, ..Qdisc::default() };
    for (kind, value) in attributes(message.get(TCMSG..)?) {
        match kind {
            TCA_KIND => {
                let text = value.split(|byte| *byte == 0).next().unwrap_or_default();
                qdisc.kind = String::from_utf8_lossy(text).into_owned();
            }
            TCA_STATS2 => {
                let queue = attributes(value).find(|(kind, _)| *kind == TCA_STATS_QUEUE);
                // Length, bytes waiting, dropped, given back, over the limit (struct gnet_stats_queue).
                qdisc.dropped = queue.and_then(|(_, value)| number(value, 8)).unwrap_or(0).into();
            }
            _ => {}
        }
    }
    Some(qdisc)
}

fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (length, kind) = (half(bytes, 0)? as usize, half(bytes, 2)?);
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_has_no_queue_and_no_interface_has_none_at_all() {
        let found = qdiscs("lo").expect("told");
        assert!(found.iter().all(|queue| queue.kind == "noqueue" && queue.dropped == 0), "{found:?}");
        assert_eq!(qdiscs("warp0"), Err(Errno::NODEV));
    }

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    /// Composed after rtnetlink(7).
    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend_from_slice(body);
        bytes
    }

    fn queue(index: u32, parent: u32, name: &str, dropped: u32) -> Vec<u8> {
        let mut body = vec![0; 4];
        body.extend([index, 0, parent, 0].iter().flat_map(|number| number.to_ne_bytes()));
        body.extend(attribute(TCA_KIND, format!("{name}\0").as_bytes()));
        let stats: Vec<u8> =
            [0, 0, dropped, 0, 0].iter().flat_map(|number: &u32| number.to_ne_bytes()).collect();
        body.extend(attribute(TCA_STATS2, &attribute(TCA_STATS_QUEUE, &stats)));
        message(36, &body)
    }

    #[test]
    fn the_queues_of_one_interface_are_read_with_what_they_dropped() {
        let mut answer = queue(3, TC_H_ROOT, "tbf", 700);
        answer.extend(queue(3, 0x1_0000, "pfifo", 700));
        answer.extend(queue(4, TC_H_ROOT, "fq", 9));
        let mut found = Vec::new();
        assert_eq!(read(&answer, 3, &mut found), Ok(false));
        let kinds: Vec<_> = found.iter().map(|queue| (queue.kind.as_str(), queue.is_root)).collect();
        assert_eq!(kinds, [("tbf", true), ("pfifo", false)]);
        assert_eq!(found[0].dropped, 700);
        assert_eq!(read(&message(NLMSG_DONE, &[0; 4]), 3, &mut found), Ok(true));
        let refused = message(NLMSG_ERROR, &(-1_i32).to_ne_bytes());
        assert_eq!(read(&refused, 3, &mut found), Err(Errno::PERM));
        assert_eq!(read(&[9; 20], 3, &mut found), Err(Errno::BADMSG));
    }
}

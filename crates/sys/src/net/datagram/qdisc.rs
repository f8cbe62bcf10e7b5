//! The queueing disciplines of an interface: which they are, and what they dropped.
#![expect(unsafe_code, reason = "a netlink socket, which the usual libraries do not open")]

mod rate;

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::io::Errno;

pub use rate::Rate;

use crate::net::option::last_errno;
use crate::netlink::refusal;
use crate::root::{ReadError, SysRoot};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qdisc {
    /// Its name: `fq`, `fq_codel`, `tbf`, `mq`, `noqueue`.
    pub kind: String,
    /// Whether packets come to it first, and not from another discipline.
    pub is_root: bool,
    /// Bytes that it has let through since it was set up, with the headers of Ethernet.
    pub bytes: u64,
    /// Packets it dropped since it was set up; the kernel counts in 32 bits.
    pub dropped: u64,
    /// Times that it had to hold a packet back, for a shaper that it was over its rate; in 32 bits, too.
    pub overlimits: u64,
    /// The rate that it shapes to.
    pub rate: Option<Rate>,
}

/// Where a stand-in for the running system has the disciplines of its interfaces: a file each, a line for each
/// discipline, such as `tbf root dropped 7 overlimits 90 rate 25000000 overhead 0`.
const FOLDER: &str = "/qdisc";

// Of linux/rtnetlink.h, linux/netlink.h, linux/gen_stats.h: the numbers are the kernel's interface and do not change.
const RTM_GETQDISC: u16 = 38;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
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
    Ok(dump(index)?.into_iter().filter(|(of, _)| *of == index).map(|(_, qdisc)| qdisc).collect())
}

/// The disciplines of all interfaces of the network namespace of the calling thread, by interface. One without any is
/// not there.
///
/// # Errors
/// What the kernel answers, or what is wrong with the file of a stand-in for it.
pub fn all_qdiscs(root: &SysRoot) -> Result<BTreeMap<String, Vec<Qdisc>>, ReadError> {
    let mut all: BTreeMap<String, Vec<Qdisc>> = BTreeMap::new();
    if !root.is_live() {
        for name in root.list(FOLDER)? {
            let path = format!("{FOLDER}/{name}");
            let text = root.text(&path)?;
            let found: Option<Vec<Qdisc>> = text.lines().map(stand_in).collect();
            let garbage = || ReadError::garbage(&path, &text, "a discipline a line");
            all.insert(name, found.ok_or_else(garbage)?);
        }
        return Ok(all);
    }
    let path = || "the queueing disciplines (netlink)/".to_owned();
    let found = dump(0).map_err(|errno| ReadError::Unreadable { path: path(), errno })?;
    for (index, qdisc) in found {
        // One that went away in between has no name any more.
        if let Some(name) = name_of(index) {
            all.entry(name).or_default().push(qdisc);
        }
    }
    Ok(all)
}

fn stand_in(line: &str) -> Option<Qdisc> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [kind, place, rest @ ..] = words.as_slice() else { return None };
    let mut qdisc = Qdisc { kind: (*kind).to_owned(), is_root: *place == "root", ..Qdisc::default() };
    for pair in rest.chunks(2) {
        let [name, value] = pair else { return None };
        let value: u64 = value.parse().ok()?;
        match *name {
            "dropped" => qdisc.dropped = value,
            "overlimits" => qdisc.overlimits = value,
            "rate" => qdisc.rate = Some(Rate { bytes_per_second: value, overhead: 0 }),
            "overhead" => qdisc.rate.as_mut()?.overhead = u32::try_from(value).ok()?,
            _ => return None,
        }
    }
    Some(qdisc)
}

fn name_of(index: u32) -> Option<String> {
    let mut name = [0_u8; libc::IF_NAMESIZE];
    // SAFETY: the buffer has the size that the call asks for, and is written with a string that ends in a zero byte.
    let found = unsafe { libc::if_indextoname(index, name.as_mut_ptr().cast()) };
    let text = (!found.is_null()).then(|| CStr::from_bytes_until_nul(&name).ok())??;
    Some(text.to_string_lossy().into_owned())
}

/// The disciplines of the interface of this index, or of all for 0, each with the index of its interface.
fn dump(index: u32) -> Result<Vec<(u32, Qdisc)>, Errno> {
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
        if read(&answer[..got], &mut found)? {
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
pub(crate) fn read(mut messages: &[u8], found: &mut Vec<(u32, Qdisc)>) -> Result<bool, Errno> {
    while messages.len() >= HEADER {
        let length = number(messages, 0).map_or(0, |length| length as usize);
        if length < HEADER || length > messages.len() {
            return Err(Errno::BADMSG);
        }
        let (message, kind) = (&messages[..length], half(messages, 4));
        match kind {
            Some(NLMSG_DONE) => return Ok(true),
            Some(NLMSG_ERROR) => {
                return Err(refusal(number(message, HEADER)));
            }
            _ => found.extend(discipline(&message[HEADER..])),
        }
        messages = &messages[length.next_multiple_of(4).min(messages.len())..];
    }
    Ok(false)
}

fn discipline(message: &[u8]) -> Option<(u32, Qdisc)> {
    let index = number(message, 4)?;
    let mut options: &[u8] = &[];
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
                let field = |at| queue.and_then(|(_, value)| number(value, at)).unwrap_or(0).into();
                (qdisc.dropped, qdisc.overlimits) = (field(8), field(16));
                // Bytes and packets (struct gnet_stats_basic).
                let basic = attributes(value).find(|(kind, _)| *kind == TCA_STATS_BASIC);
                let bytes = basic.and_then(|(_, value)| value.get(..8)?.try_into().ok());
                qdisc.bytes = bytes.map_or(0, u64::from_ne_bytes);
            }
            TCA_OPTIONS => options = value,
            _ => {}
        }
    }
    qdisc.rate = rate::rate(&qdisc.kind, options);
    Some((index, qdisc))
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

    pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
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
            [0, 0, dropped, 0, dropped + 1].iter().flat_map(|number: &u32| number.to_ne_bytes()).collect();
        body.extend(attribute(TCA_STATS2, &attribute(TCA_STATS_QUEUE, &stats)));
        message(36, &body)
    }

    #[test]
    fn all_interfaces_are_told_with_their_names_and_a_stand_in_by_its_files() {
        let found = all_qdiscs(&SysRoot::live()).expect("told");
        assert!(
            found.keys().all(|name| SysRoot::live().exists(format!("/sys/class/net/{name}"))),
            "{found:?}"
        );
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        assert!(all_qdiscs(&root).expect_err("no folder").is_missing());
        std::fs::create_dir(dir.path().join("qdisc")).expect("made");
        let file = dir.path().join("qdisc/eth0");
        std::fs::write(&file, "tbf root dropped 7 rate 25000000 overhead 4\nfq parent overlimits 3\n")
            .expect("written");
        let all = all_qdiscs(&root).expect("told");
        let rate = Some(Rate { bytes_per_second: 25_000_000, overhead: 4 });
        assert_eq!((all["eth0"][0].rate, all["eth0"][0].dropped), (rate, 7));
        assert_eq!((all["eth0"][1].is_root, all["eth0"][1].overlimits), (false, 3));
        std::fs::write(&file, "tbf root dropped\n").expect("written");
        assert!(matches!(all_qdiscs(&root), Err(ReadError::Garbage { .. })));
    }

    #[test]
    fn the_queues_of_one_interface_are_read_with_what_they_dropped() {
        let mut answer = queue(3, TC_H_ROOT, "tbf", 700);
        answer.extend(queue(3, 0x1_0000, "pfifo", 700));
        answer.extend(queue(4, TC_H_ROOT, "fq", 9));
        let mut found = Vec::new();
        assert_eq!(read(&answer, &mut found), Ok(false));
        let kinds: Vec<_> =
            found.iter().map(|(of, queue)| (*of, queue.kind.as_str(), queue.is_root)).collect();
        assert_eq!(kinds, [(3, "tbf", true), (3, "pfifo", false), (4, "fq", true)]);
        assert_eq!((found[0].1.dropped, found[0].1.overlimits), (700, 701));
        assert_eq!(read(&message(NLMSG_DONE, &[0; 4]), &mut found), Ok(true));
        let refused = message(NLMSG_ERROR, &(-1_i32).to_ne_bytes());
        assert_eq!(read(&refused, &mut found), Err(Errno::PERM));
        assert_eq!(read(&[9; 20], &mut found), Err(Errno::BADMSG));
    }
}

//! netlink dumps and changes (netlink(7), rtnetlink(7)). Only changes need a privilege.
#![expect(unsafe_code, reason = "a netlink socket, which the usual libraries do not open")]

pub(crate) mod tc;

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::io::Errno;

// linux/netlink.h: stable kernel interface.
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const NLM_F_REQUEST_ACK: u16 = 0x005;

/// Bytes of a message header: length, type, flags, sequence, port.
const HEADER: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub kind: u16,
    pub body: Vec<u8>,
}

/// All answers to the dump request `kind` with this `body`, in the calling thread's network namespace. `EBADMSG` for
/// a malformed answer.
pub(crate) fn dump(kind: u16, body: &[u8]) -> Result<Vec<Message>, Errno> {
    dump_of(libc::NETLINK_ROUTE, kind, body)
}

/// The same of another family of netlink.
pub(crate) fn dump_of(family: i32, kind: u16, body: &[u8]) -> Result<Vec<Message>, Errno> {
    let socket = sent(family, &request(kind, NLM_F_REQUEST_DUMP, body))?;
    let mut found = Vec::new();
    loop {
        let answer = received(&socket)?;
        // An empty answer would repeat for ever.
        if answer.is_empty() || read(&answer, &mut found)? {
            return Ok(found);
        }
    }
}

/// Asks for the change `kind` with these `flags` and this `body`, in the calling thread's network namespace.
pub(crate) fn change(kind: u16, flags: u16, body: &[u8]) -> Result<(), Errno> {
    let socket = sent(libc::NETLINK_ROUTE, &request(kind, NLM_F_REQUEST_ACK | flags, body))?;
    acknowledged(&received(&socket)?)
}

/// Whether a change was made: an error message with the number 0.
fn acknowledged(answer: &[u8]) -> Result<(), Errno> {
    match (half(answer, 4), number(answer, HEADER)) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), told) => Err(refusal(told)),
        _ => Err(Errno::BADMSG),
    }
}

/// A socket through which `request` was sent.
fn sent(family: i32, request: &[u8]) -> Result<OwnedFd, Errno> {
    // SAFETY: no pointer is passed.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, family) };
    if fd < 0 {
        return Err(crate::last_errno());
    }
    // SAFETY: the descriptor was just made and nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: the kernel reads as many bytes as it is told, from a buffer that is that long.
    let sent = unsafe { libc::send(socket.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) };
    if sent < 0 {
        return Err(crate::last_errno());
    }
    Ok(socket)
}

fn received(socket: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut answer = vec![0_u8; 1 << 16];
    // SAFETY: the kernel writes at most as many bytes as the buffer has.
    let got = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
    answer.truncate(usize::try_from(got).map_err(|_| crate::last_errno())?);
    Ok(answer)
}

fn request(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    let mut request = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    request.extend_from_slice(&kind.to_ne_bytes());
    request.extend_from_slice(&flags.to_ne_bytes());
    request.resize(HEADER, 0);
    request.extend_from_slice(body);
    request
}

/// The errno of an error message: negative, and at most 4095 in size (`MAX_ERRNO`).
pub(crate) fn refusal(told: Option<u32>) -> Errno {
    let errno = told.map(|told| told.cast_signed().saturating_neg());
    errno.filter(|errno| (1..=4095).contains(errno)).map_or(Errno::BADMSG, Errno::from_raw_os_error)
}

/// Parses one buffer of messages; true at the end of the dump.
pub(crate) fn read(mut messages: &[u8], found: &mut Vec<Message>) -> Result<bool, Errno> {
    while messages.len() >= HEADER {
        let length = number(messages, 0).map_or(0, |length| length as usize);
        if length < HEADER || length > messages.len() {
            return Err(Errno::BADMSG);
        }
        let body = &messages[HEADER..length];
        match half(messages, 4) {
            Some(NLMSG_DONE) => return Ok(true),
            Some(NLMSG_ERROR) => {
                return Err(refusal(number(body, 0)));
            }
            kind => found.push(Message { kind: kind.unwrap_or(0), body: body.to_vec() }),
        }
        messages = &messages[length.next_multiple_of(4).min(messages.len())..];
    }
    Ok(false)
}

/// The index of an interface in the calling thread's network namespace.
pub(crate) fn interface_index(name: &str) -> Result<u32, Errno> {
    let name = CString::new(name).map_err(|_| Errno::INVAL)?;
    // SAFETY: the name ends in a zero byte and outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Errno::NODEV),
        index => Ok(index),
    }
}

/// The name of the interface of this index in the calling thread's network namespace; `None` when it is gone.
pub(crate) fn interface_name(index: u32) -> Option<String> {
    let mut name = [0_u8; libc::IF_NAMESIZE];
    // SAFETY: the buffer has the size that the call asks for, and is written with a string that ends in a zero byte.
    let found = unsafe { libc::if_indextoname(index, name.as_mut_ptr().cast()) };
    let text = (!found.is_null()).then(|| CStr::from_bytes_until_nul(&name).ok())??;
    Some(text.to_string_lossy().into_owned())
}

pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (length, kind) = (half(bytes, 0)? as usize, half(bytes, 2)?);
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

pub(crate) fn attribute(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, value)| value)
}

pub(crate) fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

pub(crate) fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

pub(crate) fn wide(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn made(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    /// Gives the calling thread a network of its own, where it may.
    pub(crate) fn own_network() -> rustix::io::Result<()> {
        // SAFETY: only this thread, which ends with its test, gets another network.
        unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNET) }
    }

    #[test]
    fn messages_are_taken_until_the_last_one_and_an_error_is_told() {
        let message = |kind: u16, body: &[u8]| {
            let mut bytes = request(kind, NLM_F_REQUEST_DUMP, body);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let mut answer = message(40, b"one");
        answer.extend(message(41, b"three"));
        let mut found = Vec::new();
        assert_eq!(read(&answer, &mut found), Ok(false));
        let wanted = [(40, &b"one"[..]), (41, b"three")];
        assert_eq!(found, wanted.map(|(kind, body)| Message { kind, body: body.to_vec() }));
        assert_eq!(read(&message(NLMSG_DONE, &[0; 4]), &mut found), Ok(true));
        let refused = message(NLMSG_ERROR, &(-1_i32).to_ne_bytes());
        assert_eq!(read(&refused, &mut found), Err(Errno::PERM));
        assert_eq!(read(&[9; 20], &mut found), Err(Errno::BADMSG));
        for foreign in [0, 7, -4096, i32::MIN] {
            let refused = message(NLMSG_ERROR, &foreign.to_ne_bytes());
            assert_eq!(read(&refused, &mut found), Err(Errno::BADMSG), "{foreign}");
        }
    }

    #[test]
    fn a_change_is_made_or_refused_with_its_cause() {
        let answer = |errno: i32| request(NLMSG_ERROR, 0, &errno.to_ne_bytes());
        assert_eq!(acknowledged(&answer(0)), Ok(()));
        assert_eq!(acknowledged(&answer(-22)), Err(Errno::INVAL));
        assert_eq!(acknowledged(&[]), Err(Errno::BADMSG));
        assert_eq!(acknowledged(&request(40, 0, &[0; 4])), Err(Errno::BADMSG));
    }

    #[test]
    fn attributes_are_found_by_their_type_and_cut_ones_end_the_list() {
        let mut bytes = made(1, &[7, 0, 0, 0]);
        bytes.extend(made(2, b"abc"));
        assert_eq!(attribute(&bytes, 2), Some(&b"abc"[..]));
        assert_eq!(attribute(&bytes, 1).and_then(|value| number(value, 0)), Some(7));
        assert_eq!(attribute(&bytes, 3), None);
        bytes.extend([200, 0, 3, 0, 1]);
        assert_eq!(attributes(&bytes).count(), 2);
        assert_eq!((number(&bytes, usize::MAX), half(&[1], 0), wide(&[0; 7], 0)), (None, None, None));
    }

    #[test]
    fn interfaces_have_names_and_those_that_are_not_there_have_none() {
        assert_eq!((interface_index("lo"), interface_index("warp0")), (Ok(1), Err(Errno::NODEV)));
        assert_eq!(interface_name(1).as_deref(), Some("lo"));
        assert_eq!(interface_name(u32::MAX >> 1), None);
    }
}

//! The methods to send and to receive, by the words of the parameters.

use std::net::TcpStream;
use std::sync::Arc;

use seatrial_sys::Errno;
use seatrial_sys::net::{
    Pull, Push, ReadMapped, ReadPlain, ReadRing, ReadTruncated, SendFile, SendPinned, SendPlain, SendRing,
    Source,
};

pub const SENDS: &[&str] = &["write", "sendfile", "zerocopy", "uring"];

pub const RECEIVES: &[&str] = &["read", "trunc", "zerocopy", "uring"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    Write,
    /// The kernel sends the pages of a file in memory.
    Sendfile,
    /// The kernel pins the pages of a buffer (`MSG_ZEROCOPY`).
    Zerocopy,
    /// `IORING_OP_SEND_ZC`.
    Uring,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiving {
    Read,
    /// The kernel discards the data (`MSG_TRUNC`).
    Trunc,
    /// The kernel maps whole pages (`TCP_ZEROCOPY_RECEIVE`).
    Zerocopy,
    /// The kernel copies to a buffer, requested through io_uring.
    Uring,
}

pub trait Method: Copy + PartialEq + Send + Sync + 'static {
    /// All methods; the first is the plain one.
    const ALL: [Self; 4];
    const WORDS: &'static [&'static str];

    fn word(self) -> &'static str {
        let at = Self::ALL.iter().position(|other| *other == self).unwrap_or(0);
        Self::WORDS[at]
    }

    /// The method of that word; `None` for `auto`.
    fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.word() == word)
    }

    /// Whether `auto` may choose this method.
    fn eligible(self) -> bool {
        true
    }
}

impl Method for Sending {
    const ALL: [Self; 4] = [Self::Write, Self::Sendfile, Self::Zerocopy, Self::Uring];
    const WORDS: &'static [&'static str] = SENDS;
}

impl Method for Receiving {
    const ALL: [Self; 4] = [Self::Read, Self::Trunc, Self::Zerocopy, Self::Uring];
    const WORDS: &'static [&'static str] = RECEIVES;

    /// A program that needs the data cannot use `MSG_TRUNC`: it is tried and shown, but used only on request.
    fn eligible(self) -> bool {
        self != Self::Trunc
    }
}

impl Sending {
    pub fn make(self, socket: &TcpStream, source: &Arc<Source>) -> Result<Box<dyn Push>, Errno> {
        let source = Arc::clone(source);
        Ok(match self {
            Self::Write => Box::new(SendPlain::new(socket, source)?),
            Self::Sendfile => Box::new(SendFile::new(socket, source)?),
            Self::Zerocopy => Box::new(SendPinned::new(socket, source)?),
            Self::Uring => Box::new(SendRing::new(socket, source)?),
        })
    }
}

impl Receiving {
    /// A receiver of at most `room` bytes per call, from byte `total` of the stream on.
    pub fn make(self, socket: &TcpStream, room: usize, total: u64) -> Result<Box<dyn Pull>, Errno> {
        Ok(match self {
            Self::Read => Box::new(ReadPlain::new(socket, room, total)?),
            Self::Trunc => Box::new(ReadTruncated::new(socket, room)?),
            Self::Zerocopy => Box::new(ReadMapped::new(socket, room)?),
            Self::Uring => Box::new(ReadRing::new(socket, room, total)?),
        })
    }
}

/// How much faster than the plain method another must be to replace it: short trials vary by less, and the trials of
/// a case shall not differ in their method by chance.
const WORTH: f64 = 1.05;

/// Chooses by the bytes that each method moved in turns of equal length; `None` for a method that is not available.
pub fn choose<M: Method>(moved: &[(M, Option<u64>)]) -> M {
    let plain = M::ALL[0];
    let of = |method: M| moved.iter().find(|(other, _)| *other == method).and_then(|(_, bytes)| *bytes);
    let bar = of(plain).unwrap_or(0) as f64 * WORTH;
    let best = moved
        .iter()
        .filter(|(method, _)| method.eligible())
        .filter_map(|(method, bytes)| Some((*method, (*bytes)?)))
        .max_by_key(|(_, bytes)| *bytes);
    best.filter(|(_, bytes)| *bytes as f64 > bar).map_or(plain, |(method, _)| method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_ways() {
        assert_eq!(Sending::find("uring"), Some(Sending::Uring));
        assert_eq!(Receiving::find("trunc").map(Method::word), Some("trunc"));
        assert_eq!(Sending::find("auto"), None);
    }

    #[test]
    fn another_way_than_the_plain_one_must_be_worth_it() {
        use Sending::{Sendfile, Uring, Write, Zerocopy};
        assert_eq!(choose(&[(Write, Some(100)), (Sendfile, Some(104)), (Uring, None)]), Write);
        assert_eq!(choose(&[(Write, Some(100)), (Sendfile, Some(130)), (Zerocopy, Some(120))]), Sendfile);
        assert_eq!(choose::<Sending>(&[]), Write);
    }

    #[test]
    fn throwing_away_is_never_chosen() {
        use Receiving::{Read, Trunc, Uring};
        assert_eq!(choose(&[(Read, Some(100)), (Trunc, Some(300)), (Uring, Some(101))]), Read);
        assert_eq!(choose(&[(Read, Some(100)), (Trunc, Some(300)), (Uring, Some(110))]), Uring);
    }
}

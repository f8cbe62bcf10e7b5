//! Proof of a shared key over a stream that anybody may have opened, without the key ever crossing it.
//!
//! Each side sends a random number and proves that it knows the key by a keyed BLAKE3 hash over both numbers and its own
//! name, so that neither an old answer nor the other side's own answer can be played back. It keeps strangers and
//! accidents out (two runs of one port, a scanner); it does not encrypt, and a man in the middle of an open stream is
//! not its concern: the networks of clusters carry MPI and NFS in the open as well.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::rand::{GetRandomFlags, getrandom};

/// Bytes of a key, a nonce and a proof.
const LENGTH: usize = 32;

/// A key that two processes share. Shown to nobody: its debug form has no digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; LENGTH]);

/// Which side of the stream one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The side that connected.
    Caller,
    /// The side that listened.
    Listener,
}

impl Side {
    const fn name(self) -> &'static [u8] {
        match self {
            Self::Caller => b"seatrial caller",
            Self::Listener => b"seatrial listener",
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Caller => Self::Listener,
            Self::Listener => Self::Caller,
        }
    }
}

impl Key {
    /// A fresh key from the kernel's random numbers.
    pub fn random() -> io::Result<Self> {
        Ok(Self(random()?))
    }

    /// The key as text, for a channel that is trusted.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The key that [`Self::to_hex`] wrote.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits: Vec<u8> =
            text.chars().map_while(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        (text.len() == 2 * LENGTH).then_some(bytes).and_then(|bytes| Some(Self(bytes.try_into().ok()?)))
    }

    fn prove(&self, side: Side, caller: &[u8; LENGTH], listener: &[u8; LENGTH]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(side.name()).update(caller).update(listener);
        hasher.finalize()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Proves to the other side of `stream` that we know `key`, and has it prove the same. The other side may be anybody: give
/// the stream a deadline by [`Until`].
///
/// # Errors
/// When the stream fails or ends, and [`io::ErrorKind::PermissionDenied`] when the other side does not know the key.
pub fn exchange(stream: &mut (impl Read + Write), key: &Key, side: Side) -> io::Result<()> {
    let ours: [u8; LENGTH] = random()?;
    stream.write_all(&ours)?;
    let mut theirs = [0; LENGTH];
    stream.read_exact(&mut theirs)?;
    let (caller, listener) = match side {
        Side::Caller => (&ours, &theirs),
        Side::Listener => (&theirs, &ours),
    };
    // The caller proves first: a listener answers nobody who has not.
    if side == Side::Caller {
        stream.write_all(key.prove(side, caller, listener).as_bytes())?;
    }
    let mut proof = [0; LENGTH];
    stream.read_exact(&mut proof)?;
    // `Hash` compares in constant time.
    if blake3::Hash::from_bytes(proof) != key.prove(side.other(), caller, listener) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the other side does not know the key"));
    }
    if side == Side::Listener {
        stream.write_all(key.prove(side, caller, listener).as_bytes())?;
    }
    stream.flush()
}

/// A stream whose reads and writes all end at one moment: a deadline of each call by itself would begin anew with every byte
/// that the other side lets drip.
pub struct Until<'a> {
    stream: &'a TcpStream,
    deadline: Instant,
}

impl<'a> Until<'a> {
    /// `stream`, which must be blocking, for no longer than `within` from now. Its own deadlines are changed.
    pub fn new(stream: &'a TcpStream, within: Duration) -> Self {
        Self { stream, deadline: Instant::now() + within }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(into)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn random() -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    // Up to 256 bytes come whole (getrandom(2)).
    let got = getrandom(&mut bytes, GetRandomFlags::empty())?;
    if got == LENGTH { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::unix::net::UnixStream;
    use std::thread;

    #[test]
    fn who_lets_one_byte_drip_after_the_other_is_cut_off_at_the_deadline_all_the_same() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let at = listener.local_addr().expect("an address");
        let dripping = thread::spawn(move || {
            let mut stream = TcpStream::connect(at).expect("connects");
            while stream.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        });
        let (stream, _) = listener.accept().expect("accepts");
        let within = Duration::from_millis(300);
        let key = Key::random().expect("random");
        let met = exchange(&mut Until::new(&stream, within), &key, Side::Listener);
        let error = met.expect_err("it never proves anything").kind();
        // Sixty-four bytes would take 1.3 s.
        assert!(matches!(error, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{error:?}");
        drop(stream);
        dripping.join().expect("joined");
    }

    fn meet(caller: Key, listener: Key) -> (io::Result<()>, io::Result<()>) {
        let (mut one, mut other) = UnixStream::pair().expect("a pair");
        let calling = thread::spawn(move || exchange(&mut one, &caller, Side::Caller));
        let heard = exchange(&mut other, &listener, Side::Listener);
        drop(other);
        (calling.join().expect("joined"), heard)
    }

    #[test]
    fn two_who_share_a_key_meet() {
        let key = Key::random().expect("random");
        let (called, heard) = meet(key.clone(), key);
        assert!(called.is_ok() && heard.is_ok());
    }

    #[test]
    fn who_does_not_know_the_key_is_turned_away_and_told_nothing() {
        let (called, heard) = meet(Key::random().expect("random"), Key::random().expect("random"));
        assert_eq!(heard.expect_err("refused").kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(called.expect_err("no answer").kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn an_echo_of_our_own_words_proves_nothing() {
        let (mut ours, mut echo) = UnixStream::pair().expect("a pair");
        let echoing = thread::spawn(move || {
            let mut bytes = [0; LENGTH];
            while echo.read_exact(&mut bytes).is_ok() && echo.write_all(&bytes).is_ok() {}
        });
        let met = exchange(&mut ours, &Key::random().expect("random"), Side::Caller);
        assert_eq!(met.expect_err("refused").kind(), io::ErrorKind::PermissionDenied);
        drop(ours);
        echoing.join().expect("joined");
    }

    #[test]
    fn a_key_survives_being_written_down_and_is_never_shown() {
        let key = Key::random().expect("random");
        assert_eq!(Key::from_hex(&key.to_hex()), Some(key.clone()));
        assert_eq!(format!("{key:?}"), "Key(..)");
        for wrong in ["", "00", &"g".repeat(64), &"0".repeat(63), &"0".repeat(65)] {
            assert_eq!(Key::from_hex(wrong), None, "{wrong}");
        }
    }
}

//! Proof of a shared key over an unauthenticated stream, without sending the key.
//!
//! Each side sends a random nonce and proves that it knows the key by a keyed BLAKE3 hash over both nonces and its
//! own role, so that neither old answers nor the peer's own answer can be replayed. This keeps out other programs and
//! accidents (two runs on one port, a scanner). It neither encrypts nor stops a man in the middle: cluster networks
//! carry MPI and NFS in the open as well.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::rand::{GetRandomFlags, getrandom};

const LENGTH: usize = 32;

/// A key that two processes share. Its debug form has no digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; LENGTH]);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Caller,
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
    pub fn random() -> io::Result<Self> {
        Ok(Self(random()?))
    }

    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub fn from_hex(text: &str) -> Option<Self> {
        let digits: Vec<u8> =
            text.chars().map_while(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        (text.len() == 2 * LENGTH).then_some(bytes).and_then(|bytes| Some(Self(bytes.try_into().ok()?)))
    }

    /// A key for one `purpose` that follows from this one; that of another purpose tells nothing of it.
    pub fn derived(&self, purpose: &str) -> [u8; LENGTH] {
        *blake3::keyed_hash(&self.0, format!("seatrial derives {purpose}").as_bytes()).as_bytes()
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

/// Proves to the other side of `stream` that we know `key`, has it prove the same, and then does `more`, all of it `within`
/// this time: the other side may be anybody. Leaves the stream blocking and without deadlines.
///
/// # Errors
/// When the stream fails or ends, and [`io::ErrorKind::PermissionDenied`] when the other side does not know the key.
pub fn authenticate<T>(
    stream: &TcpStream,
    key: &Key,
    side: Side,
    within: Duration,
    more: impl FnOnce(&mut Until<'_>) -> io::Result<T>,
) -> io::Result<T> {
    stream.set_nonblocking(false)?;
    let mut until = Until { stream, deadline: Instant::now() + within };
    exchange(&mut until, key, side)?;
    let done = more(&mut until)?;
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)?;
    Ok(done)
}

fn exchange(stream: &mut (impl Read + Write), key: &Key, side: Side) -> io::Result<()> {
    let ours: [u8; LENGTH] = random()?;
    stream.write_all(&ours)?;
    let mut theirs = [0; LENGTH];
    stream.read_exact(&mut theirs)?;
    let (caller, listener) = match side {
        Side::Caller => (&ours, &theirs),
        Side::Listener => (&theirs, &ours),
    };
    // The caller proves first: a listener answers nobody without a proof.
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

/// A stream with one deadline for all reads and writes: a timeout of each call would restart with every byte that a
/// peer drips.
pub struct Until<'a> {
    stream: &'a TcpStream,
    deadline: Instant,
}

impl Until<'_> {
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
        let met = authenticate(&stream, &key, Side::Listener, within, |_| Ok(()));
        let error = met.expect_err("it never proves anything").kind();
        // 64 bytes would take 1.3 s.
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

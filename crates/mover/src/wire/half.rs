//! The two halves of a data connection, each with its own seal if the copy is encrypted.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use seatrial_bench::PeerAddress;
use seatrial_sys::proof::Key;

use super::cipher::{Cipher, Seal, Way};
use super::frame::{Frame, FrameKind, read_frame, read_sealed};
use crate::connection::Watched;

/// What the seals of all connections of a copy follow from.
#[derive(Clone, Debug)]
pub struct Secret {
    pub cipher: Cipher,
    pub key: Key,
}

impl Secret {
    /// Of the copy whose receiver offers this; none without a cipher.
    pub fn of(cipher: Option<Cipher>, offered: &PeerAddress) -> Result<Option<Self>, String> {
        let malformed = || "the key of the data connections is malformed".to_owned();
        cipher.map(|cipher| Ok(Self { cipher, key: offered.key().ok_or_else(malformed)? })).transpose()
    }

    fn seal(secret: Option<&Self>, connection: usize, way: Way) -> Option<Seal> {
        secret.map(|secret| Seal::new(secret.cipher, &secret.key, connection, way))
    }
}

/// Writes frames.
#[derive(Debug)]
pub struct Outgoing<'a> {
    stream: &'a TcpStream,
    seal: Option<Seal>,
    /// Time in which the connection took what was written.
    pub writing: Duration,
}

impl<'a> Outgoing<'a> {
    /// Of the connection of this number.
    pub fn new(stream: &'a TcpStream, secret: Option<&Secret>, number: usize, way: Way) -> Self {
        Self { stream, seal: Secret::seal(secret, number, way), writing: Duration::ZERO }
    }

    pub fn write(&mut self, kind: FrameKind, frame: &mut Frame) -> io::Result<()> {
        let begin = Instant::now();
        match &mut self.seal {
            Some(seal) => frame.write_sealed(kind, seal, &mut self.stream)?,
            None => frame.write(kind, &mut self.stream)?,
        }
        self.writing += begin.elapsed();
        Ok(())
    }
}

/// Reads frames.
#[derive(Debug)]
pub struct Incoming<'a> {
    stream: Watched<'a>,
    seal: Option<Seal>,
}

impl<'a> Incoming<'a> {
    /// Of the connection of this number.
    pub fn new(stream: &'a TcpStream, secret: Option<&Secret>, number: usize, way: Way) -> Self {
        Self { stream: Watched::new(stream), seal: Secret::seal(secret, number, way) }
    }

    /// Reads the content of the next frame; there has to be one.
    pub fn read(&mut self, content: &mut Vec<u8>) -> io::Result<FrameKind> {
        let kind = match &mut self.seal {
            Some(seal) => read_sealed(&mut self.stream, seal, content)?,
            None => read_frame(&mut self.stream, content)?,
        };
        kind.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let calling = TcpStream::connect(listener.local_addr().expect("bound")).expect("called");
        (calling, listener.accept().expect("accepted").0)
    }

    fn write(stream: &TcpStream, secret: Option<&Secret>) {
        let mut frame = Frame::default();
        frame.begin().extend_from_slice(b"the content of a file");
        let mut to = Outgoing::new(stream, secret, 0, Way::ToTarget);
        to.write(FrameKind::Files, &mut frame).expect("written");
    }

    #[test]
    fn what_goes_over_the_connection_is_the_content_in_the_clear_only() {
        let key = Key::random().expect("a key");
        for cipher in [None, Some(Cipher::Aes256Gcm), Some(Cipher::ChaCha20Poly1305)] {
            let secret = cipher.map(|cipher| Secret { cipher, key: key.clone() });
            let (one, other) = connected();
            write(&one, secret.as_ref());
            let mut from = Incoming::new(&other, secret.as_ref(), 0, Way::ToTarget);
            let mut content = Vec::new();
            assert_eq!(from.read(&mut content).expect("read"), FrameKind::Files);
            assert_eq!(content, b"the content of a file");
            write(&one, secret.as_ref());
            drop(one);
            let mut bytes = Vec::new();
            (&other).read_to_end(&mut bytes).expect("read");
            let is_clear = bytes.windows(7).any(|part| part == b"content");
            assert_eq!(is_clear, cipher.is_none());
        }
    }
}

//! Encryption of the data connections.

use std::{fmt, io};

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{self, AeadInOut, KeyInit, Nonce, Tag};
use chacha20poly1305::ChaCha20Poly1305;
use seatrial_sys::proof::Key;
use serde::{Deserialize, Serialize};

/// How the frames of data connections are encrypted and authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cipher {
    #[serde(rename = "aes-256-gcm")]
    Aes256Gcm,
    #[serde(rename = "chacha20-poly1305")]
    ChaCha20Poly1305,
}

impl Cipher {
    pub const ALL: [Self; 2] = [Self::Aes256Gcm, Self::ChaCha20Poly1305];

    pub fn name(self) -> &'static str {
        match self {
            Self::Aes256Gcm => "aes-256-gcm",
            Self::ChaCha20Poly1305 => "chacha20-poly1305",
        }
    }

    /// AES where this CPU has instructions for it: without them it takes several times the time of `ChaCha20`.
    pub fn of_this_cpu() -> Self {
        #[cfg(target_arch = "x86_64")]
        let has_aes =
            std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq");
        #[cfg(target_arch = "aarch64")]
        let has_aes = std::arch::is_aarch64_feature_detected!("aes");
        if has_aes { Self::Aes256Gcm } else { Self::ChaCha20Poly1305 }
    }
}

/// Which way frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    ToTarget,
    ToSource,
}

/// Seals or opens the frames that go one way over one connection, in their order: the nonce is their number, and the key is that
/// of this connection and way, which follows from the key of the copy.
#[derive(Debug)]
pub struct Seal {
    key: SealKey,
    next: u64,
}

/// Keys of both ciphers: nonces of 12 bytes, tags of [`TAG`].
enum SealKey {
    Aes(Box<Aes256Gcm>),
    ChaCha(ChaCha20Poly1305),
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(..)")
    }
}

/// Bytes that sealing appends.
pub const TAG: usize = 16;

impl Seal {
    pub fn new(cipher: Cipher, of_copy: &Key, connection: usize, way: Way) -> Self {
        let key =
            of_copy.derived(&format!("copy, connection {connection}, {way:?}, {}", cipher.name())).into();
        let key = match cipher {
            Cipher::Aes256Gcm => SealKey::Aes(Box::new(Aes256Gcm::new(&key))),
            Cipher::ChaCha20Poly1305 => SealKey::ChaCha(ChaCha20Poly1305::new(&key)),
        };
        Self { key, next: 0 }
    }

    /// Of the next frame; no copy has 2^64 of them.
    fn nonce(&mut self) -> Nonce<Aes256Gcm> {
        let mut nonce = Nonce::<Aes256Gcm>::default();
        nonce[..8].copy_from_slice(&self.next.to_le_bytes());
        self.next += 1;
        nonce
    }

    /// Encrypts `content` in place; the tag, which also covers `header`, goes behind it.
    pub fn seal(&mut self, header: &[u8], content: &mut [u8]) -> io::Result<[u8; TAG]> {
        let nonce = self.nonce();
        let sealed = match &self.key {
            SealKey::Aes(key) => key.encrypt_inout_detached(&nonce, header, content.into()),
            SealKey::ChaCha(key) => key.encrypt_inout_detached(&nonce, header, content.into()),
        };
        sealed.map(Into::into).map_err(|_| io::Error::other("a frame is too long to be encrypted"))
    }

    /// Decrypts `content` in place and takes the tag from its end.
    pub fn open(&mut self, header: &[u8], content: &mut Vec<u8>) -> io::Result<()> {
        let invalid = || {
            io::Error::new(io::ErrorKind::InvalidData, "a block was changed on the way: it does not decrypt")
        };
        let (nonce, length) = (self.nonce(), content.len().checked_sub(TAG).ok_or_else(invalid)?);
        let (sealed, tag) = content.split_at_mut(length);
        let tag: &Tag<Aes256Gcm> = (&*tag).try_into().map_err(|_| invalid())?;
        let opened: aead::Result<()> = match &self.key {
            SealKey::Aes(key) => key.decrypt_inout_detached(&nonce, header, sealed.into(), tag),
            SealKey::ChaCha(key) => key.decrypt_inout_detached(&nonce, header, sealed.into(), tag),
        };
        opened.map_err(|_| invalid())?;
        content.truncate(length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seals(cipher: Cipher, connections: [usize; 2], ways: [Way; 2]) -> [Seal; 2] {
        let key = Key::from_hex(&"07".repeat(32)).expect("a key");
        [0, 1].map(|at| Seal::new(cipher, &key, connections[at], ways[at]))
    }

    fn sealed(seal: &mut Seal, content: &[u8]) -> Vec<u8> {
        let mut sealed = content.to_vec();
        let tag = seal.seal(b"header", &mut sealed).expect("sealed");
        sealed.extend_from_slice(&tag);
        sealed
    }

    #[test]
    fn what_was_sealed_is_opened_in_the_same_order_only() {
        for cipher in Cipher::ALL {
            let [mut one, mut other] = seals(cipher, [3, 3], [Way::ToTarget; 2]);
            let [mut first, mut second] = [sealed(&mut one, b"some files"), sealed(&mut one, b"some files")];
            assert_ne!(first, second);
            assert!(!first.windows(4).any(|part| part == b"some"));
            other.open(b"header", &mut first).expect("opened");
            assert_eq!(first, b"some files");
            let mut again = second.clone();
            other.open(b"header", &mut second).expect("opened");
            assert!(other.open(b"header", &mut again).is_err(), "a frame that was sent again");
        }
    }

    #[test]
    fn every_flipped_bit_and_every_other_header_connection_or_way_is_noticed() {
        for cipher in Cipher::ALL {
            let [mut one, _] = seals(cipher, [0, 0], [Way::ToTarget; 2]);
            let sound = sealed(&mut one, b"some files");
            for bit in 0..sound.len() * 8 {
                let [_, mut other] = seals(cipher, [0, 0], [Way::ToTarget; 2]);
                let mut damaged = sound.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let error = other.open(b"header", &mut damaged).expect_err("damaged");
                assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            }
            for (connection, way, header) in [
                (1, Way::ToTarget, &b"header"[..]),
                (0, Way::ToSource, b"header"),
                (0, Way::ToTarget, b"headed"),
            ] {
                let [mut other, _] = seals(cipher, [connection, 0], [way, Way::ToTarget]);
                assert!(other.open(header, &mut sound.clone()).is_err());
            }
        }
    }
}

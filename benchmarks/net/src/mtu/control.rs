//! Messages between client and server over the authenticated connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;

const LENGTH: usize = 17;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// Did this packet arrive? Wait for it for `wait_ms`.
    Expect {
        number: u64,
        size: u32,
        wait_ms: u32,
    },
    Send {
        number: u64,
        size: u32,
    },
    Yes,
    No,
    /// The sender's own interface refused the packet.
    Refused,
}

impl Message {
    pub fn write(self, stream: &mut TcpStream) -> io::Result<()> {
        let (kind, number, size, wait_ms) = match self {
            Self::Expect { number, size, wait_ms } => (0, number, size, wait_ms),
            Self::Send { number, size } => (1, number, size, 0),
            Self::Yes => (2, 0, 0, 0),
            Self::No => (3, 0, 0, 0),
            Self::Refused => (4, 0, 0, 0),
        };
        let mut bytes = [0; LENGTH];
        bytes[0] = kind;
        bytes[1..9].copy_from_slice(&number.to_le_bytes());
        bytes[9..13].copy_from_slice(&size.to_le_bytes());
        bytes[13..].copy_from_slice(&wait_ms.to_le_bytes());
        stream.write_all(&bytes)
    }

    pub fn read(stream: &mut TcpStream) -> io::Result<Self> {
        let mut bytes = [0; LENGTH];
        stream.read_exact(&mut bytes)?;
        let number = u64::from_le_bytes(std::array::from_fn(|at| bytes[1 + at]));
        let [size, wait_ms] =
            [9, 13].map(|start| u32::from_le_bytes(std::array::from_fn(|at| bytes[start + at])));
        match bytes[0] {
            0 => Ok(Self::Expect { number, size, wait_ms }),
            1 => Ok(Self::Send { number, size }),
            2 => Ok(Self::Yes),
            3 => Ok(Self::No),
            4 => Ok(Self::Refused),
            other => Err(io::Error::other(format!("an unknown message of kind {other}"))),
        }
    }
}

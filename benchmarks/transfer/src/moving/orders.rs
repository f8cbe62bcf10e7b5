//! What the sender tells the receiver, and what it answers: a length (u32) and JSON.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;

use seatrial_bench::beside;
use seatrial_model::Reason;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::done::DoneTimes;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Make a directory for the copy of this number, of the set whose content follows from `set`; the answer is its path.
    Ready {
        copy: u64,
        set: u64,
    },
    /// Fetch this directory with the tool; the answer is what the tool did, none if the time was over before its end.
    Fetch {
        source: PathBuf,
        window: Option<u64>,
    },
    /// Receive what the mover sends; it answers itself.
    Receive,
    /// Flush the file system; the answer is empty.
    Flush,
    /// Compare the copy and remove it; the answer is a [`Checked`].
    Check,
    End,
}

/// What the receiver found when a copy was there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Busy time of all CPUs of the node since [`Order::Ready`], where the kernel tells it.
    pub busy_ns: Option<u64>,
    /// When the files were done, where the file system tells it.
    pub done: Option<DoneTimes>,
    pub is_right: bool,
    /// What comparing took.
    pub took_ns: u64,
}

/// The longest message.
const MOST: usize = 1 << 20;

pub fn put(mut to: &TcpStream, message: &impl Serialize) -> Result<(), Reason> {
    let written = (|| {
        let content = serde_json::to_vec(message)?;
        to.write_all(&[&(content.len() as u32).to_le_bytes()[..], &content].concat())
    })();
    written.map_err(|error: io::Error| beside("talking to the other end", &error))
}

pub fn take<T: DeserializeOwned>(mut from: &TcpStream) -> Result<T, Reason> {
    let read = (|| {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a message is too long"));
        }
        let mut content = vec![0; length];
        from.read_exact(&mut content)?;
        Ok(serde_json::from_slice(&content)?)
    })();
    read.map_err(|error| beside("listening to the other end", &error))
}

/// Gives an order and takes what it was answered.
pub fn ask<T: DeserializeOwned>(stream: &TcpStream, order: Order) -> Result<T, Reason> {
    put(stream, &order)?;
    take::<Result<T, Reason>>(stream)?
}

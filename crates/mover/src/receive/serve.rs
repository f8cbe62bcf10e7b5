//! A reception from beginning to end.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::thread;

use seatrial_bench::{Listener, PeerAddress};

use super::large::LargeFiles;
use super::query::Terms;
use super::store::store_directories;
use super::stream::receive_stream;
use crate::connection::{endpoint, keep_alive};
use crate::error::CopyError;
use crate::target::{Folders, Place, target_place};
use crate::wire::{Frame, FrameKind, Incoming, Outgoing, Ready, Secret, Start, VERSION, Way, read_frame};

/// How senders reach this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// By the addresses of all interfaces, this one first: that by which the sender came already.
    Network { first: Option<IpAddr> },
    /// By the loopback only: the sender is on this host.
    Loopback,
}

/// Receives one copy: `from` and `to` are the control channel. The port is closed as soon as the sender's connections are
/// there; callers that do not know the key, which only the control channel carries, are rejected.
///
/// # Errors
/// When a connection fails or ends too early. What is complete stays.
pub fn serve(mut from: impl Read, mut to: impl Write, reach: Reach) -> Result<(), CopyError> {
    let lost = || CopyError::stream("the control channel to the sender");
    let (mut content, mut frame) = (Vec::new(), Frame::default());
    let mut answer = |ready: &Ready| {
        serde_json::to_writer(frame.begin(), ready)?;
        frame.write(FrameKind::Ready, &mut to)
    };
    let mut first = read_frame(&mut from, &mut content).map_err(lost())?;
    if first == Some(FrameKind::Probe) {
        let Listening { listener, address, .. } = Listening::open(reach, None).map_err(CopyError::Refused)?;
        let ready = Ready::Listening { address, renamed: None, receive_buffer: 0 };
        answer(&ready).map_err(lost())?;
        drop(listener.accept(1).map_err(CopyError::Connect)?);
        first = read_frame(&mut from, &mut content).map_err(lost())?;
    }
    if first != Some(FrameKind::Start) {
        return Err(CopyError::Refused("the sender does not say what to copy".to_owned()));
    }
    let start: Start = serde_json::from_slice(&content).map_err(|error| lost()(error.into()))?;
    let Prepared { listener, folders, secret, .. } = match prepared(&start, reach) {
        Ok(prepared) => {
            answer(&prepared.ready).map_err(lost())?;
            prepared
        }
        Err(why) => {
            answer(&Ready::Refused(why.clone())).map_err(lost())?;
            return Err(CopyError::Refused(why));
        }
    };
    let accepted = listener.accept(start.streams as usize).map_err(CopyError::Connect)?;
    let terms = Terms { preserve: start.preserve, checksum: start.checksum, is_dry: start.dry_run };
    let (large, first_error) = (LargeFiles::default(), Mutex::new(None));
    thread::scope(|scope| {
        for (number, stream) in accepted.streams.iter().enumerate() {
            let folders = folders.as_ref().map(Folders::again);
            let (large, first_error, all) = (&large, &first_error, &accepted.streams);
            let secret = secret.as_ref();
            scope.spawn(move || {
                let from = Incoming::new(stream, secret, number, Way::ToTarget);
                let to = Outgoing::new(stream, secret, number, Way::ToSource);
                let done = keep_alive(stream).and_then(|()| receive_stream(from, to, folders, large, terms));
                if let Err(error) = done {
                    first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    for stream in all {
                        let _ = stream.shutdown(Shutdown::Both);
                    }
                }
            });
        }
    });
    drop(accepted);
    if let Some(error) = first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(CopyError::stream("a data connection of the sender")(error));
    }
    finish(&mut from, &mut to, folders, start.preserve).map_err(lost())
}

/// The attributes of directories, when all is in them.
fn finish(
    from: &mut impl Read,
    to: &mut impl Write,
    mut folders: Option<Folders>,
    preserve: bool,
) -> io::Result<()> {
    let (mut content, mut frame) = (Vec::new(), Frame::default());
    loop {
        match (read_frame(from, &mut content)?, &mut folders) {
            (Some(FrameKind::Directories), Some(folders)) => {
                store_directories(&content, folders, preserve)?.put(frame.begin());
                frame.write(FrameKind::Stored, to)?;
            }
            (Some(FrameKind::End), _) => {
                frame.begin();
                return frame.write(FrameKind::End, to);
            }
            (Some(_), _) => return Err(io::Error::new(io::ErrorKind::InvalidData, "an unexpected frame")),
            (None, _) => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

struct Prepared {
    listener: Listener,
    folders: Option<Folders>,
    secret: Option<Secret>,
    ready: Ready,
}

/// The open port and the target; why not, as text.
fn prepared(start: &Start, reach: Reach) -> Result<Prepared, String> {
    if start.version != VERSION || start.streams == 0 {
        return Err("the sender is another version of Seatrial".to_owned());
    }
    let Place { directory, renamed } =
        target_place(&start.target, start.only_file.as_deref(), start.dry_run)?;
    let folders = Folders::open(&directory, start.dry_run, start.is_target_copied)
        .map_err(|error| format!("opening {}: {error}", directory.display()))?;
    let Listening { listener, address, receive_buffer } = Listening::open(reach, start.window)?;
    let secret = Secret::of(start.cipher, &address)?;
    Ok(Prepared { listener, folders, secret, ready: Ready::Listening { address, renamed, receive_buffer } })
}

/// An open port for data connections.
struct Listening {
    listener: Listener,
    address: PeerAddress,
    receive_buffer: u64,
}

impl Listening {
    fn open(reach: Reach, window: Option<u64>) -> Result<Self, String> {
        let (endpoint, buffer) =
            endpoint(reach == Reach::Loopback, window, |socket| socket.recv_buffer_size());
        let listener = Listener::open(&endpoint).map_err(|reason| reason.text)?;
        let address = first_reached(listener.address().map_err(|reason| reason.text)?, reach);
        Ok(Self { listener, address, receive_buffer: buffer.load(Ordering::Relaxed) })
    }
}

/// The address by which the sender came is tried first.
fn first_reached(address: PeerAddress, reach: Reach) -> PeerAddress {
    match (reach, address.key()) {
        (Reach::Network { first: Some(first) }, Some(key)) => {
            let others = address.addresses().iter().copied().filter(|other| *other != first);
            PeerAddress::new(std::iter::once(first).chain(others).collect(), address.port(), &key)
        }
        _ => address,
    }
}

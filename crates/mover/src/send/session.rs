//! A copy from beginning to end.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use seatrial_sys::net::tcp_info;

use super::pack::put_head;
use super::plan::Plan;
use super::replies::read_replies;
use super::worker::{Shared, Worker};
use crate::connection::{endpoint, keep_alive};
use crate::entry::{Entry, Root};
use crate::error::CopyError;
use crate::failure::Failure;
use crate::options::CopyOptions;
use crate::progress::Progress;
use crate::record::RecordKind;
use crate::scan::{is_target_copied, only_file, renamed_roots, scan_with_directories};
use crate::source::attributes_of;
use crate::stored::Stored;
use crate::target::Attributes;
use crate::window::Window;
use crate::wire::{Frame, FrameKind, Incoming, Outgoing, Ready, Secret, Start, VERSION, Way, read_frame};

/// The channel that the receiver was started with; nobody else can read it.
#[derive(Debug)]
pub struct ControlChannel<R, W> {
    pub from: R,
    pub to: W,
}

/// Bytes of directories' attributes in one frame.
const DIRECTORIES_AT_ONCE: usize = 256 << 10;

impl<R: Read, W: Write> ControlChannel<R, W> {
    /// Sends a frame and reads the answer.
    fn ask(&mut self, frame: &mut Frame, kind: FrameKind, answer: FrameKind) -> Result<Vec<u8>, CopyError> {
        let lost = CopyError::stream("the control channel to the target");
        let mut content = Vec::new();
        let asked =
            frame.write(kind, &mut self.to).and_then(|()| match read_frame(&mut self.from, &mut content)? {
                Some(kind) if kind == answer => Ok(()),
                Some(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "an unexpected answer")),
                None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the receiver ended")),
            });
        asked.map_err(lost)?;
        Ok(content)
    }
}

/// Copies `roots` into `target` at the receiver behind `control`.
///
/// # Errors
/// When the copy as a whole cannot go on. Single files that fail are told by `progress`.
pub fn send<R: Read, W: Write>(
    roots: &[Arc<Root>],
    target: &[u8],
    options: &CopyOptions,
    mut control: ControlChannel<R, W>,
    progress: &Progress,
) -> Result<(), CopyError> {
    let streams = if options.dry_run.is_some() { 1 } else { options.streams.max(1) };
    let window = window(options.window, &mut control)?;
    progress.window.store(window.unwrap_or(0), Ordering::Relaxed);
    let start = Start {
        version: VERSION,
        target: target.to_vec(),
        only_file: only_file(roots),
        is_target_copied: is_target_copied(roots),
        streams: streams as u32,
        preserve: options.preserve,
        checksum: options.checksum,
        dry_run: options.dry_run.is_some(),
        window,
        cipher: options.cipher,
    };
    let mut frame = Frame::default();
    put_json(frame.begin(), &start)?;
    let answer = control.ask(&mut frame, FrameKind::Start, FrameKind::Ready)?;
    let (address, renamed) = match ready(&answer)? {
        Ready::Listening { address, renamed, receive_buffer } => {
            progress.receive_buffer.store(receive_buffer, Ordering::Relaxed);
            (address, renamed)
        }
        Ready::Refused(why) => return Err(CopyError::Refused(why)),
    };
    let roots = renamed_roots(roots, renamed);
    let (endpoint, buffer) = endpoint(false, window, |socket| socket.send_buffer_size());
    let streams = address.connect_all(&endpoint, streams).map_err(CopyError::Connect)?;
    progress.send_buffer.store(buffer.load(Ordering::Relaxed), Ordering::Relaxed);
    let secret = Secret::of(options.cipher, &address).map_err(CopyError::Refused)?;
    let directories = transfer(&roots, &streams, secret.as_ref(), options, progress)?;
    drop(streams);
    if progress.is_stopped() {
        return Err(CopyError::Stopped);
    }
    if options.dry_run.is_none() {
        send_directories(directories, options, &mut control, progress)?;
    }
    frame.begin();
    control.ask(&mut frame, FrameKind::End, FrameKind::End)?;
    Ok(())
}

/// The bytes of the window. Buffers are set before a connection is made: a connection of its own measures the round trip.
fn window<R: Read, W: Write>(
    asked: Window,
    control: &mut ControlChannel<R, W>,
) -> Result<Option<u64>, CopyError> {
    let probing = match asked {
        Window::Auto => return Ok(None),
        Window::Fixed(bytes) => return Ok(Some(bytes)),
        Window::BandwidthDelay => {
            let mut frame = Frame::default();
            frame.begin();
            ready(&control.ask(&mut frame, FrameKind::Probe, FrameKind::Ready)?)?
        }
    };
    let address = match probing {
        Ready::Listening { address, .. } => address,
        Ready::Refused(why) => return Err(CopyError::Refused(why)),
    };
    let probe = address.connect_all(&endpoint(false, None, |_| Ok(0)).0, 1).map_err(CopyError::Connect)?;
    let refused = |why: String| CopyError::Refused(format!("window bdp: {why}"));
    Ok(asked.choose(&probe[0]).map_err(refused)?.map(|chosen| chosen.bytes))
}

fn ready(answer: &[u8]) -> Result<Ready, CopyError> {
    serde_json::from_slice(answer)
        .map_err(|error| CopyError::stream("the answer of the target")(error.into()))
}

fn put_json(content: &mut Vec<u8>, value: &impl serde::Serialize) -> Result<(), CopyError> {
    serde_json::to_writer(content, value).map_err(|error| CopyError::stream("the request")(error.into()))
}

/// Sends everything but the attributes of directories, which are returned: those above first.
fn transfer(
    roots: &[Arc<Root>],
    streams: &[TcpStream],
    secret: Option<&Secret>,
    options: &CopyOptions,
    progress: &Progress,
) -> Result<Vec<Entry>, CopyError> {
    let (plan, mut directories) = (Plan::default(), Vec::new());
    let shared = Shared { plan: &plan, options, progress, next_id: AtomicU64::new(0) };
    let first_error = Mutex::new(None);
    // One connection that fails ends the copy.
    let failed = |error: io::Error| {
        first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        plan.give_up();
        for stream in streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
    };
    for stream in streams {
        keep_alive(stream).map_err(CopyError::stream("setting up a data connection"))?;
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            directories = scan_with_directories(roots, progress, |entries| plan.scanned(entries));
            plan.end_of_scan();
        });
        for (number, stream) in streams.iter().enumerate() {
            let (sent, unanswered) = channel();
            let (plan, shared, failed) = (&plan, &shared, &failed);
            scope.spawn(move || {
                let to = Outgoing::new(stream, secret, number, Way::ToTarget);
                if let Err(error) = Worker::new(shared, to, sent).work() {
                    failed(error);
                }
            });
            scope.spawn(move || {
                let from = Incoming::new(stream, secret, number, Way::ToSource);
                if let Err(error) = read_replies(from, &unanswered, plan, options, progress) {
                    failed(error);
                }
            });
        }
    });
    streams.iter().for_each(|stream| progress.spent.window.add(window_limited(stream)));
    match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(CopyError::stream("a data connection to the target")(error)),
        None => Ok(directories),
    }
}

/// Time in which a window or buffer kept a connection from sending, where the kernel tells it.
fn window_limited(stream: &TcpStream) -> Duration {
    let counted =
        tcp_info(stream).ok().and_then(|info| Some(info.rwnd_limited_us? + info.sndbuf_limited_us?));
    Duration::from_micros(counted.unwrap_or(0))
}

/// Sends the attributes of directories, those below first: whatever is made in a directory changes its time.
fn send_directories<R: Read, W: Write>(
    directories: Vec<Entry>,
    options: &CopyOptions,
    control: &mut ControlChannel<R, W>,
    progress: &Progress,
) -> Result<(), CopyError> {
    let mut frame = Frame::default();
    frame.begin();
    let mut left = directories.into_iter().rev().peekable();
    while let Some(entry) = left.next() {
        match directory_attributes(&entry, options) {
            Ok(attributes) => {
                let content = frame.content();
                put_head(content, RecordKind::Directory, &entry.target(), &entry.stamp, &attributes);
            }
            Err(failure) => progress.fail(failure),
        }
        if frame.len() >= DIRECTORIES_AT_ONCE || left.peek().is_none() {
            let answer = control.ask(&mut frame, FrameKind::Directories, FrameKind::Stored)?;
            let stored = Stored::read(&answer).map_err(CopyError::stream("the answer of the target"))?;
            stored.count(progress);
            frame.begin();
        }
    }
    Ok(())
}

fn directory_attributes(entry: &Entry, options: &CopyOptions) -> Result<Attributes, Failure> {
    if !options.preserve {
        return Ok(Vec::new());
    }
    let path = entry.source();
    let read = std::fs::File::open(&path).and_then(|file| attributes_of(&file));
    read.map_err(|error| Failure::of(path.as_os_str().as_bytes(), "reading the extended attributes", &error))
}

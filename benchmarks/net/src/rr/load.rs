//! A stream beside the requests, as full as TCP makes it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seatrial_model::{Cause, Reason};

use seatrial_bench::{ServerThread, pin};

/// Bytes of a write or read.
const BLOCK: usize = 128 << 10;

/// A full pipe is looked at again after this.
const IO_TIMEOUT: Duration = Duration::from_millis(50);

/// One end of the stream: a thread that writes or reads until it is dropped.
pub struct Stream {
    bytes: Arc<AtomicU64>,
    _thread: ServerThread,
}

impl Stream {
    /// Begins to write into `stream`, or to read from it.
    pub fn begin(stream: TcpStream, writes: bool, cpu: Option<u32>) -> Result<Self, Reason> {
        let failed =
            |error: io::Error| Reason::new(Cause::IoError, format!("a stream beside the requests: {error}"));
        stream
            .set_write_timeout(Some(IO_TIMEOUT))
            .and_then(|()| stream.set_read_timeout(Some(IO_TIMEOUT)))
            .map_err(failed)?;
        let bytes = Arc::new(AtomicU64::new(0));
        let (count, mut own) = (Arc::clone(&bytes), stream.try_clone().map_err(failed)?);
        let thread = ServerThread::start(vec![stream], None, move |over| {
            // A stream that is not where it should be is still a load.
            let _ = cpu.map(pin);
            let mut block = vec![0xa5; BLOCK];
            while !over.load(Ordering::Relaxed) {
                let moved = if writes { own.write(&block) } else { own.read(&mut block) };
                match moved {
                    Ok(0) => return Ok(()),
                    Ok(moved) => _ = count.fetch_add(moved as u64, Ordering::Relaxed),
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    // The requests beside it will tell of a peer that is gone.
                    Err(_) => return Ok(()),
                }
            }
            Ok(())
        })?;
        Ok(Self { bytes, _thread: thread })
    }

    /// Bytes moved so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

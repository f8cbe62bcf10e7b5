//! A TCP stream at full load beside the requests.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seatrial_model::{Cause, Reason};

use seatrial_bench::{ServerThread, is_timeout, pin, second_handles};

const BLOCK: usize = 128 << 10;

/// Socket timeout, after which a blocked thread checks for its end.
const IO_TIMEOUT: Duration = Duration::from_millis(50);

pub struct Stream {
    bytes: Arc<AtomicU64>,
    _thread: ServerThread,
}

impl Stream {
    pub fn begin(mut stream: TcpStream, writes: bool, cpu: Option<u32>) -> Result<Self, Reason> {
        let failed =
            |error: io::Error| Reason::new(Cause::IoError, format!("a stream beside the requests: {error}"));
        stream
            .set_write_timeout(Some(IO_TIMEOUT))
            .and_then(|()| stream.set_read_timeout(Some(IO_TIMEOUT)))
            .map_err(failed)?;
        let bytes = Arc::new(AtomicU64::new(0));
        let (count, own) = (Arc::clone(&bytes), second_handles(slice::from_ref(&stream))?);
        let thread = ServerThread::start(own, None, move |over| {
            // A load on another CPU is still a load.
            let _ = cpu.map(pin);
            let mut block = vec![0xa5; BLOCK];
            while !over.load(Ordering::Relaxed) {
                let moved = if writes { stream.write(&block) } else { stream.read(&mut block) };
                match moved {
                    Ok(0) => return Ok(()),
                    Ok(moved) => _ = count.fetch_add(moved as u64, Ordering::Relaxed),
                    Err(error) if is_timeout(&error) => {}
                    // The requests report a peer that is gone.
                    Err(_) => return Ok(()),
                }
            }
            Ok(())
        })?;
        Ok(Self { bytes, _thread: thread })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

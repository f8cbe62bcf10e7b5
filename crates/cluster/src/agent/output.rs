//! Drains the output of a process, which would block on a full pipe, and keeps only the end of the output.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

const KEPT: usize = 4096;

#[derive(Debug)]
pub(crate) struct Output {
    tail: Arc<Mutex<Tail>>,
    ended: Receiver<()>,
}

#[derive(Debug, Default)]
struct Tail {
    bytes: VecDeque<u8>,
    dropped: u64,
}

impl Output {
    pub(crate) fn drain(mut stream: impl Read + Send + 'static) -> io::Result<Self> {
        let tail = Arc::new(Mutex::new(Tail::default()));
        let (end, ended) = mpsc::channel();
        let kept = tail.clone();
        thread::Builder::new().name("output".to_owned()).spawn(move || {
            let _end = end;
            let mut chunk = [0; 16 << 10];
            loop {
                match stream.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(got) => kept.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..got]),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        })?;
        Ok(Self { tail, ended })
    }

    /// The output so far, after waiting at most `patience` for the end of the stream: an abandoned process or a
    /// descendant outside the group may keep it open for ever.
    pub(crate) fn stderr_tail(&self, patience: Duration) -> String {
        let _ = self.ended.recv_timeout(patience);
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let surplus = self.bytes.len().saturating_sub(KEPT);
        self.bytes.drain(..surplus);
        self.dropped += surplus as u64;
    }

    fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let bytes = [front, back].concat();
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if self.dropped == 0 { text.to_owned() } else { format!("[{} bytes before] {text}", self.dropped) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(60);

    #[test]
    fn short_output_is_kept_whole() {
        let output = Output::drain(&b"one\ntwo \xff\n"[..]).expect("started");
        assert_eq!(output.stderr_tail(SOON), "one\ntwo \u{fffd}");
    }

    #[test]
    fn of_a_flood_only_the_end_is_kept() {
        let flood = io::repeat(b'x').take(1 << 20).chain(&b"the end"[..]);
        let text = Output::drain(flood).expect("started").stderr_tail(SOON);
        assert!(text.starts_with("[1044487 bytes before] xxx") && text.ends_with("xxxthe end"), "{text}");
        assert!(text.len() < KEPT + 40);
    }

    #[test]
    fn a_stream_that_stays_open_is_not_waited_for() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        io::Write::write_all(&mut writer, b"so far").expect("written");
        let output = Output::drain(reader).expect("started");
        let seen = std::iter::repeat_with(|| output.stderr_tail(Duration::from_millis(1)))
            .find(|text| !text.is_empty());
        assert_eq!(seen.as_deref(), Some("so far"));
        drop(writer);
    }
}

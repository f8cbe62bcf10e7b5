//! What launcher and ranks print: the library's own words.

use std::collections::VecDeque;
use std::io::{PipeReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Bytes of the end of the output that are kept.
const KEPT: usize = 16 << 10;

/// Lines of an error message.
const LINES: usize = 12;

pub struct Output {
    text: Arc<Mutex<VecDeque<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Output {
    /// Reads `pipe` to its end on a thread.
    pub fn drain(mut pipe: PipeReader) -> std::io::Result<Self> {
        let text = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&text);
        let reader = thread::Builder::new().name("output".to_owned()).spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut bytes) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&bytes[..count]);
                let over = kept.len().saturating_sub(KEPT);
                kept.drain(..over);
            }
        })?;
        Ok(Self { text, reader: Some(reader) })
    }

    /// Waits for the end of the output; call it when all that print have ended.
    pub fn end(&mut self) {
        if let Some(reader) = self.reader.take_if(|reader| reader.is_finished()) {
            let _ = reader.join();
        }
    }

    pub fn is_complete(&self) -> bool {
        self.reader.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// All that is kept.
    pub fn text(&self) -> String {
        let kept: Vec<u8> =
            self.text.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// The lines that say something, for an error message; `None` where nothing was printed.
    pub fn words(&self) -> Option<String> {
        let words = words_of(&self.text());
        (!words.is_empty()).then_some(words)
    }
}

/// The first lines of `text` without rulers and empty lines: launchers print the reason first, then advice.
fn words_of(text: &str) -> String {
    let says = |line: &&str| line.chars().any(char::is_alphanumeric);
    text.lines().map(str::trim).filter(says).take(LINES).collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn rulers_are_left_out_and_lines_joined() {
        assert_eq!(words_of("-----\nMPI_ABORT was invoked\n\n  with errorcode 3.\n====\n"), {
            "MPI_ABORT was invoked | with errorcode 3."
        });
    }

    #[test]
    fn the_end_of_a_long_output_is_kept() {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        let mut output = Output::drain(reader).expect("a thread");
        assert!(!output.is_complete() && output.words().is_none());
        for number in 0..5000 {
            writeln!(writer, "line {number}").expect("written");
        }
        drop(writer);
        while !output.is_complete() {
            thread::yield_now();
        }
        output.end();
        assert!(output.text().ends_with("line 4999\n") && output.text().len() <= KEPT);
    }
}

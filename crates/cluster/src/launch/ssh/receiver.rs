//! Starts the receiver of a copy over ssh.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::boot;
use super::client::Client;
use crate::launch::copying::Copying;

/// The first byte that a receiver writes: the binary on the other host runs.
pub const COPY_RECEIVER_READY: u8 = b'+';

/// A receiver on another host: the running binary, started there with `copy-receiver`. Its standard input and output are
/// the control channel of the copy.
#[derive(Debug)]
pub struct CopyReceiver {
    child: Child,
    pub from: ChildStdout,
    pub to: ChildStdin,
}

impl CopyReceiver {
    /// Starts it on `host`, a name of ssh, with the command `client`; `build` is the id of the running binary. The binary is
    /// copied there if it is missing or spoilt. Ends when `is_stopped` says so, and when nothing was heard for `quiet`.
    ///
    /// # Errors
    /// Why it does not run, as text.
    pub fn start(
        client: &[OsString],
        host: &str,
        build: &str,
        quiet: Duration,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, String> {
        let failed = |error: io::Error| format!("starting {}: {error}", client.join(" ".as_ref()).display());
        let opened = Client::new(client.to_vec(), build).map_err(failed)?;
        let mut renewed = None;
        for is_fresh in [false, true] {
            let mut child = opened
                .receiver(host, is_fresh)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .map_err(failed)?;
            let (Some(mut from), Some(mut to)) = (child.stdout.take(), child.stdin.take()) else {
                return Err("ssh has no pipes".to_owned());
            };
            let copying = Copying::default();
            let mut first = [0];
            let is_over = AtomicBool::new(false);
            let met = thread::scope(|scope| {
                let watch = scope.spawn(|| end_when_quiet(&child, &copying, quiet, is_stopped, &is_over));
                let met = boot::exchange(&mut from, &mut to, &copying).and_then(|()| {
                    match from.read_exact(&mut first) {
                        Ok(()) if first[0] == COPY_RECEIVER_READY => Ok(()),
                        _ => Err("the copied binary does not run there".to_owned()),
                    }
                });
                is_over.store(true, Ordering::Relaxed);
                watch.thread().unpark();
                let ended = watch.join().unwrap_or_default();
                met.map_err(|why| ended.unwrap_or(why))
            });
            match met {
                Ok(()) => return Ok(Self { child, from, to }),
                Err(why) => {
                    drop((from, to));
                    let _ = child.wait();
                    renewed = Some(why);
                    if !copying.was_there() {
                        break;
                    }
                }
            }
        }
        Err(renewed.unwrap_or_default())
    }

    /// Ends it: closes the control channel, and waits.
    pub fn end(self) {
        let Self { mut child, from, to } = self;
        drop((from, to));
        // A client that was stopped by a signal is gone as well.
        let _ = child.wait();
    }
}

/// Kills the client when `is_stopped` says so, or when nothing was heard for `quiet`; why it did.
fn end_when_quiet(
    child: &Child,
    copying: &Copying,
    quiet: Duration,
    is_stopped: &dyn Fn() -> bool,
    is_over: &AtomicBool,
) -> Option<String> {
    let begun = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        thread::park_timeout(Duration::from_millis(50));
        let why = if is_stopped() {
            "stopped".to_owned()
        } else if copying.moved().unwrap_or(begun).elapsed() > quiet {
            let silent = || format!("the host said nothing for {} s", quiet.as_secs_f64());
            copying.complaint(quiet).unwrap_or_else(silent)
        } else {
            continue;
        };
        // It was not waited for, so that its number is still its own.
        let _ = kill_process(Pid::from_child(child), Signal::KILL);
        return Some(why);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_says_nothing_is_not_waited_for_for_ever() {
        let client = ["sh", "-c", "exec sleep 3600"].map(OsString::from);
        let start = |quiet, is_stopped: &(dyn Fn() -> bool + Sync)| {
            CopyReceiver::start(&client, "n2", "0", quiet, is_stopped).map(drop).unwrap_err()
        };
        assert_eq!(start(Duration::from_millis(100), &|| false), "the host said nothing for 0.1 s");
        assert_eq!(start(Duration::from_secs(3600), &|| true), "stopped");
    }
}

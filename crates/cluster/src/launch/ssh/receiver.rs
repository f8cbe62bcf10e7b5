//! Starts the receiver of a copy over ssh.

use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

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
    /// copied there if it is missing or spoilt.
    ///
    /// # Errors
    /// Why it does not run, as text.
    pub fn start(client: &[OsString], host: &str, build: &str) -> Result<Self, String> {
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
            let met = boot::exchange(&mut from, &mut to, &copying).and_then(|()| {
                match from.read_exact(&mut first) {
                    Ok(()) if first[0] == COPY_RECEIVER_READY => Ok(()),
                    _ => Err("the copied binary does not run there".to_owned()),
                }
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

//! A peer's server for one turn.

use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How long a server may take until it listens.
const LIMIT: Duration = Duration::from_secs(20);

/// How often it is looked at until then.
const LOOK: Duration = Duration::from_millis(5);

/// A server that listens; it is ended with this.
pub struct Server {
    child: Child,
}

impl Server {
    /// Starts `command` and waits until it listens on `port` over `protocol`, "tcp" or "udp".
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not listen in time.
    pub fn start(mut command: Command, protocol: &str, port: u16) -> Result<Self> {
        let child = command.spawn().context("cannot start the peer's server")?;
        let mut server = Self { child };
        let deadline = Instant::now() + LIMIT;
        loop {
            // The tables of the network that the process is in, proc_net(5).
            let table = |suffix| {
                fs::read_to_string(format!("/proc/{}/net/{protocol}{suffix}", server.child.id()))
                    .unwrap_or_default()
            };
            if listens(&(table("") + &table("6")), protocol, port) {
                return Ok(server);
            }
            if let Some(status) = server.child.try_wait()? {
                bail!("the peer's server ended with {status} before it listened");
            }
            if Instant::now() > deadline {
                bail!("the peer's server does not listen on port {port} after {} s", LIMIT.as_secs());
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a table of sockets has one that waits on `port`. State 0A of TCP is LISTEN (include/net/tcp_states.h); UDP
/// has no such state.
fn listens(table: &str, protocol: &str, port: u16) -> bool {
    let wanted = format!(":{port:04X}");
    table.lines().any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.get(1).is_some_and(|local| local.ends_with(&wanted))
            && (protocol != "tcp" || fields.get(3) == Some(&"0A"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:4E20 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 7001 1
   1: 0100007F:4E22 0100007F:9C40 06 00000000:00000000 03:00001770 00000000     0        0 0 3
";

    #[test]
    fn a_port_counts_as_listened_on_only_in_the_state_listen() {
        assert!(listens(TABLE, "tcp", 20000));
        assert!(!listens(TABLE, "tcp", 20002), "that one waits to close");
        assert!(listens(TABLE, "udp", 20002));
        assert!(!listens(TABLE, "udp", 40000), "that is a far end");
    }
}

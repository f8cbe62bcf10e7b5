//! The connections of a thread.

use std::net::TcpStream;
use std::time::Duration;

use seatrial_model::Reason;

/// The flows of a thread, each at one of its ends.
#[derive(Debug, Default)]
pub struct Flows {
    pub streams: Vec<TcpStream>,
    /// Bytes of each stream so far.
    pub totals: Vec<u64>,
    /// The parts at the other ends, with their nodes.
    pub peers: Vec<(u32, String)>,
}

impl Flows {
    pub fn add(&mut self, stream: TcpStream, peer: u32, node: &str) -> Result<(), Reason> {
        stream.set_nonblocking(true).map_err(seatrial_bench::setting_up)?;
        self.streams.push(stream);
        self.totals.push(0);
        self.peers.push((peer, node.to_owned()));
        Ok(())
    }

    pub fn name(&self, flow: usize) -> String {
        let (peer, node) = &self.peers[flow];
        format!("flow with part {peer} on {node}")
    }

    /// Each flow with its name and its bytes. Calls block from now on, but so shortly that a silent peer is noticed.
    pub fn ends(&self) -> Result<impl Iterator<Item = (String, &TcpStream, u64)>, Reason> {
        for stream in &self.streams {
            let set = || {
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(Duration::from_millis(10)))?;
                stream.set_write_timeout(Some(Duration::from_millis(10)))
            };
            set().map_err(seatrial_bench::setting_up)?;
        }
        let each = self.streams.iter().zip(&self.totals).enumerate();
        Ok(each.map(|(flow, (stream, total))| (self.name(flow), stream, *total)))
    }
}

//! How often a sender's kernel had unsent data, in readings over the phase.
//!
//! While a program sleeps in a send call, its send buffer is full. If all of that data is in flight and none is
//! unsent, neither the receive window nor congestion control nor pacing delays sending: only the buffer does. The
//! kernel's own count (`tcpi_sndbuf_limited`) needs a segment to be sent after the program was found to lack room
//! (net/ipv4/tcp_output.c, `tcp_cwnd_validate`), and misses the cases in which the last segment had left before.

mod kernel;

use std::collections::BTreeMap;
use std::os::fd::AsFd;

use super::config::Name;

/// Readings below which a share says nothing.
const FEWEST: u32 = 5;

#[derive(Debug, Default)]
pub struct QueueReadings(BTreeMap<Name, Found>);

#[derive(Clone, Copy, Debug, Default)]
struct Found {
    all: u32,
    /// Readings with less than one segment unsent and some data in flight.
    drained: u32,
}

impl QueueReadings {
    /// Reads the queue of a flow with segments of `mss` bytes. A protocol without these ioctls is left out.
    pub fn read_queue(&mut self, name: Name, socket: impl AsFd, mss: u32) {
        if let Ok((all, unsent)) = kernel::outstanding(socket) {
            self.note(name, all, unsent, mss);
        }
    }

    fn note(&mut self, name: Name, all: i32, unsent: i32, mss: u32) {
        let found = self.0.entry(name).or_default();
        found.all += 1;
        // Less than one segment may wait for more data (RFC 896), which is no queue.
        found.drained += u32::from(all > unsent && i64::from(unsent) < i64::from(mss));
    }

    /// Share of readings with all data in flight; `None` with too few readings.
    pub fn drained(&self, name: Name) -> Option<f64> {
        let found = self.0.get(&name).filter(|found| found.all >= FEWEST)?;
        Some(f64::from(found.drained) / f64::from(found.all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_bench::Direction;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    const NAME: Name = Name { direction: Direction::Forward, flow: 0 };

    #[test]
    fn what_is_under_way_counts_and_what_waits_does_not() {
        let mut looks = QueueReadings::default();
        // All in flight; the rest of a segment; a queue; nothing at all.
        for (all, unsent) in [(9000, 0), (9000, 1447), (9000, 1448), (0, 0)] {
            looks.note(NAME, all, unsent, 1448);
        }
        assert_eq!(looks.drained(NAME), None, "four looks are too few");
        looks.note(NAME, 1448, 0, 1448);
        assert_eq!(looks.drained(NAME), Some(3.0 / 5.0));
        assert_eq!(looks.drained(Name { flow: 1, ..NAME }), None);
    }

    #[test]
    fn a_shut_window_leaves_data_unsent() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let mut sender = TcpStream::connect(listener.local_addr().expect("told")).expect("called");
        let _reader = listener.accept().expect("accepted");
        assert_eq!(kernel::outstanding(&sender), Ok((0, 0)));
        // Nobody reads: the window closes, and the rest of the buffer stays unsent.
        sender.set_nonblocking(true).expect("set");
        let deadline = Instant::now() + Duration::from_secs(30);
        while sender.write(&[7; 1 << 16]).is_ok() && Instant::now() < deadline {}
        let (all, unsent) = kernel::outstanding(&sender).expect("told");
        assert!(unsent > 0 && all >= unsent, "{all} {unsent}");
        let mut looks = QueueReadings::default();
        (0..FEWEST).for_each(|_| looks.read_queue(NAME, &sender, 1448));
        assert_eq!(looks.drained(NAME), Some(0.0));
        assert!(kernel::outstanding(&listener).is_err(), "a socket that listens sends nothing");
    }
}

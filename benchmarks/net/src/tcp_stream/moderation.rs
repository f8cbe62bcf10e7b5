//! Wake-ups of a receiver, reduced according to its rate, as interrupt moderation does for a card.
//!
//! A receiver that is faster than its sender sleeps after every packet, and the sender's kernel wakes it for the next
//! one, tens of thousands of times a second, on the sending CPU. The bound is a time, so a slow flow still wakes for
//! every packet, as any program would, and keeps its resolution in time.

use std::os::fd::AsFd;

use seatrial_sys::net::set_receive_low_water;

/// Time for which a receiver keeps sleeping at its last rate, in nanoseconds.
const SLEEP_NS: u64 = 20_000;

/// The number of bytes that wake a receiver (`SO_RCVLOWAT`).
#[derive(Debug, Default)]
pub struct Moderation {
    /// `None`: the kernel's default, which wakes for the first byte.
    bytes: Option<u32>,
}

impl Moderation {
    /// Sets the low-water mark for the rate of `bytes` in `window_ns`. If the kernel refuses, its default stays.
    pub fn adapt(&mut self, socket: impl AsFd, bytes: u64, window_ns: u64, room: usize) {
        let wanted = low_water(bytes, window_ns, room);
        if Some(wanted) != self.bytes && set_receive_low_water(socket, wanted).is_ok() {
            self.bytes = Some(wanted);
        }
    }

    pub const fn bytes(&self) -> Option<u32> {
        self.bytes
    }

    pub fn end(&mut self, socket: impl AsFd) {
        if self.bytes.take().is_some() {
            // An option that could be set can be set back, and the reads that follow have timeouts.
            let _ = set_receive_low_water(socket, 1);
        }
    }
}

/// The bytes that arrive during one sleep, but no more than one call takes.
fn low_water(bytes: u64, window_ns: u64, room: usize) -> u32 {
    let due = u128::from(bytes) * u128::from(SLEEP_NS) / u128::from(window_ns.max(1));
    u32::try_from(due.min(room as u128)).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    #[test]
    fn a_slow_flow_is_woken_for_every_packet_and_a_fast_one_for_a_call_full() {
        // 100 Mbit/s: less than a packet in 20 us. 10 Gbit/s: 25 kB. 100 Gbit/s: more than the room of a call.
        assert_eq!(low_water(12_500_000, 1_000_000_000, 131_072), 250);
        assert_eq!(low_water(1_250_000_000, 1_000_000_000, 131_072), 25_000);
        assert_eq!(low_water(12_500_000_000, 1_000_000_000, 131_072), 131_072);
        assert_eq!(low_water(0, 0, 131_072), 1);
    }

    #[test]
    fn a_receiver_sleeps_until_there_is_enough_or_its_deadline_and_at_the_end_for_one_byte() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        receiver.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut moderation = Moderation::default();
        assert_eq!(moderation.bytes(), None);
        moderation.adapt(&receiver, 1_250_000, 1_000_000, 8192);
        assert_eq!(moderation.bytes(), Some(8192));
        let mut buffer = [0; 16_384];
        sender.write_all(&[1; 100]).unwrap();
        assert_eq!(receiver.read(&mut buffer).unwrap(), 100, "what there is when the deadline comes");
        sender.write_all(&[1; 100]).unwrap();
        let late = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            sender.write_all(&[1; 9000]).unwrap();
            sender
        });
        receiver.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        assert!(receiver.read(&mut buffer).unwrap() >= 8192, "not woken for the first hundred");
        let mut sender = late.join().unwrap();
        moderation.end(&receiver);
        assert_eq!(moderation.bytes(), None);
        while receiver.set_nonblocking(true).is_ok() && receiver.read(&mut buffer).is_ok() {}
        receiver.set_nonblocking(false).unwrap();
        sender.write_all(&[1]).unwrap();
        assert_eq!(receiver.read(&mut buffer).unwrap(), 1, "long before its deadline");
    }
}

//! A relay between the sender and the receiver that does what it is told to each datagram, and remembers what it did.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use seatrial_bench::Offer;
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::datagram::grant_receive_buffer;
use serde_json::json;

/// What is to be done with a datagram, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Pass,
    Drop,
    /// So many further copies.
    Copy(u64),
    /// Behind so many of the following ones; never, when there are fewer.
    Delay(u64),
    /// With a bit of this byte turned.
    Damage(usize),
}

/// How late a datagram may be passed on. A receiver waits for longer before it takes what is missing for lost.
const PROMPT_NS: u64 = 100_000_000;

/// A relay in its thread.
pub struct Relay {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Relayed>,
}

/// What a relay did.
pub struct Relayed {
    /// The numbers in the order in which they were passed on.
    pub order: Vec<u64>,
    /// Datagrams that came to it.
    pub seen: u64,
    /// Whether none was passed on so late that the receiver may have waited for it in vain: the machine may keep a relay
    /// from its CPU.
    pub is_prompt: bool,
}

impl Relay {
    /// Starts one before the receiver that `offers` tells of, and puts it in its place.
    pub fn before(offers: &mut [Offer], deed: impl Fn(u64) -> Deed + Send + 'static) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        grant_receive_buffer(&socket, Some(64 << 20)).expect("room");
        socket.set_read_timeout(Some(Duration::from_millis(2))).expect("set");
        let port = socket.local_addr().expect("told").port();
        let to = offers.iter_mut().find(|offer| offer.part == "receiver").expect("a receiver");
        let real = to.data["ports"][0].as_u64().expect("a port") as u16;
        to.data["ports"][0] = json!(port);
        let over = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let (mut order, mut is_prompt) = (Vec::new(), true);
            let mut held: Vec<(u64, u64, Vec<u8>)> = Vec::new();
            let mut room = [0; 2048];
            let mut seen = 0;
            while !end.load(Ordering::Relaxed) {
                let Ok((length, _)) = socket.recv_from(&mut room) else { continue };
                let mut bytes = room[..length].to_vec();
                // The header says which it is.
                let number = u64::from_le_bytes(bytes[8..16].try_into().expect("8 bytes"));
                let sent_ns = u64::from_le_bytes(bytes[16..24].try_into().expect("8 bytes"));
                let mut pass = |number: u64, bytes: &[u8]| {
                    socket.send_to(bytes, (Ipv4Addr::LOCALHOST, real)).expect("passed on");
                    order.push(number);
                };
                match deed(number) {
                    Deed::Pass => pass(number, &bytes),
                    Deed::Drop => {}
                    Deed::Copy(times) => (0..=times).for_each(|_| pass(number, &bytes)),
                    Deed::Delay(by) => held.push((seen + by, number, bytes)),
                    Deed::Damage(at) => {
                        bytes[at] ^= 0x10;
                        pass(number, &bytes);
                    }
                }
                held.retain(|(until, number, bytes)| {
                    let due = *until <= seen && *until > 0;
                    if due {
                        pass(*number, bytes);
                    }
                    !due
                });
                seen += 1;
                is_prompt &= now_ns().saturating_sub(sent_ns) < PROMPT_NS;
            }
            Relayed { order, seen, is_prompt }
        });
        Self { over, thread }
    }

    pub fn end(self) -> Relayed {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("joined")
    }
}

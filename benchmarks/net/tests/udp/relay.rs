//! A relay between sender and receiver that handles each datagram as told, and records it.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use seatrial_bench::Offer;
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::datagram::grant_receive_buffer;
use serde_json::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Pass,
    Drop,
    Copy(u64),
    /// Sends it after this many of the following datagrams; never, if there are fewer.
    Delay(u64),
    Damage(usize),
}

/// Longest delay of a prompt relay. A receiver waits for longer before it counts a datagram as lost.
const PROMPT_NS: u64 = 100_000_000;

pub struct Relay {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Relayed>,
}

pub struct Relayed {
    /// The numbers in the order in which they were passed on.
    pub order: Vec<u64>,
    pub seen: u64,
    /// Whether no datagram was delayed so long that the receiver may have given up, as happens when the relay has no
    /// CPU.
    pub is_prompt: bool,
}

impl Relay {
    /// Starts a relay in front of the receiver of `offers`, and replaces its ports there.
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

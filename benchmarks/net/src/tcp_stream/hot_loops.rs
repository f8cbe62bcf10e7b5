//! What a stream costs beside the calls of the kernel; see `cargo xtask instructions`.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use seatrial_sys::Errno;
use seatrial_sys::net::Push;
use seatrial_testkit::hot_loop;

use super::kernel::{Left, send};
use super::meter::Meter;

/// Takes all that is sent; orders its sender to stop after a thousand messages.
struct Taking<'a> {
    messages: u32,
    orders: &'a AtomicU32,
}

impl Push for Taking<'_> {
    fn push(&mut self, from: usize, len: usize) -> Result<usize, Errno> {
        self.messages += 1;
        if self.messages.is_multiple_of(1000) {
            self.orders.fetch_add(1, Ordering::Relaxed);
        }
        black_box(from);
        Ok(len)
    }
}

#[test]
fn a_thousand_messages_of_a_stream_are_sent() {
    let (orders, mut total, mut rounds) = (AtomicU32::new(0), 0, 0);
    let mut taking = Taking { messages: 0, orders: &orders };
    hot_loop(|| {
        assert_eq!(send(&mut taking, 128 << 10, &mut total, &orders, rounds), Left::Ordered);
        rounds += 1;
    });
    assert_eq!(total, u64::from(rounds) * 1000 * (128 << 10));
}

#[test]
fn a_receipt_of_a_stream_is_counted() {
    let mut meter = Meter::new(10_000_000, 1000);
    meter.open(0);
    let mut now_ns = 0;
    hot_loop(|| {
        now_ns += 20_000;
        meter.add(black_box(4096), now_ns);
    });
    assert_eq!(meter.total, now_ns / 20_000 * 4096);
}

//! The measured loops: a system call, a count, a check for the next order. A receiver also reads the clock.

use std::sync::atomic::{AtomicU32, Ordering};

use seatrial_sys::Errno;
use seatrial_sys::clock::now_ns;
use seatrial_sys::memory::SMALLEST_PAGE as PAGE;
use seatrial_sys::net::{Pull, Push};

use super::meter::Meter;
use crate::byte_stream::pattern::PERIOD;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Ordered,
    Ended,
    Failed(Errno),
}

/// Sends messages of `message` bytes until an order follows the one of number `order`; `total` counts the bytes of
/// the stream so far, and `orders` the orders. After a partial send the rest of the stream follows: the value of a
/// byte depends on its position alone. If messages are whole pages, the next message is shorter, so that later ones
/// begin at a page boundary again: pages sent without a copy would be cut in two, and unaligned copies are slower.
pub fn send(push: &mut dyn Push, message: usize, total: &mut u64, orders: &AtomicU32, order: u32) -> Left {
    let is_of_pages = message.is_multiple_of(PAGE) && message > 0;
    loop {
        let from = (*total % PERIOD as u64) as usize;
        let odd = if is_of_pages { from % PAGE } else { 0 };
        match push.push(from, message - odd) {
            Ok(bytes) => *total += bytes as u64,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Left::Failed(error),
        }
        if orders.load(Ordering::Relaxed) > order {
            return Left::Ordered;
        }
    }
}

/// Receives until the next order. The time of a receipt is the time at which the call returned.
pub fn receive(pull: &mut dyn Pull, meter: &mut Meter, orders: &AtomicU32, order: u32) -> Left {
    loop {
        match pull.pull() {
            Ok(0) => return Left::Ended,
            Ok(bytes) => meter.add(bytes as u64, now_ns()),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Left::Failed(error),
        }
        if orders.load(Ordering::Relaxed) > order {
            return Left::Ordered;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Taking<'a> {
        takes: Vec<Result<usize, Errno>>,
        given: Vec<(usize, usize)>,
        orders: &'a AtomicU32,
    }

    impl Push for Taking<'_> {
        fn push(&mut self, from: usize, len: usize) -> Result<usize, Errno> {
            self.given.push((from, len));
            if self.takes.len() == 1 {
                self.orders.store(1, Ordering::Relaxed);
            }
            self.takes.remove(0).map(|takes| takes.min(len))
        }
    }

    fn given(message: usize, takes: &[Result<usize, Errno>]) -> (Vec<(usize, usize)>, u64) {
        let (orders, mut total) = (AtomicU32::new(0), 0);
        let mut taking = Taking { takes: takes.to_vec(), given: Vec::new(), orders: &orders };
        assert_eq!(send(&mut taking, message, &mut total, &orders, 0), Left::Ordered);
        (taking.given, total)
    }

    #[test]
    fn after_a_message_that_was_taken_in_part_the_others_begin_with_a_page_again() {
        let (all, part) = (Ok(usize::MAX), Ok(5000));
        let (told, total) = given(8192, &[all, part, Err(Errno::AGAIN), all, all]);
        // After a refusal the same bytes are offered again.
        let wanted = [(0, 8192), (8192, 8192), (13_192, 7288), (13_192, 7288), (20_480, 8192)];
        assert_eq!(told, wanted);
        assert_eq!(total, 28_672);
        // Messages that are not whole pages keep their size.
        assert_eq!(given(777, &[all, Ok(5), all]).0, [(0, 777), (777, 777), (782, 777)]);
    }
}

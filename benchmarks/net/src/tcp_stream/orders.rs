//! What the threads of a part are to do: one word that their loops look at, and the order behind it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use super::method::{Receiving, Sending};

/// What to do until the next order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Run {
        /// How senders do it.
        send: Sending,
        /// How receivers do it.
        receive: Receiving,
        /// Whether what is received is cut into slices.
        record: bool,
    },
    /// Bring the stream to its end and check it.
    End,
    Leave,
}

/// All orders so far, and how many there are.
#[derive(Debug, Default)]
pub struct Orders {
    count: AtomicU32,
    all: Mutex<Vec<Order>>,
    given: Condvar,
}

impl Orders {
    /// Gives an order; it is obeyed within some milliseconds.
    pub fn give(&self, order: Order) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(order);
        self.count.fetch_add(1, Ordering::Release);
        self.given.notify_all();
    }

    /// Waits for the order behind the first `seen`. None is left out, however quickly they come: each is reported of.
    pub fn after(&self, seen: u32) -> Order {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match all.get(seen as usize) {
                Some(order) => return *order,
                None => all = self.given.wait(all).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// How many there are, for loops to look at.
    pub fn count(&self) -> &AtomicU32 {
        &self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_come_at_once_are_all_taken() {
        let orders = Orders::default();
        orders.give(Order::Run { send: Sending::Write, receive: Receiving::Read, record: true });
        orders.give(Order::End);
        orders.give(Order::Leave);
        assert!(matches!(orders.after(0), Order::Run { record: true, .. }));
        assert_eq!((orders.after(1), orders.after(2)), (Order::End, Order::Leave));
        assert_eq!(orders.count().load(Ordering::Relaxed), 3);
    }
}

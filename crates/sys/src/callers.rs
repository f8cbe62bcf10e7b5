//! Connections whose peer has not yet proved that it knows the key: a bounded number, in total and from each address.
//!
//! Beyond the bound the connection that has waited longest is closed, not the new one: a peer with the key proves it
//! within milliseconds, so the oldest connection is most likely from another program.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

#[derive(Debug)]
pub struct Callers {
    most: usize,
    most_of_one: usize,
    asked: Mutex<Asked>,
}

#[derive(Debug, Default)]
struct Asked {
    /// The longest waiting first.
    waiting: VecDeque<Caller>,
    tickets: u64,
}

#[derive(Debug)]
struct Caller {
    ticket: u64,
    from: IpAddr,
    stream: TcpStream,
}

impl Callers {
    /// At most `most` connections at a time, and `most_of_one` from one address.
    pub const fn new(most: usize, most_of_one: usize) -> Self {
        let asked = Asked { waiting: VecDeque::new(), tickets: 0 };
        Self { most, most_of_one, asked: Mutex::new(asked) }
    }

    /// Has `prove` ask the caller on `stream`, which comes `from` an address, on a thread of its own, so that a caller that
    /// says nothing holds up nobody else, and hands on to `then` what came of it. Another caller is cut off if they become too
    /// many.
    ///
    /// # Errors
    /// When there is no descriptor or no thread for it.
    pub fn ask<T>(
        self: &Arc<Self>,
        stream: TcpStream,
        from: IpAddr,
        prove: impl FnOnce(TcpStream) -> io::Result<T> + Send + 'static,
        then: impl FnOnce(io::Result<T>) + Send + 'static,
    ) -> io::Result<()> {
        let (ticket, callers) = (self.enter(from, &stream)?, Arc::clone(self));
        let asking = move || {
            let proven = prove(stream);
            callers.leave(ticket);
            then(proven);
        };
        let started = thread::Builder::new().name("ask".to_owned()).spawn(asking);
        started.map(drop).inspect_err(|_| self.leave(ticket))
    }

    /// Takes in `stream`, which comes `from` an address, and cuts another off if they become too many. The ticket is for
    /// [`Self::leave`].
    fn enter(&self, from: IpAddr, stream: &TcpStream) -> io::Result<u64> {
        let stream = stream.try_clone()?;
        let mut asked = self.asked();
        let of_one = asked.waiting.iter().filter(|caller| caller.from == from).count();
        let oldest = if of_one >= self.most_of_one {
            asked.waiting.iter().position(|caller| caller.from == from)
        } else if asked.waiting.len() >= self.most {
            Some(0)
        } else {
            None
        };
        if let Some(oldest) = oldest.and_then(|at| asked.waiting.remove(at)) {
            let _ = oldest.stream.shutdown(Shutdown::Both);
        }
        asked.tickets += 1;
        let ticket = asked.tickets;
        asked.waiting.push_back(Caller { ticket, from, stream });
        Ok(ticket)
    }

    /// The one with this ticket has proved itself or was turned away.
    fn leave(&self, ticket: u64) {
        self.asked().waiting.retain(|caller| caller.ticket != ticket);
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;

    fn call(listener: &TcpListener) -> (TcpStream, TcpStream) {
        let theirs = TcpStream::connect(listener.local_addr().expect("an address")).expect("connects");
        theirs.set_read_timeout(Some(Duration::from_millis(50))).expect("set");
        (listener.accept().expect("accepts").0, theirs)
    }

    fn is_cut_off(mut theirs: &TcpStream) -> bool {
        matches!(theirs.read(&mut [0]), Ok(0))
    }

    #[test]
    fn the_one_that_waited_longest_is_cut_off_and_one_address_does_not_take_all_places() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse::<IpAddr>().expect("an address"));
        let callers = Callers::new(3, 2);
        let pairs: Vec<_> = (0..6).map(|_| call(&listener)).collect();
        let enter = |at: usize, from| callers.enter(from, &pairs[at].0).expect("taken in");
        enter(0, other);
        enter(1, one);
        enter(2, one);
        enter(3, one);
        let cut = || pairs.iter().map(|(_, theirs)| is_cut_off(theirs)).collect::<Vec<_>>();
        assert_eq!(cut(), [false, true, false, false, false, false], "the third of one address");
        let ticket = enter(4, other);
        assert_eq!(cut(), [true, true, false, false, false, false], "the fourth of all");
        callers.leave(ticket);
        enter(5, other);
        assert_eq!(cut(), [true, true, false, false, false, false], "one had left");
    }
}

//! The order in which ranks end. A launcher ends the others as soon as one has ended, and on a busy machine the threads that
//! read from ranks hear of all ends at once; the kernel keeps the order.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::time::Timespec;

/// The connections to ranks; those that are closed stand in the list of an epoll instance in the order in which they were
/// closed.
pub struct RankEnds {
    epoll: OwnedFd,
    count: usize,
}

impl RankEnds {
    pub fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)?, count: 0 })
    }

    /// Adds the connection to the next rank.
    pub fn watch(&mut self, stream: impl AsFd) -> io::Result<()> {
        epoll::add(&self.epoll, stream, EventData::new_u64(self.count as u64), EventFlags::RDHUP)?;
        self.count += 1;
        Ok(())
    }

    /// The places of the connections that are closed, the first one at the front. To be asked once: the kernel does not keep
    /// the order of what it has told.
    pub fn in_order(&self) -> Vec<usize> {
        let mut events = Vec::with_capacity(self.count.max(1));
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let told = epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&now));
        told.map_or_else(|_| Vec::new(), |_| events.iter().map(|event| event.data.u64() as usize).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn connections_are_told_in_the_order_in_which_they_were_closed() {
        let mut ends = RankEnds::new().expect("epoll");
        let pairs: Vec<(UnixStream, UnixStream)> =
            (0..5).map(|_| UnixStream::pair().expect("a pair")).collect();
        pairs.iter().for_each(|(ours, _)| ends.watch(ours).expect("watched"));
        let (_ours, theirs): (Vec<UnixStream>, Vec<UnixStream>) = pairs.into_iter().unzip();
        let mut theirs: Vec<Option<UnixStream>> = theirs.into_iter().map(Some).collect();
        // What is only written does not count.
        theirs[0].as_mut().expect("open").write_all(b"x").expect("written");
        for place in [3, 1, 4, 0] {
            theirs[place] = None;
        }
        assert_eq!(ends.in_order(), [3, 1, 4, 0]);
    }
}

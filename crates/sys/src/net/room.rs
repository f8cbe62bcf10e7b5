//! Memory to receive into, in which each byte of a stream has the place in its page that it has in the stream.
//!
//! A copy is fastest where source and destination lie alike in their cache lines and pages, and the memory of an allocator
//! begins 16 bytes behind a page: there a copy of 128 KiB took 6 to 17 % longer on an EPYC of the fourth generation. The
//! sender's pages lie as the stream does as well.

use rustix::io::Errno;

use crate::memory::{Aligned, SMALLEST_PAGE};

/// Room for what comes next of a stream.
#[derive(Debug, Default)]
pub struct Room {
    /// A page more than there is room for: the place in the first one.
    memory: Aligned,
    room: usize,
    /// Bytes of the stream before what came last.
    total: u64,
    last: usize,
}

impl Room {
    /// Room for `room` bytes at once, at least one, of a stream of which `total` bytes have come.
    pub fn new(room: usize, total: u64) -> Result<Self, Errno> {
        let room = room.max(1);
        let memory = Aligned::filled(room.saturating_add(SMALLEST_PAGE), 0).map_err(|_| Errno::NOMEM)?;
        Ok(Self { memory, room, total, last: 0 })
    }

    fn start(&self) -> usize {
        (self.total % SMALLEST_PAGE as u64) as usize
    }

    /// Where the next bytes go; what came last is given up. As long as nothing has come it is the same memory.
    pub fn next(&mut self) -> &mut [u8] {
        self.give_up();
        let start = self.start();
        &mut self.memory[start..start + self.room]
    }

    /// The same as an address and how many bytes, for who writes there while nobody may look.
    pub fn place(&mut self) -> (*mut u8, usize) {
        self.give_up();
        (self.memory.as_mut_ptr().wrapping_add(self.start()), self.room)
    }

    fn give_up(&mut self) {
        self.total += std::mem::take(&mut self.last) as u64;
    }

    /// Notes that so many bytes came to where [`Self::next`] or [`Self::place`] said.
    pub fn took(&mut self, bytes: usize) {
        self.last = bytes.min(self.room);
    }

    /// The bytes that came last.
    pub fn last(&self) -> &[u8] {
        let start = self.start();
        &self.memory[start..start + self.last]
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::super::{Pull, ReadPlain, ReadRing};
    use super::*;

    type Makes = fn(&TcpStream, u64) -> Result<Box<dyn Pull>, Errno>;

    #[test]
    fn every_byte_comes_to_its_place_in_the_page() {
        // The stream went on before: its next byte is the fifth of a page.
        let total = 3 * SMALLEST_PAGE as u64 + 5;
        let makes: [Makes; 2] = [
            |socket, total| Ok(Box::new(ReadPlain::new(socket, 6000, total)?)),
            |socket, total| Ok(Box::new(ReadRing::new(socket, 6000, total)?)),
        ];
        for (number, make) in makes.into_iter().enumerate() {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (receiver, _) = listener.accept().unwrap();
            let sent: Vec<u8> = (0..50_000_u32).map(|at| (at % 251) as u8).collect();
            sender.write_all(&sent).unwrap();
            let mut pull = match make(&receiver, total) {
                Ok(pull) => pull,
                // No io_uring for us.
                Err(_) if number == 1 => return,
                Err(error) => panic!("{error}"),
            };
            let mut came = 0;
            while came < sent.len() {
                let took = match pull.pull() {
                    // A ring that waits looks up now and then.
                    Err(Errno::AGAIN | Errno::INTR) => continue,
                    other => other.unwrap(),
                };
                assert!(took > 0 && took <= 6000, "{took}");
                assert_eq!(pull.last(), &sent[came..came + took]);
                assert_eq!(pull.last().as_ptr() as usize % SMALLEST_PAGE, (came + 5) % SMALLEST_PAGE);
                came += took;
            }
        }
    }

    #[test]
    fn the_place_stays_until_something_came() {
        let mut room = Room::new(100, 7).unwrap();
        let first = room.place();
        assert_eq!((first.0 as usize % SMALLEST_PAGE, first.1), (7, 100));
        assert_eq!(room.place(), first);
        room.took(30);
        assert_eq!(room.last().len(), 30);
        assert_eq!(room.next().as_ptr() as usize - first.0 as usize, 30);
        assert_eq!((room.next().len(), room.last().len()), (100, 0));
        // From the last byte of a page the next one begins anew.
        let mut room = Room::new(100, SMALLEST_PAGE as u64 - 1).unwrap();
        let last = room.place().0 as usize;
        room.took(1);
        assert_eq!((last % SMALLEST_PAGE, room.place().0 as usize % SMALLEST_PAGE), (SMALLEST_PAGE - 1, 0));
    }
}

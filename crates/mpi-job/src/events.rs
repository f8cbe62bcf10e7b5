//! What ranks say, in the order in which it comes.

use std::io;
use std::net::Shutdown;
use std::sync::mpsc::Sender;
use std::thread;

use socket2::Socket;

use super::wire::{FromRank, ToRank, messages, send};

/// What came of a rank, by the number of its connection.
pub enum Event {
    Message(usize, FromRank),
    Closed(usize),
}

/// The connection to a rank.
pub struct RankLink {
    stream: Socket,
    place: usize,
    /// The node that the rank is on, by its position in the case.
    pub node: usize,
    /// The rank, once it is known.
    pub number: Option<usize>,
}

impl RankLink {
    pub fn name(&self) -> String {
        match self.number {
            Some(number) => format!("rank {number}"),
            None => format!("a rank (the {} to start)", ordinal(self.place)),
        }
    }

    /// Sends an order. A rank that is gone is told by its event.
    pub fn tell(&self, order: &ToRank) {
        let _ = send(&self.stream, order);
    }

    pub fn hang_up(self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn ordinal(place: usize) -> String {
    match place {
        0 => "first".to_owned(),
        1 => "second".to_owned(),
        2 => "third".to_owned(),
        place => format!("{}th", place + 1),
    }
}

/// Reports what comes on `stream` on a thread.
pub fn listen(stream: Socket, place: usize, node: usize, report: Sender<Event>) -> io::Result<RankLink> {
    let incoming = stream.try_clone()?;
    thread::Builder::new().name(format!("rank {place}")).spawn(move || {
        for message in messages(incoming) {
            if report.send(Event::Message(place, message)).is_err() {
                return;
            }
        }
        let _ = report.send(Event::Closed(place));
    })?;
    Ok(RankLink { stream, place, node, number: None })
}

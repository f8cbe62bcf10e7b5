//! The two parts of a case of which one listens and serves and the other connects: how they meet, and the part that serves,
//! from a thread of its own from then on, so that no request finds it between two phases.

use std::net::TcpStream;

use seatrial_model::{Integrity, PartPlacement, Phase, Reason};

use super::{Endpoint, Listeners, PeerAddress, ServerThread, connect_over};
use crate::{Offer, Prepared, Running, Sink, Stop};

/// The part at `place` that makes `count` connections to the other, which begins by [`serve`].
pub fn call<R: Running + 'static>(
    place: &PartPlacement,
    endpoint: Endpoint,
    count: usize,
    begin: impl FnOnce(Vec<TcpStream>) -> Result<R, Reason> + Send + 'static,
) -> Result<Prepared, Reason> {
    call_over(place, vec![(endpoint, count)], move |paths| begin(paths.into_iter().flatten().collect()))
}

/// The same over several paths, each with its number of connections; the other begins by [`serve_over`].
pub fn call_over<R: Running + 'static>(
    place: &PartPlacement,
    paths: Vec<(Endpoint, usize)>,
    begin: impl FnOnce(Vec<Vec<TcpStream>>) -> Result<R, Reason> + Send + 'static,
) -> Result<Prepared, Reason> {
    let index = place.index;
    Prepared::new(place, (), move |offers| {
        let server: Vec<PeerAddress> = Offer::of_other(offers, index)?;
        begin(connect_over(&paths, &server)?)
    })
}

/// The part at `place` that lets `count` connections of the other in and starts to serve them.
pub fn serve<E: ServerEnd + 'static>(
    place: &PartPlacement,
    endpoint: &Endpoint,
    count: usize,
    begin: impl FnOnce(Vec<TcpStream>) -> Result<Serving<E>, Reason> + Send + 'static,
) -> Result<Prepared, Reason> {
    serve_over(place, &[(endpoint.clone(), count)], move |paths| begin(paths.into_iter().flatten().collect()))
}

/// The same over several paths, each with its number of connections.
pub fn serve_over<E: ServerEnd + 'static>(
    place: &PartPlacement,
    paths: &[(Endpoint, usize)],
    begin: impl FnOnce(Vec<Vec<TcpStream>>) -> Result<Serving<E>, Reason> + Send + 'static,
) -> Result<Prepared, Reason> {
    let listeners = Listeners::open(paths)?;
    Prepared::new(place, listeners.addresses()?, move |_| {
        begin(listeners.accept()?.into_iter().map(|path| path.streams).collect())
    })
}

/// What differs between parts that serve.
pub trait ServerEnd: Send {
    /// Whether its thread would not notice that the other end is gone, so that the connection has to be watched.
    fn is_deaf(&self) -> bool {
        false
    }

    /// What a phase leaves for the record.
    fn tell(&self, server: &ServerThread, out: &mut dyn Sink);

    /// What it found of the data.
    fn verify(&mut self, server: &mut ServerThread) -> Result<Integrity, Reason>;
}

/// A part that serves.
pub struct Serving<E> {
    // Hangs up and waits for its thread before what the end has beside it goes.
    pub server: ServerThread,
    pub end: E,
}

impl<E: ServerEnd> Running for Serving<E> {
    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        self.server.wait(stop, self.end.is_deaf())?;
        self.end.tell(&self.server, out);
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        self.end.verify(&mut self.server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::second_handles;
    use crate::testing::Kept;
    use seatrial_model::Cause;
    use serde_json::json;
    use std::io::Read;
    use std::time::Duration;

    /// Reads until the other end hangs up.
    struct Reads;

    impl ServerEnd for Reads {
        fn tell(&self, server: &ServerThread, out: &mut dyn Sink) {
            out.evidence("served", json!(!server.is_finished()));
        }

        fn verify(&mut self, server: &mut ServerThread) -> Result<Integrity, Reason> {
            Ok(Integrity::Unverified { why: format!("has ended: {}", server.is_finished()) })
        }
    }

    /// Holds its connection.
    struct Holds {
        _streams: Vec<TcpStream>,
    }

    impl Running for Holds {
        fn run(&mut self, _: Phase, _: &Stop, _: &mut dyn Sink) -> Result<(), Reason> {
            Ok(())
        }

        fn verify(&mut self) -> Result<Integrity, Reason> {
            Ok(Integrity::Verified { checked: 0 })
        }
    }

    #[test]
    fn a_part_serves_from_its_connection_on_and_sees_that_the_other_end_is_gone() {
        let places = [("client", 0), ("server", 1)]
            .map(|(part, index)| PartPlacement::new(part, index, "n1", Vec::new()));
        let (short, mut kept) = (Stop::after(Duration::from_millis(1)), Kept::default());
        let endpoint = Endpoint::tcp(None, true);
        let server = serve(&places[1], &endpoint, 1, |mut streams| {
            let own = second_handles(&streams)?;
            let read = move |_: &std::sync::atomic::AtomicBool| {
                let _ = streams[0].read(&mut [0]);
                Ok(())
            };
            Ok(Serving { server: ServerThread::start(own, None, read)?, end: Reads })
        });
        let server = server.expect("listens");
        let client = call(&places[0], endpoint, 1, |streams| Ok(Holds { _streams: streams }));
        let client = client.expect("prepared");
        let offers = [client.offer().clone(), server.offer().clone()];
        let missing = Offer::of_other::<Vec<PeerAddress>>(&offers[1..], 1).expect_err("its own offer only");
        assert_eq!(missing.text, "the other part is not among the peers");
        let theirs = offers.clone();
        let caller = std::thread::spawn(move || client.connect(&theirs));
        let mut part = server.connect(&offers).expect("reached");
        let caller = caller.join().expect("joined").expect("connected");
        part.run(Phase::Measure, &short, &mut kept).expect("attends");
        assert_eq!(kept.evidence, [("served".to_owned(), true.into())].into());
        assert_eq!(part.verify(), Ok(Integrity::Unverified { why: "has ended: false".to_owned() }));
        drop(caller);
        let gone = part.run(Phase::Measure, &Stop::after(Duration::from_secs(600)), &mut kept);
        assert_eq!(gone.expect_err("gone").cause, Cause::PartnerLost);
    }
}

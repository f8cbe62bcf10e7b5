//! The part of an end that answers: it listens, is reached, and serves from a thread of its own from then on, so that
//! no request finds it between two phases.

use seatrial_model::{Cause, Integrity, PartPlacement, Phase};
use serde_json::json;

use super::{Listener, ServerThread};
use crate::{Error, Offer, Part, Sink, Stop};

/// What differs between servers.
pub trait ServerSide: Send {
    /// Opens the port, and takes what else must be there before anybody calls.
    ///
    /// # Errors
    /// When the system refuses.
    fn listen(&mut self) -> Result<Listener, Error>;

    /// Lets the callers in and starts to serve them.
    ///
    /// # Errors
    /// When they do not come, or the system gives no thread.
    fn begin(&mut self, listener: Listener) -> Result<ServerThread, Error>;

    /// Whether its thread would not notice that the other end is gone, so that the connection has to be watched.
    fn is_deaf(&self) -> bool {
        false
    }

    /// What a phase leaves for the record.
    fn tell(&self, server: &ServerThread, out: &mut dyn Sink);

    /// What it found of the data; `server` is none where nobody was let in.
    ///
    /// # Errors
    /// When its thread failed otherwise.
    fn verify(&mut self, server: Option<&mut ServerThread>) -> Result<Integrity, Error>;
}

pub struct ServerPart<A> {
    place: PartPlacement,
    listener: Option<Listener>,
    // Hangs up and waits for its thread before what the end has beside it goes.
    server: Option<ServerThread>,
    end: A,
}

impl<A: ServerSide> ServerPart<A> {
    /// The part of `end` at `place`; opens nothing yet.
    pub fn new(place: &PartPlacement, end: A) -> Self {
        Self { place: place.clone(), listener: None, server: None, end }
    }
}

impl<A: ServerSide> Part for ServerPart<A> {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let listener = self.end.listen()?;
        let address = listener.address()?;
        self.listener = Some(listener);
        Ok(Offer::new(&self.place, json!(address)))
    }

    fn connect(&mut self, _: &[Offer]) -> Result<(), Error> {
        let early = || Error::new(Cause::Protocol, "told to connect before it listened");
        self.server = Some(self.end.begin(self.listener.take().ok_or_else(early)?)?);
        Ok(())
    }

    fn run(&mut self, _: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        let early = || Error::new(Cause::Protocol, "told to run before it was connected");
        let server = self.server.as_mut().ok_or_else(early)?;
        server.wait(stop, self.end.is_deaf())?;
        self.end.tell(server, out);
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        self.end.verify(self.server.as_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoint, PeerAddress};
    use std::io::Read;
    use std::time::Duration;

    /// Reads until the other end hangs up.
    struct Reads;

    impl ServerSide for Reads {
        fn listen(&mut self) -> Result<Listener, Error> {
            Listener::open(&Endpoint::tcp(None, true))
        }

        fn begin(&mut self, listener: Listener) -> Result<ServerThread, Error> {
            let mut stream = listener.accept(1)?.only()?;
            let own = stream.try_clone().map_err(|error| Error::new(Cause::IoError, error.to_string()))?;
            let read = move |_: &std::sync::atomic::AtomicBool| {
                let _ = stream.read(&mut [0]);
                Ok(())
            };
            ServerThread::start(vec![own], None, read)
        }

        fn tell(&self, server: &ServerThread, out: &mut dyn Sink) {
            out.evidence("served", json!(!server.is_finished()));
        }

        fn verify(&mut self, server: Option<&mut ServerThread>) -> Result<Integrity, Error> {
            Ok(Integrity::Unverified { why: format!("let in: {}", server.is_some()) })
        }
    }

    #[derive(Default)]
    struct Kept(Vec<String>);

    impl Sink for Kept {
        fn sample(&mut self, _: seatrial_model::Sample) {}

        fn evidence(&mut self, name: &str, value: serde_json::Value) {
            self.0.push(format!("{name} {value}"));
        }
    }

    #[test]
    fn it_goes_through_its_phases_in_their_order_only() {
        let place =
            PartPlacement { part: "server".to_owned(), index: 0, node: "n1".to_owned(), seats: Vec::new() };
        let mut part = ServerPart::new(&place, Reads);
        let (short, mut kept) = (Stop::after(Duration::from_millis(1)), Kept::default());
        assert_eq!(part.connect(&[]).expect_err("too early").cause, Cause::Protocol);
        let early = part.run(Phase::Measure, &short, &mut kept).expect_err("too early");
        assert_eq!(early.text, "told to run before it was connected");
        assert_eq!(part.verify(), Ok(Integrity::Unverified { why: "let in: false".to_owned() }));
        let offer = part.prepare().expect("listens");
        let offers = [offer];
        let address = PeerAddress::of(&offers, "server").expect("an offer");
        let missing = PeerAddress::of(&offers, "client").expect_err("of another part");
        assert_eq!(missing.text, "no client among the peers");
        let caller = std::thread::spawn(move || address.connect(&Endpoint::tcp(None, true), 0));
        part.connect(&[]).expect("reached");
        let caller = caller.join().expect("joined").expect("connected");
        part.run(Phase::Measure, &short, &mut kept).expect("attends");
        assert_eq!(kept.0, ["served true"]);
        assert_eq!(part.verify(), Ok(Integrity::Unverified { why: "let in: true".to_owned() }));
        drop(caller);
        let gone = part.run(Phase::Measure, &Stop::after(Duration::from_secs(600)), &mut kept);
        assert_eq!(gone.expect_err("gone").cause, Cause::PartnerLost);
    }
}

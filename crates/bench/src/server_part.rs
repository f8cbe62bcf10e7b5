//! The part of an end that answers: it listens, is reached, and serves from a thread of its own from then on, so that
//! no request finds it between two phases.

use seatrial_model::{Integrity, PartPlacement, Phase, Reason};

use super::{Listener, ServerThread};
use crate::{Prepared, Running, Sink, Stop};

/// What differs between servers.
pub trait ServerSide: Send {
    /// Opens the port, and takes what else must be there before anybody calls.
    fn listen(&mut self) -> Result<Listener, Reason>;

    /// Lets the callers in and starts to serve them.
    ///
    /// # Errors
    /// When they do not come, or the system gives no thread.
    fn begin(&mut self, listener: Listener) -> Result<ServerThread, Reason>;

    /// Whether its thread would not notice that the other end is gone, so that the connection has to be watched.
    fn is_deaf(&self) -> bool {
        false
    }

    /// What a phase leaves for the record.
    fn tell(&self, server: &ServerThread, out: &mut dyn Sink);

    /// What it found of the data.
    fn verify(&mut self, server: &mut ServerThread) -> Result<Integrity, Reason>;

    /// The part at `place` that listens now and serves from its connection on.
    fn prepare(mut self, place: &PartPlacement) -> Result<Prepared, Reason>
    where
        Self: Sized + 'static,
    {
        let listener = self.listen()?;
        Prepared::new(place, listener.address()?, |_| {
            Ok(Serving { server: self.begin(listener)?, end: self })
        })
    }
}

struct Serving<A> {
    // Hangs up and waits for its thread before what the end has beside it goes.
    server: ServerThread,
    end: A,
}

impl<A: ServerSide> Running for Serving<A> {
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
    use crate::{Endpoint, PeerAddress};
    use seatrial_model::Cause;
    use serde_json::json;
    use std::io::Read;
    use std::time::Duration;

    /// Reads until the other end hangs up.
    struct Reads;

    impl ServerSide for Reads {
        fn listen(&mut self) -> Result<Listener, Reason> {
            Listener::open(&Endpoint::tcp(None, true))
        }

        fn begin(&mut self, listener: Listener) -> Result<ServerThread, Reason> {
            let mut stream = listener.accept(1)?.only()?;
            let own = stream.try_clone().map_err(|error| Reason::new(Cause::IoError, error.to_string()))?;
            let read = move |_: &std::sync::atomic::AtomicBool| {
                let _ = stream.read(&mut [0]);
                Ok(())
            };
            ServerThread::start(vec![own], None, read)
        }

        fn tell(&self, server: &ServerThread, out: &mut dyn Sink) {
            out.evidence("served", json!(!server.is_finished()));
        }

        fn verify(&mut self, server: &mut ServerThread) -> Result<Integrity, Reason> {
            Ok(Integrity::Unverified { why: format!("has ended: {}", server.is_finished()) })
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
    fn it_serves_from_its_connection_on_and_sees_that_the_other_end_is_gone() {
        let place = PartPlacement::new("server", 0, "n1", Vec::new());
        let (short, mut kept) = (Stop::after(Duration::from_millis(1)), Kept::default());
        let prepared = Reads.prepare(&place).expect("listens");
        let offers = [prepared.offer().clone()];
        let address = PeerAddress::of(&offers, "server").expect("an offer");
        let missing = PeerAddress::of(&offers, "client").expect_err("of another part");
        assert_eq!(missing.text, "no client among the peers");
        let caller = std::thread::spawn(move || address.connect(&Endpoint::tcp(None, true), 0));
        let mut part = prepared.connect(&[]).expect("reached");
        let caller = caller.join().expect("joined").expect("connected");
        part.run(Phase::Measure, &short, &mut kept).expect("attends");
        assert_eq!(kept.0, ["served true"]);
        assert_eq!(part.verify(), Ok(Integrity::Unverified { why: "has ended: false".to_owned() }));
        drop(caller);
        let gone = part.run(Phase::Measure, &Stop::after(Duration::from_secs(600)), &mut kept);
        assert_eq!(gone.expect_err("gone").cause, Cause::PartnerLost);
    }
}

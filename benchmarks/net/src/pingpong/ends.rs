//! The two ends, over any transport.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seatrial_model::{Integrity, Phase, Reason};
use serde_json::{Value, json};

use seatrial_bench::pingpong::{Follower, Leader, PingPongTransport};
use seatrial_bench::{Running, ServerEnd, ServerThread, Serving, Sink, Stop};

pub struct Leading<T> {
    pub leader: Leader<T>,
    /// What the record keeps of the transport.
    pub evidence: fn(&T) -> (&'static str, Value),
}

impl<T: PingPongTransport + Send> Running for Leading<T> {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        self.leader.run(stop, out)?;
        if phase == Phase::Measure {
            let (name, value) = (self.evidence)(self.leader.transport());
            out.evidence(name, value);
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let outcome = self.leader.check();
        let (messages, bytes) = self.leader.checked();
        Integrity::of_check(outcome.map(|()| Integrity::Verified { checked: bytes }), messages + 1)
    }
}

pub struct Following {
    served: Arc<AtomicU64>,
}

impl Following {
    /// Starts the thread of the follower that `make` makes; `streams` wake it when they are hung up on.
    pub fn start<T: PingPongTransport + Send>(
        streams: Vec<TcpStream>,
        cpu: Option<u32>,
        make: impl FnOnce() -> Result<Follower<T>, Reason> + Send + 'static,
    ) -> Result<Serving<Self>, Reason> {
        let end = Self { served: Arc::default() };
        let served = Arc::clone(&end.served);
        let follow = move |_: &AtomicBool| make()?.serve(&served);
        Ok(Serving { server: ServerThread::start(streams, cpu, follow)?, end })
    }
}

impl ServerEnd for Following {
    fn tell(&self, _: &ServerThread, out: &mut dyn Sink) {
        out.evidence("served", json!(self.served.load(Ordering::Relaxed)));
    }

    /// The leader's check covers both directions; this end only reports an error of its own.
    fn verify(&mut self, server: &mut ServerThread) -> Result<Integrity, Reason> {
        let why = "the leader checks every byte that comes back".to_owned();
        server.verify(self.served.load(Ordering::Relaxed) + 1, Integrity::Unverified { why })
    }
}

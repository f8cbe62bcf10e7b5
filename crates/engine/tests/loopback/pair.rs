//! `toy.pair`: a sender and a receiver over TCP; the receiver counts.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use seatrial_bench::{Benchmark, Part, Prepared, Running, Sink, Stop};
use seatrial_model::{
    About, Case, Cause, Integrity, Limits, Measures, Nanos, Params, PartPlacement, Parts, Phase, Quantity,
    Reason, Sample, Unit, Values,
};
use seatrial_sys::clock::now_ns;

use crate::toy;

static ABOUT: About = toy::about("toy.pair", &[toy::FAULT], Parts::Two(["sender", "receiver"]));

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: |about, params, site| Ok(vec![toy::case(about, ABOUT.parts.names(), params, site)]),
    limits: |_, _, _| Limits::new(),
    part: |case, place| Part::new(case, place, if place.part == "sender" { sender } else { receiver }),
    liveness_check: |_, _| None,
    reduce: |_, parts| {
        let trials = parts.iter().map(|part| part.trial).max().map_or(0, |last| last + 1);
        let (mut rates, mut lost) = (Vec::new(), Vec::new());
        for trial in 0..trials {
            let of = |name: &str| {
                let part = parts.iter().find(|part| part.trial == trial && part.part == name);
                part.and_then(|part| part.samples.last())
                    .ok_or_else(|| Reason::new(Cause::TooShort, "no sample"))
            };
            let (sent, received) = (of("sender")?, of("receiver")?);
            let rate =
                received.per_second().ok_or_else(|| Reason::new(Cause::TooShort, "an empty window"))?;
            rates.push(vec![rate / 1e6]);
            lost.push(vec![sent.amount.value() - received.amount.value()]);
        }
        let mut measures = Measures::default();
        measures
            .metrics
            .insert("throughput".to_owned(), Values { unit: Unit::MegabytesPerSecond, trials: rates });
        measures.metrics.insert("lost".to_owned(), Values { unit: Unit::Byte, trials: lost });
        Ok(measures)
    },
};

struct End {
    fault: String,
    stream: TcpStream,
    moved: u64,
}

struct Sender(End);
struct Receiver(End);

fn sender(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let fault = case.params.text("fault")?.to_owned();
    Prepared::new(place, (), move |peers| {
        let port = peers[1].data["port"].as_u64().expect("a port");
        let stream = TcpStream::connect(("127.0.0.1", u16::try_from(port).expect("a port")));
        let stream = stream.map_err(|error| io("connecting", &error))?;
        Ok(Sender(End { fault, stream, moved: 0 }))
    })
}

fn receiver(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let fault = case.params.text("fault")?.to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| io("listening", &error))?;
    let port = listener.local_addr().map_err(|error| io("asking the port", &error))?.port();
    Prepared::new(place, serde_json::json!({ "port": port }), move |_| {
        let (stream, _) = listener.accept().map_err(|error| io("accepting", &error))?;
        Ok(Receiver(End { fault, stream, moved: 0 }))
    })
}

fn io(what: &str, error: &std::io::Error) -> Reason {
    let cause = match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Cause::PartnerLost,
        _ => Cause::IoError,
    };
    Reason::new(cause, format!("{what}: {error}"))
}

impl End {
    fn sample(&self, start: u64, out: &mut dyn Sink) {
        let span = (Nanos(start), Nanos(now_ns()));
        out.sample(Sample::new("moved", Params::default(), span, Quantity::bytes(self.moved)));
    }
}

impl Running for Sender {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            return Ok(());
        }
        if self.0.fault == "sender-hangs" {
            loop {
                std::thread::park();
            }
        }
        let start = now_ns();
        let block = vec![7_u8; 4096];
        while !stop.is_over() {
            self.0.stream.write_all(&block).map_err(|error| io("sending", &error))?;
            self.0.moved += block.len() as u64;
        }
        // The final count is sent apart from the data, so that losses at the end count.
        if self.0.fault == "sender-loses-a-byte" {
            self.0.moved += 1;
        }
        self.0.stream.shutdown(std::net::Shutdown::Write).map_err(|error| io("closing", &error))?;
        self.0.sample(start, out);
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::Unverified { why: "the receiver checks".to_owned() })
    }
}

impl Running for Receiver {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            return Ok(());
        }
        if self.0.fault == "receiver-aborts" {
            std::process::abort();
        }
        // Short only where the timeout ends the phase: on a busy machine the sender may wait longer for its CPU.
        let patience = Duration::from_secs(if self.0.fault == "sender-hangs" { 3 } else { 600 });
        self.0.stream.set_read_timeout(Some(patience)).map_err(|error| io("setting a timeout", &error))?;
        let start = now_ns();
        let mut block = vec![0_u8; 65536];
        // Reads past `stop` to the end of the stream: what was sent in the window must be counted.
        let _ = stop;
        loop {
            match self.0.stream.read(&mut block) {
                Ok(0) => break,
                Ok(count) => self.0.moved += count as u64,
                Err(error) => return Err(io("receiving", &error)),
            }
        }
        self.0.sample(start, out);
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        if self.0.fault == "corrupt" {
            return Ok(Integrity::Corrupt { wrong: 1, of: self.0.moved, first: "byte 12 is 6".to_owned() });
        }
        Ok(Integrity::Verified { checked: self.0.moved })
    }
}

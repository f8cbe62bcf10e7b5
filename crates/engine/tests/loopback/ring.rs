//! `toy.ring`: N parts, each connected to the next; a token goes round.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use seatrial_bench::{Benchmark, Part, Prepared, Running, Sink, Stop};
use seatrial_model::{
    About, Case, Cause, Integrity, Kind, Limits, Measures, Nanos, ParamSpec, Params, PartPlacement, Parts,
    Phase, Quantity, Reason, Sample, Unit, Values,
};
use seatrial_sys::clock::now_ns;

use crate::toy;

static ABOUT: About = toy::about(
    "toy.ring",
    &[ParamSpec::new("parts", Kind::Count(2, 16), "3").doc("How many.")],
    Parts::TwoOrMore("link"),
);

/// The token that ends all parts.
const LAST: u8 = 255;

pub const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: |about, params, site| {
        let count = params.count("parts").expect("resolved") as usize;
        Ok(vec![toy::case(about, &vec!["link"; count], params, site)])
    },
    limits: |_, _, _| Limits::new(),
    part: |case, place| Part::new(case, place, link),
    liveness_check: |_, _| None,
    reduce: |case, parts| {
        let trials = parts.iter().map(|part| part.trial).max().map_or(0, |last| last + 1);
        let mut laps = Vec::new();
        for trial in 0..trials {
            let counts: Vec<&Sample> =
                parts.iter().filter(|part| part.trial == trial).flat_map(|part| &part.samples).collect();
            // Every link has seen every lap: the barrier held, and no part ran ahead.
            if counts.len() != case.places.len()
                || counts.iter().any(|count| count.amount != counts[0].amount)
            {
                return Err(Reason::new(
                    Cause::CorruptData,
                    format!("links counted different laps: {counts:?}"),
                ));
            }
            let start = counts.iter().map(|count| count.start).max().unwrap_or_default();
            let end = counts.iter().map(|count| count.end).min().unwrap_or_default();
            laps.push(vec![counts[0].amount.value() / end.since(start).as_secs()]);
        }
        let mut measures = Measures::default();
        measures.metrics.insert("laps".to_owned(), Values { unit: Unit::PerSecond, trials: laps });
        Ok(measures)
    },
};

struct Link {
    is_first: bool,
    from: TcpStream,
    to: TcpStream,
}

fn link(_: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| io(&error))?;
    let port = listener.local_addr().map_err(|error| io(&error))?.port();
    let index = place.index as usize;
    Prepared::new(place, port, move |peers| {
        let next = &peers[(index + 1) % peers.len()];
        let port = u16::try_from(next.data.as_u64().expect("a port")).expect("a port");
        let to = TcpStream::connect(("127.0.0.1", port)).map_err(|error| io(&error))?;
        let (from, _) = listener.accept().map_err(|error| io(&error))?;
        Ok(Link { is_first: index == 0, from, to })
    })
}

fn io(error: &std::io::Error) -> Reason {
    Reason::new(Cause::PartnerLost, error.to_string())
}

impl Running for Link {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            return Ok(());
        }
        let Self { is_first, from, to } = self;
        let first = *is_first;
        let start = now_ns();
        let mut laps = 0_u64;
        let mut token = [0_u8];
        if first {
            to.write_all(&token).map_err(|error| io(&error))?;
        }
        loop {
            from.read_exact(&mut token).map_err(|error| io(&error))?;
            if first && token[0] == LAST {
                break;
            }
            laps += u64::from(token[0] != LAST);
            if first && stop.is_over() {
                token = [LAST];
            }
            to.write_all(&token).map_err(|error| io(&error))?;
            if !first && token[0] == LAST {
                break;
            }
        }
        let span = (Nanos(start), Nanos(now_ns()));
        out.sample(Sample::new("laps", Params::default(), span, Quantity::count(laps)));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::Verified { checked: 0 })
    }
}

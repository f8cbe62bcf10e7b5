//! `toy.ring`: N parts, each connected to the next; a token goes round.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use seatrial_bench::{Benchmark, Error, Offer, Part, Sink, Stop};
use seatrial_model::{
    About, Case, Cause, Integrity, Kind, Limits, Measures, Nanos, ParamSpec, Params, PartPlacement,
    PartRecord, Phase, Quantity, Reason, Sample, Site, Unit, Values,
};
use seatrial_sys::clock::now_ns;

use crate::toy;

pub struct Ring;

static ABOUT: About =
    toy::about("toy.ring", &[ParamSpec::new("parts", Kind::Count(2, 16), "3").doc("How many.")], &["link"]);

/// The token that tells everybody to end.
const LAST: u8 = 255;

impl Benchmark for Ring {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn plan(&self, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
        let count = params.count("parts").expect("resolved") as usize;
        Ok(vec![toy::case(&ABOUT, &vec!["link"; count], params, site)])
    }

    fn limits(&self, _: &Case, _: &Site) -> Limits {
        Limits::new()
    }

    fn part(&self, _: &Case, place: &PartPlacement) -> Result<Box<dyn Part>, Error> {
        Ok(Box::new(Link { place: place.clone(), listener: None, from: None, to: None }))
    }

    fn reduce(&self, case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
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
    }
}

struct Link {
    place: PartPlacement,
    listener: Option<TcpListener>,
    from: Option<TcpStream>,
    to: Option<TcpStream>,
}

fn io(error: &std::io::Error) -> Error {
    Error::new(Cause::PartnerLost, error.to_string())
}

impl Part for Link {
    fn prepare(&mut self) -> Result<Offer, Error> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| io(&error))?;
        let port = listener.local_addr().map_err(|error| io(&error))?.port();
        self.listener = Some(listener);
        Ok(Offer::new(&self.place, serde_json::json!(port)))
    }

    fn connect(&mut self, peers: &[Offer]) -> Result<(), Error> {
        let next = &peers[(self.place.index as usize + 1) % peers.len()];
        let port = u16::try_from(next.data.as_u64().expect("a port")).expect("a port");
        self.to = Some(TcpStream::connect(("127.0.0.1", port)).map_err(|error| io(&error))?);
        let (from, _) = self.listener.take().expect("prepared").accept().map_err(|error| io(&error))?;
        self.from = Some(from);
        Ok(())
    }

    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Error> {
        if phase == Phase::WarmUp {
            return Ok(());
        }
        let (from, to) = (self.from.as_mut().expect("connected"), self.to.as_mut().expect("connected"));
        let first = self.place.index == 0;
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
        let amount = Quantity::new(laps as f64, Unit::Count).expect("finite");
        let (start, end) = (Nanos(start), Nanos(now_ns()));
        out.sample(Sample { channel: "laps".to_owned(), at: Params::default(), start, end, amount });
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Error> {
        Ok(Integrity::Verified { checked: 0 })
    }
}

//! Throughput and latency over the size of messages, and what the curve says.

use seatrial_model::{
    Bytes, Cause, Finding, Measures, PartRecord, Quantity, Reason, Row, Sample, Severity, Subject, Unit,
    Values,
};
use seatrial_stats::Sorted;

use super::Mode;
use super::lead::CHANNEL;
use crate::{AtCoords, by_coords, median};

/// Messages below this carry no data worth speaking of: half a round trip of them is the latency (NetPIPE's bound).
const SMALL: u64 = 64;

/// A size drops out when it reaches less than this part of what both its neighbours reach.
const DROPS_BELOW: f64 = 0.8;

/// Half of the peak: the size there is NetPIPE's and LINPACK's n1/2.
const HALF: f64 = 0.5;

/// The part of the peak from which on the path counts as saturated.
const SATURATED: f64 = 0.95;

/// Samples that a size must have before it can be said to drop out.
const FEWEST: usize = 6;

/// Bytes a second of a Gbit/s.
const GIGABIT: f64 = 1e9 / 8.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Bytes of a message.
    pub size: u64,
    /// Time of one message one way in microseconds, a list a trial.
    pub time_us: Vec<Vec<f64>>,
    /// Gbit/s, a list a trial; of both ways together where they are used together.
    pub rate: Vec<Vec<f64>>,
}

/// A size that is slower than the sizes beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drop {
    pub size: u64,
    /// Its median rate in Gbit/s.
    pub rate: f64,
    /// That of the slower of its neighbours.
    pub beside: f64,
}

/// All sizes, by rising size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PingPongCurve {
    /// The sizes that were reached.
    pub points: Vec<Point>,
}

impl PingPongCurve {
    /// What the leader's samples say.
    pub fn of(parts: &[PartRecord]) -> Self {
        let size = |at: &AtCoords| at.at.bytes("size").ok().flatten().map(Bytes::get);
        let time = |sample: &Sample| Some(sample.span().get() as f64 / 1e3 / sample.amount.value());
        let mut points: Vec<Point> = by_coords(parts, CHANNEL, time)
            .into_iter()
            .filter_map(|at| {
                let size = size(&at)?;
                let rate = |us: &f64| size as f64 / (us * 1e-6) / GIGABIT;
                let rates = at.trials.iter().map(|trial| trial.iter().map(rate).collect()).collect();
                Some(Point { size, time_us: at.trials, rate: rates })
            })
            .collect();
        points.sort_by_key(|point| point.size);
        Self { points }
    }

    /// The size of the highest median rate.
    pub fn peak(&self) -> Option<&Point> {
        self.points.iter().max_by(|a, b| a.median_rate().total_cmp(&b.median_rate()))
    }

    /// The smallest size that reaches this part of the peak.
    pub fn size_at(&self, part: f64) -> Option<u64> {
        let wanted = part * self.peak()?.median_rate();
        self.points.iter().find(|point| point.median_rate() >= wanted).map(|point| point.size)
    }

    /// Sizes that are slower than both the next smaller and the next larger one, by more than their samples scatter. The
    /// rate rises with the size, so that a smooth curve has none.
    pub fn drops(&self) -> Vec<Drop> {
        let of = |three: &[Point]| {
            let [before, here, after] = three else { return None };
            let beside = before.median_rate().min(after.median_rate());
            let rate = here.median_rate();
            let (low, high) = (before.quartile(0.25)?.min(after.quartile(0.25)?), here.quartile(0.75)?);
            let apart = rate < DROPS_BELOW * beside && high < low;
            apart.then_some(Drop { size: here.size, rate, beside })
        };
        self.points.windows(3).filter_map(of).collect()
    }

    /// Metrics, series and findings of the curve for messages in `mode`.
    pub fn measures(&self, mode: Mode) -> Result<Measures, Reason> {
        let mut measures = Measures::default();
        let peak = self.peak().ok_or_else(|| {
            Reason::new(Cause::TooShort, "no message came back within the time; raise -p time=")
        })?;
        let mut metric = |name: &str, unit, trials| {
            measures.metric(name, unit, trials);
        };
        metric("throughput", Unit::GigabitsPerSecond, peak.rate.clone());
        let small: Vec<&Point> = self.points.iter().filter(|point| point.size < SMALL).collect();
        if mode == Mode::PingPong && !small.is_empty() {
            metric("latency", Unit::Microsecond, pooled(&small));
        }
        for (name, part) in [("half_size", HALF), ("saturation_size", SATURATED)] {
            if let Some(size) = self.size_at(part) {
                metric(name, Unit::Byte, vec![vec![size as f64]]);
            }
        }
        let rows = |unit: Unit, values: fn(&Point) -> &Vec<Vec<f64>>| -> Vec<Row> {
            let row = |point: &Point| Row {
                at: [("size".to_owned(), Bytes(point.size).into())].into_iter().collect(),
                values: Values { unit, trials: values(point).clone() },
            };
            self.points.iter().map(row).collect()
        };
        measures.series.insert("by_size".to_owned(), rows(Unit::GigabitsPerSecond, |point| &point.rate));
        if mode == Mode::PingPong {
            measures
                .series
                .insert("time_by_size".to_owned(), rows(Unit::Microsecond, |point| &point.time_us));
        }
        measures.findings.extend(self.drop_outs());
        Ok(measures)
    }

    fn drop_outs(&self) -> Option<Finding> {
        let drops = self.drops();
        let worst = drops.iter().min_by(|a, b| (a.rate / a.beside).total_cmp(&(b.rate / b.beside)))?;
        let others = match drops.len() {
            1 => String::new(),
            count => format!(", and {} more sizes drop out", count - 1),
        };
        let text = format!(
            "messages of {} reach {:.3} Gbit/s, the sizes beside them at least {:.3}{others}: a copy, a card or a \
             protocol switch that does not like this size; a sweep of powers of two would not show it",
            Bytes(worst.size),
            worst.rate,
            worst.beside
        );
        let mut finding = Finding::new("drop-out", Severity::Warning, Subject::node(), text);
        finding.value = Quantity::new(worst.size as f64, Unit::Byte).ok();
        finding.evidence = vec!["by_size".to_owned()];
        Some(finding)
    }
}

impl Point {
    /// The median of all samples in Gbit/s.
    pub fn median_rate(&self) -> f64 {
        median(&self.rate)
    }

    /// The rate that this part of the samples does not exceed; none of fewer than [`FEWEST`].
    fn quartile(&self, part: f64) -> Option<f64> {
        Sorted::pooled(&self.rate).ok().filter(|all| all.as_slice().len() >= FEWEST)?.quantile(part).ok()
    }
}

/// The times of several sizes, trial by trial.
fn pooled(points: &[&Point]) -> Vec<Vec<f64>> {
    let trials = points.iter().map(|point| point.time_us.len()).max().unwrap_or(0);
    let of =
        |trial: usize| points.iter().filter_map(move |point| point.time_us.get(trial)).flatten().copied();
    (0..trials).map(|trial| of(trial).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes with samples round that many Gbit/s, which scatter by this part of it.
    fn scattered(rates: &[(u64, f64)], by: f64) -> PingPongCurve {
        let point = |&(size, rate): &(u64, f64)| {
            let rates: Vec<f64> = (-3..=3).map(|step| rate * (1.0 + by * f64::from(step) / 3.0)).collect();
            let time = |rate: &f64| size as f64 / (rate * GIGABIT) * 1e6;
            Point { size, time_us: vec![rates.iter().map(time).collect()], rate: vec![rates] }
        };
        PingPongCurve { points: rates.iter().map(point).collect() }
    }

    fn curve(rates: &[(u64, f64)]) -> PingPongCurve {
        scattered(rates, 0.0)
    }

    #[test]
    fn a_size_that_falls_below_both_neighbours_is_a_drop_out() {
        let smooth = curve(&[(1, 0.1), (2, 0.2), (4, 0.4), (8, 0.8), (16, 0.79)]);
        assert!(
            smooth.drops().is_empty()
                && smooth.measures(Mode::PingPong).expect("measured").findings.is_empty()
        );
        let dented = curve(&[(1021, 1.0), (1024, 0.5), (1027, 1.1), (1536, 1.2)]);
        assert_eq!(dented.drops(), [Drop { size: 1024, rate: 0.5, beside: 1.0 }]);
        let findings = dented.measures(Mode::Stream).expect("measured").findings;
        assert_eq!(findings.len(), 1);
        assert!(
            findings[0].text.contains("1 KiB") && findings[0].text.contains("0.500"),
            "{}",
            findings[0].text
        );
    }

    #[test]
    fn a_size_that_scatters_is_none() {
        let rates = [(1021, 1.0), (1024, 0.7), (1027, 1.1)];
        assert_eq!(scattered(&rates, 0.1).drops().len(), 1);
        assert!(scattered(&rates, 0.6).drops().is_empty());
        let once = rates.map(|(size, rate)| Point { size, time_us: vec![vec![1.0]], rate: vec![vec![rate]] });
        assert!(PingPongCurve { points: once.to_vec() }.drops().is_empty(), "one sample says nothing");
    }

    #[test]
    fn parts_of_the_peak_are_reached_at_the_half_size_and_the_saturation_size() {
        let curve = curve(&[
            (64, 0.5),
            (1024, 4.9),
            (4096, 5.1),
            (8192, 9.4),
            (16_384, 9.6),
            (65_536, 10.0),
            (1 << 20, 9.0),
        ]);
        assert_eq!(curve.peak().map(|point| point.size), Some(65_536));
        let metrics = curve.measures(Mode::Stream).expect("measured").metrics;
        let sizes = ["half_size", "saturation_size"].map(|name| metrics[name].trials[0][0]);
        assert_eq!(sizes, [4096.0, 16_384.0]);
    }

    #[test]
    fn the_latency_is_that_of_small_messages_and_only_of_a_ping_pong() {
        let curve = curve(&[(1, 0.001), (63, 0.063), (64, 0.032)]);
        let measures = curve.measures(Mode::PingPong).expect("measured");
        let latency = &measures.metrics["latency"].trials[0];
        assert_eq!(latency.len(), 14);
        assert!(latency.iter().all(|us| (us - 8.0).abs() < 1e-9), "{latency:?}");
        assert!(!curve.measures(Mode::Stream).expect("measured").metrics.contains_key("latency"));
    }

    #[test]
    fn nothing_measured_is_no_number() {
        assert_eq!(PingPongCurve::default().measures(Mode::Both).unwrap_err().cause, Cause::TooShort);
    }
}

//! Reduces slices to rates in windows, by GPU.

use std::collections::BTreeMap;

use crate::watch::{GpuReading, GpuReadings};
use seatrial_bench::{by_key, median};
use seatrial_model::{
    Case, Cause, Fact, Finding, Measures, Nanos, PartRecord, Reason, Row, Severity, Subject, Unit, Values,
};

/// Length of a window; of a shorter measurement a sixth of it.
const WINDOW: Nanos = Nanos::secs(10);
const LEAST_WINDOWS: u64 = 6;

/// Percent that sound GPUs stay within: an acceptance of H100 nodes allows 4 %.
const UNEVEN: f64 = 5.0;

/// Degrees between sound GPUs of a node: two H100 of one host were measured 10 apart, pairs of H200 2 and 9.
const HOTTER: f64 = 12.0;

/// Rates in the windows of a trial, in TFLOP/s, and the start of each in seconds.
type Windows = Vec<(f64, f64)>;

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let trials: Vec<BTreeMap<u64, Windows>> = parts.iter().map(windows).collect();
    let mut gpus: BTreeMap<u64, Vec<Vec<f64>>> = BTreeMap::new();
    for (gpu, windows) in trials.iter().flatten() {
        gpus.entry(*gpu).or_default().push(windows.iter().map(|(_, rate)| *rate).collect());
    }
    let by_rate = |one: &&Vec<Vec<f64>>, other: &&Vec<Vec<f64>>| median(one).total_cmp(&median(other));
    let (Some(slowest), Some(fastest)) = (gpus.values().min_by(by_rate), gpus.values().max_by(by_rate))
    else {
        let text = "no product finished within the time; raise -p time= or lower -p shape=";
        return Err(Reason::new(Cause::TooShort, text));
    };
    let mut measures = Measures::default();
    let mut put = |name: &str, unit, trials: Vec<Vec<f64>>| {
        if trials.iter().any(|trial| !trial.is_empty()) {
            measures.metrics.insert(name.to_owned(), Values { unit, trials });
        }
    };
    put("rate", Unit::TeraflopPerSecond, slowest.clone());
    let of_trial = |value: fn(&BTreeMap<u64, Windows>) -> Option<f64>| -> Vec<Vec<f64>> {
        trials.iter().map(|trial| value(trial).into_iter().collect()).collect()
    };
    put("worst", Unit::TeraflopPerSecond, of_trial(worst));
    put("sag", Unit::Percent, of_trial(sag));
    let spread = (gpus.len() > 1).then(|| 100.0 * (1.0 - median(slowest) / median(fastest)));
    put("spread", Unit::Percent, vec![spread.into_iter().collect()]);
    let readings: Vec<Vec<GpuReading>> = parts.iter().map(readings).collect();
    let of_gpus = |value: fn(&[GpuReading]) -> Option<f64>| -> Vec<Vec<f64>> {
        readings.iter().map(|trial| value(trial).into_iter().collect()).collect()
    };
    put("hottest", Unit::Celsius, of_gpus(|gpus| temperatures(gpus).reduce(f64::max)));
    put("heat_spread", Unit::Celsius, of_gpus(heat_spread));
    put("power", Unit::Watt, of_gpus(|gpus| least(gpus, |gpu| gpu.power_mean_w)));
    put("clock", Unit::Megahertz, of_gpus(|gpus| least(gpus, |gpu| gpu.processors_mean_mhz)));
    measures.series.insert("by_window".to_owned(), rows(parts));
    crate::tell(&mut measures, case, parts);
    measures.evidence.extend(
        parts
            .last()
            .and_then(|part| part.evidence.get("products").cloned())
            .map(|it| ("products".to_owned(), it)),
    );
    crate::watch::allow_power_limit(&mut measures);
    measures.findings.extend(uneven(&measures));
    Ok(measures)
}

/// The rates of a trial, by GPU and window.
fn windows(part: &PartRecord) -> BTreeMap<u64, Windows> {
    let samples = || part.samples.iter().filter(|sample| sample.channel == "product");
    let zero = samples().map(|sample| sample.start).min().unwrap_or_default();
    let end = samples().map(|sample| sample.end).max().unwrap_or_default();
    let whole = end.get().saturating_sub(zero.get()).max(1);
    let length = WINDOW.get().min(whole / LEAST_WINDOWS).max(1);
    // What is left over at the end belongs to the last whole window.
    let last = (whole / length).saturating_sub(1);
    let mut found: BTreeMap<u64, BTreeMap<u64, (f64, u64)>> = BTreeMap::new();
    for sample in samples() {
        let window = ((sample.start.get() - zero.get()) / length).min(last);
        let gpu = found.entry(sample.at.count("gpu").unwrap_or_default()).or_default();
        let (operations, ns) = gpu.entry(window).or_default();
        *operations += sample.amount.value();
        *ns += sample.end.get() - sample.start.get();
    }
    let rate = |(window, (operations, ns)): (u64, (f64, u64))| {
        ((window * length) as f64 / 1e9, operations / ns.max(1) as f64 / 1e3)
    };
    found.into_iter().map(|(gpu, windows)| (gpu, windows.into_iter().map(rate).collect())).collect()
}

fn worst(trial: &BTreeMap<u64, Windows>) -> Option<f64> {
    trial.values().flatten().map(|(_, rate)| *rate).reduce(f64::min)
}

fn sag(trial: &BTreeMap<u64, Windows>) -> Option<f64> {
    let of = |windows: &Windows| {
        let best = windows.iter().map(|(_, rate)| *rate).reduce(f64::max)?;
        Some(100.0 * (1.0 - windows.last()?.1 / best))
    };
    trial.values().filter_map(of).reduce(f64::max)
}

fn rows(parts: &[PartRecord]) -> Vec<Row> {
    let of_part = |part| {
        let all = windows(part).into_iter();
        let each = |(gpu, windows): (u64, Windows)| {
            windows.into_iter().map(move |(start, rate)| ((gpu, start.round() as u64), rate))
        };
        all.flat_map(each).collect()
    };
    let row = |((gpu, window), trials): ((u64, u64), Vec<Vec<f64>>)| Row {
        at: [("gpu", gpu.into()), ("window", window.into())].into(),
        values: Values { unit: Unit::TeraflopPerSecond, trials },
    };
    by_key(parts, of_part).into_iter().map(row).collect()
}

fn readings(part: &PartRecord) -> Vec<GpuReading> {
    GpuReadings::of(&part.evidence).into_iter().flat_map(|all| all.0.into_values()).collect()
}

fn temperatures(gpus: &[GpuReading]) -> impl Iterator<Item = f64> {
    gpus.iter().filter_map(|gpu| gpu.temperature_c.map(f64::from))
}

fn heat_spread(gpus: &[GpuReading]) -> Option<f64> {
    let (most, least) = (temperatures(gpus).reduce(f64::max)?, temperatures(gpus).reduce(f64::min)?);
    (gpus.len() > 1).then_some(most - least)
}

fn least(gpus: &[GpuReading], value: fn(&GpuReading) -> Option<f64>) -> Option<f64> {
    gpus.iter().filter_map(value).reduce(f64::min)
}

/// Findings on GPUs that lose rate in time, or are slower or hotter than the others of their node.
fn uneven(measures: &Measures) -> Vec<Finding> {
    let value = |name: &str| measures.metrics.get(name).map(|values| median(&values.trials));
    let told = [
        (
            "sag",
            UNEVEN,
            "gpu-sag",
            "the rate of a GPU fell by {} % from its best window to its last: heat, see `by_window`",
        ),
        (
            "spread",
            UNEVEN,
            "gpu-uneven",
            "the slowest GPU of the node is {} % slower than the fastest: see `by_window`",
        ),
        (
            "heat_spread",
            HOTTER,
            "gpu-heat",
            "the hottest GPU of the node is {} °C hotter than the coolest: check its cooling",
        ),
    ];
    let is = |(name, most, kind, text): (&str, f64, &str, &str)| {
        let value = value(name).filter(|value| *value > most)?;
        let text = text.replace("{}", &format!("{value:.1}"));
        Some(Finding::new(kind, Severity::Warning, Subject::node(), text))
    };
    told.into_iter().filter_map(is).collect()
}

//! Reduces slices to the rate of products.

use seatrial_model::{Case, Cause, Fact, Measures, PartRecord, Reason, Unit, Values};

use super::plan::PER_CLOCK;
use crate::watch::{GpuReading, GpuReadings};

use seatrial_bench::{by_coords, median};

/// The channel of what a slice multiplied.
pub(super) const PRODUCT: &str = "product";

pub fn reduce(case: &Case, parts: &[PartRecord]) -> Result<Measures, Reason> {
    let cells = by_coords(parts, PRODUCT, |sample| Some(sample.per_second()? / 1e12));
    let Some(cell) = cells.first() else {
        let text = "no slice finished within the time; raise -p time= or lower -p shape=";
        return Err(Reason::new(Cause::TooShort, text));
    };
    let mut measures = Measures::default();
    measures.metrics.insert("rate".to_owned(), cell.values(Unit::TeraflopPerSecond));
    // A trial without a product has no rate to stand beside its readings.
    let measured = || parts.iter().filter(|part| part.samples.iter().any(|sample| sample.channel == PRODUCT));
    let of = |value: fn(&GpuReading) -> Option<f64>| -> Vec<Vec<f64>> {
        let readings = measured().map(|part| GpuReadings::of(&part.evidence).unwrap_or_default());
        readings.map(|all| all.0.values().filter_map(value).collect()).collect()
    };
    let power = of(|gpu| gpu.power_mean_w);
    // 1 TFLOP/s is 1,000 GFLOP/s.
    let per_watt = cell.trials.iter().zip(&power);
    let per_watt = per_watt.map(|(rates, power)| {
        let rate = median(std::slice::from_ref(rates));
        power.iter().filter(|watts| **watts > 0.0).map(|watts| rate * 1e3 / watts).collect()
    });
    let clock = of(|gpu| gpu.processors_mean_mhz);
    let per_clock = case.planned.count(PER_CLOCK).ok();
    let efficiency = cell.trials.iter().zip(&clock).map(|(rates, clock)| {
        let rate = median(std::slice::from_ref(rates));
        let most = |mhz: &f64| Some(per_clock? as f64 * mhz / 1e6).filter(|most| *most > 0.0);
        clock.iter().filter_map(|mhz| Some(100.0 * rate / most(mhz)?)).collect()
    });
    for (name, unit, trials) in [
        ("efficiency", Unit::Percent, efficiency.collect()),
        ("per_watt", Unit::GigaflopPerSecondWatt, per_watt.collect()),
        ("power", Unit::Watt, power),
        ("clock", Unit::Megahertz, clock),
    ] {
        let trials: Vec<Vec<f64>> = trials;
        if trials.iter().any(|trial| !trial.is_empty()) {
            measures.metrics.insert(name.to_owned(), Values { unit, trials });
        }
    }
    crate::tell(&mut measures, case, parts);
    crate::watch::allow_power_limit(&mut measures);
    Ok(measures)
}

//! Planted gains and sham settings, with the noise and the drift of real measurements.

use seatrial_model::setting::{NodeChange, SettingChange};
use seatrial_stats::Random;

use super::*;
use crate::judge::fixture::{case, metric, no_limit};

/// Blocks of a study by default.
const BLOCKS: u32 = 6;

/// Standard deviations of a measurement, in parts of its value.
const NOISES: [f64; 3] = [0.01, 0.015, 0.02];

struct Experiment {
    records: Vec<CaseRecord>,
    lots: Random,
}

impl Experiment {
    fn new(seed: u64) -> Self {
        Self { records: Vec::new(), lots: Random::of(seed) }
    }

    /// A value of the normal distribution (Box and Muller, Annals of Mathematical Statistics 29, 1958).
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.lots.uniform(), self.lots.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// Blocks of `setting`, with which the rate is `gain` times what it is without it. Each block lies 5 % apart from the
    /// others, and the machine becomes slower by 1 % from one case to the next.
    fn blocks(&mut self, setting: &str, gain: f64, noise: f64) {
        for repeat in 1..=BLOCKS {
            let (level, begins_set) = (100.0 * (1.0 + 0.05 * self.normal()), self.lots.uniform() < 0.5);
            for place in 1..=4 {
                let is_set = begins_set == [1, 4].contains(&place);
                let drift = 0.99_f64.powi(place as i32);
                let rate = level * drift * if is_set { gain } else { 1.0 } * (noise * self.normal()).exp();
                let cycles = 2.0 * (noise * self.normal()).exp();
                self.records.push(measured(setting, (repeat, place), is_set, rate, cycles));
            }
        }
    }

    fn gains(&self) -> Vec<SettingGain> {
        setting_studies(&self.records).remove(0).gains
    }
}

fn measured(setting: &str, (repeat, place): (u32, u32), is_set: bool, rate: f64, cycles: f64) -> CaseRecord {
    let mut case = case("n1", "n1->n2");
    let change = SettingChange {
        setting: "nic.mtu".to_owned(),
        subject: Subject::device("nic", "eth0"),
        wanted: 9000_u64.into(),
    };
    let changes = vec![NodeChange { node: "n1".to_owned(), before: "1500".to_owned(), change }];
    case.origin.study = Some(FactorCase {
        factor: if is_set { setting } else { FactorCase::BASELINE }.to_owned(),
        crossed: Vec::new(),
        repeat,
        seed: 7,
        metric: "throughput".to_owned(),
        block: Some(SettingBlock { setting: setting.to_owned(), changes, place }),
    });
    let Ok(id) = format!("net.tcp_stream#block.{repeat}.{place}[{setting}]").parse();
    case.case = id;
    case.metrics.insert("throughput".to_owned(), metric(rate, (rate, rate), no_limit()));
    let mut side = metric(cycles, (cycles, cycles), no_limit());
    side.better = Better::Lower;
    case.metrics.insert("cpu_per_byte".to_owned(), side);
    case
}

#[test]
fn a_gain_of_five_percent_is_found_in_95_of_100_experiments() {
    for noise in NOISES {
        let (mut found, mut covered) = (0, 0);
        for seed in 0..100 {
            let mut experiment = Experiment::new(seed);
            experiment.blocks("nic.mtu=9000", 1.05, noise);
            let gain = experiment.gains().remove(0);
            let interval = gain.effect.gain.and_then(|gain| gain.ci95).expect("an interval");
            found += u32::from(gain.effect.worth == SettingWorth::Pays && interval.low > 1.0);
            covered += u32::from(interval.contains(1.05));
        }
        assert!(found >= 95, "{found} of 100 with a noise of {noise}");
        // Of 100 intervals of 95 %, fewer than 89 hold the truth once in 200.
        assert!(covered >= 89, "{covered} of 100 with a noise of {noise}");
    }
}

#[test]
fn of_a_hundred_sham_settings_at_most_five_are_called() {
    for noise in NOISES {
        let mut called = 0;
        for seed in 1000..1100 {
            let mut experiment = Experiment::new(seed);
            experiment.blocks("nic.mtu=9000", 1.0, noise);
            called += u32::from(experiment.gains()[0].effect.worth != SettingWorth::Nothing);
        }
        assert!(called <= 5, "{called} of 100 alone with a noise of {noise}");
    }
    let mut together = Experiment::new(1);
    for number in 0..100 {
        together.blocks(&format!("sham.{number:03}"), 1.0, 0.015);
    }
    let gains = together.gains();
    let called = gains.iter().filter(|gain| gain.effect.worth != SettingWorth::Nothing).count();
    assert!(called <= 5, "{called} of 100 in one study");
    let sides = gains.iter().filter(|gain| !gain.side_effects.is_empty()).count();
    assert!(sides <= 5, "{sides} side effects of 100 shams");
}

#[test]
fn the_coverage_of_the_interval_is_what_it_says() {
    let mut covered = 0;
    for seed in 0..2000 {
        let mut experiment = Experiment::new(10_000 + seed);
        experiment.blocks("nic.mtu=9000", 1.05, 0.015);
        let gain = experiment.gains().remove(0).effect.gain.and_then(|gain| gain.ci95).expect("an interval");
        covered += u32::from(gain.contains(1.05));
    }
    // Three standard deviations of a count of 2,000 with 95 %.
    assert!((1871..=1929).contains(&covered), "{covered} of 2000");
}

#[test]
fn a_drift_within_blocks_cancels_and_a_block_that_is_not_whole_does_not_count() {
    let mut experiment = Experiment::new(3);
    experiment.blocks("nic.mtu=9000", 1.2, 0.0);
    let gain = experiment.gains().remove(0);
    let interval = gain.effect.gain.and_then(|gain| gain.ci95).expect("an interval");
    assert!((interval.low - 1.2).abs() < 1e-9 && (interval.high - 1.2).abs() < 1e-9, "{interval:?}");
    assert_eq!((gain.before.as_str(), gain.effect.blocks, gain.of_blocks), ("1500", 6, 6));
    let lost = &mut experiment.records[1];
    lost.metrics.clear();
    lost.outcome = Outcome::Unmeasured;
    lost.reason = Some("no agent".to_owned());
    let gain = experiment.gains().remove(0);
    assert_eq!((gain.effect.blocks, gain.of_blocks, gain.reason.as_deref()), (5, 6, Some("no agent")));
}

#[test]
fn a_setting_that_was_never_set_has_no_gain_and_says_why() {
    let mut experiment = Experiment::new(4);
    experiment.blocks("nic.mtu=9000", 1.0, 0.01);
    for case in experiment.records.iter_mut().filter(|case| is_set(case)) {
        case.metrics.clear();
        case.outcome = Outcome::Unmeasured;
        case.reason = Some("nic.mtu=9000 could not be set on n1: it needs root".to_owned());
    }
    let found = (RULE.find)(&experiment.records);
    let [finding] = found.as_slice() else { panic!("{found:?}") };
    assert!(
        finding.text.contains("the gain is unknown") && finding.text.ends_with("it needs root"),
        "{found:?}"
    );
    assert_eq!((finding.value, finding.ci95), (None, None));
}

#[test]
fn a_side_effect_is_told_beside_the_gain_and_less_is_better_where_it_is() {
    let mut experiment = Experiment::new(5);
    experiment.blocks("nic.mtu=9000", 1.05, 0.01);
    for case in &mut experiment.records {
        let factor = if is_set(case) { 1.5 } else { 1.0 };
        let side = case.metrics.get_mut("cpu_per_byte").expect("a metric");
        side.median *= factor;
    }
    let gain = experiment.gains().remove(0);
    assert_eq!(gain.effect.worth, SettingWorth::Pays);
    let [side] = gain.side_effects.as_slice() else { panic!("{gain:?}") };
    assert_eq!((side.metric.as_str(), side.worth), ("cpu_per_byte", SettingWorth::Hurts));
    let texts: Vec<String> = (RULE.find)(&experiment.records).into_iter().map(|found| found.text).collect();
    assert!(
        texts[0].starts_with("nic.mtu=9000: throughput is ") && texts[0].ends_with(": pays"),
        "{texts:?}"
    );
    assert!(texts[1].starts_with("side effect of nic.mtu=9000: cpu_per_byte is "), "{texts:?}");
}

//! The demand as data: steps of every station, each with operation, block and rate.

use seatrial_model::{Bytes, Nanos, Quantity, Unit};
use serde::Deserialize;

pub const NAMES: &[&str] = &["cobalt2", "cobalt2-readme"];

/// Bytes per turn of the read loop; blocks are whole turns.
const BLOCK_MULTIPLE: u64 = 512;

/// Longest time until all steps begin a block together again, which is the shortest measuring time.
const LONGEST_ROUND: Nanos = Nanos::secs(1);

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub title: String,
    /// Number of stations; each runs every step on its own data.
    pub stations: u32,
    pub transpose: Transpose,
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
}

/// A permutation of chunks: chunk i of the destination comes from chunk (`stride` i mod n) of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transpose {
    /// Bytes of a chunk; a rest at the end of a block stays in its place.
    pub chunk: Bytes,
    /// Distance in the source between neighbours in the destination, in chunks.
    pub stride: u64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub id: String,
    pub what: String,
    pub operation: Operation,
    pub block: Bytes,
    pub rate: Quantity,
    /// How often each byte of a block counts: once for reading and once for writing.
    pub counted: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Read,
    Write,
    Copy,
    /// `memcpy` of the source to the destination, chunk by chunk in another order.
    Transpose,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScenarioError {
    #[error("there is no scenario '{0}'; there is: {known}", known = NAMES.join(", "))]
    Unknown(String),
    #[error("{0}")]
    Unreadable(String),
    #[error("{what}: {why}")]
    Invalid { what: String, why: String },
}

impl Operation {
    pub const fn reads(self) -> bool {
        !matches!(self, Self::Write)
    }

    pub const fn writes(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Blocks touched per unit of work: source, destination, or both.
    pub const fn touched(self) -> u64 {
        self.reads() as u64 + self.writes() as u64
    }
}

impl Step {
    pub fn bytes_per_second(&self) -> f64 {
        self.rate.base()
    }

    /// Time allowed for a block: its size over the rate.
    pub fn period(&self) -> Nanos {
        Nanos((self.block.get() as f64 * 1e9 / self.bytes_per_second()).round() as u64)
    }

    pub fn counted_bytes(&self) -> u64 {
        self.block.get() * u64::from(self.counted)
    }
}

impl Scenario {
    pub fn shipped(name: &str) -> Result<Self, ScenarioError> {
        match name {
            "cobalt2" => Self::read(include_str!("scenarios/cobalt2.toml")),
            "cobalt2-readme" => Self::read(include_str!("scenarios/cobalt2-readme.toml")),
            _ => Err(ScenarioError::Unknown(name.to_owned())),
        }
    }

    pub fn read(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self =
            toml::from_str(text).map_err(|error| ScenarioError::Unreadable(error.to_string()))?;
        scenario.check()?;
        Ok(scenario)
    }

    pub fn desired(&self) -> Quantity {
        let counted = |step: &Step| step.bytes_per_second() * f64::from(step.counted);
        let bytes: f64 = f64::from(self.stations) * self.steps.iter().map(counted).sum::<f64>();
        // The check accepts only finite rates.
        let gigabits = bytes / Unit::GigabitsPerSecond.factor();
        Quantity::new(gigabits, Unit::GigabitsPerSecond).expect("a sum of finite rates")
    }

    /// Bytes that all stations' work touches per second.
    pub fn touched_per_second(&self) -> f64 {
        let touched = |step: &Step| step.bytes_per_second() * step.operation.touched() as f64;
        f64::from(self.stations) * self.steps.iter().map(touched).sum::<f64>()
    }

    /// Time until all steps begin a block at the same moment again.
    pub fn round(&self) -> Nanos {
        Nanos(self.steps.iter().map(|step| step.period().get()).fold(1, least_common_multiple))
    }

    fn check(&self) -> Result<(), ScenarioError> {
        let invalid = |what: &str, why: String| Err(ScenarioError::Invalid { what: what.to_owned(), why });
        if self.stations == 0 || self.steps.is_empty() {
            return invalid("stations", "must have at least one station with one step".to_owned());
        }
        for (position, step) in self.steps.iter().enumerate() {
            if self.steps[..position].iter().any(|other| other.id == step.id) {
                return invalid(&step.id, "two steps have this id".to_owned());
            }
            step.check(&self.transpose).or_else(|why| invalid(&step.id, why))?;
        }
        if self.round() > LONGEST_ROUND {
            let why = format!(
                "the steps begin together only every {}; choose blocks and rates whose periods divide each other",
                self.round()
            );
            return invalid("steps", why);
        }
        Ok(())
    }
}

impl Step {
    fn check(&self, transpose: &Transpose) -> Result<(), String> {
        let rate = self.bytes_per_second();
        if self.rate.unit().dimension() != seatrial_model::Dimension::DataRate || rate <= 0.0 {
            return Err(format!("the rate {} is not a data rate above zero", self.rate));
        }
        let block = self.block.get();
        if block == 0 || !block.is_multiple_of(BLOCK_MULTIPLE) {
            return Err(format!(
                "the block {} is not a multiple of {BLOCK_MULTIPLE} B above zero",
                self.block
            ));
        }
        let exact = block as f64 * 1e9 / rate;
        if (exact - exact.round()).abs() > 1e-6 || exact < 1000.0 {
            return Err(format!(
                "a block every {exact} ns is not a whole number of nanoseconds from 1 us on"
            ));
        }
        if self.counted == 0 || u64::from(self.counted) > self.operation.touched() {
            return Err(format!(
                "a byte is touched {} times, not {}",
                self.operation.touched(),
                self.counted
            ));
        }
        if self.operation == Operation::Transpose {
            transpose.check(block)?;
        }
        Ok(())
    }
}

impl Transpose {
    fn check(&self, block: u64) -> Result<(), String> {
        if !self.chunk.get().is_multiple_of(size_of::<u64>() as u64) {
            return Err(format!("a chunk of {} is not a multiple of 8 B", self.chunk));
        }
        let chunks = block.checked_div(self.chunk.get()).unwrap_or(0);
        if chunks == 0 {
            return Err(format!("the block does not hold a chunk of {}", self.chunk));
        }
        if greatest_common_divisor(self.stride, chunks) != 1 {
            return Err(format!(
                "a stride of {} does not reach all of {chunks} chunks: the two have a divisor in common",
                self.stride
            ));
        }
        Ok(())
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    (a / greatest_common_divisor(a, b)).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped(name: &str) -> Scenario {
        Scenario::shipped(name).expect("ships")
    }

    fn altered(from: &str, to: &str) -> String {
        let text = include_str!("scenarios/cobalt2.toml");
        assert!(text.contains(from), "{from}");
        Scenario::read(&text.replacen(from, to, 1)).expect_err("refused").to_string()
    }

    #[test]
    fn the_last_source_demands_702_and_the_readme_621() {
        for (name, desired) in [("cobalt2", 702.0), ("cobalt2-readme", 621.0)] {
            let scenario = shipped(name);
            assert_eq!((scenario.stations, scenario.steps.len()), (18, 10));
            assert_eq!(scenario.desired().to_string(), format!("{desired} Gbit/s"));
            // Every counted byte is touched as often as it counts.
            assert_eq!(scenario.touched_per_second() * 8.0, desired * 1e9);
        }
    }

    #[test]
    fn what_is_only_read_is_the_difference_of_the_two() {
        let scenario = shipped("cobalt2");
        let reads = scenario.steps.iter().filter(|step| step.operation == Operation::Read);
        let counted: f64 = reads.map(|step| step.rate.value() * f64::from(step.counted)).sum();
        assert_eq!(18.0 * counted, 81.0);
    }

    #[test]
    fn the_original_runs_for_512_rounds_of_its_longest_period() {
        let scenario = shipped("cobalt2");
        let periods: Vec<u64> = scenario.steps.iter().map(|step| step.period().get()).collect();
        let (small, large, output) = (3_072_000, 24_576_000, 49_152_000);
        let wanted = [[small; 3].as_slice(), &[large; 3], &[output; 4]].concat();
        assert_eq!(periods, wanted);
        assert_eq!(scenario.round(), Nanos(output));
        // 1024 x 1024 packets of 9000 bytes at 3 Gbit/s.
        assert_eq!((1_u64 << 20) * 9000 * 8 / 3, 512 * output);
        assert_eq!(shipped("cobalt2-readme").round(), Nanos(2 * output));
    }

    #[test]
    fn every_name_ships_and_others_are_told_which_do() {
        for name in NAMES {
            shipped(name);
        }
        let error = Scenario::shipped("cobalt1").unwrap_err().to_string();
        assert_eq!(error, "there is no scenario 'cobalt1'; there is: cobalt2, cobalt2-readme");
    }

    #[test]
    fn a_stride_that_misses_chunks_is_refused() {
        let error = altered("chunk = \"36 kB\"", "chunk = \"41 kB\"");
        assert!(error.starts_with("sort: a stride of 7 does not reach all of 28 chunks"), "{error}");
        assert!(altered("chunk = \"36 kB\"", "chunk = \"2 MB\"").contains("does not hold a chunk"));
        assert!(altered("chunk = \"36 kB\"", "chunk = \"0 B\"").contains("does not hold a chunk"));
        assert!(altered("chunk = \"36 kB\"", "chunk = \"36004 B\"").contains("not a multiple of 8 B"));
    }

    #[test]
    fn blocks_rates_and_counts_that_cannot_be_are_refused() {
        assert!(altered("1152 kB", "1152001 B").contains("not a multiple of 512 B"));
        assert!(altered("3 Gbit/s", "-3 Gbit/s").contains("not a data rate above zero"));
        assert!(altered("3 Gbit/s", "3 GB").contains("not a data rate above zero"));
        assert!(altered("3 Gbit/s", "3.0001 Gbit/s").contains("not a whole number of nanoseconds"));
        assert!(altered("counted = 1", "counted = 2").contains("a byte is touched 1 times, not 2"));
        assert!(altered("id = \"deliver\"", "id = \"receive\"").contains("two steps have this id"));
        assert!(altered("stations = 18", "stations = 0").contains("at least one station"));
        assert!(altered("1152 kB", "1153536 B").contains("begin together only every"));
        assert!(altered("stride = 7", "strike = 7").contains("unknown field `strike`"));
    }
}

//! Copies and latencies, against nvbandwidth with the size and the number of samples that it has without options.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use seatrial_model::Unit;
use seatrial_stats::Better;
use serde_json::Value;

use super::GOAL;
use super::here::fewer_than;
use super::peers::NVBANDWIDTH;
use crate::versus::network::peers::output;
use crate::versus::{Figure, Row, ours};

/// Which value of a test case counts.
#[derive(Clone, Copy, Debug)]
enum Of {
    /// The lowest rate of any pair, or that of the only GPU.
    Least,
    /// The longest latency of any pair.
    Most,
    /// All GPUs together.
    Sum,
}

/// A figure of both sides.
struct Same {
    /// Its words in the name of a row.
    name: &'static str,
    metric: &'static str,
    /// By what our metric is multiplied to be the same as theirs.
    factor: f64,
    unit: Unit,
    case: &'static str,
    of: Of,
}

/// What one turn of each side tells.
struct Turn {
    benchmark: &'static str,
    params: &'static [&'static str],
    /// The GPUs that are needed; of one, the peer sees only the first.
    gpus: usize,
    figures: &'static [Same],
}

const fn rate(name: &'static str, metric: &'static str, case: &'static str) -> Same {
    Same { name, metric, factor: 1.0, unit: Unit::GigabytesPerSecond, case, of: Of::Least }
}

const fn latency(name: &'static str, case: &'static str) -> Same {
    Same { unit: Unit::Nanosecond, of: Of::Most, ..rate(name, "latency", case) }
}

/// Where our metric counts twice what theirs does.
const fn half(same: Same) -> Same {
    Same { factor: 0.5, ..same }
}

/// The sums of `gpu.host_copy_all` are in Gbit/s.
const fn sum(name: &'static str, metric: &'static str, case: &'static str) -> Same {
    Same { factor: 0.125, of: Of::Sum, ..rate(name, metric, case) }
}

const HOST_COPY: Turn = Turn { benchmark: "gpu.host_copy", params: &[], gpus: 1, figures: &[] };

const PEER_COPY: Turn = Turn { benchmark: "gpu.peer_copy", gpus: 2, ..HOST_COPY };

static TURNS: [Turn; 6] = [
    Turn {
        params: &["gpu=0"],
        figures: &[
            rate("host to device, copy engine", "h2d", "host_to_device_memcpy_ce"),
            rate("device to host, copy engine", "d2h", "device_to_host_memcpy_ce"),
            rate(
                "both at once, to the device, copy engine",
                "both_h2d",
                "host_to_device_bidirectional_memcpy_ce",
            ),
            rate(
                "both at once, to the host, copy engine",
                "both_d2h",
                "device_to_host_bidirectional_memcpy_ce",
            ),
            latency("a load from host memory", "host_device_latency_sm"),
        ],
        ..HOST_COPY
    },
    Turn {
        params: &["gpu=0", "engine=sm"],
        figures: &[
            rate("host to device, kernel", "h2d", "host_to_device_memcpy_sm"),
            rate("device to host, kernel", "d2h", "device_to_host_memcpy_sm"),
            // nvbandwidth tells one of both directions, which are equal in its kernel and in ours.
            half(rate("both at once, kernel, a direction", "both", "host_to_device_bidirectional_memcpy_sm")),
        ],
        ..HOST_COPY
    },
    Turn {
        benchmark: "gpu.memory",
        params: &["gpu=0"],
        figures: &[
            half(rate("copy within the device, own kernel, one way", "copy", "device_local_copy")),
            half(rate("copy within the device, the driver's, one way", "memcpy", "device_local_copy")),
        ],
        ..HOST_COPY
    },
    Turn {
        params: &["among=pairs"],
        figures: &[
            rate("peer read, copy engine", "read", "device_to_device_memcpy_read_ce"),
            rate("peer write, copy engine", "write", "device_to_device_memcpy_write_ce"),
            rate(
                "peer read both ways, copy engine",
                "both_read",
                "device_to_device_bidirectional_memcpy_read_ce",
            ),
            rate(
                "peer write both ways, copy engine",
                "both_write",
                "device_to_device_bidirectional_memcpy_write_ce",
            ),
            latency("a load from a peer's cache", "device_to_device_latency_sm"),
        ],
        ..PEER_COPY
    },
    Turn {
        params: &["among=pairs", "engine=sm"],
        figures: &[
            rate("peer read, kernel", "read", "device_to_device_memcpy_read_sm"),
            rate("peer write, kernel", "write", "device_to_device_memcpy_write_sm"),
            rate("peer read both ways, kernel", "both_read", "device_to_device_bidirectional_memcpy_read_sm"),
            rate(
                "peer write both ways, kernel",
                "both_write",
                "device_to_device_bidirectional_memcpy_write_sm",
            ),
        ],
        ..PEER_COPY
    },
    Turn {
        benchmark: "gpu.host_copy_all",
        params: &["time=600 ms"],
        gpus: 2,
        figures: &[
            sum("host to all GPUs at once, sum", "h2d_sum", "host_to_all_memcpy_ce"),
            sum("all GPUs to host at once, sum", "d2h_sum", "all_to_host_memcpy_ce"),
        ],
    },
];

pub fn rows() -> Vec<Row> {
    TURNS.iter().map(row).collect()
}

fn row(turn: &'static Turn) -> Row {
    let figure = |same: &Same| Figure {
        name: format!("{} vs nvbandwidth", same.name),
        unit: same.unit,
        better: if same.unit == Unit::Nanosecond { Better::Lower } else { Better::Higher },
        goal: Some(GOAL),
    };
    Row {
        figures: turn.figures.iter().map(figure).collect(),
        ours: Box::new(|| turn.ours()),
        peer: Box::new(|| turn.peer()),
        hindrance: Some(Box::new(|| fewer_than(turn.gpus).or_else(|| NVBANDWIDTH.hindrance()))),
    }
}

impl Turn {
    /// One trial. nvbandwidth tells the median of its samples, so ours are medians.
    fn ours(&self) -> Result<Vec<f64>> {
        ours::trial(ours::here(), self.benchmark, self.params, |record, _| {
            self.figures.iter().map(|same| Ok(ours::median(record, same.metric)? * same.factor)).collect()
        })
    }

    fn peer(&self) -> Result<Vec<f64>> {
        let mut command = Command::new(NVBANDWIDTH.program("nvbandwidth")?);
        command.args(["--json", "--testcase"]).args(self.cases());
        // The order of ours.
        command.env("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
        if self.gpus == 1 {
            command.env("CUDA_VISIBLE_DEVICES", "0");
        }
        let text = output(command)?;
        self.figures.iter().map(|same| value(&text, same.case, same.of)).collect()
    }

    /// Each case once, also where two figures stand beside it.
    fn cases(&self) -> Vec<&'static str> {
        let mut cases: Vec<&str> = self.figures.iter().map(|same| same.case).collect();
        cases.dedup();
        cases
    }
}

/// The value of a test case in the JSON that nvbandwidth prints. Of pairs in both directions it has three tables below each other
/// in one (each direction and their sum), of which the last counts.
fn value(text: &str, case: &str, of: Of) -> Result<f64> {
    let start = text.find('{').with_context(|| format!("nvbandwidth printed no JSON: {text}"))?;
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let document = documents.next().context("nvbandwidth printed no JSON")??;
    let cases = document["nvbandwidth"]["testcases"].as_array();
    let found = cases.and_then(|cases| cases.iter().find(|told| told["name"] == case));
    let told = found.with_context(|| format!("nvbandwidth told nothing of {case}"))?;
    let rows = told["bandwidth_matrix"].as_array().with_context(|| format!("{case}: {told}"))?;
    let columns = rows.first().and_then(Value::as_array).map_or(0, Vec::len);
    let last = &rows[rows.len().saturating_sub(columns)..];
    let cells = last.iter().filter_map(Value::as_array).flatten();
    let values: Vec<f64> = cells.filter_map(|cell| cell.as_str()?.parse().ok()).collect();
    ensure!(!values.is_empty(), "{case} has no value: {told}");
    Ok(match of {
        Of::Least => values.into_iter().fold(f64::INFINITY, f64::min),
        Of::Most => values.into_iter().fold(0.0, f64::max),
        Of::Sum => values.into_iter().sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = include_str!("captured/nvbandwidth_host.json");
    const PAIRS: &str = include_str!("captured/nvbandwidth_pairs.json");

    #[test]
    fn the_value_of_the_only_gpu_is_read_behind_what_else_is_printed() {
        assert_eq!(value(HOST, "host_to_device_memcpy_ce", Of::Least).unwrap(), 54.7974);
        let warned = format!("a warning\n{HOST}\n\nNOTE\n");
        assert_eq!(value(&warned, "host_device_latency_sm", Of::Most).unwrap(), 1269.15);
    }

    #[test]
    fn of_pairs_the_slowest_counts_and_of_both_directions_their_sum() {
        assert_eq!(value(PAIRS, "device_to_device_memcpy_read_ce", Of::Least).unwrap(), 393.636);
        let both = "device_to_device_bidirectional_memcpy_read_ce";
        assert_eq!(value(PAIRS, both, Of::Least).unwrap(), 778.673);
        assert_eq!(value(PAIRS, "device_to_device_latency_sm", Of::Most).unwrap(), 828.114);
        let sum = value(PAIRS, "device_to_device_memcpy_read_ce", Of::Sum).unwrap();
        assert!((sum - 787.507).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn a_case_that_is_missing_or_has_no_value_is_named() {
        let error = value(HOST, "all_to_host_memcpy_ce", Of::Sum).unwrap_err().to_string();
        assert!(error.ends_with("told nothing of all_to_host_memcpy_ce"), "{error}");
        let waived = r#"{"nvbandwidth":{"testcases":[{"name":"x","status":"Waived"}]}}"#;
        assert!(value(waived, "x", Of::Least).unwrap_err().to_string().contains("Waived"));
        assert!(value("CUDA error", "x", Of::Least).is_err());
    }

    #[test]
    fn a_case_beside_two_figures_is_run_once() {
        assert_eq!(TURNS[2].cases(), ["device_local_copy"]);
        assert_eq!(TURNS[0].cases().len(), 5);
    }
}

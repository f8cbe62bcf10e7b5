//! NCCL's operations, against nccl-tests with a thread and a GPU for each rank. Both load the same library.

use std::process::Command;

use anyhow::{Context, Result};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::GOAL;
use super::here::{fewer_than, gpus};
use super::peers::NCCL_TESTS;
use crate::versus::network::peers::output;
use crate::versus::{Figure, Row, ours};

/// An operation of one size.
struct Operation {
    name: &'static str,
    operation: &'static str,
    bytes: u64,
    pace: &'static str,
    program: &'static str,
    options: &'static [&'static str],
}

/// Columns of nccl-tests: the time in microseconds and busbw, out of place.
const TIME: usize = 5;
const BUSBW: usize = 7;

static OPERATIONS: [Operation; 5] = [
    Operation {
        name: "all_reduce, 1 GiB, busbw, pace=stream vs nccl-tests",
        operation: "all_reduce",
        bytes: 1 << 30,
        pace: "stream",
        program: "all_reduce_perf",
        options: &["-w", "5", "-n", "20"],
    },
    Operation {
        name: "all_reduce, 128 MiB, busbw, pace=stream vs nccl-tests",
        operation: "all_reduce",
        bytes: 128 << 20,
        pace: "stream",
        program: "all_reduce_perf",
        options: &["-w", "5", "-n", "100"],
    },
    Operation {
        name: "all_to_all, 1 GiB, busbw, pace=stream vs nccl-tests",
        operation: "all_to_all",
        bytes: 1 << 30,
        pace: "stream",
        program: "alltoall_perf",
        options: &["-w", "5", "-n", "20"],
    },
    Operation {
        name: "all_reduce, 8 B, pace=one vs nccl-tests -z 1",
        operation: "all_reduce",
        bytes: 8,
        pace: "one",
        program: "all_reduce_perf",
        options: &["-w", "50", "-n", "20000", "-z", "1"],
    },
    Operation {
        name: "all_reduce, 8 B, pace=stream vs nccl-tests",
        operation: "all_reduce",
        bytes: 8,
        pace: "stream",
        program: "all_reduce_perf",
        options: &["-w", "50", "-n", "20000"],
    },
];

pub fn rows() -> Vec<Row> {
    OPERATIONS.iter().map(row).collect()
}

fn row(operation: &'static Operation) -> Row {
    let (unit, better) = if operation.is_short() {
        (Unit::Microsecond, Better::Lower)
    } else {
        (Unit::GigabytesPerSecond, Better::Higher)
    };
    let figure = Figure { name: operation.name.to_owned(), unit, better, goal: Some(GOAL) };
    Row::one(figure, || operation.ours(), || operation.peer())
        .unless(|| fewer_than(2).or_else(|| NCCL_TESTS.hindrance()))
}

impl Operation {
    /// Whether its time counts, not its rate.
    fn is_short(&self) -> bool {
        self.bytes < 1 << 20
    }

    /// nccl-tests tells means.
    fn ours(&self) -> Result<f64> {
        let params = [
            format!("operation={}", self.operation),
            format!("size={} B", self.bytes),
            format!("pace={}", self.pace),
            format!("library={}", NCCL_TESTS.program("nccl/lib/libnccl.so.2")?.display()),
        ];
        let metric = if self.is_short() { "latency" } else { "busbw" };
        let mut command = ours::here();
        command.env("NCCL_NVLS_ENABLE", "0");
        ours::trial(command, "nccl.collective", &params, |record, _| ours::value(record, metric, "mean"))
    }

    fn peer(&self) -> Result<f64> {
        let mut command = Command::new(NCCL_TESTS.program(&format!("build/{}", self.program))?);
        let ranks = gpus().map_or(0, |gpus| gpus.count).to_string();
        let size = self.bytes.to_string();
        command.args(["-t", &ranks, "-g", "1", "-b", &size, "-e", &size, "-c", "0"]).args(self.options);
        let mut libraries = NCCL_TESTS.program("nccl/lib")?.into_os_string();
        if let Some(others) = std::env::var_os("LD_LIBRARY_PATH") {
            libraries.push(":");
            libraries.push(others);
        }
        command.env("LD_LIBRARY_PATH", libraries).env("NCCL_NVLS_ENABLE", "0");
        let text = output(command)?;
        let column = if self.is_short() { TIME } else { BUSBW };
        column_of(&text, self.bytes, column).with_context(|| format!("nccl-tests told nothing: {text}"))
    }
}

/// A column of the row of a size.
fn column_of(text: &str, bytes: u64, column: usize) -> Option<f64> {
    let of_size = |line: &&str| line.split_whitespace().next() == Some(bytes.to_string().as_str());
    text.lines().find(of_size)?.split_whitespace().nth(column)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_and_rate_out_of_place_are_read() {
        let large = include_str!("captured/all_reduce_1gib.txt");
        assert_eq!(column_of(large, 1 << 30, BUSBW), Some(330.81));
        assert_eq!(column_of(include_str!("captured/all_reduce_8b.txt"), 8, TIME), Some(25.44));
        assert_eq!(column_of(large, 8, TIME), None);
    }
}

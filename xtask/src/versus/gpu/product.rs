//! Matrix products by cuBLAS, against PyTorch with the same library, shape and bits.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::here::fewer_than;
use crate::versus::network::peers::output;
use crate::versus::{Figure, Row, ours};

/// Both sides may lose nothing beside the library.
const GOAL: f64 = 1.0;

/// Seconds that both sides measure, behind a second of warm-up: the clock of a GPU at its power limit rises and falls with a period
/// of about one.
const SECONDS: &str = "2";

const PROGRAM: &str = include_str!("product.py");

pub fn rows() -> Vec<Row> {
    ["bf16", "fp16", "tf32", "fp8", "fp64"].map(row).into()
}

fn row(element: &'static str) -> Row {
    let figure = Figure {
        name: format!("gpu.compute, engine=blas, {element}, 8448 x 8192 x 8192 vs PyTorch"),
        unit: Unit::TeraflopPerSecond,
        better: Better::Higher,
        goal: Some(GOAL),
    };
    let ours = move || {
        let params = [
            "engine=blas".to_owned(),
            "gpu=0".to_owned(),
            format!("type={element}"),
            format!("time={SECONDS} s"),
            format!("library={}", library()?.display()),
        ];
        ours::mean_of_trial("gpu.compute", &params, "rate")
    };
    let peer = move || number(&output(torch(&[element, SECONDS]))?);
    Row::one(figure, ours, peer)
        .unless(|| fewer_than(1).or_else(|| library().err().map(|error| format!("{error:#}"))))
}

fn torch(args: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command.args(["-c", PROGRAM]).args(args);
    command.env("CUDA_DEVICE_ORDER", "PCI_BUS_ID").env("CUDA_VISIBLE_DEVICES", "0");
    command
}

/// The file of cuBLAS that PyTorch loads, asked once; the other side is told to load it too.
fn library() -> Result<PathBuf> {
    static LIBRARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let ask = || {
        let told =
            output(torch(&["library"])).map_err(|error| format!("no PyTorch with a GPU: {error:#}"))?;
        Ok(PathBuf::from(told.trim()))
    };
    LIBRARY.get_or_init(ask).clone().map_err(anyhow::Error::msg)
}

fn number(text: &str) -> Result<f64> {
    let last = text.lines().last().context("PyTorch told nothing")?;
    last.trim().parse().with_context(|| format!("PyTorch told no number: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_last_line_behind_warnings() {
        assert_eq!(number("a warning\n688.4\n").unwrap(), 688.4);
        assert!(number("no GPU\n").is_err());
    }
}

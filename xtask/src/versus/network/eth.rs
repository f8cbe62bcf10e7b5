//! The eth-test between two nodes of the lab. It has no peer: the tender's bar is its measure.

use anyhow::Result;
use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;

use super::nodes::{Nodes, Way};
use super::ours;

/// Runs that are shown, each for itself: one that lost something must not vanish in a median.
const RUNS: usize = 3;

/// The table of runs.
pub fn alone() -> Result<String> {
    let nodes = Nodes::new();
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header(["run", "outcome", "received", "lost of sent", "offered"]);
    for run in 1..=RUNS {
        let record = ours::trial(&nodes, Way::Veth, "net.eth_receive", &[])?;
        let show = |name: &str, digits: usize, unit: &str| {
            let median = record["metrics"][name]["median"].as_f64();
            median.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.digits$} {unit}"))
        };
        let reason = record["reason"]["text"].as_str().unwrap_or_default();
        table.add_row([
            run.to_string(),
            format!("{} {reason}", record["outcome"].as_str().unwrap_or("unknown")).trim().to_owned(),
            show("throughput", 3, "Gbit/s"),
            show("loss", 4, "%"),
            show("offered", 3, "Gbit/s"),
        ]);
    }
    Ok(format!("net.eth_receive between two nodes; the goal is 9.00 Gbit/s with 0.000 %:\n\n{table}"))
}

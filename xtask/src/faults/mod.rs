//! `cargo xtask faults`: plants faults in a lab, measures, and holds what Seatrial says against what was planted.

mod gain;
mod hardware;
mod healthy;
mod judge;
mod network;
mod nfs;
mod order;
mod planted;
mod storage;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

pub use self::judge::Judged;
use self::planted::NODES;
pub use self::planted::{Planted, Strength, Who};
use crate::nodes::Nodes;
use crate::versus::ours;

/// Plant faults in a lab, measure, heal, and judge what Seatrial says of each.
///
/// It needs root, as `cargo xtask lab` does. Prints a table: who was named, who was blamed wrongly, whether the cause was told.
#[derive(clap::Args)]
pub struct Args {
    /// Only faults whose name contains one of these words.
    names: Vec<String>,
    /// Show the faults, and plant none.
    #[arg(long)]
    list: bool,
    /// Plant one in so many, by lot.
    #[arg(long, value_name = "N", default_value_t = 1)]
    one_in: u64,
    /// The number that the lot is drawn from [default: the time]
    #[arg(long)]
    seed: Option<u64>,
    /// The number of nodes of the lab.
    #[arg(long, default_value_t = 4)]
    nodes: u32,
    /// The binary [default: the release binary, built anew]
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Show what the report says of each fault.
    #[arg(long)]
    said: bool,
    /// Plant nothing, and measure so many times beside a program that takes up to 40 % of each CPU.
    #[arg(long, value_name = "N", conflicts_with_all = ["list", "healed"])]
    healthy: Option<u32>,
    /// Measure again when the fault is healed, and compare the gain with the predicted one; all links have 1 Gbit/s, and all disks
    /// 100 MB/s where one is throttled.
    #[arg(long)]
    healed: bool,
}

/// Plants what is asked for.
///
/// # Errors
/// When the lab cannot be made, a fault cannot be planted or healed, or a run gives no document. What the report says wrongly
/// is no error: it stands in the table.
pub fn run(args: &Args) -> Result<()> {
    let seed = args
        .seed
        .unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |at| at.as_secs()));
    let all = chosen(args, seed);
    ensure!(!all.is_empty(), "no fault has such a name; see --list");
    if args.list {
        all.iter().for_each(|fault| println!("{}, {}: {}", fault.name, fault.strength, fault.what));
        return Ok(());
    }
    println!("seed {seed}");
    let binary = match &args.binary {
        Some(binary) => binary.canonicalize().context("no such binary")?,
        None => {
            ours::build()?;
            ours::binary()
        }
    };
    if let Some(times) = args.healthy {
        return healthy::run(args, &binary, times);
    }
    let nodes = Nodes::named("faults", args.nodes);
    let mut judged = Vec::new();
    for fault in &all {
        if args.healed {
            shape(&nodes, fault, args.nodes)?;
        }
        let (document, seconds) = measured(&nodes, &binary, fault, args.nodes)
            .with_context(|| format!("{}, {}", fault.name, fault.strength))?;
        let mut one = Judged::of(fault, &document, seconds);
        if args.healed && one.gain.is_some() {
            shape(&nodes, fault, args.nodes)?;
            let (healed, _) = output(&nodes, &binary, fault, args.nodes)?;
            one.compare(&document, &healed);
        }
        if let Some([_, back]) = fault.level.as_ref().filter(|_| args.healed) {
            on(&nodes, args.nodes, &(NODES, back.clone()))?;
        }
        println!("{}", table::row(&one));
        if args.said {
            one.said.iter().for_each(|line| println!("    {line}"));
        }
        judged.push(one);
    }
    println!("\n{}", table::table(&judged));
    Ok(())
}

/// The faults that a report tells whatever the rates on a busy machine are, and within a minute and a half.
pub fn certain() -> Vec<Planted> {
    planted::all().into_iter().filter(|fault| fault.certain).collect()
}

/// What a run of simulated nodes says of each fault of hardware.
///
/// # Errors
/// When a run gives no document.
pub fn of_hardware<'a>(binary: &Path, faults: &'a [Planted]) -> Result<Vec<Judged<'a>>> {
    let told = |fault: &'a Planted| {
        let script = fault.script.as_ref()?;
        Some(simulated(binary, fault, script).map(|(document, s)| Judged::of(fault, &document, s)))
    };
    faults.iter().filter_map(told).collect()
}

/// All faults.
pub fn all() -> Vec<Planted> {
    planted::all()
}

fn chosen(args: &Args, seed: u64) -> Vec<Planted> {
    let is_named =
        |fault: &Planted| args.names.is_empty() || args.names.iter().any(|word| fault.name.contains(word));
    let named: Vec<Planted> = all().into_iter().filter(is_named).collect();
    let first = seed % args.one_in;
    named.into_iter().zip(0..).filter(|(_, at)| at % args.one_in == first).map(|(fault, _)| fault).collect()
}

/// The rate of all links where gains are compared. The nodes share the CPUs, so that without it the other nodes are faster while
/// one is slow than they are when it is healed.
const PORTS: &str = "rate=1gbit";

fn shape(nodes: &Nodes, fault: &Planted, count: u32) -> Result<()> {
    (1..=count).try_for_each(|number| nodes.fault(&format!("n{number}"), &[PORTS.to_owned()]))?;
    fault.level.iter().try_for_each(|[level, _]| on(nodes, count, &(NODES, level.clone())))
}

/// Runs a line on a host, or on so many nodes; the first error, after all were tried.
fn on(nodes: &Nodes, count: u32, (host, line): &(&str, String)) -> Result<()> {
    if *host != NODES {
        return nodes.on(host, line).map(drop);
    }
    let all: Vec<Result<String>> = (1..=count).map(|number| nodes.on(&format!("n{number}"), line)).collect();
    all.into_iter().try_for_each(|one| one.map(drop))
}

/// Takes the fault away; the first error, after every line was tried.
fn undo(nodes: &Nodes, fault: &Planted, count: u32) -> Result<()> {
    let undone: Vec<Result<()>> = fault.heal.iter().map(|line| on(nodes, count, line)).collect();
    nodes.heal()?;
    undone.into_iter().collect()
}

/// What a run says while the fault is there, and its seconds.
fn measured(nodes: &Nodes, binary: &Path, fault: &Planted, count: u32) -> Result<(Value, f64)> {
    if let Some(script) = &fault.script {
        return simulated(binary, fault, script);
    }
    let plant = || {
        fault.plant.iter().try_for_each(|line| on(nodes, count, line))?;
        (1..=count).try_for_each(|number| nodes.fault(&format!("n{number}"), &fault.of_all_by_lab))?;
        nodes.fault("n3", &fault.of_lab)
    };
    let planted = plant();
    if planted.is_err() {
        // Part of it may be there; undoing the rest is an error that says nothing.
        let _ = undo(nodes, fault, count);
        planted?;
    }
    let answer = output(nodes, binary, fault, count);
    // Whatever came of the run.
    undo(nodes, fault, count)?;
    answer
}

/// The document of a run as things are, and its seconds.
fn output(nodes: &Nodes, binary: &Path, fault: &Planted, count: u32) -> Result<(Value, f64)> {
    let all = format!("n[1-{count}]");
    let words = fault.run.iter().map(|word| if *word == NODES { &all } else { *word });
    let home = format!("SEATRIAL_HOME={}", ours::target().join("faults").display());
    let mut line = vec!["env", &home, binary.to_str().context("a path in UTF-8")?];
    line.extend(words);
    line.extend(["--share-hosts", "-o", "json"]);
    document(&mut nodes.command(&line)?)
}

/// The document of a run of simulated nodes that have the fault, and its seconds.
fn simulated(binary: &Path, fault: &Planted, script: &Value) -> Result<(Value, f64)> {
    let mut file = tempfile::NamedTempFile::new()?;
    serde_json::to_writer(&mut file, script)?;
    let mut command = Command::new(binary);
    command.args(fault.run).args(["-o", "json", "--script"]).arg(file.path());
    document(command.env("SEATRIAL_HOME", ours::target().join("faults")))
}

fn document(command: &mut Command) -> Result<(Value, f64)> {
    let start = Instant::now();
    let output = command.output()?;
    let seconds = start.elapsed().as_secs_f64();
    let complaint = String::from_utf8_lossy(&output.stderr);
    let document =
        serde_json::from_slice(&output.stdout).with_context(|| format!("no document: {complaint}"))?;
    Ok((document, seconds))
}

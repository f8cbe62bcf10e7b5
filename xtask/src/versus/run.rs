//! Measures the rows of an area and prints the table.

use anyhow::{Context, Result, bail, ensure};
use seatrial_stats::FEWEST_VALUES;

use super::{AREAS, Area, Paired, Rounds, table};
use crate::packages;

/// Compare Seatrial with its peers: in turn, same work, same cores.
#[derive(clap::Args)]
pub struct Args {
    /// What to compare.
    area: String,
    /// Rounds a row; a round is one turn of ours and two of the peer's. Of a multiple of six each side has each place equally
    /// often.
    #[arg(long, default_value_t = 12)]
    rounds: usize,
    /// Only rows whose name contains this; may be given several times.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Only name the rows, once everything for them is built and found.
    #[arg(long)]
    list: bool,
}

/// Runs the comparison.
///
/// # Errors
/// When there is no such area or row, a peer is missing, a side fails, or a goal is missed.
pub fn run(args: &Args) -> Result<()> {
    ensure!(
        args.rounds >= FEWEST_VALUES,
        "--rounds must be {FEWEST_VALUES} at least: fewer make no interval"
    );
    let area = find(&args.area)?;
    packages::ensure(area.packages)?;
    let mut rows = (area.rows)().with_context(|| format!("cannot prepare the area '{}'", area.name))?;
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|text| name.contains(text));
    rows.retain(|row| wanted(&row.name));
    let alone = area.alone.filter(|alone| wanted(alone.name));
    ensure!(!rows.is_empty() || alone.is_some(), "no row of '{}' contains the text of --only", area.name);

    if args.list {
        let names = rows.iter().map(|row| row.name.as_str()).chain(alone.iter().map(|alone| alone.name));
        names.for_each(|name| println!("{name}"));
        return Ok(());
    }
    let mut results = Vec::new();
    for mut row in rows {
        eprintln!("{}: {} rounds", row.name, args.rounds);
        let rounds =
            Rounds::measure(args.rounds, &mut row.ours, &mut row.peer).with_context(|| row.name.clone())?;
        let paired = Paired::of(&rounds, row.better, row.goal).with_context(|| row.name.clone())?;
        results.push((row.name, row.unit, row.goal, paired));
        // At once as well: an area takes most of an hour, and what was measured must not be lost with its end.
        eprintln!("{}", table(&results[results.len() - 1..]));
    }
    if !results.is_empty() {
        println!("{}\n{} rounds a row; {}.\n\n{}", area.about, args.rounds, machine(), table(&results));
    }
    if let Some(alone) = alone {
        println!("\n{}", (alone.table)()?);
    }
    let missed =
        results.iter().filter(|(_, _, _, paired)| paired.standing == super::Standing::Missed).count();
    ensure!(missed == 0, "{missed} of {} goals were missed", results.len());
    Ok(())
}

fn find(name: &str) -> Result<&'static Area> {
    if let Some(area) = AREAS.iter().copied().find(|area| area.name == name) {
        return Ok(area);
    }
    let known: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
    bail!("there is no area '{name}' to compare; there is: {}", known.join(", "))
}

/// Processor, how many threads of it, and kernel: without them a figure says nothing.
fn machine() -> String {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpus.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": unknown processor");
    let threads = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{}, {threads} threads, Linux {}", model.trim_start_matches([' ', '\t', ':']), kernel.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_area_is_refused_with_those_there_are() {
        let error = find("sailing").err().unwrap().to_string();
        assert!(error.contains("no area 'sailing'"), "{error}");
        for area in AREAS {
            assert!(error.contains(area.name), "{error}");
        }
    }

    #[test]
    fn too_few_rounds_are_refused_before_anything_runs() {
        let args = Args { area: "sailing".to_owned(), rounds: 5, only: Vec::new(), list: false };
        assert!(run(&args).unwrap_err().to_string().contains("--rounds must be 6"));
    }
}

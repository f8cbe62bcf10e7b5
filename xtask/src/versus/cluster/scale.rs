//! Thousands of nodes, simulated: what planning, scheduling, collecting, storing and judging cost with no work behind.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use serde_json::{Value, json};

use super::controller::{Cost, cost_of, median};
use super::journal::{self, DAY, time_of_day};
use crate::versus::ours::binary;

/// Sizes of the cluster. That a node costs the same in both shows that nothing grows with the square.
const SIZES: [u32; 2] = [1000, 4000];

/// Runs of which the median is told.
const RUNS: usize = 3;

/// Where the run folders go: the file system of temporary files, and memory, which takes the disk's time out.
const HOMES: [(&str, &str); 2] = [("disk", "/var/tmp"), ("memory", "/dev/shm")];

/// The cluster that is held against the goal, on a disk; the larger one would take minutes there.
const GOAL: (u32, f64, f64) = (1000, 10.0, 500.0);

/// Seconds that each part of a run took.
#[derive(Clone, Copy, Debug, Default)]
struct Stages {
    plan: f64,
    /// The folder with what the nodes are.
    site: f64,
    /// From the plan to the end of the last case: scheduling, collecting, reducing, storing.
    cases: f64,
    /// Findings over all nodes.
    judge: f64,
    print: f64,
}

/// Ten cases a node: five kernels with two kinds of stores.
const BENCH: &str = "run mem.bandwidth -p kernel=copy,scale,add,triad,write -p store=regular,nt -o json";

/// One case over all nodes: a flow from each to the next, and flows from each to each.
const EXCHANGES: [(&str, &str, bool); 2] = [
    ("net.all_to_all, shift=1", "run net.all_to_all -p shift=1 -o json", true),
    ("net.all_to_all, shift=all", "run net.all_to_all -o json", false),
];

/// The most nodes that exchange all with all.
const MOST_OF_ALL: u32 = 1024;

/// What is run on the simulated nodes.
struct Work {
    words: &'static str,
    script: Value,
    /// Cases that the journal must have.
    cases: usize,
}

/// A cluster of nodes of two cores on which every loop measures 60 GB/s.
fn script(count: u32) -> Value {
    let slices = |threads: u32, start: &str| {
        json!({ "channel": "slice", "at": { "threads": threads }, "unit": "GB", "span": "100 ms", "start": start,
                "amounts": [3.0 * f64::from(threads)], "repeat": 6, "noise_percent": 0.5 })
    };
    of_nodes(count, &json!([{ "samples": [slices(1, "0 ms"), slices(2, "600 ms")] }]))
}

/// A cluster of nodes that each receive 1 GB/s in so many flows.
fn exchange(count: u32, flows: u32) -> Value {
    let slices = json!({ "channel": "received", "at": { "thread": 0 }, "unit": "MB", "span": "25 ms", "start": "0 ms",
                         "amounts": [25.0], "repeat": 40, "noise_percent": 0.5 });
    let bytes = vec![(1_000_000_000 / u64::from(flows)).to_string(); flows as usize].join(" ");
    let received = json!([{ "window_ns": 1_000_000_000_u64, "bytes": bytes }]);
    of_nodes(count, &json!([{ "samples": [slices], "evidence": { "received": received } }]))
}

fn of_nodes(count: u32, rules: &Value) -> Value {
    let (gib, free) = (64_u64 << 30, json!({ "known": 60_000_000_000_u64 }));
    let thread =
        |id: u32| json!({ "id": id, "core": id, "node": 0, "l3": 0, "online": true, "allowed": true });
    let machine = json!({
        "cpu": { "isa": { "known": ["sse2", "avx2"] }, "threads": [thread(0), thread(1)] },
        "caches": { "instances": [{ "level": 3, "size_bytes": 32 << 20, "cpus": [0, 1] }] },
        "numa": [{ "id": 0, "cpus": [0, 1], "total_bytes": { "known": gib }, "available_bytes": free }],
        "memory": { "effective_available_bytes": free },
    });
    json!({ "schema": 1, "nodes": [{ "name": "n", "count": count, "machine": machine }], "rules": rules })
}

/// A row for each size and place; those on a disk only for the size of the goal.
pub fn table() -> Result<String> {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN);
    table.set_header([
        "work",
        "nodes",
        "run folder in",
        "plan",
        "inventory",
        "cases",
        "judge",
        "print",
        "total",
        "CPU",
        "CPU a node",
        "peak memory",
        "goal",
    ]);
    for (name, size, work) in works() {
        for (place, folder) in HOMES.into_iter().filter(|(place, _)| size == GOAL.0 || *place == "memory") {
            let mut runs = Vec::new();
            for _ in 0..RUNS {
                let run = one(&work, Path::new(folder));
                runs.push(run.with_context(|| format!("{name}, {size} nodes, {place}"))?);
            }
            let of = |value: fn(&(Cost, Stages)) -> f64| median(runs.iter().map(value).collect());
            let (total, peak) = (of(|run| run.0.seconds), of(|run| run.0.peak_mb));
            let cpu = of(|run| run.0.cpu_seconds);
            let goal = match (size == GOAL.0, total <= GOAL.1 && peak <= GOAL.2) {
                (false, _) => "-".to_owned(),
                (true, is_met) => {
                    let standing = if is_met { "met" } else { "missed" };
                    format!("{} s, {} MB: {standing}", GOAL.1, GOAL.2)
                }
            };
            let seconds = |value: f64| format!("{value:.2} s");
            table.add_row([
                name.to_owned(),
                size.to_string(),
                place.to_owned(),
                seconds(of(|run| run.1.plan)),
                seconds(of(|run| run.1.site)),
                seconds(of(|run| run.1.cases)),
                seconds(of(|run| run.1.judge)),
                seconds(of(|run| run.1.print)),
                seconds(total),
                seconds(cpu),
                format!("{:.2} ms", cpu / f64::from(size) * 1e3),
                format!("{peak:.0} MB"),
                goal,
            ]);
        }
    }
    Ok(table.to_string())
}

/// What is run, with a name and the number of nodes.
fn works() -> Vec<(&'static str, u32, Work)> {
    let mut works = Vec::new();
    for size in SIZES {
        let many = Work { words: BENCH, script: script(size), cases: 10 * size as usize };
        works.push(("10 cases a node", size, many));
        for (name, words, is_permutation) in EXCHANGES {
            if is_permutation || size <= MOST_OF_ALL {
                let script = exchange(size, if is_permutation { 1 } else { size - 1 });
                works.push((name, size, Work { words, script, cases: 1 }));
            }
        }
    }
    works
}

fn one(work: &Work, folder: &Path) -> Result<(Cost, Stages)> {
    let home = folder.join(format!("seatrial-versus-{}", std::process::id()));
    fs::create_dir_all(&home)?;
    let done = measured(work, &home);
    let removed = fs::remove_dir_all(&home);
    let done = done?;
    removed.context("cannot remove the run folder of a round")?;
    Ok(done)
}

fn measured(work: &Work, home: &Path) -> Result<(Cost, Stages)> {
    let file = home.join("script.json");
    fs::write(&file, work.script.to_string())?;
    let mut command = Command::new(binary());
    command.args(work.words.split(' ')).arg("--script").arg(&file).env("SEATRIAL_HOME", home);
    command.stdout(fs::File::create(home.join("out"))?).stderr(fs::File::create(home.join("err"))?);
    let start = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64();
    let cost =
        cost_of(&mut command).with_context(|| fs::read_to_string(home.join("err")).unwrap_or_default())?;
    Ok((cost, stages(home, start, start + cost.seconds, work.cases)?))
}

/// What the journal says of when each stage ended.
fn stages(home: &Path, start: f64, end: f64, wanted: usize) -> Result<Stages> {
    let run = journal::run(home)?;
    let info: Value = serde_json::from_slice(&fs::read(run.join("run.json"))?)?;
    let info = if info["run"].is_object() { &info["run"] } else { &info };
    let events = journal::events(&run)?;
    let of = |kind: &'static str| events.iter().filter(move |(_, event)| event["event"] == kind);
    let (planned, _) = of("round_planned").next().context("no plan")?;
    let (last, _) = of("case_ended").next_back().context("no case")?;
    let cases = of("case_ended").count();
    ensure!(cases == wanted, "{cases} cases, not {wanted}");
    let started = info["started"].as_str().and_then(time_of_day).context("no start")?;
    let ended = info["ended"]["at"].as_str().and_then(time_of_day).context("no end")?;
    let between = |from: f64, to: f64| (to - from).rem_euclid(DAY);
    Ok(Stages {
        plan: between(start, started),
        site: between(started, *planned),
        cases: between(*planned, *last),
        judge: between(*last, ended),
        print: between(ended, end),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_told_apart_also_over_midnight() {
        let home = std::env::temp_dir().join(format!("seatrial-stages-{}", std::process::id()));
        let run = home.join("runs/one");
        fs::create_dir_all(&run).unwrap();
        let info = r#"{"run": {"started": "2026-01-01T23:59:58Z", "ended": {"at": "2026-01-02T00:00:04Z"}}}"#;
        fs::write(run.join("run.json"), info).unwrap();
        let event =
            |at: &str, what: &str| format!("{{\"at\":\"{at}\",\"event\":{{\"event\":\"{what}\"}}}}\n");
        let mut events = event("2026-01-01T23:59:59Z", "round_planned");
        (0..10).for_each(|_| events += &event("2026-01-02T00:00:03Z", "case_ended"));
        fs::write(run.join("events.jsonl"), events).unwrap();
        let stages = stages(&home, 86397.0, 86405.0, 10);
        fs::remove_dir_all(&home).unwrap();
        let stages = stages.unwrap();
        let all = [stages.plan, stages.site, stages.cases, stages.judge, stages.print];
        assert_eq!(all, [1.0, 1.0, 4.0, 1.0, 1.0]);
    }
}

//! IOR's and mdtest's side: one rank, blocking calls, and the tables that they print.
//!
//! IOR fills its buffer once and looks at nothing that it reads, so ours does the same (`verify=none`). Both write and read a
//! file that is there, once, past the page cache. mdtest makes, looks at and removes empty files; ours does so among other
//! operations, each with all files.

use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use seatrial_model::Unit;
use seatrial_stats::Better;
use serde_json::Value;

use super::places::{Place, Places};
use crate::versus::ours::{here, trial, value};
use crate::versus::peer::{AUTOTOOLS, Peer};
use crate::versus::{Figure, Row, Taking};

pub const IOR: Peer = Peer {
    name: "ior",
    area: "storage",
    url: "https://github.com/hpc/ior",
    commit: "5fcf0ba995fd92164d50e344597e2d8203298c08",
    packages: AUTOTOOLS,
    build: "./bootstrap && ./configure --quiet && make --quiet -C src ior mdtest",
    programs: &["src/ior", "src/mdtest"],
};

/// MiB of the file.
const MIB: u64 = 512;

/// Files of mdtest.
const FILES: &str = "5000";

/// The operations that both have, as mdtest and as ours names them.
const OPERATIONS: [(&str, &str); 3] =
    [("File creation", "create"), ("File stat", "stat"), ("File removal", "unlink")];

pub fn rows(places: &Rc<Places>, place: Place) -> Vec<Row> {
    let stream = |operation: &'static str| {
        let figure = Figure {
            name: format!("{place}, sequential {operation}, 1 MiB, blocking, once vs ior"),
            unit: Unit::MegabytesPerSecond,
            better: Better::Higher,
            goal: Some(1.0),
        };
        let (ours, theirs) = (Rc::clone(places), Rc::clone(places));
        let ours = move || once(ours.folder(place)?, operation);
        Row::one(figure, ours, move || ior(theirs.folder(place)?, operation))
    };
    let rate = |number: usize| Figure {
        name: format!("{place}, metadata, {} vs mdtest", OPERATIONS[number].1),
        unit: Unit::PerSecond,
        better: Better::Higher,
        goal: Some(1.0),
    };
    let rates: [Taking<[f64; 3]>; 3] =
        [(rate(0), |told| told[0]), (rate(1), |told| told[1]), (rate(2), |told| told[2])];
    let (ours, theirs) = (Rc::clone(places), Rc::clone(places));
    let ours = move || metadata(ours.folder(place)?);
    let metadata = Row::several(rates, ours, move || mdtest(theirs.folder(place)?));
    let rows = [stream("write"), stream("read"), metadata];
    rows.map(|row| row.unless(|| IOR.hindrance())).into()
}

/// One pass of `storage.file` over a file that is there, in MB/s.
fn once(folder: &Path, operation: &str) -> Result<f64> {
    let mut params = vec![
        format!("operation={operation}"),
        format!("directory={}", folder.display()),
        format!("size={MIB} MiB"),
    ];
    params.extend((operation == "write").then(|| "overwrite=true".to_owned()));
    params.extend(
        ["threads=1", "block=1 MiB", "depth=1", "engine=sync", "work=once", "sync=none", "verify=none"]
            .map(str::to_owned),
    );
    trial(here(), "storage.file", &params, |record, _| value(record, "last_done", "median"))
}

/// The rates of a trial of `storage.metadata`.
fn metadata(folder: &Path) -> Result<[f64; 3]> {
    let params =
        [format!("directory={}", folder.display()), format!("files={FILES}"), "verify=none".to_owned()];
    trial(here(), "storage.metadata", &params, |record, _| {
        let rows = record["series"]["by_operation"]["rows"].as_array();
        let rows = rows.with_context(|| format!("no rates: {} {}", record["outcome"], record["reason"]))?;
        let rate = |wanted: &str| {
            let row = rows.iter().find(|row: &&Value| row["at"]["operation"] == wanted);
            row.and_then(|row| row["summary"]["median"].as_f64())
                .with_context(|| format!("no rate of {wanted}"))
        };
        Ok([rate(OPERATIONS[0].1)?, rate(OPERATIONS[1].1)?, rate(OPERATIONS[2].1)?])
    })
}

/// A file of IOR's own is there from its first turn on.
fn ior(folder: &Path, operation: &str) -> Result<f64> {
    let (file, size) = (folder.join("ior"), format!("{MIB}m"));
    let run = |option: &str| {
        let mut command = pinned(&IOR.program("src/ior")?)?;
        command.args(["-a", "POSIX", "--posix.odirect", "-t", "1m", "-b", &size, "-k", "-E", option, "-o"]);
        output(command.arg(&file))
    };
    if !file.is_file() {
        run("-w")?;
    }
    let text = run(if operation == "write" { "-w" } else { "-r" })?;
    let seconds = seconds(&text, operation).with_context(|| format!("ior printed no {operation}: {text}"))?;
    Ok((MIB << 20) as f64 / seconds / 1e6)
}

fn mdtest(folder: &Path) -> Result<[f64; 3]> {
    let folder = folder.join("mdtest");
    let mut command = pinned(&IOR.program("src/mdtest")?)?;
    command.args(["-F", "-C", "-T", "-r", "-n", FILES, "-d"]).arg(&folder);
    let text = output(&mut command)?;
    let rate = |wanted: &str| rate(&text, wanted).with_context(|| format!("mdtest: no {wanted}: {text}"));
    Ok([rate(OPERATIONS[0].0)?, rate(OPERATIONS[1].0)?, rate(OPERATIONS[2].0)?])
}

/// A program as the only rank of its job, on the CPU of our thread.
fn pinned(program: &Path) -> Result<Command> {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120", "taskset", "-c", &super::ours::cpu()?.to_string()]).arg(program);
    Ok(command)
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().context("cannot start the peer")?;
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "it ended with {}: {said} {text}", output.status);
    Ok(text.into_owned())
}

/// The time of the calls alone, by the name of the column; without opening and closing.
fn seconds(text: &str, operation: &str) -> Option<f64> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = text.lines().map(words).collect();
    let column = lines.iter().find_map(|words| words.iter().position(|word| word == "wr/rd(s)"))?;
    lines
        .iter()
        .find(|words| words.first().is_some_and(|first| first == operation))?
        .get(column)?
        .parse()
        .ok()
}

/// The first number behind the name of an operation.
fn rate(text: &str, operation: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(operation))?;
    line.split_whitespace().find_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_ior_is_found_by_its_column_and_a_rate_of_mdtest_by_its_name() {
        let table = "access              : single-shared-file\n\
                     access    bw(MiB/s)  IOPS  Latency(s)  block(KiB) xfer(KiB)  open(s)  wr/rd(s)  close(s)  total(s)  iter\n\
                     ------    ---------  ----  ----------  ---------- ---------  -------  --------  --------  --------  ----\n\
                     write     284.17     284   0.035106    10240      1024.00    0.0011   0.3510    0.0001    0.3519    0\n\
                     read      500.00     500   0.002000    10240      1024.00    0.0001   0.2000    0.0001    0.2002    0\n\
                     Max Write: 284.17 MiB/sec (297.98 MB/sec)\n";
        assert_eq!((seconds(table, "write"), seconds(table, "read")), (Some(0.351), Some(0.2)));
        assert_eq!(seconds("Max Write: 1", "write"), None);
        let rates = "   Operation       Max      Min     Mean\n   File creation  50000.5  50000.5  50000.5\n";
        assert_eq!((rate(rates, "File creation"), rate(rates, "File stat")), (Some(50000.5), None));
    }
}

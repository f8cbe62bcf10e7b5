//! elbencho's side: libaio with the depth, past the page cache, and its result file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use seatrial_sys::root::SysRoot;

use super::places::{Place, Places};
use super::{Figures, Job, SECONDS, SIZE, Turn};
use crate::packages::search_path;

/// Names the program where it is not on the search path: it is no Debian package.
pub const PROGRAM: &str = "ELBENCHO";

/// The program.
///
/// # Errors
/// When nobody named one and none is on the search path, or what was named is not a file.
pub fn program() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(PROGRAM).map(PathBuf::from) {
        ensure!(named.is_file(), "{PROGRAM}={} is not a file", named.display());
        return Ok(named);
    }
    let mut places = search_path().into_iter().map(|folder| folder.join("elbencho"));
    let found = places.find(|path| path.is_file());
    found.with_context(|| format!("not found on the search path, and {PROGRAM} names none"))
}

/// One turn, on a file of its own. One that is read is laid out before, as ours is.
pub fn turn(places: &Rc<Places>, place: Place, job: Job) -> Turn {
    let places = Rc::clone(places);
    Box::new(move || {
        let program = program()?;
        let folder = places.folder(place)?;
        let (result, file) = (folder.join("elbencho.csv"), folder.join("elbencho.file"));
        // What the turn before left: the result would be the first that is read, and the file no fresh one.
        remove(&result)?;
        remove(&file)?;
        if !job.write {
            let mut command = common(&program, Job { block: "1m", depth: 8, ..job });
            run(command.arg("--write").arg(&file)).context("laying out the file to read")?;
        }
        let mut command = common(&program, job);
        if job.write {
            // Fresh and reserved, as ours is.
            command.args(["--write", "--preallocfile"]);
        } else {
            command.arg("--read");
        }
        if job.random {
            command.arg("--rand");
        }
        // Over and over, until the time is over.
        command.args(["--infloop", "--timelimit", &SECONDS.to_string()]);
        command.args(["--cores", &super::ours::cpu()?.to_string()]);
        let before = spent_by_children()?;
        run(command.arg("--csvfile").arg(&result).arg(&file))?;
        let spent = spent_by_children()? - before;
        let table = std::fs::read_to_string(&result).context("elbencho's results")?;
        figures(&table, spent)
    })
}

/// Removes a file that need not be there.
pub(super) fn remove(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

fn common(program: &Path, job: Job) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120"]).arg(program).args(["--threads", "1", "--direct", "--nolive"]);
    command.args(["--size", SIZE, "--block", job.block, "--iodepth", &job.depth.to_string()]);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().context("cannot start elbencho")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "elbencho ended with {}: {said} {text}", output.status);
    Ok(())
}

/// Seconds on CPUs of all processes that this one started and waited for, and of theirs (`cutime` and `cstime`,
/// proc_pid_stat(5)): what elbencho tells of CPUs is the whole machine's. Its start and its preallocation are among them.
fn spent_by_children() -> Result<f64> {
    let text = SysRoot::live().text("/proc/self/stat")?;
    spent(&text, seatrial_sys::libc_info::ticks_per_second())
        .with_context(|| format!("/proc/self/stat: {text}"))
}

fn spent(stat: &str, ticks_per_second: u64) -> Option<f64> {
    // The name may hold anything; what stands behind it begins with the third field.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    Some((ticks(16)? + ticks(17)?) / ticks_per_second as f64)
}

/// Reads the result file: a line of names, and one of values for the only phase, for which `spent` seconds of CPUs went.
fn figures(table: &str, spent: f64) -> Result<Figures> {
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, values) = lines.next().zip(lines.next()).context("elbencho wrote no result")?;
    let value = |wanted: &str| {
        let at = names.iter().position(|name| *name == wanted).with_context(|| format!("no {wanted}"))?;
        let text = values.get(at).with_context(|| format!("no value of {wanted}"))?;
        text.parse::<f64>().with_context(|| format!("{wanted}: {text}"))
    };
    let iops = value("IOPS [last]")?;
    let blocks = iops * value("time ms [last]")? / 1e3;
    ensure!(blocks > 0.0, "elbencho moved nothing");
    Ok(Figures {
        iops,
        // In MiB.
        megabytes: value("MiB/s [last]")? * 1.048_576,
        cpu: spent * 1e6 / blocks,
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_the_names_of_their_columns() {
        let head = "operation,time ms [last],IOPS [last],MiB/s [last]\n";
        let told = figures(&format!("{head}READ,2000,250000,1000\n"), 1.5).unwrap();
        assert_eq!((told.iops, told.megabytes, told.cpu), (250_000.0, 1048.576, 3.0));
        for wrong in
            ["operation\n", head, &format!("{head}READ,2000,x,1\n"), &format!("{head}READ,2000,0,0\n")]
        {
            assert!(figures(wrong, 1.5).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_time_of_children_is_found_behind_whatever_name() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 0 9 8 7 6 11 12 130 20 20 0 1 0";
        assert_eq!(spent(stat, 100), Some(1.5));
        assert_eq!(spent("7 (short) S 1", 100), None);
        assert!(spent_by_children().unwrap() >= 0.0);
    }
}

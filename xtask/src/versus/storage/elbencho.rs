//! elbencho's side: libaio with the depth, past the page cache, and its result file.

use std::cell::Cell;
use std::process::{Command, Stdio};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};

use super::places::{Place, Places};
use super::{Figures, Job, SECONDS, SIZE, Turn};

/// Whether it is installed. It is no Debian package.
pub fn is_there() -> bool {
    let mut command = Command::new("elbencho");
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// One turn, on a file that is laid out before the first.
pub fn turn(places: &Rc<Places>, place: Place, job: Job) -> Turn {
    let places = Rc::clone(places);
    let laid_out = Cell::new(false);
    Rc::new(move || {
        let folder = places.folder(place)?;
        let (file, result) = (folder.join("elbencho"), folder.join("elbencho.csv"));
        if !laid_out.replace(true) {
            let mut command = common(Job { block: "1m", depth: 8, ..job });
            run(command.arg("--write").arg(&file)).context("laying out the file to read")?;
        }
        let mut command = common(job);
        command.arg(if job.write { "--write" } else { "--read" });
        if job.random {
            command.arg("--rand");
        }
        // Over and over, until the time is over.
        command.args(["--infloop", "--timelimit", &SECONDS.to_string()]);
        command.args(["--cores", &super::ours::cpu()?.to_string()]);
        run(command.arg("--csvfile").arg(&result).arg(&file))?;
        let table = std::fs::read_to_string(&result).context("elbencho's results")?;
        std::fs::remove_file(&result)?;
        figures(&table)
    })
}

fn common(job: Job) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120", "elbencho", "--threads", "1", "--direct", "--nolive"]);
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

/// Reads the result file: a line of names, and one of values for the only phase.
fn figures(table: &str) -> Result<Figures> {
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, values) = lines.next().zip(lines.next()).context("elbencho wrote no result")?;
    let value = |wanted: &str| {
        let at = names.iter().position(|name| *name == wanted).with_context(|| format!("no {wanted}"))?;
        let text = values.get(at).with_context(|| format!("no value of {wanted}"))?;
        text.parse::<f64>().with_context(|| format!("{wanted}: {text}"))
    };
    Ok(Figures {
        iops: value("IOPS [last]")?,
        // In MiB.
        megabytes: value("MiB/s [last]")? * 1.048_576,
        ..Figures::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_the_names_of_their_columns() {
        let told = figures("operation,IOPS [last],MiB/s [last]\nREAD,250000,1000\n").unwrap();
        assert_eq!((told.iops, told.megabytes), (250_000.0, 1048.576));
        assert!(figures("operation\n").is_err() && figures("operation,IOPS [last]\nREAD,x\n").is_err());
    }
}

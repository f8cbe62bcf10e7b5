//! The original program: fetched, built outside the repository, run, read.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace;

/// Where it comes from. Nothing of it is kept here.
const SOURCE: &str = "https://github.com/jjdmol/cobalt2-compliance";

/// Names a folder that holds the source already, for machines without a way to the above.
const FOLDER: &str = "COBALT2_COMPLIANCE";

/// It waits for ever where it does not get 180 threads; it runs for 25 s otherwise.
const PATIENCE_SECONDS: &str = "300";

/// The program in a folder of its own, which goes when this does.
pub struct Original {
    folder: PathBuf,
}

impl Original {
    /// Fetches and builds it.
    ///
    /// # Errors
    /// When its source is not to be had, or the compiler or the library it needs is missing.
    pub fn build() -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("seatrial-versus-cobalt2-{}", std::process::id()));
        let original = Self { folder };
        std::fs::create_dir_all(&original.folder).context("cannot make a folder for the original")?;
        let source = original.source()?;
        let mut gcc = Command::new("gcc");
        // The flags of its Makefile, and the two of its files that belong to this program.
        gcc.args(["-Wall", "-O3", "-fopenmp"]).args([source.join("mem-test.c"), source.join("common.c")]);
        gcc.arg("-o").arg(original.program()).args(["-lnuma", "-lpthread"]);
        workspace::run(&mut gcc)
            .context("the original does not build; it needs numa.h (`apt-get install libnuma-dev`)")?;
        Ok(original)
    }

    fn source(&self) -> Result<PathBuf> {
        if let Some(folder) = std::env::var_os(FOLDER) {
            let folder = PathBuf::from(folder);
            ensure!(folder.join("mem-test.c").is_file(), "{FOLDER}={} has no mem-test.c", folder.display());
            return Ok(folder);
        }
        let folder = self.folder.join("source");
        let mut clone = Command::new("git");
        clone.args(["clone", "--quiet", "--depth", "1", SOURCE]).arg(&folder);
        workspace::run(&mut clone)
            .with_context(|| format!("cannot fetch {SOURCE}; name a folder that holds it in {FOLDER}"))?;
        Ok(folder)
    }

    fn program(&self) -> PathBuf {
        self.folder.join("mem-test")
    }

    /// Runs it once and returns its measured speed in Gbit/s.
    ///
    /// # Errors
    /// When it fails, waits for ever, or says nothing that is a speed.
    pub fn run(&self) -> Result<f64> {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE_SECONDS).arg(self.program());
        // With fewer threads than it counts on it would hang.
        command.env("OMP_DYNAMIC", "false").env_remove("OMP_THREAD_LIMIT").env_remove("OMP_PROC_BIND");
        let output = command.output().context("cannot start the original")?;
        ensure!(output.status.success(), "the original: {}", ended(&output));
        speed(&String::from_utf8_lossy(&output.stdout))
    }
}

impl Drop for Original {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

fn remove(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder) {
        eprintln!("cannot remove {}: {error}", folder.display());
    }
}

fn ended(output: &std::process::Output) -> String {
    match output.status.code() {
        Some(124) => format!("still not done after {PATIENCE_SECONDS} s: it does not get its 180 threads"),
        _ => format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)),
    }
}

/// The number in its line `Measured speed:  540.12 Gbit/s (76.94% of desired)`.
fn speed(text: &str) -> Result<f64> {
    let Some(line) = text.lines().find_map(|line| line.strip_prefix("Measured speed:")) else {
        bail!("the original printed no measured speed");
    };
    let (number, _) = line.split_once("Gbit/s").context("its speed is not in Gbit/s")?;
    number.trim().parse().with_context(|| format!("'{}' is no speed", number.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_speed_of_the_summary_and_not_of_a_thread() {
        let text = "Read  (a step): Ran for 25.17s at 3.00 Gbit/s, 0.00% late.\nTest version:    1.0\n\
                    Desired speed:   702.00 Gbit/s\nMeasured speed:  540.12 Gbit/s (76.94% of desired)\n";
        assert_eq!(speed(text).unwrap(), 540.12);
    }

    #[test]
    fn a_run_without_a_speed_is_an_error() {
        assert!(speed("Initialising...\n").unwrap_err().to_string().contains("no measured speed"));
        assert!(speed("Measured speed: fast\n").is_err());
    }
}

//! Collects what the generators make, and writes it or compares it.

use anyhow::{Result, bail};

use super::tree::{File, Stale, Tree};
use super::{benchmarks, cli, diagnosis, performance, schema, settings};
use crate::workspace;

/// Regenerate what is made from the code: JSON schema, man pages, completions, reference pages.
#[derive(clap::Args)]
pub struct Args {
    /// Write nothing; fail and name the files that are not what the code makes.
    #[arg(long)]
    pub check: bool,
}

/// Folders in which every file is generated, and the generated files that stand elsewhere are none of.
const FOLDERS: &[&str] = &["completions", "docs/benchmarks", "docs/man", "docs/performance", "docs/schema"];

/// Writes or checks the generated files.
///
/// # Errors
/// When a generator fails, a file cannot be read or written, or the check finds a stale one.
pub fn run(args: &Args) -> Result<()> {
    let tree = Tree { root: workspace::root(), folders: FOLDERS, files: files()? };
    let stale = tree.stale()?;
    if args.check {
        return report(&stale);
    }
    for one in &stale {
        tree.mend(one)?;
        println!("{one}");
    }
    println!("{} generated files, {} of them brought up to date", tree.files.len(), stale.len());
    Ok(())
}

fn files() -> Result<Vec<File>> {
    let mut files = vec![schema::document()?, schema::settings()?];
    files.extend(cli::man_pages(&seatrial::command())?);
    files.extend(cli::completions(&seatrial::command()));
    files.push(cli::reference(&seatrial::command()));
    files.extend(benchmarks::pages(&seatrial_registry::REGISTRY));
    files.extend(performance::files()?);
    files.push(diagnosis::page(seatrial_analysis::CAUSES));
    files.push(settings::page(&seatrial_settings::registry().abouts().collect::<Vec<_>>()));
    Ok(files)
}

fn report(stale: &[Stale]) -> Result<()> {
    if stale.is_empty() {
        return Ok(());
    }
    let lines: String = stale.iter().map(|one| format!("\n  {one}")).collect();
    bail!("generated files are stale; run `cargo xtask generate` and commit the result:{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generated_file_has_its_own_path_and_ends_with_a_line_end() {
        let files = files().unwrap();
        let mut paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), files.len());
        for file in &files {
            assert!(file.text.ends_with('\n') && !file.text.ends_with("\n\n"), "{}", file.path);
        }
    }

    #[test]
    fn making_the_files_twice_gives_the_same() {
        assert_eq!(files().unwrap(), files().unwrap());
    }

    #[test]
    fn a_stale_file_fails_the_check_by_name() {
        assert!(report(&[]).is_ok());
        let error = report(&[Stale::Changed("docs/cli.md".to_owned())]).unwrap_err();
        assert!(error.to_string().contains("cargo xtask generate"), "{error}");
        assert!(error.to_string().contains("docs/cli.md"), "{error}");
    }
}

//! `cargo xtask fresh`: the README's promise, kept or not, on a Debian with a Rust toolchain, `cc` and nothing else.

mod pass;
mod root;

use anyhow::{Context, Result, ensure};

use self::pass::Pass;
use self::root::Root;
use crate::interrupt::Interrupt;
use crate::{packages, workspace};

/// Run the README's commands on a bare Debian, as a plain user and as root.
///
/// It needs root, Debian and its archive, about 20 GB of disk, and an hour or two. The bare Debian lies in target/fresh
/// and is removed at the end. What is not committed does not come along.
#[derive(clap::Args)]
pub struct Args {
    /// As a plain user only.
    #[arg(long, conflicts_with = "root_only")]
    user_only: bool,
    /// As root only.
    #[arg(long)]
    root_only: bool,
    /// Leave the bare Debian where it is at the end.
    #[arg(long)]
    keep: bool,
    /// Instead of the README's commands, for example `ls /`.
    #[arg(long, value_name = "LINE")]
    command: Option<String>,
}

impl Args {
    /// As whom, in turn: root installs packages, which a plain user then would find.
    fn users(&self) -> Vec<&'static str> {
        let all = [("tester", !self.root_only), ("root", !self.user_only)];
        all.iter().filter(|(_, is_wanted)| *is_wanted).map(|(user, _)| *user).collect()
    }
}

/// Runs the commands and prints what each came to.
///
/// # Errors
/// When the bare Debian cannot be made, a command fails, or, as root, a test was skipped.
pub fn run(args: &Args) -> Result<()> {
    ensure!(packages::is_root() && packages::has_apt(), "a bare Debian is made by root, on Debian");
    packages::require(packages::FRESH)?;
    let interrupt = Interrupt::hold_back()?;
    let root = Root::make(&workspace::root().join("target/fresh"), args.keep)?;
    let commands = match &args.command {
        Some(line) => vec![line.clone()],
        None => commands(&root.read("README.md")?)?,
    };
    let mut passes: Vec<Pass> = Vec::new();
    for user in args.users() {
        for line in &commands {
            interrupt.check()?;
            eprintln!("== as {user}: {line}");
            passes.push(Pass::run(&root, user, line, &interrupt)?);
        }
    }
    interrupt.check()?;
    println!("{}", passes.iter().map(Pass::to_string).collect::<Vec<_>>().join("\n"));
    ensure!(passes.iter().all(|pass| pass.fault().is_none()), "the README does not hold on a bare Debian");
    Ok(())
}

/// The lines of the README's first console block that holds commands of cargo only.
fn commands(readme: &str) -> Result<Vec<String>> {
    let blocks = readme.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    let command = |line: &str| {
        let line = line.strip_prefix("$ ")?.split(" # ").next()?.trim();
        line.starts_with("cargo ").then(|| line.to_owned())
    };
    let mut commands = blocks.filter_map(|block| block.lines().map(command).collect::<Option<Vec<String>>>());
    commands.next().context("no console block of the README holds commands of cargo only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_says_what_is_run() {
        let readme = std::fs::read_to_string(workspace::root().join("README.md")).unwrap();
        let commands = commands(&readme).unwrap();
        assert!(commands.iter().any(|line| line.ends_with(" xtask test")), "{commands:?}");
        assert!(commands.iter().all(|line| !line.contains('#')), "{commands:?}");
    }

    #[test]
    fn a_block_with_other_programs_or_their_output_is_not_taken() {
        let text = "```console\n$ cargo a\nits output\n```\n```console\n$ cargo b  # why\n$ cargo c\n```\n";
        assert_eq!(commands(text).unwrap(), ["cargo b", "cargo c"]);
        assert!(commands("```console\n$ seatrial check\n```\n").is_err());
    }
}

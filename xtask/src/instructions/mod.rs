//! `cargo xtask instructions`: the instructions of a round of each hot loop, held against kept numbers.
//!
//! A hot loop is a unit test in a module `hot_loops` that calls `seatrial_testkit::hot_loop`. valgrind runs it twice, with few
//! and with many rounds: what differs is the loop alone, the same on every machine with the same compiler, whatever else it
//! does. The processor that valgrind shows to programs has AVX2 where that of the machine has it, and never AVX-512.

mod count;
mod kept;
mod programs;

use anyhow::{Result, ensure};

use crate::packages;
pub use kept::KeptLoops;

/// Count the instructions of the hot loops, and compare them with those that were kept.
///
/// It needs valgrind and an x86-64 with AVX2. Figures of another compiler are not compared.
#[derive(clap::Args)]
pub struct Args {
    /// Keep what is counted in place of what was kept.
    #[arg(long)]
    pub keep: bool,
}

/// A loop that takes more than so many times the kept instructions fails.
const MOST: f64 = 1.01;

/// Builds and counts.
///
/// # Errors
/// When a loop takes more instructions than it may, none were kept for it, or it is gone; when something cannot be built or run.
pub fn run(args: &Args) -> Result<()> {
    if !has_avx2() {
        println!("instructions are not compared: they are kept for an x86-64 with AVX2");
        return Ok(());
    }
    packages::ensure(packages::INSTRUCTIONS)?;
    if let Some(missing) = packages::missing_now(packages::INSTRUCTIONS).first() {
        println!("skipped: {} is missing", missing.name);
        return Ok(());
    }
    let compiler = programs::compiler()?;
    let kept = KeptLoops::read()?;
    if !args.keep && kept.compiler != compiler {
        println!(
            "instructions are not compared: they are kept for rustc {}, this is {compiler}",
            kept.compiler
        );
        return Ok(());
    }
    let counted = KeptLoops {
        compiler,
        rounds: programs::build()?
            .iter()
            .map(count::rounds)
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect(),
    };
    if args.keep {
        return counted.write();
    }
    let found = compare(&kept, &counted);
    println!("{}", found.table);
    ensure!(
        found.wrong.is_empty(),
        "{}\nIf that is meant: cargo xtask instructions --keep, and say why in the commit",
        found.wrong.join("\n")
    );
    Ok(())
}

fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

struct Found {
    table: String,
    wrong: Vec<String>,
}

fn compare(kept: &KeptLoops, counted: &KeptLoops) -> Found {
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for (name, now) in &counted.rounds {
        let Some(before) = kept.rounds.get(name) else {
            wrong.push(format!("{name}: {now} instructions a round, and none are kept"));
            continue;
        };
        lines.push(format!("{:8.4}  {now:>12}  {name}", now / before));
        if *now > before * MOST {
            wrong.push(format!("{name}: {now} instructions a round, {before} are kept"));
        }
    }
    let gone = kept.rounds.keys().filter(|name| !counted.rounds.contains_key(*name));
    wrong.extend(gone.map(|name| format!("{name}: is kept, and there is no such loop")));
    let head = "   ratio  instructions  a round of";
    Found { table: format!("{head}\n{}", lines.join("\n")), wrong }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(rounds: &[(&str, f64)]) -> KeptLoops {
        let rounds = rounds.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        KeptLoops { compiler: "1.0".to_owned(), rounds }
    }

    #[test]
    fn more_instructions_a_new_loop_and_a_lost_one_are_wrong() {
        let before = kept(&[("a", 1000.0), ("b", 1000.0), ("c", 1000.0)]);
        let found = compare(&before, &kept(&[("a", 1009.0), ("b", 1011.0), ("d", 5.0)]));
        let wanted = [
            "b: 1011 instructions a round, 1000 are kept",
            "d: 5 instructions a round, and none are kept",
            "c: is kept, and there is no such loop",
        ];
        assert_eq!(found.wrong, wanted);
        assert!(found.table.contains("1.0090          1009  a"), "{}", found.table);
        assert!(compare(&before, &before).wrong.is_empty());
    }
}

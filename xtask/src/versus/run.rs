//! Measures the rows of an area and prints the table.

use anyhow::{Context, Result, bail, ensure};
use seatrial_stats::FEWEST_VALUES;

use super::table::{Line, Outcome, note, rounds, table};
use super::{AREAS, Area, Paired, Row, Standing, Taken, Who};
use crate::packages;

/// Compare Seatrial with its peers: in turn, same work, same cores.
#[derive(clap::Args)]
pub struct Args {
    /// What to compare.
    area: String,
    /// Rounds a row; a round is one turn of ours and two of the peer's. Of a multiple of six each side has each place equally
    /// often. A round in which a turn fails is taken again at the end, a third of these at most.
    #[arg(long, default_value_t = 12)]
    rounds: usize,
    /// Only rows whose name contains this; may be given several times.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Only name the rows; nothing is built or started.
    #[arg(long)]
    list: bool,
}

/// Runs the comparison.
///
/// # Errors
/// When there is no such area or row, or a peer is missing; after all rows, when one was not taken or a goal is missed.
pub fn run(args: &Args) -> Result<()> {
    ensure!(
        args.rounds >= FEWEST_VALUES,
        "--rounds must be {FEWEST_VALUES} at least: fewer make no interval"
    );
    let area = find(&args.area)?;
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|text| name.contains(text));
    let mut rows = (area.rows)();
    rows.retain(|row| row.figures.iter().any(|figure| wanted(&figure.name)));
    let alone = area.alone.filter(|alone| wanted(alone.name));
    ensure!(!rows.is_empty() || alone.is_some(), "no row of '{}' contains the text of --only", area.name);

    if args.list {
        let figures = rows.iter().flat_map(|row| &row.figures).map(|figure| figure.name.as_str());
        let names = figures.filter(|name| wanted(name)).chain(alone.iter().map(|alone| alone.name));
        names.for_each(|name| println!("{name}"));
        return Ok(());
    }
    packages::ensure(area.packages)?;
    (area.prepare)().with_context(|| format!("cannot prepare the area '{}'", area.name))?;
    let (mut lines, mut notes, mut failures) = (Vec::new(), Vec::new(), 0);
    for row in rows {
        let (mut these, note, ours) = measured(row, args.rounds);
        failures += ours;
        these.retain(|line| wanted(&line.figure.name));
        // At once as well: an area takes most of an hour, and what was measured must not be lost with its end.
        eprintln!("{}\n{}", table(&these), note.as_deref().unwrap_or_default());
        lines.extend(these);
        notes.extend(note);
    }
    if !lines.is_empty() {
        println!("{}\n{} rounds a row; {}.\n\n{}", area.about, args.rounds, machine(), table(&lines));
    }
    if !notes.is_empty() {
        println!("\n{}", notes.join("\n"));
    }
    let mut verdict = verdict(&lines, failures);
    if let Some(alone) = alone {
        match (alone.table)() {
            Ok(text) => println!("\n{text}"),
            Err(error) => {
                println!("\n{}: not taken: {error:#}", alone.name);
                verdict = verdict.and_then(|()| bail!("'{}' was not taken", alone.name));
            }
        }
    }
    verdict
}

/// Takes the rounds of a row. A line for each of its figures, what is to be said of rounds that were dropped, and how many of
/// these were by a turn of ours.
fn measured(mut row: Row, asked: usize) -> (Vec<Line>, Option<String>, usize) {
    let name = row.figures[0].name.clone();
    if let Some(why) = row.hindrance.as_ref().and_then(|why| why()) {
        let left_out = |figure| Line { figure, outcome: Outcome::LeftOut(why.clone()) };
        return (row.figures.into_iter().map(left_out).collect(), None, 0);
    }
    eprintln!("{name}: {asked} rounds");
    let mut tell = |dropped: &super::Dropped| eprintln!("{name}: dropped {dropped}");
    let taken = Taken::measure(asked, &mut row.ours, &mut row.peer, &mut tell);
    let line = |(number, figure): (usize, super::Figure)| {
        let compared = match taken.not_taken() {
            Some(why) => Err(why),
            None => Paired::of(&taken.of(number), figure.better, figure.goal)
                .map_err(|error| format!("{error:#}")),
        };
        let outcome = match compared {
            Ok(paired) => Outcome::Compared(paired, rounds(&taken)),
            Err(why) => Outcome::NotTaken(why, rounds(&taken)),
        };
        Line { figure, outcome }
    };
    let failures = taken.dropped.iter().filter(|dropped| dropped.who == Who::Ours).count();
    (row.figures.into_iter().enumerate().map(line).collect(), note(&name, &taken), failures)
}

/// What is wrong with what was measured. A turn of ours that failed is a fault, however good the others were; a peer's is not
/// ours to judge.
fn verdict(lines: &[Line], failures: usize) -> Result<()> {
    let count = |wanted: &dyn Fn(&Outcome) -> bool| lines.iter().filter(|line| wanted(&line.outcome)).count();
    let missed = count(
        &|outcome| matches!(outcome, Outcome::Compared(paired, _) if paired.standing == Some(Standing::Missed)),
    );
    let not_taken = count(&|outcome| matches!(outcome, Outcome::NotTaken(..)));
    let goals = lines.iter().filter(|line| line.figure.goal.is_some()).count();
    ensure!(
        missed == 0 && not_taken == 0 && failures == 0,
        "{missed} of {goals} goals were missed, {not_taken} of {} rows were not taken, {failures} turns of ours failed",
        lines.len()
    );
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
    use seatrial_model::Unit;
    use seatrial_stats::Better;

    use super::super::Figure;
    use super::*;

    fn figure(name: &str, goal: Option<f64>) -> Figure {
        Figure { name: name.to_owned(), unit: Unit::Second, better: Better::Lower, goal }
    }

    /// A row of a peer that takes a second, and of ours that takes `ours`, in whose turns of these numbers nothing comes of it.
    fn row(name: &str, ours: f64, fails: &'static [usize]) -> Row {
        let mut turn = 0;
        let ours = move || {
            turn += 1;
            if fails.contains(&turn) { bail!("crashed") } else { Ok(ours) }
        };
        Row::one(figure(name, Some(1.0)), ours, || Ok(1.0))
    }

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

    #[test]
    fn a_turn_that_fails_costs_a_row_a_round_and_not_the_others() {
        let (lines, said, failures) = measured(row("one", 0.5, &[2]), 6);
        let Outcome::Compared(paired, rounds) = &lines[0].outcome else { panic!("{lines:?}") };
        assert_eq!((paired.standing, rounds.as_str()), (Some(Standing::Met), "6, 1 dropped"));
        assert_eq!(said.unwrap(), "- one: dropped round 2 (ours: crashed)");
        assert!(verdict(&lines, 0).is_ok());
        let error = verdict(&lines, failures).unwrap_err().to_string();
        assert!(error.ends_with("1 turns of ours failed"), "{error}");
    }

    #[test]
    fn a_row_that_was_not_taken_and_a_goal_that_was_missed_show_in_the_verdict() {
        let mut lines = measured(row("one", 0.5, &[1, 2, 3]), 6).0;
        let Outcome::NotTaken(why, rounds) = &lines[0].outcome else { panic!("{lines:?}") };
        assert_eq!(why, "ours failed each of 3 times: crashed");
        assert_eq!(rounds, "0 of 6, 3 dropped");
        lines.extend(measured(row("two", 2.0, &[]), 6).0);
        lines.extend(measured(row("three", 0.5, &[]), 6).0);
        let error = verdict(&lines, 3).unwrap_err().to_string();
        assert_eq!(error, "1 of 3 goals were missed, 1 of 3 rows were not taken, 3 turns of ours failed");
    }

    #[test]
    fn a_row_that_is_left_out_is_shown_and_is_nobodys_fault() {
        let row = row("one", 0.5, &[1, 2, 3]).unless(|| Some("no such program".to_owned()));
        let (lines, said, failures) = measured(row, 6);
        assert!(matches!(&lines[0].outcome, Outcome::LeftOut(why) if why == "no such program"), "{lines:?}");
        assert!(said.is_none() && verdict(&lines, failures).is_ok());
    }
}

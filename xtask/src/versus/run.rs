//! Measures the rows of an area and prints the table.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use jiff::Zoned;
use seatrial_stats::FEWEST_VALUES;

use super::kept;
use super::ours;
use super::peer::{self, Peer};
use super::quiet::{Patience, Quiet};
use super::rounds::ORDERS;
use super::table::{Line, Outcome, note, rounds, table};
use super::{AREAS, Area, Companion, Dropped, Figure, Paired, Row, Standing, Taken, Who};
use crate::{packages, workspace};

/// Compare Seatrial with its peers: in turn, same work, same cores.
#[derive(clap::Args)]
pub struct Args {
    /// What to compare.
    #[arg(required_unless_present = "prepare")]
    area: Option<String>,
    /// Fetch and build the peers of the area, or of all, that are no Debian packages, below `target/peers`; nothing is measured.
    #[arg(long, conflicts_with_all = ["rounds", "only", "own", "keep", "list"])]
    prepare: bool,
    /// With --prepare: take a peer from this folder or git repository in place of its public one; may be given several times.
    #[arg(long, value_name = "NAME=FOLDER", requires = "prepare", value_parser = peer::source)]
    source: Vec<(String, PathBuf)>,
    /// Rounds a row at most; a round is one turn of ours and two of the peer's. After each six rounds, in which each side has
    /// each place equally often, a row ends if they decide who is ahead and whether the goal is met. A round in which a turn
    /// fails is taken again at once, a third of these at most.
    #[arg(long, default_value_t = 36)]
    rounds: usize,
    /// Only rows whose name contains this; may be given several times.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Compare with this earlier binary of Seatrial, which has to know --no-probes, in place of the peers.
    #[arg(long, value_name = "BINARY")]
    own: Option<PathBuf>,
    /// Write each row into the kept results of the area, of which `cargo xtask generate` makes the pages of performance. It
    /// replaces the row of the same name and kind of machine.
    #[arg(long, conflicts_with_all = ["own", "list"])]
    keep: bool,
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
    let area = args.area.as_deref().map(find).transpose()?;
    if args.prepare {
        let areas = area.map_or_else(|| AREAS.to_vec(), |area| vec![area]);
        let peers: Vec<&Peer> = areas.iter().flat_map(|area| area.peers).copied().collect();
        return peer::prepare(&peers, &args.source);
    }
    let area = area.context("no area was named")?;
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|text| name.contains(text));
    let mut rows = (area.rows)();
    if let Some(earlier) = &args.own {
        let earlier = earlier.canonicalize().with_context(|| format!("no binary {}", earlier.display()))?;
        let others = ours::with(&earlier, area.rows);
        let pairs = rows.into_iter().zip(others);
        rows = pairs.map(|(row, other)| row.against(other, earlier.clone())).collect();
    }
    rows.retain(|row| row.figures.iter().any(|figure| wanted(&figure.name)));
    let alone = area.alone.filter(|alone| wanted(alone.name));
    ensure!(!rows.is_empty() || alone.is_some(), "no row of '{}' contains the text of --only", area.name);

    if args.list {
        let figures = rows.iter().flat_map(|row| &row.figures).map(|figure| figure.name.as_str());
        let mut names = figures.filter(|name| wanted(name)).chain(alone.iter().map(|alone| alone.name));
        let mut out = std::io::stdout().lock();
        // A reader like head(1) may leave early.
        let _ = names.try_for_each(|name| writeln!(out, "{name}"));
        return Ok(());
    }
    packages::ensure(area.packages)?;
    (area.prepare)().with_context(|| format!("cannot prepare the area '{}'", area.name))?;
    let (mut lines, mut notes, mut failures) = (Vec::new(), Vec::new(), 0);
    let machine = (area.machine)();
    for row in rows {
        let (mut these, note, ours) = measured(row, args.rounds, Quiet::live());
        failures += ours;
        these.retain(|line| wanted(&line.figure.name));
        // At once as well: an area takes most of an hour, and what was measured must not be lost with its end.
        eprintln!("{}\n{}", table(&these), note.as_deref().unwrap_or_default());
        if args.keep {
            let folder = workspace::root().join(kept::FOLDER);
            kept::keep(&folder, area.name, &these, Zoned::now().date(), &machine)?;
        }
        lines.extend(these);
        notes.extend(note);
    }
    if !lines.is_empty() {
        let about = if args.own.is_some() { "This build and an earlier one of Seatrial" } else { area.about };
        let (most, looks) = (args.rounds, looks(args.rounds));
        println!(
            "{about}\nUp to {most} rounds a row, looked at up to {looks} times: intervals of ratios are those of \
             1 - 0.05 / {looks}; {machine}.\n\n{}",
            table(&lines)
        );
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

/// How often so many rounds are looked at, at most.
const fn looks(rounds: usize) -> usize {
    rounds.div_ceil(ORDERS.len())
}

/// Waits for a quiet machine before each round, says what is dropped, and ends the row when it is decided.
struct Course<'a> {
    name: &'a str,
    figures: &'a [Figure],
    looks: usize,
    patience: Patience,
}

impl Course<'_> {
    fn compared(&self, taken: &Taken, number: usize) -> Result<Paired> {
        let Figure { better, goal, .. } = self.figures[number];
        Paired::of(&taken.of(number), better, goal, self.looks)
    }
}

impl Companion for Course<'_> {
    fn before(&mut self) {
        self.patience.wait();
    }

    fn dropped(&mut self, dropped: &Dropped) {
        eprintln!("{}: dropped {dropped}", self.name);
    }

    fn is_decided(&mut self, taken: &Taken) -> bool {
        (0..self.figures.len())
            .all(|number| self.compared(taken, number).is_ok_and(|paired| paired.is_decided()))
    }
}

/// Takes the rounds of a row. A line for each of its figures, what is to be said of rounds that were dropped or begun on a busy
/// machine, and how many were dropped by a turn of ours.
fn measured(mut row: Row, most: usize, quiet: Quiet) -> (Vec<Line>, Option<String>, usize) {
    let name = row.figures[0].name.clone();
    if let Some(why) = row.hindrance.as_ref().and_then(|why| why()) {
        let left_out = |figure| Line { figure, outcome: Outcome::LeftOut(why.clone()), disturbed: 0 };
        return (row.figures.into_iter().map(left_out).collect(), None, 0);
    }
    eprintln!("{name}: up to {most} rounds");
    let patience = Patience::new(quiet);
    let mut course = Course { name: &name, figures: &row.figures, looks: looks(most), patience };
    let taken = Taken::measure(most, &mut row.ours, &mut row.peer, &mut course);
    let line = |number: usize| {
        let compared = match taken.not_taken() {
            Some(why) => Err(why),
            None => course.compared(&taken, number).map_err(|error| format!("{error:#}")),
        };
        let outcome = match compared {
            Ok(paired) => Outcome::Compared(paired, rounds(&taken)),
            Err(why) => Outcome::NotTaken(why, rounds(&taken)),
        };
        Line { figure: row.figures[number].clone(), outcome, disturbed: course.patience.disturbed() }
    };
    let lines = (0..row.figures.len()).map(line).collect();
    let failures = taken.dropped.iter().filter(|dropped| dropped.who == Who::Ours).count();
    let busy = course.patience.told().map(|told| format!("- {name}: {told}"));
    let notes: Vec<String> = note(&name, &taken).into_iter().chain(busy).collect();
    (lines, (!notes.is_empty()).then(|| notes.join("\n")), failures)
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
        let args = Args {
            area: Some("sailing".to_owned()),
            prepare: false,
            source: Vec::new(),
            rounds: 5,
            only: Vec::new(),
            own: None,
            keep: false,
            list: false,
        };
        assert!(run(&args).unwrap_err().to_string().contains("--rounds must be 6"));
    }

    #[test]
    fn a_turn_that_fails_costs_a_row_a_round_and_not_the_others() {
        let (lines, said, failures) = measured(row("one", 0.5, &[2]), 6, Quiet::always());
        let Outcome::Compared(paired, rounds) = &lines[0].outcome else { panic!("{lines:?}") };
        assert_eq!((paired.standing, rounds.as_str()), (Some(Standing::Met), "6, 1 dropped"));
        assert_eq!(said.unwrap(), "- one: dropped round 2 (ours: crashed)");
        assert!(verdict(&lines, 0).is_ok());
        let error = verdict(&lines, failures).unwrap_err().to_string();
        assert!(error.ends_with("1 turns of ours failed"), "{error}");
    }

    #[test]
    fn a_row_that_was_not_taken_and_a_goal_that_was_missed_show_in_the_verdict() {
        let mut lines = measured(row("one", 0.5, &[1, 2, 3]), 6, Quiet::always()).0;
        let Outcome::NotTaken(why, rounds) = &lines[0].outcome else { panic!("{lines:?}") };
        assert_eq!(why, "ours failed each of 3 times: crashed");
        assert_eq!(rounds, "0 of 6, 3 dropped");
        lines.extend(measured(row("two", 2.0, &[]), 6, Quiet::always()).0);
        lines.extend(measured(row("three", 0.5, &[]), 6, Quiet::always()).0);
        let error = verdict(&lines, 3).unwrap_err().to_string();
        assert_eq!(error, "1 of 3 goals were missed, 1 of 3 rows were not taken, 3 turns of ours failed");
    }

    #[test]
    fn a_row_that_is_left_out_is_shown_and_is_nobodys_fault() {
        let row = row("one", 0.5, &[1, 2, 3]).unless(|| Some("no such program".to_owned()));
        let (lines, said, failures) = measured(row, 6, Quiet::always());
        assert!(matches!(&lines[0].outcome, Outcome::LeftOut(why) if why == "no such program"), "{lines:?}");
        assert!(said.is_none() && verdict(&lines, failures).is_ok());
    }
}

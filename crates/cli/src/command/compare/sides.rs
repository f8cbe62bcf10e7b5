//! The sides of a comparison: whole runs, or the parts that `--as` names.

use seatrial_analysis::{ComparedCases, Part};
use seatrial_report::{count, html};

use super::Run;
use crate::args::{CompareArgs, NamedPart};
use crate::error::CliError;

pub struct Side<'a> {
    pub name: String,
    /// The parts and their run; empty for a whole run.
    pub of: String,
    pub run: &'a Run,
    /// Empty for a whole run.
    pub parts: Vec<Part>,
    pub cases: ComparedCases<'a>,
}

impl Side<'_> {
    pub fn shown(&self) -> html::ComparedSide<'_> {
        html::ComparedSide { name: &self.name, of: self.of.clone(), info: self.run.info.as_ref() }
    }
}

/// Refuses a single run without names of its parts.
pub fn check(args: &CompareArgs) -> Result<(), CliError> {
    if args.runs.len() > 1 || !args.parts.is_empty() {
        return Ok(());
    }
    let why = "one run has nothing to compare with: give a second run, or parts of this run with --as; try '--help'";
    Err(usage(why))
}

/// The sides to compare, the baseline first: at least two, of arguments that passed `check`.
pub fn sides<'a>(runs: &'a [Run], named: &[NamedPart]) -> Result<Vec<Side<'a>>, CliError> {
    if named.is_empty() { Ok(runs.iter().map(whole).collect()) } else { of_parts(runs, named) }
}

fn whole(run: &Run) -> Side<'_> {
    Side {
        name: run.name.clone(),
        of: String::new(),
        run,
        parts: Vec::new(),
        cases: ComparedCases::all(&run.results),
    }
}

fn of_parts<'a>(runs: &'a [Run], named: &[NamedPart]) -> Result<Vec<Side<'a>>, CliError> {
    let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
    for NamedPart { name, part } in named {
        match names.iter_mut().find(|(known, _)| known == name) {
            Some((_, parts)) => parts.push(part),
            None => names.push((name, vec![part])),
        }
    }
    let of: Vec<&Run> = match runs {
        [one] if names.len() > 1 => vec![one; names.len()],
        several if several.len() > 1 && several.len() == names.len() => several.iter().collect(),
        _ => {
            let told = format!("--as gives {} for {}", count(names.len(), "name"), count(runs.len(), "run"));
            return Err(usage(&format!(
                "{told}: give one run and at least two names, or a name for each run"
            )));
        }
    };
    let found = names.iter().zip(&of).map(|((name, parts), run)| found(name, parts, run));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    alike(&names, &found)?;
    let side = |at: usize| {
        let (name, parts) = &names[at];
        let others: Vec<&Part> = match runs {
            [_] => found
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .flat_map(|(_, parts)| parts)
                .collect(),
            _ => Vec::new(),
        };
        Side {
            name: (*name).to_owned(),
            of: format!("{} of {}", parts.join(", "), of[at].name),
            run: of[at],
            parts: found[at].clone(),
            cases: ComparedCases::of_parts(&of[at].results, &found[at], &others),
        }
    };
    let sides: Vec<Side<'_>> = (0..names.len()).map(side).collect();
    match sides.iter().find(|side| side.cases.is_empty()) {
        Some(side) => {
            Err(usage(&format!("--as {}: every case of {} is also about another name", side.name, side.of)))
        }
        None => Ok(sides),
    }
}

fn found(name: &str, parts: &[&str], run: &Run) -> Result<Vec<Part>, CliError> {
    let find = |part: &&str| {
        Part::find(part, &run.results)
            .map_err(|error| usage(&format!("--as {name}={part}: {}: {error}", run.name)))
    };
    parts.iter().map(find).collect()
}

/// Refuses names with different numbers or kinds of parts.
fn alike(names: &[(&str, Vec<&str>)], found: &[Vec<Part>]) -> Result<(), CliError> {
    for ((name, typed), parts) in names.iter().zip(found) {
        let (first, baseline) = (names[0].0, &found[0]);
        if parts.len() != baseline.len() {
            let (own, other) = (count(parts.len(), "part"), count(baseline.len(), "part"));
            return Err(usage(&format!(
                "--as: {name} has {own} and {first} has {other}; their parts are compared in order"
            )));
        }
        if let Some(at) = (0..parts.len()).find(|at| parts[*at].kind() != baseline[*at].kind()) {
            let (own, other) = (parts[at].kind(), baseline[at].kind());
            let other_typed = names[0].1[at];
            return Err(usage(&format!(
                "--as: {name}={} is a {own} and {first}={other_typed} is a {other}, which cannot be compared",
                typed[at]
            )));
        }
    }
    Ok(())
}

/// The price of each side, where one is given.
pub fn prices(args: &CompareArgs, sides: &[Side<'_>]) -> Result<Vec<Option<f64>>, CliError> {
    let is_of =
        |side: &Side<'_>, name: &str| side.name == name || (side.of.is_empty() && side.run.typed == name);
    if let Some(unknown) = args.prices.iter().find(|price| !sides.iter().any(|side| is_of(side, &price.name)))
    {
        let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
        return Err(usage(&format!("--price {}: the names are {}", unknown.name, names.join(", "))));
    }
    let of =
        |side: &Side<'_>| args.prices.iter().find(|price| is_of(side, &price.name)).map(|price| price.amount);
    Ok(sides.iter().map(of).collect())
}

fn usage(message: &str) -> CliError {
    CliError::Usage(message.to_owned())
}

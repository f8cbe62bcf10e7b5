//! Tables of the document that a profile was made from, beside the results of a run.

use std::collections::BTreeMap;

use seatrial_model::profile::{
    FlowClass, Profile, Requirement, SourceCell, SourceResult, SourceSelection, SourceTable, SourceValue,
    Statistic, Test, nobody_plays,
};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Cause, Outcome, Unit};
use seatrial_stats::{Sorted, median};

use crate::finding::{AtOnce, Classes, Step, at_once};
use crate::judge::{Assignment, is_judged, is_of_test, judged_nodes, measured, nothing_here, planned_only};

/// A table of the document, with the results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedTable<'a> {
    pub table: &'a SourceTable,
    /// The cells, as in the rows of the table.
    pub rows: Vec<Vec<Option<ComparedCell<'a>>>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ComparedCell<'a> {
    pub printed: &'a SourceCell,
    pub counterpart: Counterpart,
    /// The result over the document's number, where both are numbers.
    pub ratio: Option<f64>,
}

/// What the run has for a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Counterpart {
    /// A number in the document's unit, divided by the cell's factor.
    Number {
        value: f64,
        unit: Unit,
        basis: Basis,
        case: Option<String>,
    },
    Failed {
        cause: Option<Cause>,
        why: String,
        case: Option<String>,
    },
    NotMeasured(String),
}

/// What a number was made from.
#[derive(Clone, Debug, PartialEq)]
pub enum Basis {
    /// A number of one case; with the interval of its median.
    Case(Option<(f64, f64)>),
    /// The median over the numbers of several cases, with the smallest and the largest.
    Cases(usize, (f64, f64)),
    /// The median or the best over the repeats of a step, with the smallest and the largest.
    Repeats(usize, (f64, f64)),
}

/// Every table of `profile` beside the `records` of a run on `nodes`.
pub fn source_tables<'a>(
    profile: &'a Profile,
    nodes: &[String],
    records: &[CaseRecord],
) -> Vec<ComparedTable<'a>> {
    if profile.source_tables.is_empty() {
        return Vec::new();
    }
    let run = Run {
        profile,
        nodes: Assignment::new(profile, nodes, &BTreeMap::new()),
        records,
        steps: at_once(records),
    };
    let compared = |table: &'a SourceTable| {
        let row = |cells: &'a [Option<SourceCell>]| {
            let cell = |cell: &'a Option<SourceCell>| {
                Some(run.compared(cell.as_ref()?, |unit| unit_of(table, cells, unit)))
            };
            cells.iter().map(cell).collect()
        };
        ComparedTable { table, rows: table.rows.iter().map(|of| row(&of.cells)).collect() }
    };
    profile.source_tables.iter().map(compared).collect()
}

/// The unit of the document for a result in `unit`, beside a cell that prints a word: that of the row or of the table.
fn unit_of(table: &SourceTable, row: &[Option<SourceCell>], unit: Unit) -> Unit {
    let all = row.iter().chain(table.rows.iter().flat_map(|row| &row.cells)).flatten();
    let mut units = all.filter_map(|cell| match cell.value {
        SourceValue::Quantity(quantity) => Some(quantity.unit()),
        SourceValue::Word(_) => None,
    });
    units.find(|known| known.dimension() == unit.dimension()).unwrap_or(unit)
}

struct Run<'a> {
    profile: &'a Profile,
    nodes: Assignment,
    records: &'a [CaseRecord],
    steps: Vec<AtOnce>,
}

/// A number in the unit of the metric.
struct Number {
    value: f64,
    unit: Unit,
    basis: Basis,
    case: Option<String>,
}

impl Run<'_> {
    fn compared<'a>(&self, printed: &'a SourceCell, unit_beside: impl Fn(Unit) -> Unit) -> ComparedCell<'a> {
        let found = match &printed.result {
            SourceResult::Selection(selection) => self.found(selection),
            SourceResult::NotMeasured(why) => Err(Counterpart::NotMeasured(why.clone())),
        };
        let number = match found {
            Ok(number) => number,
            Err(counterpart) => return ComparedCell { printed, counterpart, ratio: None },
        };
        let (unit, theirs) = match printed.value {
            SourceValue::Quantity(quantity) => (quantity.unit(), Some(quantity.value())),
            SourceValue::Word(_) => (unit_beside(number.unit), None),
        };
        // The profile was checked: units of one kind convert.
        let scale = number.unit.factor() / unit.factor() / printed.factor;
        let scaled = |(low, high): (f64, f64)| (low * scale, high * scale);
        let value = number.value * scale;
        let counterpart = Counterpart::Number {
            value,
            unit,
            basis: match number.basis {
                Basis::Case(ci95) => Basis::Case(ci95.map(scaled)),
                Basis::Cases(count, range) => Basis::Cases(count, scaled(range)),
                Basis::Repeats(count, range) => Basis::Repeats(count, scaled(range)),
            },
            case: number.case,
        };
        let ratio = theirs.filter(|theirs| *theirs != 0.0).map(|theirs| value / theirs);
        ComparedCell { printed, counterpart, ratio }
    }

    fn found(&self, selection: &SourceSelection) -> Result<Number, Counterpart> {
        let Some(test) = self.profile.test(&selection.test) else {
            let why = format!("the profile has no test '{}'", selection.test);
            return Err(Counterpart::NotMeasured(why));
        };
        if let Some(why) = self.why_nowhere(test, &selection.roles) {
            return Err(Counterpart::NotMeasured(why));
        }
        match selection.step {
            Some(number) => self.of_step(test, selection, number),
            None => {
                let cases = self.cases(test, selection);
                if cases.is_empty() {
                    return Err(Counterpart::NotMeasured(self.why_no_case(test, selection)));
                }
                of_cases(&cases, test, selection)
            }
        }
    }

    /// Why no case of `test` is one that the selection names.
    fn why_no_case(&self, test: &Test, selection: &SourceSelection) -> String {
        let own = || self.records.iter().filter(|case| is_judged(case, test, &self.nodes));
        if own().any(|case| Requirement::selects(&test.on, &case.facts)) {
            let with = [&selection.on, &selection.cases].map(ToString::to_string);
            let with = with.iter().filter(|with| !with.is_empty()).map(|with| format!(" with {with}"));
            let on = selection.roles.iter().map(|role| format!(" on {role}"));
            return with.chain(on).fold("no case was run".to_owned(), |said, part| said + &part);
        }
        // A case without a subject tells what stands in the way of the whole test.
        let in_the_way = own().find_map(|case| case.reason.clone());
        [Some(nothing_here(test)), in_the_way].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Why no node of the run can have a case of `test` with one of `roles`.
    fn why_nowhere(&self, test: &Test, roles: &[String]) -> Option<String> {
        if test.planned {
            return Some(planned_only(test));
        }
        if !test.roles.is_empty() && !roles.is_empty() && roles.iter().all(|role| !test.roles.contains(role))
        {
            return Some(format!("test '{}' is for {} alone", test.id, test.roles.join(" and ")));
        }
        let wanted = [&test.roles, roles].into_iter();
        wanted.filter(|roles| self.nodes.players(roles).next().is_none()).map(nobody_plays).next()
    }

    /// The cases that the selection names, without those that a study added.
    fn cases(&self, test: &Test, selection: &SourceSelection) -> Vec<&CaseRecord> {
        let has_role =
            |case: &CaseRecord| judged_nodes(test, case).all(|node| self.nodes.plays(node, &selection.roles));
        let is_wanted = |case: &&CaseRecord| {
            !case.origin.is_added()
                && !case.origin.liveness_check
                && is_judged(case, test, &self.nodes)
                && has_role(case)
                && Requirement::selects(&test.on, &case.facts)
                && Requirement::selects(&selection.on, &case.facts)
                && Requirement::selects(&selection.cases, &case.params)
        };
        self.records.iter().filter(is_wanted).collect()
    }

    fn of_step(&self, test: &Test, selection: &SourceSelection, number: u64) -> Result<Number, Counterpart> {
        let cases = self.cases(test, selection);
        let of_step: Vec<&CaseRecord> =
            cases.iter().copied().filter(|case| case.origin.step == Some(number)).collect();
        let not_measured = |why: String| Err(Counterpart::NotMeasured(why));
        if of_step.is_empty() {
            return match cases.is_empty() {
                true => not_measured(self.why_no_case(test, selection)),
                false => not_measured(format!("the pattern had no step {number}")),
            };
        }
        let is_of =
            |found: &&AtOnce| found.group == test.id && Requirement::selects(&selection.cases, &found.params);
        let found = self.steps.iter().find(is_of).filter(|found| found.metric == selection.metric);
        let step = found.and_then(|found| found.steps.iter().find(|step| step.number == number));
        let (Some(found), Some(step)) = (found, step) else {
            return match of_step.iter().all(|case| case.outcome == Outcome::Measured) {
                true => not_measured(format!("'{}' of several pairs has no total", selection.metric)),
                false => Err(without_numbers(&of_step)),
            };
        };
        let Some(numbers) = in_step(step, selection) else {
            return match of_step.iter().all(|case| case.outcome == Outcome::Measured) {
                true if step.repeats.is_empty() => not_measured(
                    "the pairs of the step did not run at the same time in every trial".to_owned(),
                ),
                true => not_measured("the line rate of a flow is not known".to_owned()),
                false => Err(without_numbers(&of_step)),
            };
        };
        Ok(Number {
            value: numbers.value,
            unit: selection.class.map_or(found.unit, |_| Unit::Count),
            basis: Basis::Repeats(step.repeats.len(), numbers.range),
            case: Some(step.case.clone()),
        })
    }
}

struct StepNumbers {
    value: f64,
    range: (f64, f64),
}

/// The total of a step, or its flows of one class, in the repeat with the median or the best total.
fn in_step(step: &Step, selection: &SourceSelection) -> Option<StepNumbers> {
    let number = |total: f64, classes: Option<Classes>| match selection.class {
        None => Some(total),
        Some(class) => Some(f64::from(of_class(&classes?, class))),
    };
    let repeats = step.repeats.iter().map(|repeat| number(repeat.total, repeat.classes));
    let range = range(&repeats.collect::<Option<Vec<f64>>>()?)?;
    let chosen = if selection.of == Statistic::Max { step.best() } else { step.middle() }?;
    let value = match (selection.of, selection.class) {
        (Statistic::Median, None) => step.median()?,
        _ => number(chosen.total, chosen.classes)?,
    };
    Some(StepNumbers { value, range })
}

fn of_class(classes: &Classes, class: FlowClass) -> u32 {
    match class {
        FlowClass::Full => classes.full,
        FlowClass::Half => classes.half,
        FlowClass::Third => classes.third,
        FlowClass::Starved => classes.starved,
        FlowClass::Other => classes.other,
    }
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let sorted = Sorted::new(values).ok()?;
    Some((sorted.min(), sorted.max()))
}

/// The number over `cases`: of one with its interval, of several the median.
fn of_cases(cases: &[&CaseRecord], test: &Test, selection: &SourceSelection) -> Result<Number, Counterpart> {
    let (mut numbers, mut reasons) = (Vec::new(), Vec::new());
    for case in cases.iter().filter(|case| case.outcome == Outcome::Measured) {
        let found = is_of_test(test, case).and_then(|()| measured(case, &selection.metric, &selection.at));
        for found in found.as_deref().unwrap_or_default() {
            match found.statistic(selection.of) {
                Ok(value) => numbers.push((*case, found.clone(), value)),
                Err(why) => reasons.push(why),
            }
        }
        reasons.extend(found.err());
    }
    let values: Vec<f64> = numbers.iter().map(|(_, _, value)| *value).collect();
    match numbers.as_slice() {
        [] if !reasons.is_empty() => Err(Counterpart::NotMeasured(reasons.swap_remove(0))),
        [] => Err(without_numbers(cases)),
        [(case, found, value)] => Ok(Number {
            value: *value,
            unit: found.unit,
            basis: Basis::Case(found.summary.ci95.filter(|_| selection.of == Statistic::Median)),
            case: Some(case.case.to_string()),
        }),
        [(_, found, value), ..] => Ok(Number {
            value: median(&values).unwrap_or(*value),
            unit: found.unit,
            basis: Basis::Cases(values.len(), range(&values).unwrap_or((*value, *value))),
            case: None,
        }),
    }
}

/// What cases without a number came to: failed where one failed, else why the first was not measured.
fn without_numbers(cases: &[&CaseRecord]) -> Counterpart {
    let failed = cases.iter().find(|case| case.outcome == Outcome::Failed);
    let open = || cases.iter().find(|case| case.outcome != Outcome::Measured);
    let why =
        |case: &CaseRecord| case.reason.clone().unwrap_or_else(|| "the record does not say why".to_owned());
    match (failed, open()) {
        (Some(case), _) => {
            Counterpart::Failed { cause: case.cause, why: why(case), case: Some(case.case.to_string()) }
        }
        (None, Some(case)) => Counterpart::NotMeasured(why(case)),
        (None, None) => Counterpart::NotMeasured("the cases have no such number".to_owned()),
    }
}

#[cfg(test)]
mod tests;

//! `larger-is-slower`: a size beyond which the rate falls, in a sweep over load and size.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Better, Finding, Severity, Unit};

use super::sweep::{Cell, Table, is_size};
use crate::number::{in_unit, quantity, significant};

/// A fall of less counts as level.
const LEVEL: f64 = 0.1;

/// What the largest size loses against the best size, at one load.
struct Fall<'a> {
    row: usize,
    best: (usize, f64),
    last: (usize, f64, &'a Cell),
}

impl Fall<'_> {
    fn share(&self) -> f64 {
        1.0 - self.last.1 / self.best.1
    }
}

/// The greatest fall of `table`, where the largest size is slower than the best one at half of the loads or more.
pub(super) fn larger_is_slower(table: &Table, records: &[CaseRecord]) -> Option<Finding> {
    if table.better != Better::Higher || !table.across.1.iter().all(is_size) {
        return None;
    }
    let rows = table.down.1.len();
    let falls: Vec<Fall<'_>> = (0..rows).filter_map(|row| fall(table, row)).collect();
    let worst = falls.iter().max_by(|one, other| one.share().total_cmp(&other.share()))?;
    if 2 * falls.len() < rows {
        return None;
    }
    let case = records.iter().find(|case| case.case.as_str() == worst.last.2.case)?;
    let (size, sizes) = &table.across;
    let (load, loads) = &table.down;
    let rate = |value: f64| in_unit(value, table.unit);
    let text = format!(
        "{}the largest {size} is slower at {} of {rows} values of {load}: {} with {size}={}, {} with {size}={} \
         ({load}={}), {} %",
        table.name(),
        falls.len(),
        rate(worst.best.1),
        sizes[worst.best.0],
        rate(worst.last.1),
        sizes[worst.last.0],
        loads[worst.row],
        significant((-100.0 * worst.share()).round()),
    );
    let finding = Finding::new("larger-is-slower", Severity::Info, case.subject.clone(), text);
    let value = quantity(100.0 * worst.share(), Unit::Percent);
    let evidence = vec![table.group.clone(), table.metric.clone(), size.clone()];
    Some(super::about(case, Finding { value, evidence, ..finding }))
}

fn fall(table: &Table, row: usize) -> Option<Fall<'_>> {
    let measured = table.row(row).filter_map(|(column, cell)| Some((column, cell.value?, cell)));
    let measured: Vec<_> = measured.collect();
    let best = measured.iter().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    let last = measured.last()?;
    let overlap = best.2.ci95.zip(last.2.ci95).is_some_and(|(best, last)| best.0 <= last.1);
    let fall = Fall { row, best: (best.0, best.1), last: *last };
    (!overlap && fall.share() > LEVEL).then_some(fall)
}

//! `[[criterion]]`: demands on the results of a test.

use seatrial_model::profile::{Criterion, Statistic};

use crate::Diagnostics;
use crate::diagnostic::At;
use crate::layer::{CriterionEntry, plain};
use crate::read::bounds::bounds;
use crate::read::choice::{absence, missed, named};
use crate::read::pairs::pairs;
use crate::table::Table;

pub(super) fn criterion(mut table: Table<'_>, found: &mut Diagnostics) -> Option<CriterionEntry> {
    let id = table.text("id", found);
    let test = table.required_text("test", found);
    let metric = table.required_text("metric", found);
    let cases = pairs(&mut table, "where", found);
    let axes = pairs(&mut table, "at", found);
    let of = statistic(&mut table, found);
    let of = of.unwrap_or(At { value: Statistic::default(), at: table.at });
    let bounds = bounds(&mut table, found);
    let without_limit = absence(&mut table, "without_limit", found);
    let missed = missed(&mut table, found);
    let at = table.at;
    table.finish(found);

    let (test, metric, (bounds, bars)) = (test?, metric?, bounds?);
    let id = id.unwrap_or_else(|| At {
        value: Criterion::derived_id(&test.value, &metric.value, of.value, &plain(&cases), &plain(&axes)),
        at,
    });
    Some(CriterionEntry { id, test, metric, cases, axes, of, bounds, bars, without_limit, missed })
}

pub(super) fn statistic(table: &mut Table<'_>, found: &mut Diagnostics) -> Option<At<Statistic>> {
    named(table, "of", &Statistic::ALL, found)
}

//! Cost of the throughput of each case whose hardware has a price: a table per benchmark and currency.

use seatrial_model::record::{CaseRecord, Document, MetricRecord};
use seatrial_model::{Finding, Price, Unit};

use super::cases::by_id;
use super::table::{Builder, Cell, Column, Table};
use crate::labels::Label;
use crate::number::{decimals, percentage, plain};

/// The cases of a benchmark with prices in one currency, the cheapest rate first.
pub struct Prices<'a> {
    pub bench: &'a str,
    pub currency: &'a str,
    pub rows: Vec<PricedCase<'a>>,
}

pub struct PricedCase<'a> {
    pub case: &'a CaseRecord,
    pub price: &'a Price,
    rate: &'a MetricRecord,
    /// Price per Gbit/s, with its interval.
    pub per_gbit: f64,
    pub ci95: Option<(f64, f64)>,
}

pub fn prices(document: &Document) -> Vec<Prices<'_>> {
    let cases = by_id(document);
    let mut all: Vec<Prices<'_>> = Vec::new();
    for finding in &document.findings {
        let Some((case, row)) = finding.case.as_deref().and_then(|id| {
            let case = *cases.get(id)?;
            Some((case, priced(finding, case)?))
        }) else {
            continue;
        };
        let (bench, currency) = (case.bench.as_str(), row.price.currency.as_str());
        match all.iter_mut().find(|known| (known.bench, known.currency) == (bench, currency)) {
            Some(known) => known.rows.push(row),
            None => all.push(Prices { bench, currency, rows: vec![row] }),
        }
    }
    all.iter_mut().for_each(|found| found.rows.sort_by(|a, b| a.per_gbit.total_cmp(&b.per_gbit)));
    all
}

fn priced<'a>(finding: &'a Finding, case: &'a CaseRecord) -> Option<PricedCase<'a>> {
    Some(PricedCase {
        case,
        price: finding.price.as_ref()?,
        rate: finding.evidence.iter().find_map(|metric| case.metrics.get(metric))?,
        per_gbit: finding.value.filter(|value| value.unit() == Unit::PerGigabitPerSecond)?.value(),
        ci95: finding.ci95,
    })
}

impl Prices<'_> {
    pub fn title(&self) -> String {
        format!("{} · cost of the throughput, the cheapest first", self.bench)
    }

    pub fn table(&self) -> Table {
        let labels: Vec<Label> = self.rows.iter().map(|row| Label::of_case(row.case)).collect();
        let rate = |row: &PricedCase<'_>| row.rate.median;
        let digits = decimals(self.rows.iter().map(rate));
        let per_gbit = decimals(self.rows.iter().map(|row| row.per_gbit));
        let per_mbit = decimals(self.rows.iter().map(|row| row.per_gbit / 1e3));
        let unit = self.rows.first().map(|row| row.rate.unit);
        let per = |rate: &str| format!("{} per {rate}", self.currency);
        let cheapest = self.rows.first().map_or(1.0, |row| row.per_gbit);
        Builder::new(self.title(), &self.rows)
            .labels(&labels)
            .column(Column::quantities("throughput", unit), |row| Cell::number(Some(rate(row)), digits))
            .numbers(&format!("price {}", self.currency), |row| {
                Cell::from(plain(row.price.amount)).notes([row.price.devices.as_str()])
            })
            .numbers(&per("Gbit/s"), |row| Cell::number(Some(row.per_gbit), per_gbit))
            .numbers(&per("Mbit/s"), |row| Cell::number(Some(row.per_gbit / 1e3), per_mbit))
            .numbers("of the cheapest", |row| percentage(100.0 * row.per_gbit / cheapest))
            .finish()
    }
}

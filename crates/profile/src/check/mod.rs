//! Checks the meaning of a profile: names exist, values fit, bounds make sense.

mod bar;
mod criterion;
mod demand;
mod facts;
mod judged;
mod setting;
mod source_table;
mod test;

use seatrial_model::profile::{PriceRule, Profile};

use self::criterion::{Tests, criterion, limit};
use self::source_table::source_table;
use crate::diagnostic::At;
use crate::layer::{Layer, PriceEntry};
use crate::{Catalog, Diagnostics};

/// Makes the profile of `layer`, and reports everything that is wrong. If `is_whole` is false some entries could not
/// be read, and an unknown name may be a consequence: unknown names are then not reported.
pub(crate) fn check(
    layer: Layer,
    extends: Vec<String>,
    catalog: &Catalog<'_>,
    today: jiff::civil::Date,
    is_whole: bool,
    found: &mut Diagnostics,
) -> Profile {
    let roles: Vec<&str> = layer.roles.iter().map(|role| role.id.value.as_str()).collect();
    let names = Names { roles, is_whole };
    let tests = test::tests(&layer.tests, catalog, &names, found);
    let by_id: Tests<'_, '_> = tests.iter().map(|checked| (checked.test.id.as_str(), checked)).collect();
    let criteria =
        layer.criteria.iter().filter_map(|entry| criterion(entry, &by_id, &names, found)).collect();
    let limits = layer.limits.iter().filter_map(|entry| limit(entry, &by_id, &names, found)).collect();
    let tables = layer.source_tables.iter();
    let source_tables = tables.map(|entry| source_table(entry, &by_id, &names, found)).collect();
    let settings = setting::settings(&layer.settings, catalog, &names, found);
    let waivers = demand::waivers(&layer, today, &names, found);
    Profile {
        id: layer.id,
        title: layer.title,
        description: layer.description,
        time_budget: layer.time_budget,
        extends,
        tests: tests.into_iter().map(|checked| checked.test).collect(),
        criteria,
        settings,
        roles: demand::roles(layer.roles),
        waivers,
        limits,
        prices: layer.prices.into_iter().map(|entry| price(entry, found)).collect(),
        source_tables,
    }
}

fn price(entry: PriceEntry, found: &mut Diagnostics) -> PriceRule {
    let PriceEntry { on, amount, share, currency, source, .. } = entry;
    PriceRule { on: facts::on(&on, found), amount, share, currency, source }
}

struct Names<'a> {
    roles: Vec<&'a str>,
    is_whole: bool,
}

impl Names<'_> {
    fn missing<'k>(
        &self,
        what: &str,
        name: &At<String>,
        known: impl IntoIterator<Item = &'k str> + Clone,
        found: &mut Diagnostics,
    ) {
        if self.is_whole {
            found.error(name.at, format!("there is no {what} '{}'", name.value)).suggest(&name.value, known);
        }
    }

    /// The role names as written; reports names without `[roles.NAME]`.
    fn roles(&self, roles: &[At<String>], found: &mut Diagnostics) -> Vec<String> {
        for role in roles.iter().filter(|role| !self.roles.contains(&role.value.as_str())) {
            self.missing("role", role, self.roles.iter().copied(), found);
        }
        roles.iter().map(|role| role.value.clone()).collect()
    }
}

//! Checks tests against the existing benchmarks.

use std::collections::BTreeMap;

use seatrial_model::profile::Test;
use seatrial_model::{About, Alias, Parts, Value};

use super::Names;
use super::facts::{on, require};
use crate::catalog::Known;
use crate::diagnostic::At;
use crate::layer::TestEntry;
use crate::{Catalog, Diagnostics};

pub(super) struct Checked<'a> {
    pub test: Test,
    /// `None` when the benchmark does not exist, which is reported already.
    pub known: Option<Known<'a>>,
}

pub(super) fn tests<'a>(
    entries: &[TestEntry],
    catalog: &Catalog<'a>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Vec<Checked<'a>> {
    entries.iter().for_each(|entry| beside(entry, entries, found));
    entries.iter().map(|entry| test(entry, catalog, names, found)).collect()
}

/// The load is another test of the profile, which has no load itself.
fn beside(entry: &TestEntry, entries: &[TestEntry], found: &mut Diagnostics) {
    let Some(load) = &entry.beside else { return };
    let ids = || entries.iter().map(|other| other.id.value.as_str());
    match entries.iter().find(|other| other.id.value == load.value) {
        None => {
            let title = format!("there is no test '{}' to run beside this one", load.value);
            found.error(load.at, title).suggest(&load.value, ids());
        }
        Some(of) if of.id.value == entry.id.value => {
            found.error(load.at, "a test does not run beside itself: 'beside' names another test");
        }
        Some(of) if of.beside.is_some() => {
            let title =
                format!("'{}' has 'beside' itself, so it cannot be the load of another test", load.value);
            found.error(load.at, title);
        }
        Some(_) => {}
    }
}

fn test<'a>(
    entry: &TestEntry,
    catalog: &Catalog<'a>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Checked<'a> {
    let alias = catalog.alias(&entry.bench.value);
    let bench = alias.map_or(entry.bench.value.as_str(), |alias| alias.bench);
    let known = catalog.find(bench);
    if known.is_none() {
        let title = format!("there is no benchmark '{}'", entry.bench.value);
        found.error(entry.bench.at, title).suggest(&entry.bench.value, catalog.benchmarks());
    }
    let mut params = match known {
        Some(Known::Here(about)) => params(entry, about, found),
        _ => as_written(entry),
    };
    params.extend(alias.into_iter().flat_map(Alias::values));
    pattern(entry, known, catalog, found);
    under_alias(entry, alias, found);
    if let Some(partner) = entry.partner.as_ref().filter(|partner| partner.value != "any") {
        names.roles(std::slice::from_ref(partner), found);
    }
    let test = Test {
        id: entry.id.value.clone(),
        bench: bench.to_owned(),
        planned: matches!(known, Some(Known::Planned(_))),
        pattern: match (alias.and_then(|alias| alias.pattern), &entry.pattern) {
            (Some(pattern), _) => Some(pattern.to_owned()),
            (None, pattern) => pattern.as_ref().map(|pattern| pattern.value.clone()),
        },
        roles: names.roles(&entry.roles, found),
        params,
        on: on(&entry.on, found),
        require: require(entry, found),
        expect: entry.expect,
        if_none: entry.if_none,
        partner: entry.partner.as_ref().map(|partner| partner.value.clone()),
        rounds: entry.rounds,
        links: entry.links,
        beside: entry.beside.as_ref().map(|load| load.value.clone()),
        groups: entry.groups.clone(),
    };
    Checked { test, known }
}

/// Parameter values in canonical form; reports values that the benchmark does not accept.
fn params(
    entry: &TestEntry,
    about: &'static About,
    found: &mut Diagnostics,
) -> BTreeMap<String, Vec<String>> {
    let mut params = BTreeMap::new();
    for (name, values) in &entry.params {
        let Some(spec) = about.param(&name.value) else {
            let title = format!("{} has no parameter '{}'", about.id, name.value);
            let known = about.params.iter().map(|spec| spec.name);
            found.error(name.at, title).suggest(&name.value, known);
            continue;
        };
        let mut canonical = Vec::new();
        for value in values {
            match spec.parse(&value.value.to_string()) {
                Ok(value) => canonical.push(value.to_string()),
                Err(why) => drop(found.error(value.at, format!("parameter '{}': {why}", name.value))),
            }
        }
        params.insert(name.value.clone(), canonical);
    }
    params
}

/// The parameters of a planned benchmark are unknown.
fn as_written(entry: &TestEntry) -> BTreeMap<String, Vec<String>> {
    let texts = |values: &[At<Value>]| values.iter().map(|value| value.value.to_string()).collect();
    entry.params.iter().map(|(name, values)| (name.value.clone(), texts(values))).collect()
}

fn pattern(entry: &TestEntry, known: Option<Known<'_>>, catalog: &Catalog<'_>, found: &mut Diagnostics) {
    let Some(pattern) = &entry.pattern else { return };
    if let Some(Known::Here(about)) = known
        && matches!(about.parts, Parts::One(_))
    {
        let title = format!("{} has one part, and a pattern needs two", about.id);
        found.error(pattern.at, title).label("nothing to place");
    } else if !catalog.patterns.contains(&pattern.value.as_str()) {
        let title = format!("there is no pattern '{}'", pattern.value);
        found.error(pattern.at, title).suggest(&pattern.value, catalog.patterns.iter().copied());
    }
}

/// A name stands for a benchmark with one pattern, or with one value of a parameter; others contradict it.
fn under_alias(entry: &TestEntry, alias: Option<&Alias>, found: &mut Diagnostics) {
    let Some(alias) = alias else { return };
    let pattern = entry.pattern.as_ref().filter(|it| alias.pattern.is_some_and(|own| it.value != own));
    let is_set = |name: &str| alias.params.iter().any(|(own, _)| *own == name);
    let param = entry.params.iter().map(|(name, _)| name).find(|name| is_set(&name.value));
    for at in pattern.map(|it| it.at).into_iter().chain(param.map(|it| it.at)) {
        let title = format!("{} is {}", alias.id, alias.meaning());
        found.error(at, title).label(format!("leave this out, or use {}", alias.bench));
    }
}

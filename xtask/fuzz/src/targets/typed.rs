//! What a person types, and single values in records: node sets, quantities, parameters, settings, the command line.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use seatrial_mem::pipeline::scenario::Scenario;
use seatrial_model::profile::{NodeSet, fold};
use seatrial_model::{Bytes, CaseId, Nanos, Params, Quantity, Subject, Unit};
use seatrial_sys::cpuset::CpuSet;
use seatrial_sys::storage::Device;
use seatrial_sys::verbs::Gid;

use crate::Target;

pub const TARGET: Target = Target { name: "typed", run, longest: 2400, most_allocated: 64 << 20 };

fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Some(line) = text.strip_prefix("seatrial ") {
        let words = ["seatrial"].into_iter().chain(line.split_whitespace());
        let _ = seatrial::command().try_get_matches_from(words);
        return;
    }
    if let Some((bench, params)) = text.split_once(": ") {
        return plan(bench, params);
    }
    comes_back::<Quantity>(text);
    comes_back::<Bytes>(text);
    comes_back::<Nanos>(text);
    comes_back::<Unit>(text);
    comes_back::<Subject>(text);
    comes_back::<CaseId>(text);
    comes_back::<CpuSet>(text);
    comes_back::<Gid>(text);
    let _ = Device::parse(text);
    let _ = Scenario::read(text);
    if let Ok(set) = text.parse::<NodeSet>() {
        let names: Vec<&str> = set.names().collect();
        let folded = fold(&names);
        let again: NodeSet = folded.parse().unwrap_or_else(|error| panic!("'{folded}': {error}"));
        let (mut names, mut again): (Vec<_>, Vec<_>) = (names, again.names().collect());
        names.sort_unstable();
        again.sort_unstable();
        assert_eq!(again, names, "'{folded}' stands for others than what was folded");
    }
}

/// A value that was read is read again from its text.
fn comes_back<T: FromStr + Display + PartialEq + Debug>(text: &str)
where
    T::Err: Debug + Display,
{
    match text.parse::<T>() {
        Ok(value) => {
            let shown = value.to_string();
            assert_eq!(shown.parse::<T>().ok(), Some(value), "'{shown}' is read as something else");
        }
        Err(error) => drop(error.to_string()),
    }
}

/// Plans a benchmark or reads a setting by its id.
fn plan(id: &str, typed: &str) {
    if let Some(setting) = seatrial_settings::registry().find(id) {
        let _ = setting.about().parse(typed);
    }
    let Some(bench) = seatrial_registry::REGISTRY.find(id) else { return };
    let about = bench.about;
    let mut params: Params =
        about.params.iter().map(|spec| (spec.name.to_owned(), spec.default_value())).collect();
    for (name, value) in typed.split(' ').filter_map(|word| word.split_once('=')) {
        match about.param(name).map(|spec| spec.parse(&value.replace('_', " "))) {
            Some(Ok(value)) => params.set(name, value),
            Some(Err(_)) => return,
            None => {}
        }
    }
    let _ = bench.plan(&params, &super::site());
}

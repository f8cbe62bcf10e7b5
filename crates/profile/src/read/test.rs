//! `[[test]]`: what is measured.

use seatrial_model::Value;
use seatrial_model::machine::Device;
use seatrial_model::profile::{Expect, Groups, Requirement};

use crate::Diagnostics;
use crate::diagnostic::At;
use crate::layer::TestEntry;
use crate::read::bounds::requirement;
use crate::read::choice::absence;
use crate::read::pairs::{name, pairs};
use crate::table::{Cell, Table};

pub(super) fn test(mut table: Table<'_>, found: &mut Diagnostics) -> Option<TestEntry> {
    let id = table.required_text("id", found);
    let bench = table.required_text("use", found);
    let pattern = table.text("pattern", found);
    let roles = table.texts("roles", found);
    let params = table.table("params", found);
    let params =
        params.iter().flat_map(Table::entries).map(|cell| (name(&cell), values(&cell, found))).collect();
    let on = pairs(&mut table, "on", found);
    let require = table.table("require", found);
    let require = require.iter().flat_map(Table::entries);
    let require = require.filter_map(|cell| Some((name(&cell), fact(&cell, found)?))).collect();
    let expect = table.take("expect").and_then(|cell| {
        let expect = expect(&cell, found)?;
        let is_device = |(name, kind): &(At<String>, At<Value>)| {
            name.value == "kind" && Device::KINDS.contains(&kind.value.to_string().as_str())
        };
        if expect.all && !on.iter().any(is_device) {
            let kinds = Device::KINDS.join(", ");
            found.error(cell.at, format!("expect = \"all\" needs 'on' with a kind of {kinds}"));
        }
        Some(expect)
    });
    let if_none = absence(&mut table, "if_none", found).map(|absence| absence.value).unwrap_or_default();
    let partner = table.text("partner", found);
    let rounds = table.take("rounds").and_then(|cell| small(&cell, MOST_ROUNDS, found));
    let links = table.take("links").and_then(|cell| small(&cell, MOST_LINKS, found));
    let beside = table.text("beside", found);
    let groups = table.take("groups").and_then(|cell| groups(&cell, found));
    table.finish(found);
    let id = id?;
    // The id becomes part of case names, file names and shell commands.
    if !id.value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)) {
        found.error(id.at, "an id has letters, digits, '.', '_' and '-' only");
    }
    Some(TestEntry {
        id,
        bench: bench?,
        pattern,
        roles,
        params,
        on,
        require,
        expect,
        if_none,
        partner,
        rounds,
        links,
        beside,
        groups,
    })
}

/// More rounds than any fleet has are a typing error.
const MOST_ROUNDS: u64 = 1000;

/// Likewise for links between two switches.
const MOST_LINKS: u64 = 1024;

fn small(cell: &Cell<'_>, most: u64, found: &mut Diagnostics) -> Option<u32> {
    let count = cell.count(found)?;
    if count == 0 || count > most {
        found.error(cell.at, format!("'{}' is from 1 to {most}", cell.key));
    }
    u32::try_from(count).ok()
}

/// A number, a fact, or a list of node sets.
fn groups(cell: &Cell<'_>, found: &mut Diagnostics) -> Option<Groups> {
    let typed: Vec<String> =
        cell.one_or_more().iter().filter_map(|cell| Some(cell.scalar(found)?.value.to_string())).collect();
    match typed.join("+").parse() {
        Ok(groups) => Some(groups),
        Err(why) => {
            found.error(cell.at, format!("'groups': {why}"));
            None
        }
    }
}

fn values(cell: &Cell<'_>, found: &mut Diagnostics) -> Vec<At<Value>> {
    let cells = cell.one_or_more();
    if cells.is_empty() {
        found.error(cell.at, format!("'{}' is a sweep over no values", cell.key));
    }
    cells.iter().filter_map(|cell| cell.scalar(found)).collect()
}

/// A table of bounds, or a value that the fact must equal.
fn fact(cell: &Cell<'_>, found: &mut Diagnostics) -> Option<Requirement> {
    if !cell.is_table() {
        let equals = Some(cell.scalar(found)?.value);
        return Some(Requirement { equals, ..Requirement::default() });
    }
    let mut table = cell.table(found)?;
    let requirement = requirement(&mut table, found);
    if requirement.is_empty() {
        found.error(cell.at, format!("'{}' needs at_least, at_most or equals", cell.key));
    }
    table.finish(found);
    Some(requirement)
}

/// `"all"` of a test, or a table of numbers.
fn expect(cell: &Cell<'_>, found: &mut Diagnostics) -> Option<Expect> {
    if cell.is_table() {
        return expected_number(cell, found);
    }
    if cell.scalar(found)?.value != Value::from("all") {
        found.error(cell.at, "'expect' is \"all\" or a table such as { at_least = 1 }");
        return None;
    }
    Some(Expect { all: true, ..Expect::default() })
}

pub(super) fn expected_number(cell: &Cell<'_>, found: &mut Diagnostics) -> Option<Expect> {
    let mut table = cell.table(found)?;
    let at_least = table.take("at_least").and_then(|cell| cell.count(found));
    let exactly = table.take("exactly").and_then(|cell| cell.count(found));
    table.finish(found);
    match (at_least, exactly) {
        (None, None) => {
            found.error(cell.at, "'expect' needs at_least or exactly");
        }
        (Some(least), Some(exact)) if exact < least => {
            found.error(cell.at, format!("exactly {exact} is never at least {least}"));
        }
        _ => {}
    }
    Some(Expect { at_least, exactly, all: false })
}

//! Roles derived from the nodes: nodes with the same hardware get the same bounds.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::profile::{Role, Test, fold};
use seatrial_model::{Site, SiteNode};

use super::{Draft, DraftRun, Group};
use crate::fleet::alike;

/// The tests of the draft. Roles of the runs' profile are kept; else a test of single nodes is split by node class,
/// one role per class, when there are two classes or more.
pub(super) fn assigned(first: &DraftRun<'_>, runs: &[DraftRun<'_>], draft: &mut Draft) -> Vec<Group> {
    let has_roles = !first.roles.is_empty() || first.tests.iter().any(|test| !test.roles.is_empty());
    let classes = if has_roles { Vec::new() } else { named(runs) };
    let mut groups = Vec::new();
    for test in first.tests.iter().filter(|test| !test.planned) {
        let is_single = |run: &DraftRun<'_>| {
            run.results.iter().filter(|case| case.group == test.id).all(|case| case.nodes.len() == 1)
        };
        if classes.len() < 2 || !runs.iter().all(is_single) {
            groups.push(Group { test: test.clone(), from: test.id.clone(), nodes: None });
            continue;
        }
        for (role, nodes, what) in &classes {
            let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
            let Ok(set) = fold(&names).parse() else { continue };
            draft.profile.roles.insert(role.clone(), Role { nodes: set, expect: None });
            draft.classes.insert(role.clone(), what.clone());
            groups.push(Group {
                test: Test { id: format!("{}-{role}", test.id), roles: vec![role.clone()], ..test.clone() },
                from: test.id.clone(),
                nodes: Some(nodes.clone()),
            });
        }
    }
    for test in first.tests.iter().filter(|test| test.planned) {
        draft.leave_out(format!("test {}: {} is still to come", test.id, test.bench));
    }
    groups
}

/// The classes over the nodes of all runs, named `a`, `b` and so on, the largest first.
fn named(runs: &[DraftRun<'_>]) -> Vec<(String, BTreeSet<String>, String)> {
    let mut nodes: BTreeMap<&str, &SiteNode> = BTreeMap::new();
    for run in runs {
        nodes.extend(run.site.nodes.iter().map(|node| (node.name.as_str(), node)));
    }
    let site = Site { nodes: nodes.into_values().cloned().collect() };
    let mut classes = alike(&site);
    classes.sort_by_key(|(names, _)| std::cmp::Reverse(names.len()));
    let name = |at: usize| {
        let letter = char::from(b'a' + u8::try_from(at % 26).unwrap_or(0));
        if at < 26 { format!("nodes-{letter}") } else { format!("nodes-{letter}{}", at / 26) }
    };
    let class = |(at, (names, what)): (usize, (Vec<String>, Vec<String>))| {
        let what = if what.is_empty() { "their hardware is unknown".to_owned() } else { what.join(", ") };
        (name(at), names.into_iter().collect(), what)
    };
    classes.into_iter().enumerate().map(class).collect()
}

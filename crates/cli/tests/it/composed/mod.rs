//! Composed systems of the documents behind the shipped profiles: the profile's own command passes on a sound one, and
//! names what is planted in it and nothing else.

mod cobalt2;
mod discov_net;
mod dragnet;
mod host;
mod ncsa_io;
mod parts;
mod transfer_study;

use seatrial_model::record::Document;
use seatrial_model::{Verdict, VerdictRecord};
use serde_json::{Value, json};

use crate::rig::{Ended, Home, Script};

/// Simulated nodes, what is measured on them, and the command that checks them.
pub struct System {
    command: &'static str,
    nodes: Vec<Value>,
    rules: Vec<Value>,
}

/// What is changed in a sound system, and each row that is no pass then: `CRITERION NODE SUBJECT VERDICT`.
pub struct Fault {
    name: &'static str,
    plant: fn(&mut System),
    exit: i32,
    rows: &'static [&'static str],
}

impl System {
    fn check(&self, options: &str) -> Ended {
        let script = Script::of(self.nodes.clone(), self.rules.clone());
        Home::new().seatrial(&format!("check {} {options}", self.command)).script(&script).run()
    }

    fn node(&mut self, name: &str) -> &mut Value {
        let node = self.nodes.iter_mut().find(|node| node["name"] == name);
        node.unwrap_or_else(|| panic!("no node {name}"))
    }

    /// The part of this name in a list of the machine of a node.
    fn part(&mut self, node: &str, list: &str, name: &str) -> &mut Value {
        let parts = self.node(node)["machine"][list]["known"].as_array_mut().expect("a list");
        parts.iter_mut().find(|part| part["name"] == name || part["mount"] == name).expect("the part")
    }

    fn remove(&mut self, node: &str, list: &str, name: &str) {
        let parts = self.node(node)["machine"][list]["known"].as_array_mut().expect("a list");
        parts.retain(|part| part["name"] != name && part["mount"] != name);
    }

    fn set(&mut self, node: &str, setting: &str, value: impl Into<Value>) {
        let all = self.node(node)["settings"].as_array_mut().expect("a list");
        let own = all.iter_mut().find(|one| one["setting"] == setting).expect("the setting");
        own["present"] = json!({ "value": value.into() });
    }

    /// What some cases measure instead.
    fn instead(&mut self, when: Value, samples: Vec<Value>) {
        self.rules.insert(0, json!({ "when": when, "samples": samples }));
    }
}

/// The rows that are no pass and no skip, each once.
fn bad(document: &Document) -> Vec<String> {
    let is_bad = |row: &&VerdictRecord| !matches!(row.verdict, Verdict::Pass | Verdict::Skip);
    let text = |row: &VerdictRecord| {
        let node = row.node.as_deref().unwrap_or("-");
        format!("{} {node} {} {}", row.criterion, row.subject, row.verdict)
    };
    let mut rows: Vec<String> = document.verdicts.iter().filter(is_bad).map(text).collect();
    rows.sort();
    rows.dedup();
    rows
}

/// The sound system passes, and each fault that is planted in it gives its exit code and its rows.
#[track_caller]
fn hold(sound: fn() -> System, faults: &[Fault]) {
    let passed = sound().check("-o json");
    let document = passed.document();
    assert_eq!((passed.code, bad(&document)), (Some(0), Vec::new()));
    for Fault { name, plant, exit, rows } in faults {
        let mut system = sound();
        plant(&mut system);
        let found = system.check("-o json");
        let mut wanted = rows.to_vec();
        wanted.sort_unstable();
        let document = found.document();
        assert_eq!(
            (found.code, bad(&document)),
            (Some(*exit), wanted.iter().map(ToString::to_string).collect()),
            "{name}"
        );
    }
}

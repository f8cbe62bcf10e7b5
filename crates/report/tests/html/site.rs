//! Machines and settings of many nodes.

use seatrial_analysis::audit;
use seatrial_model::machine::Machine;
use seatrial_model::profile::{Profile, Requirement, SettingRule};
use seatrial_model::setting::{AuditedSetting, Present, SettingReading};
use seatrial_model::{Params, Site, SiteNode, Subject, Value};
use seatrial_report::inventory::Node;
use serde_json::json;

/// Settings of a node.
const SETTINGS: usize = 60;

/// Nodes with two sockets and parts of every kind; each has its own serial numbers, and one in a hundred lacks a
/// module.
pub fn site(names: &[String]) -> Site {
    let node = |(at, name): (usize, &String)| {
        let settings = (0..SETTINGS).map(|number| reading(number, at)).collect();
        SiteNode { settings, ..SiteNode::new(name.as_str(), machine(at)) }
    };
    Site { nodes: names.iter().enumerate().map(node).collect() }
}

fn machine(at: usize) -> Machine {
    let threads: Vec<_> = (0..128)
        .map(|id| json!({ "id": id, "core": id % 64, "node": id / 32 % 2, "l3": id / 16, "online": true, "allowed": true }))
        .collect();
    let modules: Vec<_> = (0..if at % 100 == 40 { 15 } else { 16 })
        .map(|slot| {
            json!({ "locator": format!("DIMM {slot}"), "channel": format!("{slot}"), "kind": "DDR5",
                    "configured_mts": 4800, "data_width_bits": 64, "serial": format!("{at:04x}{slot:02x}") })
        })
        .collect();
    let machine = json!({
        "boot_id": { "known": format!("boot {at}") },
        "kernel": { "known": "6.1.0-40-amd64" },
        "cpu": { "model": { "known": "A processor of 64 cores" }, "threads": threads },
        "dimms": { "known": { "slots": 16, "modules": modules } },
        "gpus": { "known": [] },
    });
    serde_json::from_value(machine).expect("a machine")
}

/// The first setting differs between all nodes, the second in one node of fifty; the others are the same everywhere.
fn reading(number: usize, at: usize) -> SettingReading {
    let value = match number {
        0 => Value::from(format!("host {at}").as_str()),
        1 => Value::from(if at % 50 == 3 { "off" } else { "on" }),
        _ => Value::from("on"),
    };
    SettingReading {
        setting: format!("kernel.setting_{number:02}"),
        subject: Subject::node(),
        facts: Params::default(),
        present: Present::Value(value),
        note: None,
        counted: None,
        counted_before: None,
        counted_after: None,
    }
}

/// The settings of `site`; the profile demands that all are on.
pub fn audited(site: &Site) -> Vec<AuditedSetting> {
    let rule = |number: usize| {
        let require = Requirement { equals: Some("on".into()), ..Requirement::default() };
        SettingRule {
            id: format!("kernel.setting_{number:02}"),
            require: vec![require],
            ..SettingRule::default()
        }
    };
    let profile =
        Profile { id: "site".to_owned(), settings: (1..SETTINGS).map(rule).collect(), ..Profile::default() };
    audit(&[profile], site, &[], jiff::civil::date(2026, 9, 21)).settings
}

pub fn nodes(site: &Site) -> Vec<Node> {
    let node =
        |node: &SiteNode| Node { name: node.name.clone(), machine: node.machine.clone(), limits: Vec::new() };
    site.nodes.iter().map(node).collect()
}

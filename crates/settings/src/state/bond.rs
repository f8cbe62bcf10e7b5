//! `state.bond_members_up`: whether all members of a bond have a link.

use seatrial_model::machine::{Bond, Machine, Nic};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct BondMembersUp;

const ABOUT: SettingAbout = SettingAbout {
    id: "state.bond_members_up",
    title: "links of all members of a bond",
    doc: "A bond goes on without a member that has no link: slower, and without a message to programs.",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: Nic::FACTS,
    source: "/sys/class/net/NAME/bonding_slave/mii_status of the members",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "check cable, transceiver and switch port of the member that the note names",
    traps: "Without monitoring (nic.bond_miimon=0) members count as up. A member that was never added is not missed.",
};

impl Setting for BondMembersUp {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, _: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(&ABOUT, &machine.nics, "there is no bond", |nic| {
            nic.bond.as_ref().map(|bond| Device::nic(nic, links(bond)))
        })
    }
}

fn links(bond: &Bond) -> Found {
    let mut down = Vec::new();
    for member in &bond.members {
        match member.link.known().map(String::as_str) {
            Some("up") => {}
            Some(state) => down.push(format!("{} {state}", member.name)),
            None => return Found::unreadable(&format!("the link of {} is not known", member.name)),
        }
    }
    let note = (!down.is_empty()).then(|| down.join(", "));
    Found::value(Value::Flag(down.is_empty())).noted(note)
}

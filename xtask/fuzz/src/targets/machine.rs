//! The files of a machine: its inventory, the limits that follow, and the settings of its host.

use seatrial_sys::root::SysRoot;

use crate::{Target, files};

pub const TARGET: Target = Target { name: "machine", run, longest: 20_000, most_allocated: 16 << 20 };

fn run(input: &[u8]) {
    let root = SysRoot::of(files::tree(input));
    let machine = seatrial_inventory::read(&root);
    seatrial_inventory::part_limits(&machine);
    let settings = seatrial_settings::read_all(&root, &machine);
    let text = serde_json::to_vec(&(&machine, &settings)).expect("what was read can be written");
    let again: (seatrial_model::machine::Machine, Vec<seatrial_model::setting::SettingReading>) =
        serde_json::from_slice(&text).expect("what was written can be read");
    assert_eq!(again, (machine, settings));
}

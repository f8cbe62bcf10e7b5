//! `tuning.irqbalance`: whether irqbalance runs.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use super::tuned;
use crate::Setting;
use crate::found::on_node;

pub struct IrqBalance;

const ABOUT: SettingAbout = SettingAbout {
    id: "tuning.irqbalance",
    title: "irqbalance daemon",
    doc: "irqbalance spreads interrupts by load, every ten seconds. That suits a host with many jobs, but \
          overwrites interrupt affinities set for a fast NIC, so the same transfer runs on other CPUs from \
          one trial to the next.",
    kind: Kind::Flag,
    source: "the names of the processes in /proc",
    apply: &[ApplyCommand {
        by: "",
        file: "",
        command: "systemctl {value} --now irqbalance",
        words: &[("true", "enable"), ("false", "disable")],
    }],
    traps: "Interrupts stay where they were last. IRQBALANCE_BANNED_CPUS and --banirq exclude some of them \
            instead.",
    ..tuned::ABOUT
};

impl Setting for IrqBalance {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        on_node(
            &ABOUT,
            match tuned::is_running(root, machine, "irqbalance") {
                Ok(running) => Present::Value(Value::Flag(running)),
                Err(why) => Present::Unreadable(why),
            },
        )
    }
}

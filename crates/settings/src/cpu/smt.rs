//! `cpu.smt`: whether cores run several hardware threads.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::found::{is_virtual, on_node, parse, present};

// ABI/testing/sysfs-devices-system-cpu describes both.
const CONTROL: &str = "/sys/devices/system/cpu/smt/control";
const ACTIVE: &str = "/sys/devices/system/cpu/smt/active";

pub struct Smt;

const ABOUT: SettingAbout = SettingAbout {
    id: "cpu.smt",
    title: "several hardware threads a core",
    doc: "SMT, Hyper-Threading: two threads on one core share its execution units and its first caches. Memory bandwidth and one stream of \
          a transfer rarely gain by it; latency and the fairness among pinned threads suffer when the sibling is \
          busy; transfers of many streams and interrupt work may gain. Numbers of the two kinds do not compare.",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/sys/devices/system/cpu/smt/active and control",
    apply: &[ApplyCommand {
        by: "",
        command: "echo {value} > /sys/devices/system/cpu/smt/control",
        words: &[("true", "on"), ("false", "off")],
    }],
    privilege: Privilege::Root,
    traps: "Takes the second threads offline: cpusets, masks of interrupts and pinned programs lose these CPUs, and \
            do not get them back when they return. Never inside a batch job. What the firmware turned off cannot be \
            turned on while the system runs.",
};

impl Setting for Smt {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        let active = root.text(ACTIVE).and_then(|text| parse(&ABOUT, ACTIVE, &text));
        let (Ok(Value::Flag(active)), control) = (&active, root.text(CONTROL)) else {
            return on_node(&ABOUT, present(root, active));
        };
        let active = *active;
        let found = Present::Value(Value::Flag(active));
        match control.as_deref() {
            Ok("off" | "forceoff" | "notsupported" | "notimplemented") if active => {
                let control = control.unwrap_or_default();
                let why = format!("{ACTIVE} is 1 and {CONTROL} is {control}, which contradict each other");
                on_node(&ABOUT, Present::Unreadable(why))
            }
            Ok("notsupported" | "notimplemented") if is_virtual(machine) => {
                let why = "a virtual machine is not told about the hardware threads of its host".to_owned();
                on_node(&ABOUT, Present::Absent(why))
            }
            Ok("forceoff") => {
                noting(found, "turned off for good, by the command line of the kernel or the firmware")
            }
            Ok("notsupported") => noting(found, "the processors have none, or the firmware turned it off"),
            Ok("on") if !active => noting(found, "it is allowed, and the second threads are offline"),
            // A number is how many threads a core may use, on POWER.
            Ok("on" | "off" | "notimplemented") => on_node(&ABOUT, found),
            Ok(text) if text.parse::<u32>().is_ok() => {
                noting(found, &format!("{text} threads a core are in use"))
            }
            Ok(text) => {
                let error =
                    ReadError::garbage(CONTROL, text, "on, off, forceoff, notsupported or notimplemented");
                on_node(&ABOUT, Present::Unreadable(error.to_string()))
            }
            // Linux 4.19 had the one without the other for some architectures.
            Err(_) => on_node(&ABOUT, found),
        }
    }
}

fn noting(present: Present, note: &str) -> Vec<SettingReading> {
    on_node(&ABOUT, present).into_iter().map(|reading| reading.noting(note)).collect()
}

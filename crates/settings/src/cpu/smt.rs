//! `cpu.smt`: simultaneous multithreading (Hyper-Threading).

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
    title: "simultaneous multithreading (SMT)",
    doc: "With SMT (Hyper-Threading), two hardware threads share the execution units and first caches of a \
          core. Memory bandwidth and single streams rarely gain; latency and pinned threads suffer when the \
          sibling is busy; many streams and interrupt processing may gain. Results with and without SMT are \
          not comparable.",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/sys/devices/system/cpu/smt/active and control",
    apply: &[ApplyCommand { words: &[("true", "on"), ("false", "off")], ..ApplyCommand::file(CONTROL) }],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Takes the second threads offline: cpusets, interrupt affinities and pinned programs lose these \
            CPUs, and do not get them back later. Never do this inside a batch job. If the firmware disabled \
            SMT, it cannot be enabled at run time.",
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
                let why = format!("{ACTIVE} is 1 and {CONTROL} is {control}: these contradict each other");
                on_node(&ABOUT, Present::Unreadable(why))
            }
            Ok("notsupported" | "notimplemented") if is_virtual(machine) => {
                let why = "a virtual machine does not see the hardware threads of its host".to_owned();
                on_node(&ABOUT, Present::Absent(why))
            }
            Ok("forceoff") => {
                noting(found, "disabled until the next boot, by the kernel command line or the firmware")
            }
            Ok("notsupported") => noting(found, "not supported by the CPU, or disabled in the firmware"),
            Ok("on") if !active => noting(found, "enabled, but the second threads are offline"),
            // On POWER, a number of threads per core.
            Ok("on" | "off" | "notimplemented") => on_node(&ABOUT, found),
            Ok(text) if text.parse::<u32>().is_ok() => {
                noting(found, &format!("{text} threads a core are in use"))
            }
            Ok(text) => {
                let error =
                    ReadError::garbage(CONTROL, text, "on, off, forceoff, notsupported or notimplemented");
                on_node(&ABOUT, Present::Unreadable(error.to_string()))
            }
            // Linux 4.19 has only one of the files on some architectures.
            Err(_) => on_node(&ABOUT, found),
        }
    }
}

fn noting(present: Present, note: &str) -> Vec<SettingReading> {
    on_node(&ABOUT, present).into_iter().map(|reading| reading.noting(note)).collect()
}

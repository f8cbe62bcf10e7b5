//! `kernel.clocksource`: the hardware counter that the kernel reads time from.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::clock::CLOCK_SOURCE;
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::found::{is_word, on_node, present};

pub struct ClockSource;

const ABOUT: SettingAbout = SettingAbout {
    id: "kernel.clocksource",
    title: "clock source",
    // admin-guide/kernel-parameters.txt, `clocksource=` and `tsc=`; timers/timekeeping.rst.
    doc: "`tsc` on x86 and `arch_sys_counter` on Arm are CPU counters, read in tens of nanoseconds without a \
          system call; so are `kvm-clock` and `hyperv_clocksource_tsc_page` in virtual machines. When the \
          kernel finds that the counters of the cores differ, or its watchdog reports it, it falls back to \
          `hpet` or `acpi_pm` until the next boot: then each read takes a system call and one to several \
          microseconds, and cores wait for each other. Latencies, message rates, databases and tracing \
          suffer. dmesg says why the kernel changed it.",
    kind: Kind::Choice(&[
        "tsc",
        "arch_sys_counter",
        "kvm-clock",
        "hyperv_clocksource_tsc_page",
        "xen",
        "timebase",
        "hpet",
        "acpi_pm",
        "jiffies",
    ]),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: CLOCK_SOURCE,
    apply: &[ApplyCommand::SOURCE],
    privilege: Privilege::Root,
    remedy: "",
    traps: "The kernel accepts only names in available_clocksource in the same folder; an unstable counter \
            is not listed. tsc=reliable on the kernel command line disables the watchdog: right if it was \
            wrong, harmful if the counters of the sockets really differ, since time then jumps back between \
            cores. Lost at the next boot.",
};

impl Setting for ClockSource {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, _machine: &Machine) -> Vec<SettingReading> {
        let word = root.text(CLOCK_SOURCE).and_then(|text| match is_word(&text) {
            true => Ok(Value::Text(text)),
            false => Err(ReadError::garbage(CLOCK_SOURCE, &text, "one word")),
        });
        on_node(&ABOUT, present(root, word))
    }
}

//! `kernel.clocksource`: what the kernel reads the time from.

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
    title: "what the kernel reads the time from",
    // admin-guide/kernel-parameters.txt, `clocksource=` and `tsc=`; timers/timekeeping.rst.
    doc: "`tsc` on x86 and `arch_sys_counter` on Arm are counters of the processor, read in tens of nanoseconds without a \
          system call; so are `kvm-clock` and `hyperv_clocksource_tsc_page` in virtual machines. When the kernel finds the \
          counters of the cores apart, or a watchdog believes so, it falls back to `hpet` or `acpi_pm` until the next boot: \
          a look at the clock is then a system call and a read of a timer of the board, one to several microseconds, and \
          cores wait for one another at it. Everything that looks often suffers: latencies, message rates, databases, \
          tracing. dmesg says why the kernel left the counter.",
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
    apply: &[ApplyCommand::always(
        "echo {value} | tee /sys/devices/system/clocksource/clocksource0/current_clocksource",
    )],
    privilege: Privilege::Root,
    traps: "The kernel takes only what available_clocksource beside it lists; a counter that it found unstable is not there. \
            tsc=reliable on the kernel's command line silences the watchdog: right where it erred, wrong where the counters of \
            the sockets really differ, for then time goes backwards from one core to the next. Lost at the next boot.",
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

//! `state.gpu_xids`: faults of GPUs in the log of the kernel.

use std::collections::BTreeMap;

use seatrial_model::machine::{Known, Machine};
use seatrial_model::setting::{Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::probe::kernel_lines;
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::found::on_node;

pub struct GpuXids;

const ABOUT: SettingAbout = SettingAbout {
    id: "state.gpu_xids",
    title: "faults of GPUs in the kernel log (Xid)",
    // NVIDIA, "XID Errors", the catalogue.
    doc: "Lines `NVRM: Xid` of the driver since the boot, as far as the log reaches back: memory errors, lost links, a GPU \
          that fell off the bus or does not answer. Xids that a program causes by itself (13, 31, 43, 45) are in the note and \
          not counted.",
    kind: Kind::Count(0, u64::MAX),
    unit: "lines",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/dev/kmsg",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "do what NVIDIA's list of Xids says for the number: reset the GPU (`nvidia-smi --gpu-reset -i N`) or boot; a GPU \
             whose fault comes back has to be replaced",
    traps: "The log starts with the boot and forgets old lines when it is full.",
};

const LINE: &str = "NVRM: Xid ";

/// Numbers with their meaning, in the words of the catalogue's columns.
const KNOWN: [(u32, &str); 16] = [
    (13, "exception in a kernel, mostly of the program"),
    (31, "access to memory that is not mapped, mostly of the program"),
    (43, "the GPU stopped a program"),
    (45, "a program was ended before its work was done"),
    (48, "uncorrected memory error"),
    (61, "internal microcontroller stopped at a breakpoint"),
    (62, "internal microcontroller halted"),
    (63, "a row of memory is to be replaced at the next reset"),
    (64, "a row of memory could not be replaced"),
    (74, "error of an NVLink"),
    (79, "the GPU fell off the PCI bus"),
    (92, "many corrected memory errors"),
    (94, "uncorrected memory error that ended one program"),
    (95, "uncorrected memory error that ended all programs"),
    (119, "the GPU's system processor (GSP) does not answer"),
    (120, "error of the GPU's system processor (GSP)"),
];

/// Numbers that a faulty program causes.
const OF_PROGRAMS: [u32; 4] = [13, 31, 43, 45];

impl Setting for GpuXids {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        if matches!(&machine.gpus, Known::Known(gpus) if gpus.is_empty()) {
            return on_node(&ABOUT, Present::Absent("there is no GPU".to_owned()));
        }
        let lines = match kernel_lines(root, LINE) {
            Ok(lines) => lines,
            Err(why) => return on_node(&ABOUT, Present::Unreadable(why)),
        };
        let mut counted: BTreeMap<(u32, &str), u64> = BTreeMap::new();
        for (number, gpu) in lines.iter().filter_map(|line| parsed(line)) {
            *counted.entry((number, gpu)).or_default() += 1;
        }
        let faults = counted.iter().filter(|((number, _), _)| !OF_PROGRAMS.contains(number));
        let readings = on_node(&ABOUT, Present::Value(Value::Count(faults.map(|(_, count)| count).sum())));
        let told: Vec<String> = counted.iter().map(|((number, gpu), count)| words(*number, gpu, *count)).collect();
        let noted = |reading: SettingReading| if told.is_empty() { reading } else { reading.noting(told.join("; ")) };
        readings.into_iter().map(noted).collect()
    }
}

/// Number and GPU of `NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.`
fn parsed(line: &str) -> Option<(u32, &str)> {
    let (gpu, rest) = line.split_once("Xid (")?.1.split_once("): ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((digits.parse().ok()?, gpu.trim_start_matches("PCI:")))
}

fn words(number: u32, gpu: &str, count: u64) -> String {
    let meaning = KNOWN.iter().find(|(known, _)| *known == number).map_or("see NVIDIA's list", |(_, meaning)| meaning);
    let times = if count > 1 { format!(", {count} times") } else { String::new() };
    format!("Xid {number} of {gpu} ({meaning}){times}")
}

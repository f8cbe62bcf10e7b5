//! What the kernel has found wrong since the boot, by the bits of its taint.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::found::{on_node, present};

const TAINTED: &str = "/proc/sys/kernel/tainted";

/// One bit of the taint (Linux admin-guide/tainted-kernels.rst).
pub struct Taint {
    about: &'static SettingAbout,
    bit: u32,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "state.machine_check",
    title: "machine check exception since the boot",
    doc: "The processor reported a machine check exception (taint M, bit 4): memory, a cache, a link between \
          sockets or the processor itself lost data, and a program was killed.",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: TAINTED,
    apply: &[],
    privilege: Privilege::Root,
    remedy: "read `journalctl -k`, which names the processor or memory bank, and replace it",
    traps: "Only a boot clears it.",
};

pub static MACHINE_CHECK: Taint = Taint { about: &ABOUT, bit: 4 };

pub static KERNEL_OOPS: Taint = Taint {
    about: &SettingAbout {
        id: "state.kernel_oops",
        title: "kernel oops or bug since the boot",
        doc: "A thread of the kernel died (taint D, bit 7: OOPS or BUG). What it held stays locked and what it \
              served stands still, so later measurements may hang.",
        remedy: "boot the machine, and report what `journalctl -k` shows",
        ..ABOUT
    },
    bit: 7,
};

pub static BAD_PAGE: Taint = Taint {
    about: &SettingAbout {
        id: "state.bad_page",
        title: "bad page since the boot",
        doc: "A bad page was referenced or a page had unexpected flags (taint B, bit 5): memory is defective, or a \
              driver wrote where it should not.",
        remedy: "read `journalctl -k`, and test the memory",
        ..ABOUT
    },
    bit: 5,
};

pub static KERNEL_WARNING: Taint = Taint {
    about: &SettingAbout {
        id: "state.kernel_warning",
        title: "kernel warning since the boot",
        doc: "The kernel issued a warning (taint W, bit 9): a state that its authors thought impossible, in a \
              driver or for lack of a resource. Some are harmless.",
        remedy: "read in `journalctl -k` where it arose",
        ..ABOUT
    },
    bit: 9,
};

pub static SOFT_LOCKUP: Taint = Taint {
    about: &SettingAbout {
        id: "state.soft_lockup",
        title: "soft lockup since the boot",
        doc: "A CPU ran in the kernel for more than 20 s and let nothing else run (taint L, bit 14): a driver \
              hangs, a device does not answer, or, in a virtual machine, the host took the CPU away.",
        remedy: "read in `journalctl -k` where the CPU was stuck",
        ..ABOUT
    },
    bit: 14,
};

impl Setting for Taint {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        let bits = root.value::<u64>(TAINTED);
        on_node(self.about, present(root, bits.map(|bits| Value::Flag(bits >> self.bit & 1 == 1))))
    }
}

//! Versions that a file tells: `software.kernel`, `software.microcode` and `software.bios`.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::found::{on_node, present};

pub struct Version {
    about: &'static SettingAbout,
}

pub(super) const ABOUT: SettingAbout = SettingAbout {
    id: "software.kernel",
    title: "release of the kernel",
    doc: "Schedulers, network stacks, drivers and mitigations differ between releases, and so do results. Nodes of one kind \
          should run one release; a node that was not booted since an update runs the old one.",
    kind: Kind::Text,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "/proc/sys/kernel/osrelease",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "install the release that the other nodes have, and boot",
    traps: "Modules of the kernel from vendors (GPU, RDMA, file systems) must be built for it.",
};

pub static KERNEL_RELEASE: Version = Version { about: &ABOUT };

pub static MICROCODE: Version = Version {
    about: &SettingAbout {
        id: "software.microcode",
        title: "microcode of the processors",
        doc: "Updates of the microcode mend faults of processors and bring mitigations that may cost performance. Two nodes \
              with different versions may give different results.",
        source: "/sys/devices/system/cpu/cpu0/microcode/version",
        remedy: "install the package of the microcode (intel-microcode, amd64-microcode) or a newer BIOS, and boot",
        traps: "In a virtual machine the host loads it, and the number may be made up.",
        ..ABOUT
    },
};

pub static BIOS: Version = Version {
    about: &SettingAbout {
        id: "software.bios",
        title: "version of the BIOS",
        doc: "The BIOS sets memory timing, NUMA, power and PCI Express. Nodes of one product should have one version, or \
              defaults differ and a few nodes are slower.",
        source: "/sys/class/dmi/id/bios_version",
        remedy: "write the version that the other nodes have, by the vendor's tool or the management controller",
        traps: "An update may set its settings back to the defaults.",
        ..ABOUT
    },
};

impl Setting for Version {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        on_node(self.about, present(root, root.text(self.about.source).map(Value::Text)))
    }
}

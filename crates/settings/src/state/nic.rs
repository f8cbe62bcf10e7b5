//! What an interface counts: losses of its link, and packets with errors.

use seatrial_model::machine::{Machine, Nic};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::Kind;
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::counted::found;
use crate::devices::{self, Device};

pub struct NicCounter {
    about: &'static SettingAbout,
    /// The file of the counter below that of the interface.
    file: &'static str,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "state.carrier_losses",
    title: "losses of the link of an interface",
    // ABI/testing/sysfs-class-net.
    doc: "How often the link went down, for each day since the boot (for one day where the boot was less than a day \
          ago). Drivers take it down a few times while they start; a link that goes on doing so has a bad cable, \
          transceiver or port, and each time stops traffic for seconds.",
    kind: Kind::Number(0.0, 1e15),
    unit: "times a day",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: Nic::FACTS,
    source: "/sys/class/net/NAME/carrier_down_count",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "change the cable, the transceiver, then the port of the switch",
    traps: "A counter, which starts when the interface is created. `ethtool -m NAME` shows the light of a transceiver at \
            each end.",
};

pub static CARRIER_LOSSES: NicCounter = NicCounter { about: &ABOUT, file: "carrier_down_count" };

pub static RX_ERRORS: NicCounter = NicCounter {
    about: &SettingAbout {
        id: "state.nic_rx_errors",
        title: "damaged packets at an interface",
        // ABI/testing/sysfs-class-net-statistics, for all of them.
        doc: "Packets that were received with errors, for each day since the boot (for one day where the boot was less than a \
              day ago). Each is lost: UDP loses data, TCP sends it again. A sound link has none.",
        unit: "packets a day",
        source: "/sys/class/net/NAME/statistics/rx_errors",
        traps: "A counter, which starts when the interface is created. Some drivers count packets that were too long too.",
        ..ABOUT
    },
    file: "statistics/rx_errors",
};

pub static RX_CRC_ERRORS: NicCounter = NicCounter {
    about: &SettingAbout {
        id: "state.nic_crc_errors",
        title: "packets with a wrong checksum (CRC)",
        doc: "Packets whose checksum on the wire was wrong, for each day since the boot (for one day where the boot was less \
              than a day ago): a bad cable or transceiver between this port and the switch.",
        unit: "packets a day",
        source: "/sys/class/net/NAME/statistics/rx_crc_errors",
        traps: "A counter, which starts when the interface is created. A switch that forwards at once (cut-through) passes on \
                packets that were damaged elsewhere.",
        ..ABOUT
    },
    file: "statistics/rx_crc_errors",
};

pub static RX_MISSED: NicCounter = NicCounter {
    about: &SettingAbout {
        id: "state.nic_missed",
        title: "packets for which a NIC had no room",
        doc: "Packets that were lost since the ring was full, for each day since the boot (for one day where the boot was \
              less than a day ago): the CPUs did not take them in time.",
        unit: "packets a day",
        source: "/sys/class/net/NAME/statistics/rx_missed_errors",
        remedy: "a longer ring (nic.rx_ring), more queues (nic.channels), interrupts on its own node (nic.irq_local)",
        traps: "A counter, which starts when the interface is created. Some drivers count them in rx_fifo_errors or only in \
                `ethtool -S NAME`.",
        ..ABOUT
    },
    file: "statistics/rx_missed_errors",
};

pub static TX_ERRORS: NicCounter = NicCounter {
    about: &SettingAbout {
        id: "state.nic_tx_errors",
        title: "packets that an interface could not send",
        doc: "For each day since the boot (for one day where the boot was less than a day ago). Some come with each loss of \
              the link; others mean a defective card or driver.",
        unit: "packets a day",
        source: "/sys/class/net/NAME/statistics/tx_errors",
        traps: "A counter, which starts when the interface is created.",
        ..ABOUT
    },
    file: "statistics/tx_errors",
};

impl Setting for NicCounter {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(self.about, &machine.nics, "there is no network card", |nic| {
            let path = format!("/sys/class/net/{}/{}", nic.name, self.file);
            nic.kind.is_device().then(|| Device::nic(nic, found(root, &nic.name, &path)))
        })
    }
}

//! Errors that RDMA ports have counted.

use seatrial_model::machine::{Hca, Machine};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::Kind;
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::counted::found;
use crate::devices::{self, Device};

pub struct PortCounter {
    about: &'static SettingAbout,
    /// Name of the file of the counter.
    counter: &'static str,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "state.rdma_link_downed",
    title: "losses of the link of an RDMA port",
    // ABI/stable/sysfs-class-infiniband, for all of them.
    doc: "How often the port could not recover its link and the link went down, for each day since the boot (for one \
          day where the boot was less than a day ago). Each time stops all traffic of the port, and jobs may end.",
    kind: Kind::Number(0.0, 1e15),
    unit: "times a day",
    fields: &[],
    unlimited: None,
    subject: "hca",
    facts: Hca::FACTS,
    source: "/sys/class/infiniband/NAME/ports/PORT/counters/link_downed",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "change the cable, then the port of the switch; `mlxlink` shows the light at each end",
    traps: "A counter, which starts when the driver is loaded; reboots of the switch count too. A tool that resets it \
            (perfquery -R) hides errors.",
};

pub static LINK_DOWNED: PortCounter = PortCounter { about: &ABOUT, counter: "link_downed" };

pub static LINK_RECOVERED: PortCounter = PortCounter {
    about: &SettingAbout {
        id: "state.rdma_link_recovered",
        title: "recoveries of the link of an RDMA port",
        doc: "How often the port lost its link and recovered it by itself, for each day since the boot (for one day where \
              the boot was less than a day ago). Traffic stops for milliseconds each time.",
        source: "/sys/class/infiniband/NAME/ports/PORT/counters/link_error_recovery",
        ..ABOUT
    },
    counter: "link_error_recovery",
};

pub static SYMBOL_ERRORS: PortCounter = PortCounter {
    about: &SettingAbout {
        id: "state.rdma_symbol_errors",
        title: "symbol errors of an RDMA port",
        doc: "Symbols that the port received with errors, for each day since the boot (for one day where the boot was less \
              than a day ago). InfiniBand allows one wrong bit in 10^12; more come from a cable or transceiver that \
              fails.",
        unit: "errors a day",
        source: "/sys/class/infiniband/NAME/ports/PORT/counters/symbol_error",
        ..ABOUT
    },
    counter: "symbol_error",
};

pub static RECEIVE_ERRORS: PortCounter = PortCounter {
    about: &SettingAbout {
        id: "state.rdma_receive_errors",
        title: "damaged packets at an RDMA port",
        doc: "Packets with errors that the port received, for each day since the boot (for one day where the boot was less \
              than a day ago). Each is sent again, which costs bandwidth and latency.",
        unit: "packets a day",
        source: "/sys/class/infiniband/NAME/ports/PORT/counters/port_rcv_errors",
        ..ABOUT
    },
    counter: "port_rcv_errors",
};

impl Setting for PortCounter {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(self.about, &machine.hcas, "there is no RDMA port", |hca| {
            hca.ports.iter().map(move |port| {
                let name = format!("{}/{}", hca.name, port.number);
                let counter = format!("ports/{}/counters/{}", port.number, self.counter);
                let found = found(root, &name, &format!("/sys/class/infiniband/{}/{counter}", hca.name));
                Device { name, facts: hca.facts(port), found }
            })
        })
    }
}

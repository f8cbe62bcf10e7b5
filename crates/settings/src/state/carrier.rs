//! `state.carrier_losses`: how often an interface lost its link.

use seatrial_model::machine::{Machine, Nic};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::Kind;
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::counted::found;
use crate::devices::{self, Device};

pub struct CarrierLosses;

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

impl Setting for CarrierLosses {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(&ABOUT, &machine.nics, "there is no network card", |nic| {
            let path = format!("/sys/class/net/{}/carrier_down_count", nic.name);
            nic.kind.is_device().then(|| Device::nic(nic, found(root, &nic.name, &path)))
        })
    }
}

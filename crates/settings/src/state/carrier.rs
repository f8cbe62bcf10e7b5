//! `state.carrier_losses`: how often an interface lost its link.

use seatrial_model::machine::{Machine, Nic};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::counted::{Counted, a_day, note};
use crate::devices::{self, Device, Found};

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
            nic.kind.is_device().then(|| Device::nic(nic, losses(nic, root)))
        })
    }
}

fn losses(nic: &Nic, root: &SysRoot) -> Found {
    match root.value(format!("/sys/class/net/{}/carrier_down_count", nic.name)) {
        Ok(count) => {
            let counted = Counted { name: nic.name.clone(), count };
            Found::value(Value::Number(a_day(root, count))).noted(note(root, &[counted]))
        }
        Err(error @ ReadError::Missing { .. }) => Found::absent(&error.to_string()),
        Err(error) => Found::unreadable(&error.to_string()),
    }
}

//! Light of the transceivers of network cards.

use seatrial_model::machine::{Machine, Nic};
use seatrial_model::setting::{Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::optics::{Optics, optics};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::devices::{self, Device, Found};

pub struct OfOptics {
    about: &'static SettingAbout,
    find: fn(&Optics) -> Found,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "state.optics_alarm",
    title: "alarm of a transceiver",
    doc: "The light that the transceiver receives or sends is outside of the limits that its vendor has stored in it. The \
          note says which. The link may still be up, and lose packets.",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: Nic::FACTS,
    source: "ethtool -m NAME (SFF-8472, SFF-8636)",
    apply: &[],
    privilege: Privilege::NetAdmin,
    remedy: "clean the connectors, then change the cable, then the transceiver at the end that sends too little",
    traps: "Copper cables measure no light. Transceivers with CMIS (QSFP-DD, OSFP) are not read: `ethtool -m NAME` shows \
            them.",
};

pub static OPTICS_ALARM: OfOptics = OfOptics {
    about: &ABOUT,
    find: |optics| {
        let note = (!optics.alarms.is_empty()).then(|| optics.alarms.join(", "));
        Found::value(Value::Flag(note.is_some())).noted(note)
    },
};

pub static OPTICS_RECEIVED: OfOptics = OfOptics {
    about: &SettingAbout {
        id: "state.optics_received",
        title: "light that a transceiver receives",
        doc: "Of the lane with the least, in dBm: 0 dBm is 1 mW, -3 dBm half of it. Links of one length should have about \
              the same; 3 dB less than the others is a dirty connector or a bent cable.",
        kind: Kind::Number(-40.0, 20.0),
        unit: "dBm",
        ..ABOUT
    },
    find: |optics| least(&optics.received),
};

pub static OPTICS_SENT: OfOptics = OfOptics {
    about: &SettingAbout {
        id: "state.optics_sent",
        title: "light that a transceiver sends",
        doc: "Of the lane with the least, in dBm: 0 dBm is 1 mW, -3 dBm half of it. A laser that ages sends less.",
        kind: Kind::Number(-40.0, 20.0),
        unit: "dBm",
        remedy: "change the transceiver",
        ..ABOUT
    },
    find: |optics| least(&optics.sent),
};

/// The lane with the least light, with two digits; -40 dBm, the least that there is (0.1 uW), where there is none.
fn least(lanes: &[u16]) -> Found {
    let Some(least) = lanes.iter().min() else { return Found::absent("the transceiver has no lane") };
    // In 0.1 uW; 1 mW is 0 dBm.
    let dbm = 10.0 * (f64::from(*least).max(1.0) / 10_000.0).log10();
    Found::value(Value::Number((dbm * 100.0).round() / 100.0))
}

impl Setting for OfOptics {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(self.about, &machine.nics, "there is no network card", |nic| {
            nic.kind.is_device().then(|| {
                let found = match optics(root, &nic.name) {
                    Ok(optics) => (self.find)(&optics),
                    Err(ReadError::Missing { .. }) => Found::absent("it has no transceiver that measures light"),
                    Err(error) => Found::failed(&error),
                };
                Device::nic(nic, found)
            })
        })
    }
}

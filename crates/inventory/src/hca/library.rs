//! MTUs of ports, which only libibverbs tells.

use seatrial_model::machine::{Hca, Known};
use seatrial_sys::root::SysRoot;
use seatrial_sys::verbs::{PortAbout, Verbs, VerbsError};

/// Asks for every port of the running system; not for a tree of files, and not without devices.
pub(super) fn ask(root: &SysRoot, hcas: &mut [Hca]) {
    if hcas.is_empty() {
        return;
    }
    let verbs = match root.is_live() {
        true => Verbs::open().map_err(|error| error.to_string()),
        false => Err("a tree of files has no libibverbs".to_owned()),
    };
    for hca in hcas {
        let device = verbs
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|verbs| verbs.open_device(&hca.name).map_err(|error| error.to_string()));
        for port in &mut hca.ports {
            let about = device.as_ref().map_err(Clone::clone).and_then(|device| {
                let number =
                    u8::try_from(port.number).map_err(|_| format!("port {} is impossible", port.number))?;
                device.port(number).map_err(|error: VerbsError| error.to_string())
            });
            let mtu = |of: fn(&PortAbout) -> u32| match &about {
                Ok(about) => Known::Known(of(about)),
                Err(why) => Known::unknown(why.clone()),
            };
            port.active_mtu = mtu(|about| about.active_mtu.bytes());
            port.max_mtu = mtu(|about| about.max_mtu.bytes());
        }
    }
}

//! `net.rmem_consistent` and `net.wmem_consistent`: a default buffer size that does not exceed the maximum.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Present, SettingAbout, SettingReading};
use seatrial_model::{Bytes, Kind, Value};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::found::{on_node, present};
use crate::sysctl::ROW;

pub struct Consistent {
    about: &'static SettingAbout,
    default: &'static str,
    most: &'static str,
}

const ABOUT: SettingAbout = SettingAbout {
    doc: "The kernel accepts a default that is larger than the maximum. Programs that set a buffer then get less than \
          those that set none, which shows as datagrams lost by the careful program only.",
    kind: Kind::Flag,
    traps: "Raises the maximum to the default. Lost at the next boot unless a file in /etc/sysctl.d sets it.",
    ..ROW
};

pub static RMEM_CONSISTENT: Consistent = Consistent {
    about: &SettingAbout {
        id: "net.rmem_consistent",
        title: "rmem_default not above rmem_max",
        source: "/proc/sys/net/core/rmem_default and rmem_max",
        apply: &[ApplyCommand::always("sysctl -w net.core.rmem_max=$(sysctl -n net.core.rmem_default)")],
        ..ABOUT
    },
    default: "/proc/sys/net/core/rmem_default",
    most: "/proc/sys/net/core/rmem_max",
};

pub static WMEM_CONSISTENT: Consistent = Consistent {
    about: &SettingAbout {
        id: "net.wmem_consistent",
        title: "wmem_default not above wmem_max",
        source: "/proc/sys/net/core/wmem_default and wmem_max",
        apply: &[ApplyCommand::always("sysctl -w net.core.wmem_max=$(sysctl -n net.core.wmem_default)")],
        ..ABOUT
    },
    default: "/proc/sys/net/core/wmem_default",
    most: "/proc/sys/net/core/wmem_max",
};

impl Setting for Consistent {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        let (default, most) = match (root.value::<u64>(self.default), root.value::<u64>(self.most)) {
            (Ok(default), Ok(most)) => (default, most),
            (Err(error), _) | (_, Err(error)) => return on_node(self.about, present(root, Err(error))),
        };
        let readings = on_node(self.about, Present::Value(Value::Flag(default <= most)));
        let told = |reading: SettingReading| match default <= most {
            true => reading,
            false => {
                reading.noting(format!("the default is {}, the maximum {}", Bytes(default), Bytes(most)))
            }
        };
        readings.into_iter().map(told).collect()
    }
}

//! Names of the operating system.

use seatrial_model::machine::Known;
use seatrial_sys::root::SysRoot;

pub(crate) fn hostname(root: &SysRoot) -> Known<String> {
    root.text("/proc/sys/kernel/hostname").into()
}

pub(crate) fn boot_id(root: &SysRoot) -> Known<String> {
    root.text("/proc/sys/kernel/random/boot_id").into()
}

pub(crate) fn kernel(root: &SysRoot) -> Known<String> {
    root.text("/proc/sys/kernel/osrelease").into()
}

/// In sysfs since Linux 6.1; before, the architecture that this program was built for.
pub(crate) fn architecture(root: &SysRoot) -> Known<String> {
    match root.text("/proc/sys/kernel/arch") {
        Err(error) if error.is_missing() && root.is_live() => Known::Known(std::env::consts::ARCH.to_owned()),
        text => text.into(),
    }
}

pub(crate) fn distribution(root: &SysRoot) -> Known<String> {
    let read = |path: &str| -> Known<String> {
        Known::from(root.text(path)).and_then(|text| {
            let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
            match value {
                Some(value) => Known::Known(value.trim().trim_matches(['"', '\'']).to_owned()),
                None => Known::unknown(format!("{path} has no PRETTY_NAME")),
            }
        })
    };
    read("/etc/os-release").or_else(|| read("/usr/lib/os-release"))
}

//! Negotiated rate of a SATA or SAS link, from `ata_link/linkN/sata_spd` (Linux ABI/testing/sysfs-ata) and
//! `sas_phy/…/negotiated_linkrate` (drivers/scsi/scsi_transport_sas.c).

use seatrial_model::machine::{DiskBus, Known};
use seatrial_sys::root::{ReadError, SysRoot};

use super::DiskPlace;

pub(super) fn rate(place: &DiskPlace<'_>, bus: DiskBus) -> Known<f64> {
    if !matches!(bus, DiskBus::Sata | DiskBus::Sas) {
        return Known::unknown("only SATA and SAS disks have a link of this kind");
    }
    if let Some((port, number)) = folder_of(place.folder, "ata") {
        return gbit_s(place.root, &format!("{port}/link{number}/ata_link/link{number}/sata_spd"), "Gbps")
            .into();
    }
    match folder_of(place.folder, "end_device-") {
        Some((device, _)) => of_phys(place.root, device),
        None => Known::unknown("the kernel reports no port for its controller"),
    }
}

/// The folder in the path whose name is `stem` and digits, and what follows the stem.
fn folder_of<'a>(path: &'a str, stem: &str) -> Option<(&'a str, &'a str)> {
    let mut end = 0;
    for part in path.split_inclusive('/') {
        end += part.len();
        let rest = part.trim_end_matches('/').strip_prefix(stem);
        if let Some(rest) = rest.filter(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit())) {
            return Some((path[..end].trim_end_matches('/'), rest));
        }
    }
    None
}

/// The port of a SAS device lists its lanes; a disk has one.
fn of_phys(root: &SysRoot, device: &str) -> Known<f64> {
    let port = device.rsplit_once('/').map_or(device, |(port, _)| port);
    let names = match root.list(port) {
        Ok(names) => names,
        Err(error) => return Known::unknown(error.to_string()),
    };
    let Some(phy) = names.iter().find(|name| name.starts_with("phy-")) else {
        return Known::unknown(format!("{port} lists no lane"));
    };
    let folder = root.resolve(format!("{port}/{phy}"));
    let rate = folder
        .and_then(|folder| gbit_s(root, &format!("{folder}/sas_phy/{phy}/negotiated_linkrate"), "Gbit"));
    rate.into()
}

/// `6.0 Gbps`, `12.0 Gbit`; other words where nothing was negotiated.
fn gbit_s(root: &SysRoot, path: &str, unit: &str) -> Result<f64, ReadError> {
    let text = root.text(path)?;
    let number = text.strip_suffix(unit).and_then(|number| number.trim().parse::<f64>().ok());
    let known = number.filter(|rate| [1.5, 3.0, 6.0, 12.0, 22.5].contains(rate));
    known.ok_or_else(|| ReadError::garbage(path, &text, &format!("a rate such as 6.0 {unit}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_port_on_the_path() {
        let path = "/sys/devices/pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0/block/sda";
        assert_eq!(folder_of(path, "ata"), Some(("/sys/devices/pci0000:00/0000:00:17.0/ata3", "3")));
        assert_eq!(folder_of("/sys/devices/platform/atatonic/block/sda", "ata"), None);
    }
}

//! A PCI Express port and its link.

use seatrial_model::machine::{Known, PciPort};
use seatrial_sys::root::{ReadError, SysRoot};

use super::{hex, last_part};

/// Red Hat's vendor id of QEMU's devices; the link of such a port has the numbers of a command line.
const QEMU: u32 = 0x1b36;

/// GT/s of generations 1 to 7 (PCI Express Base Specification, Link Capabilities, "Max Link Speed").
pub(crate) const SPEEDS: [f64; 7] = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Widths in the specification. A powered-off device answers with all bits set, which reads as 63.
const WIDTHS: [u32; 7] = [1, 2, 4, 8, 12, 16, 32];

pub(super) fn read(root: &SysRoot, folder: &str) -> PciPort {
    PciPort {
        address: last_part(folder).to_owned(),
        express: root.exists(format!("{folder}/max_link_speed"))
            || root.exists(format!("{folder}/current_link_speed")),
        emulated: hex(root, &format!("{folder}/vendor")) == Ok(QEMU),
        speed_gts: speed(root, &format!("{folder}/current_link_speed")).into(),
        max_speed_gts: speed(root, &format!("{folder}/max_link_speed")).into(),
        width: width(root, &format!("{folder}/current_link_width")).into(),
        max_width: width(root, &format!("{folder}/max_link_width")).into(),
    }
}

/// `8.0 GT/s PCIe`, on older kernels `8 GT/s`; `Unknown` where the link is down.
fn speed(root: &SysRoot, path: &str) -> Result<f64, ReadError> {
    let text = root.text(path)?;
    let mut words = text.split_whitespace();
    let number = words.next().and_then(|number| number.parse::<f64>().ok());
    match (number, words.next()) {
        (Some(number), Some("GT/s")) if SPEEDS.contains(&number) => Ok(number),
        _ => Err(ReadError::garbage(path, &text, "a speed such as 8.0 GT/s PCIe")),
    }
}

fn width(root: &SysRoot, path: &str) -> Result<u32, ReadError> {
    let width = root.value(path)?;
    if WIDTHS.contains(&width) {
        Ok(width)
    } else {
        Err(ReadError::garbage(path, &width.to_string(), "1, 2, 4, 8, 12, 16 or 32 lanes"))
    }
}

/// A value of a link from its two ends: the lower where both are known.
pub(crate) fn either<T: Copy + PartialOrd>(lower: &Known<T>, upper: Option<&Known<T>>) -> Known<T> {
    match (lower, upper) {
        (Known::Known(a), Some(Known::Known(b))) => Known::Known(if b < a { *b } else { *a }),
        (Known::Known(a), _) => Known::Known(*a),
        (_, Some(Known::Known(b))) => Known::Known(*b),
        (Known::Unknown(why), _) => Known::Unknown(why.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read_with(files: &[(&str, &str)]) -> PciPort {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join("f")).expect("made");
        for (file, text) in files {
            fs::write(dir.path().join("f").join(file), text).expect("written");
        }
        read(&SysRoot::at(dir.path()), "/f")
    }

    #[test]
    fn reads_speeds_of_old_and_new_kernels() {
        let port = read_with(&[("current_link_speed", "8 GT/s\n"), ("max_link_speed", "16.0 GT/s PCIe\n")]);
        assert_eq!((port.speed_gts, port.max_speed_gts), (Known::Known(8.0), Known::Known(16.0)));
        assert!(port.express && !port.emulated);
    }

    #[test]
    fn does_not_believe_a_link_that_is_down_or_powered_off() {
        let port = read_with(&[("current_link_speed", "Unknown\n"), ("current_link_width", "0\n")]);
        assert!(port.express && !port.speed_gts.is_known() && !port.width.is_known());
        let off = read_with(&[("current_link_speed", "Unknown speed\n"), ("current_link_width", "63\n")]);
        assert!(off.width.why().is_some_and(|why| why.contains("63")), "{off:?}");
        let odd = read_with(&[("current_link_speed", "9.0 GT/s PCIe\n")]);
        assert!(!odd.speed_gts.is_known(), "no generation has 9 GT/s");
    }

    #[test]
    fn a_function_without_link_files_is_not_on_express() {
        let port = read_with(&[("vendor", "0x1b36\n")]);
        assert!(!port.express && port.emulated);
    }

    #[test]
    fn the_slower_end_of_a_link_counts() {
        assert_eq!(either(&Known::Known(16), Some(&Known::Known(8))), Known::Known(8));
        assert_eq!(either(&Known::unknown("a"), Some(&Known::Known(8))), Known::Known(8));
        assert_eq!(either::<u32>(&Known::unknown("a"), Some(&Known::unknown("b"))), Known::unknown("a"));
    }
}

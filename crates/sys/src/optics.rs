//! Light of the transceiver in a network card (SFF-8472 12.4 for SFP, SFF-8636 2.11 for QSFP), read by ethtool.
//!
//! Below a test root the answers are files: `/ethtool/NAME/module` with the kind of its memory and the length, and
//! `/ethtool/NAME/eeprom` with the memory.

use rustix::io::Errno;

use crate::ethtool::{call, refused};
use crate::root::{ReadError, SysRoot};

/// What a transceiver measures, in 0.1 uW for each lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Optics {
    pub received: Vec<u16>,
    pub sent: Vec<u16>,
    /// What is outside of the limits that the vendor stores in the transceiver.
    pub alarms: Vec<&'static str>,
}

/// `ETH_MODULE_SFF_8472` of linux/ethtool.h; 8636 and 8436 have the same places.
const SFF_8472: u32 = 2;
const SFF_8636: [u32; 2] = [3, 4];

/// Bytes that are needed of each.
const LENGTH_8472: usize = 512;
const LENGTH_8636: usize = 256;

const RECEIVED_LITTLE: &str = "too little light is received";
const RECEIVED_MUCH: &str = "too much light is received";
const SENT_LITTLE: &str = "too little light is sent";
const SENT_MUCH: &str = "too much light is sent";

/// The light of the transceiver of `interface`.
///
/// # Errors
/// `Missing` where there is no transceiver, or one that measures no light, such as a copper cable.
pub fn optics(root: &SysRoot, interface: &str) -> Result<Optics, ReadError> {
    let path = format!("/ethtool/{interface}/module");
    let (kind, memory) = match root.is_live() {
        true => memory(interface).map_err(|errno| refused(path.clone(), errno))?,
        false => {
            let text = root.text(&path)?;
            let kind = text.parse().map_err(|_| ReadError::garbage(&path, &text, "a number"))?;
            (kind, root.bytes(format!("/ethtool/{interface}/eeprom"))?)
        }
    };
    parse(kind, &memory).ok_or(ReadError::Missing { path })
}

fn parse(kind: u32, memory: &[u8]) -> Option<Optics> {
    let number = |at: usize| u16::from_be_bytes([memory[at], memory[at + 1]]);
    let mut optics = Optics::default();
    let mut alarm = |is_on: bool, words| {
        if is_on && !optics.alarms.contains(&words) {
            optics.alarms.push(words);
        }
    };
    match kind {
        // Byte 92: bit 6 says that there are diagnostics, bit 5 that they need no calibration. They are from byte 256 on.
        SFF_8472 if memory.len() >= LENGTH_8472 && memory[92] & 0x60 == 0x60 => {
            let flags = &memory[256 + 112..];
            alarm(flags[0] & 0x02 != 0, SENT_MUCH);
            alarm(flags[0] & 0x01 != 0, SENT_LITTLE);
            alarm(flags[1] & 0x80 != 0, RECEIVED_MUCH);
            alarm(flags[1] & 0x40 != 0, RECEIVED_LITTLE);
            (optics.sent, optics.received) = (vec![number(256 + 102)], vec![number(256 + 104)]);
        }
        // Byte 147, bits 4 to 7: from 10 on it is a copper cable.
        kind if SFF_8636.contains(&kind) && memory.len() >= LENGTH_8636 && memory[147] >> 4 < 10 => {
            for lane in 0..4 {
                let bits = |first: usize| memory[first + lane / 2] >> (4 - lane % 2 * 4);
                alarm(bits(9) & 8 != 0, RECEIVED_MUCH);
                alarm(bits(9) & 4 != 0, RECEIVED_LITTLE);
                alarm(bits(13) & 8 != 0, SENT_MUCH);
                alarm(bits(13) & 4 != 0, SENT_LITTLE);
            }
            optics.received = (0..4).map(|lane| number(34 + lane * 2)).collect();
            optics.sent = (0..4).map(|lane| number(50 + lane * 2)).collect();
        }
        _ => return None,
    }
    Some(optics)
}

/// Kind and content of the memory of the transceiver.
fn memory(interface: &str) -> Result<(u32, Vec<u8>), Errno> {
    // ETHTOOL_GMODULEINFO: command, kind, length, and eight reserved numbers.
    let mut about = [0_u32; 11];
    about[0] = 0x42;
    call(interface, &mut about)?;
    let [_, kind, length, ..] = about;
    let wanted = if kind == SFF_8472 { LENGTH_8472 } else { LENGTH_8636 };
    let length = wanted.min(length as usize);
    // ETHTOOL_GMODULEEEPROM: command, a number of the driver, offset and length, then the bytes.
    let mut content = vec![0_u32; 4 + length.div_ceil(4)];
    (content[0], content[3]) = (0x43, length as u32);
    call(interface, &mut content)?;
    let bytes: Vec<u8> = content[4..].iter().flat_map(|word| word.to_ne_bytes()).take(length).collect();
    Ok((kind, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_and_alarms_are_found_at_their_place() {
        let mut sfp = vec![0_u8; LENGTH_8472];
        assert_eq!(parse(SFF_8472, &sfp), None);
        sfp[92] = 0x68;
        sfp[256 + 102..256 + 106].copy_from_slice(&[0x13, 0x88, 0x00, 0x0a]);
        sfp[256 + 113] = 0x40;
        let one = Optics { received: vec![10], sent: vec![5000], alarms: vec![RECEIVED_LITTLE] };
        assert_eq!(parse(SFF_8472, &sfp), Some(one));
        assert_eq!((parse(SFF_8472, &sfp[..256]), parse(1, &sfp)), (None, None));
        let mut qsfp = vec![0_u8; LENGTH_8636];
        qsfp[34..42].copy_from_slice(&[0x13, 0x88, 0x13, 0x89, 0x13, 0x8a, 0, 0]);
        qsfp[50..58].copy_from_slice(&[0x20, 0, 0x20, 0, 0x20, 0, 0x20, 0]);
        // The low alarm of lane 4, and the high one of what lane 1 sends.
        (qsfp[10], qsfp[13]) = (0x04, 0x80);
        let four = Optics {
            received: vec![5000, 5001, 5002, 0],
            sent: vec![0x2000; 4],
            alarms: vec![SENT_MUCH, RECEIVED_LITTLE],
        };
        assert_eq!(parse(3, &qsfp), Some(four));
        qsfp[147] = 0xa0;
        assert_eq!(parse(3, &qsfp), None);
    }

    #[test]
    fn what_has_no_transceiver_has_no_light() {
        assert!(optics(&SysRoot::live(), "lo").expect_err("none").is_missing());
        assert!(optics(&SysRoot::at("/nowhere"), "eth0").expect_err("none").is_missing());
    }
}

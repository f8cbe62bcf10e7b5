//! Networks of each interface, from `/proc/net/route` and `/proc/net/if_inet6` (proc(5)), of the reader's network
//! namespace.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use seatrial_model::machine::Known;
use seatrial_sys::root::{ReadError, SysRoot};

const ROUTES: &str = "/proc/net/route";
const ADDRESSES_6: &str = "/proc/net/if_inet6";

/// Networks by interface; IPv4 first.
pub(super) fn read(root: &SysRoot) -> Known<BTreeMap<String, Vec<String>>> {
    let mut networks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let four = root.text(ROUTES);
    let six = root.text(ADDRESSES_6);
    if let (Err(error), Err(_)) = (&four, &six) {
        return Known::unknown(error.to_string());
    }
    let found = four.iter().flat_map(|text| text.lines().skip(1).filter_map(directly_connected));
    for (interface, network) in found {
        networks.entry(interface).or_default().push(network);
    }
    // A kernel without IPv6 lacks the file.
    for line in six.as_deref().unwrap_or_default().lines() {
        match global(line) {
            Some(Ok((interface, network))) => networks.entry(interface).or_default().push(network),
            Some(Err(())) => {
                return Known::unknown(ReadError::garbage(ADDRESSES_6, line, "an address").to_string());
            }
            None => {}
        }
    }
    for all in networks.values_mut() {
        all.dedup();
    }
    Known::Known(networks)
}

/// A route without gateway. Numbers are hexadecimal, in host byte order.
fn directly_connected(line: &str) -> Option<(String, String)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [interface, destination, gateway, flags, _, _, _, mask, ..] = fields.as_slice() else { return None };
    let number = |text: &str| u32::from_str_radix(text, 16).ok();
    // RTF_UP of linux/route.h.
    let is_up = number(flags)? & 1 == 1;
    let mask = u32::from_be(number(mask)?);
    let network = Ipv4Addr::from(u32::from_be(number(destination)?));
    let connected = is_up && number(gateway)? == 0 && mask != 0 && !network.is_link_local();
    connected.then(|| ((*interface).to_owned(), format!("{network}/{}", mask.leading_ones())))
}

/// A line of `if_inet6`: address, index, prefix length, scope, flags (all hexadecimal), name. `None` for host and
/// link scope.
fn global(line: &str) -> Option<Result<(String, String), ()>> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [address, _, prefix, scope, _, interface] = fields.as_slice() else { return Some(Err(())) };
    // IPV6_ADDR_GLOBAL is 0 in the kernel's include/net/ipv6.h; link 20, host 10.
    if *scope != "00" {
        return None;
    }
    let network = || {
        let address = u128::from_str_radix(address, 16).ok()?;
        let bits = u32::from_str_radix(prefix, 16).ok().filter(|bits| *bits <= 128)?;
        let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
        Some(((*interface).to_owned(), format!("{}/{bits}", Ipv6Addr::from(address & mask))))
    };
    Some(network().ok_or(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Known<BTreeMap<String, Vec<String>>> {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("proc/net")).expect("made");
        for (name, text) in files {
            std::fs::write(dir.path().join("proc/net").join(name), text).expect("written");
        }
        read(&SysRoot::at(dir.path()))
    }

    const HEAD: &str = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n";

    #[test]
    fn networks_are_those_on_the_wire_of_both_families() {
        // Of a little-endian machine: 10.77.0.0/16 and 192.168.2.0/24, a default route and one with a gateway
        // between, one that is down.
        let routes = format!(
            "{HEAD}eth0 00000000 FE004D0A 0003 0 0 0 00000000 0 0 0\n\
             eth0 00004D0A 00000000 0001 0 0 0 0000FFFF 0 0 0\n\
             eth0 0000000B FE004D0A 0003 0 0 0 000000FF 0 0 0\n\
             ib0 0002A8C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\n\
             ib1 0003A8C0 00000000 0000 0 0 0 00FFFFFF 0 0 0\n"
        );
        let six = "fd000000000000000000000000000002 04 40 00 82     eth0\n\
                   00000000000000000000000000000001 01 80 10 80       lo\n\
                   fe8000000000000000fc00fffe000001 04 40 20 80     eth0\n";
        let networks = tree(&[("route", &routes), ("if_inet6", six)]);
        let networks = networks.known().expect("known");
        assert_eq!(networks["eth0"], ["10.77.0.0/16", "fd00::/64"]);
        assert_eq!(networks["ib0"], ["192.168.2.0/24"]);
        assert_eq!(networks.len(), 2);
    }

    #[test]
    fn nothing_is_invented_where_no_file_tells() {
        assert!(tree(&[]).why().is_some_and(|why| why.contains(ROUTES)));
        let only_four = tree(&[("route", HEAD)]);
        assert!(only_four.known().is_some_and(BTreeMap::is_empty));
        assert!(tree(&[("if_inet6", "what is this\n")]).why().is_some_and(|why| why.contains("if_inet6")));
    }
}

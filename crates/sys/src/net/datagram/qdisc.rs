//! The queueing disciplines of an interface: which they are, and what they dropped.
#![expect(unsafe_code, reason = "if_nametoindex")]

mod rate;

use std::collections::BTreeMap;
use std::ffi::CString;

use rustix::io::Errno;

pub use rate::Rate;

use crate::last_errno;
use crate::netlink::tc::{RTM_GETQDISC, TC_H_ROOT, TCA_KIND, TCA_OPTIONS, own, tcmsg};
use crate::netlink::{attribute, dump, interface_name, number, wide};
use crate::root::{ReadError, SysRoot};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qdisc {
    pub kind: String,
    pub is_root: bool,
    /// Bytes sent since the discipline was set up, Ethernet headers included.
    pub bytes: u64,
    /// Packets dropped since the discipline was set up, modulo 2^32.
    pub dropped: u64,
    /// Times that a packet was held back, by a shaper for its rate, modulo 2^32.
    pub overlimits: u64,
    pub rate: Option<Rate>,
}

/// Below a test root: a file for each interface, a line for each discipline, such as `tbf root dropped 7 overlimits
/// 90 rate 25000000 overhead 0`.
const FOLDER: &str = "/qdisc";

// Of linux/rtnetlink.h and linux/gen_stats.h: the numbers are the kernel's interface and do not change.
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;

/// The disciplines of the interface in the calling thread's network namespace (rtnetlink(7)), without privilege.
/// `ENODEV` for an interface that does not exist.
pub fn qdiscs(interface: &str) -> Result<Vec<Qdisc>, Errno> {
    let name = CString::new(interface).map_err(|_| Errno::INVAL)?;
    // SAFETY: the kernel reads a string that ends with a zero byte and lives through the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(last_errno());
    }
    Ok(disciplines(index)?.into_iter().filter(|(of, _)| *of == index).map(|(_, qdisc)| qdisc).collect())
}

/// The disciplines of all interfaces of the calling thread's network namespace, by interface.
pub fn all_qdiscs(root: &SysRoot) -> Result<BTreeMap<String, Vec<Qdisc>>, ReadError> {
    let mut all: BTreeMap<String, Vec<Qdisc>> = BTreeMap::new();
    if !root.is_live() {
        for name in root.list(FOLDER)? {
            let path = format!("{FOLDER}/{name}");
            let text = root.text(&path)?;
            let found: Option<Vec<Qdisc>> = text.lines().map(stand_in).collect();
            let garbage = || ReadError::garbage(&path, &text, "a discipline a line");
            all.insert(name, found.ok_or_else(garbage)?);
        }
        return Ok(all);
    }
    let path = || "the queueing disciplines (netlink)/".to_owned();
    let found = disciplines(0).map_err(|errno| ReadError::Unreadable { path: path(), errno })?;
    for (index, qdisc) in found {
        // One that went away in between has no name any more.
        if let Some(name) = interface_name(index) {
            all.entry(name).or_default().push(qdisc);
        }
    }
    Ok(all)
}

fn stand_in(line: &str) -> Option<Qdisc> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [kind, place, rest @ ..] = words.as_slice() else { return None };
    let mut qdisc = Qdisc { kind: (*kind).to_owned(), is_root: *place == "root", ..Qdisc::default() };
    for pair in rest.chunks(2) {
        let [name, value] = pair else { return None };
        let value: u64 = value.parse().ok()?;
        match *name {
            "dropped" => qdisc.dropped = value,
            "overlimits" => qdisc.overlimits = value,
            "rate" => qdisc.rate = Some(Rate { bytes_per_second: value, overhead: 0 }),
            "overhead" => qdisc.rate.as_mut()?.overhead = u32::try_from(value).ok()?,
            _ => return None,
        }
    }
    Some(qdisc)
}

/// The disciplines of the interface of this index, or of all for 0, each with the index of its interface. A kernel may
/// answer for every interface.
fn disciplines(index: u32) -> Result<Vec<(u32, Qdisc)>, Errno> {
    let messages = dump(RTM_GETQDISC, &tcmsg(index))?;
    Ok(messages.iter().filter_map(|message| discipline(&message.body)).collect())
}

/// A discipline and the index of its interface, from the body of a message.
pub(crate) fn discipline(body: &[u8]) -> Option<(u32, Qdisc)> {
    let stats = attribute(own(body), TCA_STATS2).unwrap_or_default();
    // Length, bytes waiting, dropped, given back, over the limit (struct gnet_stats_queue).
    let queue = attribute(stats, TCA_STATS_QUEUE).unwrap_or_default();
    let name = attribute(own(body), TCA_KIND).unwrap_or_default().split(|byte| *byte == 0).next();
    let kind = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
    let qdisc = Qdisc {
        is_root: number(body, 12)? == TC_H_ROOT,
        // Bytes and packets (struct gnet_stats_basic).
        bytes: attribute(stats, TCA_STATS_BASIC).and_then(|basic| wide(basic, 0)).unwrap_or(0),
        dropped: number(queue, 8).unwrap_or(0).into(),
        overlimits: number(queue, 16).unwrap_or(0).into(),
        rate: rate::rate(&kind, attribute(own(body), TCA_OPTIONS).unwrap_or_default()),
        kind,
    };
    Some((number(body, 4)?, qdisc))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::tests::made;

    #[test]
    fn the_loopback_has_no_queue_and_no_interface_has_none_at_all() {
        let found = qdiscs("lo").expect("told");
        assert!(found.iter().all(|queue| queue.kind == "noqueue" && queue.dropped == 0), "{found:?}");
        assert_eq!(qdiscs("warp0"), Err(Errno::NODEV));
    }

    fn queue(index: u32, parent: u32, name: &str, dropped: u32) -> Vec<u8> {
        let mut body = vec![0; 4];
        body.extend([index, 0, parent, 0].iter().flat_map(|number| number.to_ne_bytes()));
        body.extend(made(TCA_KIND, format!("{name}\0").as_bytes()));
        let stats: Vec<u8> =
            [0, 0, dropped, 0, dropped + 1].iter().flat_map(|number: &u32| number.to_ne_bytes()).collect();
        body.extend(made(TCA_STATS2, &made(TCA_STATS_QUEUE, &stats)));
        body
    }

    #[test]
    fn all_interfaces_are_told_with_their_names_and_a_stand_in_by_its_files() {
        let found = all_qdiscs(&SysRoot::live()).expect("told");
        assert!(
            found.keys().all(|name| SysRoot::live().exists(format!("/sys/class/net/{name}"))),
            "{found:?}"
        );
        let dir = tempfile::tempdir().expect("a folder");
        let root = SysRoot::at(dir.path());
        assert!(all_qdiscs(&root).expect_err("no folder").is_missing());
        std::fs::create_dir(dir.path().join("qdisc")).expect("made");
        let file = dir.path().join("qdisc/eth0");
        std::fs::write(&file, "tbf root dropped 7 rate 25000000 overhead 4\nfq parent overlimits 3\n")
            .expect("written");
        let all = all_qdiscs(&root).expect("told");
        let rate = Some(Rate { bytes_per_second: 25_000_000, overhead: 4 });
        assert_eq!((all["eth0"][0].rate, all["eth0"][0].dropped), (rate, 7));
        assert_eq!((all["eth0"][1].is_root, all["eth0"][1].overlimits), (false, 3));
        std::fs::write(&file, "tbf root dropped\n").expect("written");
        assert!(matches!(all_qdiscs(&root), Err(ReadError::Garbage { .. })));
    }

    #[test]
    fn the_queues_of_one_interface_are_read_with_what_they_dropped() {
        let bodies =
            [queue(3, TC_H_ROOT, "tbf", 700), queue(3, 0x1_0000, "pfifo", 700), queue(4, TC_H_ROOT, "fq", 9)];
        let found: Vec<_> = bodies.iter().filter_map(|body| discipline(body)).collect();
        let kinds: Vec<_> =
            found.iter().map(|(of, queue)| (*of, queue.kind.as_str(), queue.is_root)).collect();
        assert_eq!(kinds, [(3, "tbf", true), (3, "pfifo", false), (4, "fq", true)]);
        assert_eq!((found[0].1.dropped, found[0].1.overlimits), (700, 701));
        assert_eq!(discipline(&[9; 15]), None);
    }
}

//! Rates that queueing disciplines shape to by class (htb, hfsc) or by flow (fq).
//!
//! Sources: Linux net/sched/sch_htb.c, sch_hfsc.c, sch_fq.c, and tc-htb(8), tc-hfsc(7), tc-fq(8).

mod classes;

use std::collections::BTreeMap;

use rustix::io::Errno;

use crate::netlink::tc::{RTM_GETQDISC, TC_H_ROOT, TCA_KIND, TCA_OPTIONS, own, tcmsg};
use crate::netlink::{Message, attribute, dump, half, interface_name, number};
use crate::root::{ReadError, SysRoot};

use classes::{Classes, QdiscClass};

/// Sends a netlink request of this kind and body; returns the answers.
type Ask<'a> = &'a dyn Fn(u16, &[u8]) -> Result<Vec<Message>, Errno>;

/// What the root discipline lets through; kind `mq` means that every queue has an fq.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shaping {
    pub kind: String,
    /// Bytes per second of all packets together, as the discipline counts them: with link-layer header. Overhead
    /// settings are left out, which makes the bound slightly too high.
    pub bytes_per_second: Option<u64>,
    pub flow_bytes_per_second: Option<u64>,
}

// Of linux/rtnetlink.h and linux/pkt_sched.h: the numbers are the kernel's interface and do not change.
const RTM_GETTCLASS: u16 = 42;
const RTM_NEWTFILTER: u16 = 44;
const RTM_GETTFILTER: u16 = 46;
const TCA_FQ_RATE_ENABLE: u16 = 5;
const TCA_FQ_FLOW_MAX_RATE: u16 = 7;
const TCA_HTB_INIT: u16 = 2;

/// What shapes each interface of the network namespace of the calling thread. One that nothing shapes is not there.
///
/// # Errors
/// What the kernel answers. A stand-in for the running system has none: it tells its rates with its disciplines.
pub fn shapings(root: &SysRoot) -> Result<BTreeMap<String, Shaping>, ReadError> {
    if !root.is_live() {
        return Ok(BTreeMap::new());
    }
    let path = || "the classes of queueing disciplines (netlink)/".to_owned();
    all(&dump, &interface_name).map_err(|errno| ReadError::Unreadable { path: path(), errno })
}

pub(crate) fn all(
    ask: Ask<'_>,
    name: &dyn Fn(u32) -> Option<String>,
) -> Result<BTreeMap<String, Shaping>, Errno> {
    let mut by_interface: BTreeMap<u32, Vec<Discipline>> = BTreeMap::new();
    for message in ask(RTM_GETQDISC, &tcmsg(0))? {
        if let Some((index, discipline)) = Discipline::read(&message.body) {
            by_interface.entry(index).or_default().push(discipline);
        }
    }
    let mut found = BTreeMap::new();
    for (index, disciplines) in by_interface {
        if let (Some(shaping), Some(name)) = (shaping(index, &disciplines, ask)?, name(index)) {
            found.insert(name, shaping);
        }
    }
    Ok(found)
}

/// A discipline, as the kernel tells of it.
struct Discipline {
    kind: String,
    is_root: bool,
    handle: u32,
    options: Vec<u8>,
}

impl Discipline {
    fn read(body: &[u8]) -> Option<(u32, Self)> {
        let name = attribute(own(body), TCA_KIND)?.split(|byte| *byte == 0).next().unwrap_or_default();
        let discipline = Self {
            kind: String::from_utf8_lossy(name).into_owned(),
            is_root: number(body, 12)? == TC_H_ROOT,
            handle: number(body, 8)?,
            options: attribute(own(body), TCA_OPTIONS).unwrap_or_default().to_vec(),
        };
        Some((number(body, 4)?, discipline))
    }

    /// The whole handle of the class for packets that no filter sorted.
    fn default_class(&self) -> Option<u32> {
        let minor = match self.kind.as_str() {
            // struct tc_htb_glob: version, divisor, default class.
            "htb" => number(attribute(&self.options, TCA_HTB_INIT)?, 8)?,
            _ => half(&self.options, 0)?.into(),
        };
        (minor != 0).then_some(self.handle & 0xffff_0000 | minor & 0xffff)
    }

    fn flow_rate(&self) -> Option<u64> {
        let value = |kind: u16| attribute(&self.options, kind).and_then(|value| number(value, 0));
        // All ones is no limit, and fq enforces none without pacing.
        value(TCA_FQ_RATE_ENABLE).filter(|enabled| *enabled != 0)?;
        value(TCA_FQ_FLOW_MAX_RATE).filter(|rate| *rate != u32::MAX && *rate > 0).map(u64::from)
    }
}

fn shaping(index: u32, disciplines: &[Discipline], ask: Ask<'_>) -> Result<Option<Shaping>, Errno> {
    let Some(root) = disciplines.iter().find(|discipline| discipline.is_root) else { return Ok(None) };
    let mut shaping = Shaping { kind: root.kind.clone(), ..Shaping::default() };
    match root.kind.as_str() {
        "htb" | "hfsc" => {
            let messages = ask(RTM_GETTCLASS, &tcmsg(index))?;
            let classes = messages.iter().filter_map(|message| QdiscClass::read(&root.kind, &message.body));
            let filters = ask(RTM_GETTFILTER, &tcmsg(index))?;
            // Filters at the parent may also sort packets into the classes of this discipline.
            let is_sorted = filters.iter().any(|message| message.kind == RTM_NEWTFILTER)
                || disciplines.iter().any(|discipline| discipline.kind == "clsact");
            let classes = Classes::of(classes);
            shaping.bytes_per_second = classes.rate(root.default_class(), is_sorted, root.kind == "htb");
        }
        "fq" => shaping.flow_bytes_per_second = root.flow_rate(),
        // A multiqueue card has a discipline for each queue, and a flow uses one queue.
        "mq" => {
            let below = disciplines.iter().filter(|discipline| !discipline.is_root);
            let rates: Option<Vec<u64>> =
                below.map(|one| one.flow_rate().filter(|_| one.kind == "fq")).collect();
            shaping.flow_bytes_per_second = rates.and_then(|rates| rates.into_iter().max());
        }
        _ => return Ok(None),
    }
    let shapes = shaping.bytes_per_second.or(shaping.flow_bytes_per_second).is_some();
    Ok(shapes.then_some(shaping))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::tests::made;

    fn discipline(kind: &str, parent: u32, options: &[u8]) -> Discipline {
        let mut body = tcmsg(3);
        body[8..12].copy_from_slice(&0x1_0000_u32.to_ne_bytes());
        body[12..16].copy_from_slice(&parent.to_ne_bytes());
        body.extend(made(TCA_KIND, format!("{kind}\0").as_bytes()));
        body.extend(made(TCA_OPTIONS, options));
        let (index, discipline) = Discipline::read(&body).expect("a discipline");
        assert_eq!(index, 3);
        discipline
    }

    fn fq(enabled: u32, rate: u32) -> Vec<u8> {
        [made(TCA_FQ_RATE_ENABLE, &enabled.to_ne_bytes()), made(TCA_FQ_FLOW_MAX_RATE, &rate.to_ne_bytes())]
            .concat()
    }

    #[test]
    fn an_fq_holds_each_flow_to_its_rate_while_it_paces_at_all() {
        let rate =
            |options: &[u8]| shaping(3, &[discipline("fq", TC_H_ROOT, options)], &dump).expect("no question");
        let held =
            Shaping { kind: "fq".to_owned(), flow_bytes_per_second: Some(12_500_000), ..Shaping::default() };
        assert_eq!(rate(&fq(1, 12_500_000)), Some(held));
        assert_eq!(rate(&fq(1, u32::MAX)), None, "all bits are no limit");
        assert_eq!(rate(&fq(0, 12_500_000)), None);
        assert_eq!(rate(&[]), None);
    }

    #[test]
    fn queues_of_one_card_hold_flows_when_all_of_them_do() {
        let below = |rate| discipline("fq", 0x1_0001, &fq(1, rate));
        let root = || discipline("mq", TC_H_ROOT, &[]);
        let found =
            shaping(3, &[root(), below(1000), below(2000)], &dump).expect("no question").expect("held");
        assert_eq!((found.kind.as_str(), found.flow_bytes_per_second), ("mq", Some(2000)));
        assert_eq!(shaping(3, &[root(), below(1000), discipline("pfifo", 0x1_0002, &[])], &dump), Ok(None));
        assert_eq!(shaping(3, &[below(1000)], &dump), Ok(None), "nothing is at the root");
        assert_eq!(shaping(3, &[discipline("fq_codel", TC_H_ROOT, &[])], &dump), Ok(None));
    }

    #[test]
    fn the_class_for_what_nobody_sorted_is_read_of_both_disciplines() {
        let glob: Vec<u8> = [3_u32, 10, 0x20, 0, 0].iter().flat_map(|number| number.to_ne_bytes()).collect();
        let htb = discipline("htb", TC_H_ROOT, &made(TCA_HTB_INIT, &glob));
        assert_eq!(htb.default_class(), Some(0x1_0020));
        assert_eq!(discipline("hfsc", TC_H_ROOT, &5_u16.to_ne_bytes()).default_class(), Some(0x1_0005));
        assert_eq!(discipline("hfsc", TC_H_ROOT, &[0, 0]).default_class(), None);
    }

    #[test]
    fn a_stand_in_has_no_classes_and_the_running_system_is_asked() {
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(shapings(&SysRoot::at(dir.path())), Ok(BTreeMap::new()));
        let live = shapings(&SysRoot::live()).expect("told");
        assert!(!live.contains_key("lo"), "{live:?}");
    }
}

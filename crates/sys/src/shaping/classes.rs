//! The rate that a tree of classes lets through.

use std::collections::BTreeMap;

use crate::netlink::tc::{TC_H_ROOT, TCA_OPTIONS, own};
use crate::netlink::{attribute, number, wide};

const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_CEIL64: u16 = 7;
const TCA_HFSC_RSC: u16 = 1;
const TCA_HFSC_USC: u16 = 3;

/// Class depth at most; the kernel allows 8 for htb (`TC_HTB_MAXDEPTH`).
const DEEPEST: u32 = 32;

/// A class of htb or hfsc; rates in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QdiscClass {
    pub handle: u32,
    /// Handle of the parent class; all ones for the root.
    pub parent: u32,
    /// The upper bound: ceil of htb, up to which the class may borrow, or the upper limit of hfsc.
    pub most: Option<u64>,
    /// hfsc's real-time rate, guaranteed whatever the upper limits above (tc-hfsc(7), real-time criterion).
    pub real_time: u64,
}

impl QdiscClass {
    /// Parses a netlink message about a class of this kind of discipline.
    pub fn read(kind: &str, body: &[u8]) -> Option<Self> {
        let options = attribute(own(body), TCA_OPTIONS)?;
        let mut class =
            Self { handle: number(body, 8)?, parent: number(body, 12)?, most: None, real_time: 0 };
        match kind {
            "htb" => {
                // struct tc_htb_opt begins with two struct tc_ratespec of 12 B, rate and ceiling; each ends with the
                // rate.
                let parameters = attribute(options, TCA_HTB_PARMS)?;
                let ceiling = attribute(options, TCA_HTB_CEIL64).and_then(|value| wide(value, 0));
                class.most = ceiling.or(number(parameters, 20).map(u64::from));
            }
            _ => {
                // struct tc_service_curve: first slope, its duration, second slope.
                let curve = |kind: u16| {
                    let value = attribute(options, kind)?;
                    Some(u64::from(number(value, 0)?.max(number(value, 8)?)))
                };
                class.most = curve(TCA_HFSC_USC);
                class.real_time = curve(TCA_HFSC_RSC).unwrap_or(0);
            }
        }
        // A rate of 0 means no upper limit.
        class.most = class.most.filter(|rate| *rate > 0);
        Some(class)
    }
}

pub(super) struct Classes(pub Vec<QdiscClass>);

impl Classes {
    /// Keeps each class once: below a repeated class, the work would double at every level.
    pub fn of(told: impl Iterator<Item = QdiscClass>) -> Self {
        let mut classes = BTreeMap::new();
        for class in told {
            classes.entry(class.handle).or_insert(class);
        }
        Self(classes.into_values().collect())
    }

    /// Bytes per second that pass at most; `None` without a bound.
    ///
    /// Without filters all packets go to the `default` class and are bound by that class and its ancestors. (A packet
    /// whose priority is a class number, as by nft's `meta priority set`, goes to that class instead: not detected.)
    /// With filters they may go to any leaf. `bypass`: packets of no class pass unshaped, as with htb; hfsc drops
    /// them.
    pub fn rate(&self, default: Option<u32>, is_sorted: bool, bypass: bool) -> Option<u64> {
        let default = default.and_then(|handle| self.leaf(handle));
        match default {
            None if bypass => None,
            Some(leaf) if !is_sorted => self.above(leaf),
            _ => {
                let tops = self.0.iter().filter(|class| self.find(class.parent).is_none());
                sum(tops.map(|top| self.below(top, DEEPEST))).filter(|rate| *rate > 0)
            }
        }
    }

    fn find(&self, handle: u32) -> Option<&QdiscClass> {
        self.0.iter().find(|class| class.handle == handle && handle != TC_H_ROOT)
    }

    /// The leaf class of this handle: packets are queued in leaves only.
    fn leaf(&self, handle: u32) -> Option<&QdiscClass> {
        self.find(handle).filter(|class| self.children(class).next().is_none())
    }

    fn children<'a>(&'a self, class: &'a QdiscClass) -> impl Iterator<Item = &'a QdiscClass> {
        self.0.iter().filter(move |other| other.parent == class.handle && other.handle != class.handle)
    }

    fn above(&self, leaf: &QdiscClass) -> Option<u64> {
        let mut at = Some(leaf);
        let mut most = None;
        for _ in 0..DEEPEST {
            let Some(class) = at else { break };
            most = most.into_iter().chain(class.most).min();
            at = self.find(class.parent);
        }
        most.map(|rate: u64| rate.max(leaf.real_time))
    }

    /// The sum that all leaves below a class can send.
    fn below(&self, class: &QdiscClass, deepest: u32) -> Option<u64> {
        if deepest == 0 {
            return class.most;
        }
        let children = sum(self.children(class).map(|child| self.below(child, deepest - 1)));
        let is_leaf = self.children(class).next().is_none();
        let most = class.most.into_iter().chain(children.filter(|_| !is_leaf)).min();
        most.map(|rate| rate.max(self.real_time(class, deepest)))
    }

    fn real_time(&self, class: &QdiscClass, deepest: u32) -> u64 {
        let children = self.children(class).filter(|_| deepest > 0);
        children.fold(class.real_time, |sum, child| sum.saturating_add(self.real_time(child, deepest - 1)))
    }
}

fn sum(rates: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    rates.reduce(|one, other| one?.checked_add(other?)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::tests::made;

    fn class(handle: u32, parent: u32, most: u64) -> QdiscClass {
        let most = (most > 0).then_some(most);
        QdiscClass { handle, parent, most, real_time: 0 }
    }

    fn tree() -> Classes {
        Classes(vec![
            class(0x1_0001, TC_H_ROOT, 1000),
            class(0x1_0010, 0x1_0001, 200),
            class(0x1_0020, 0x1_0001, 900),
        ])
    }

    #[test]
    fn what_nobody_sorts_is_held_by_its_class_and_all_above_it() {
        assert_eq!(tree().rate(Some(0x1_0010), false, true), Some(200));
        let mut wide = tree();
        wide.0[1].most = Some(5000);
        assert_eq!(wide.rate(Some(0x1_0010), false, true), Some(1000), "the class above holds it");
        // No such class, or an inner class: htb lets such packets pass unshaped.
        for default in [None, Some(0x1_0030), Some(0x1_0001)] {
            assert_eq!(tree().rate(default, false, true), None);
            assert_eq!(tree().rate(default, true, true), None, "what a filter passes over goes by as well");
        }
    }

    #[test]
    fn what_filters_sort_may_go_anywhere() {
        assert_eq!(tree().rate(Some(0x1_0010), true, true), Some(1000));
        let mut narrow = tree();
        narrow.0[2].most = Some(300);
        assert_eq!(narrow.rate(Some(0x1_0010), true, true), Some(500), "both leaves together");
        let flat = Classes(vec![class(0x1_0010, TC_H_ROOT, 200), class(0x1_0020, TC_H_ROOT, 300)]);
        assert_eq!(flat.rate(Some(0x1_0010), true, true), Some(500));
        let open = Classes(vec![class(0x1_0010, TC_H_ROOT, 200), class(0x1_0020, TC_H_ROOT, 0)]);
        assert_eq!(open.rate(Some(0x1_0010), true, true), None, "one of them has no limit");
        assert_eq!(Classes(Vec::new()).rate(None, true, false), None);
    }

    #[test]
    fn hfsc_drops_what_belongs_nowhere_and_gives_what_it_guaranteed() {
        assert_eq!(tree().rate(None, false, false), Some(1000));
        let mut guaranteed = tree();
        guaranteed.0[1].real_time = 400;
        assert_eq!(guaranteed.rate(Some(0x1_0010), false, false), Some(400), "more than its upper limit");
        assert_eq!(guaranteed.rate(Some(0x1_0020), false, false), Some(900));
    }

    #[test]
    fn classes_in_a_circle_end() {
        let circle = Classes(vec![class(1, 2, 7), class(2, 1, 9), class(3, 1, 8)]);
        assert_eq!(circle.rate(Some(3), false, true), Some(7));
        assert_eq!(circle.rate(Some(3), true, true), None);
    }

    #[test]
    fn classes_that_are_told_twice_are_walked_once() {
        let chain = (1..=DEEPEST).map(|level| class(level, level - 1, u64::from(1000 - level)));
        let twice = Classes::of(chain.clone().chain(chain));
        assert_eq!(twice.rate(Some(DEEPEST), true, true), Some(968));
    }

    fn message(options: &[u8]) -> Vec<u8> {
        let mut body = vec![0; 20];
        body[8..12].copy_from_slice(&0x1_0010_u32.to_ne_bytes());
        body[12..16].copy_from_slice(&TC_H_ROOT.to_ne_bytes());
        body.extend(made(TCA_OPTIONS, options));
        body
    }

    #[test]
    fn a_ceiling_is_read_in_32_bits_and_in_64_and_a_curve_by_its_steeper_part() {
        let mut parameters = vec![0; 44];
        parameters[8..12].copy_from_slice(&1_000_u32.to_ne_bytes());
        parameters[20..24].copy_from_slice(&25_000_000_u32.to_ne_bytes());
        let mut options = made(TCA_HTB_PARMS, &parameters);
        let htb = |options: &[u8]| QdiscClass::read("htb", &message(options)).expect("a class");
        assert_eq!(htb(&options), class(0x1_0010, TC_H_ROOT, 25_000_000));
        options.extend(made(TCA_HTB_CEIL64, &12_500_000_000_u64.to_ne_bytes()));
        assert_eq!(htb(&options).most, Some(12_500_000_000));
        let curve = |first: u32, second: u32| -> Vec<u8> {
            [first, 10_000, second].iter().flat_map(|number| number.to_ne_bytes()).collect()
        };
        let options = [made(TCA_HFSC_RSC, &curve(0, 300)), made(TCA_HFSC_USC, &curve(900, 500))].concat();
        let hfsc = QdiscClass::read("hfsc", &message(&options)).expect("a class");
        assert_eq!((hfsc.most, hfsc.real_time), (Some(900), 300));
        assert_eq!(QdiscClass::read("hfsc", &message(&[])).expect("a class").most, None);
        assert_eq!(QdiscClass::read("htb", &[0; 20]), None);
    }
}

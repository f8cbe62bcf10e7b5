//! `path-unconfirmed`: the counters of the chosen interface do not show the measured traffic.
//!
//! There are three cases. Unreadable counters prove nothing and change nothing. Counters that show too little, while
//! no other interface shows the traffic either, may be late: the finding is a warning, and verdicts stand with a
//! remark. Counters that contradict the measurement make every verdict on the case unknown: its numbers are those of
//! another path.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Fact, Finding, Moved, MovedRows, Nanos, PathEnd, Severity, Unit};

use super::probes::{Seen, seen};
use super::{Rule, about};
use crate::number::{quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "path-unconfirmed",
    doc: "The counters of a chosen interface show less than 98 % of the measured traffic, or of its part of \
          it. Unless the counters are late, the traffic took another path, and verdicts on the case are \
          unknown.",
    find,
};

/// Share of the moved bytes that the interface must have counted. A lower bound only: an interface counts all
/// packets, so any excess may be other traffic. The moved bytes exclude headers: a device with segmentation offload
/// counts the headers of a large segment once, or once per packet.
const LEAST: f64 = 0.98;

/// Drivers that do not query the card at every read of its counters update them this often at the latest (bnxt has
/// the card write them once a second, `BNXT_DEF_STATS_COAL_TICKS`). Bytes of a trial's last interval may be missing.
const RENEWED: Nanos = Nanos::secs(1);

/// Bytes on another interface from which on they indicate the path. Fewer bytes may be other traffic.
const ENOUGH: f64 = 10e6;

/// Why the counters of the chosen interfaces contradict the path of the case; `None` when they confirm it or prove
/// nothing.
pub(crate) fn contradiction(case: &CaseRecord) -> Option<String> {
    shortfalls(case).find(Shortfall::is_contradiction).map(|it| it.text())
}

/// Why the counters of the chosen interfaces do not confirm the path of the case, which may be because they are late.
pub(crate) fn doubt(case: &CaseRecord) -> Option<String> {
    shortfalls(case).find(|shortfall| shortfall.counted.is_some()).map(|it| it.text())
}

/// A source of byte counts: its probe, its name in sentences, and the option that chooses another interface.
#[derive(PartialEq)]
struct Kind {
    probe: &'static str,
    noun: &'static str,
    choice: &'static str,
}

const INTERFACE: Kind = Kind { probe: "nic", noun: "interface", choice: "the routes and at -p interface=" };
const PORT: Kind = Kind { probe: "ib_port", noun: "port", choice: "-p device= and -p peer_device=" };

#[derive(Clone, Copy, PartialEq)]
struct Point<'a> {
    kind: &'static Kind,
    name: &'a str,
}

/// The direction: from the sending end of a row, or to the receiving end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Sent,
    Received,
}

struct Carrier {
    name: String,
    bytes: u64,
    /// Bytes of the case that it carries as planned; 0 for an interface that is not part of the case.
    own: f64,
}

struct Shortfall {
    moved: Moved,
    node: String,
    evidence: Vec<String>,
    kind: &'static Kind,
    chosen: Vec<String>,
    way: Way,
    /// Bytes that the chosen interfaces counted; `None` when unreadable.
    counted: Option<u64>,
    /// Why they are unreadable, if the probe told.
    why: Option<String>,
    /// The other interfaces, the one with the most bytes first.
    carried: Vec<Carrier>,
    /// Share of the bytes that may be missing because counters are updated seldom.
    late: f64,
}

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    records.iter().flat_map(|case| shortfalls(case).map(move |shortfall| shortfall.finding(case))).collect()
}

/// At most one per row of moved bytes: one end is enough to tell that the traffic went elsewhere. The end that shows
/// more counts, so that unreadable counters at one end do not hide those of the other end.
fn shortfalls(case: &CaseRecord) -> impl Iterator<Item = Shortfall> {
    let rows = MovedRows::of(&case.evidence).unwrap_or_default().0;
    rows.into_iter().filter_map(move |moved| {
        let ends = [Way::Sent, Way::Received].into_iter().filter_map(|way| at_end(case, &moved, way));
        ends.min_by_key(Shortfall::rank)
    })
}

/// The node of an end, and the interface or port that the benchmark recorded there.
fn end_of(moved: &Moved, way: Way) -> (&str, Option<Point<'_>>) {
    let (node, end) = match way {
        Way::Sent => (&moved.from, &moved.sender),
        Way::Received => (&moved.to, &moved.receiver),
    };
    let point = end.as_ref().and_then(|end| match end {
        PathEnd::Interface(name) => Some(Point { kind: &INTERFACE, name }),
        PathEnd::Port(name) => Some(Point { kind: &PORT, name }),
        PathEnd::Any => None,
    });
    (node, point)
}

impl Way {
    const fn counter(self) -> &'static str {
        match self {
            Self::Sent => "tx_bytes ",
            Self::Received => "rx_bytes ",
        }
    }

    const fn verb(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
        }
    }
}

/// The interfaces that were chosen for this node; `None` when the routes decide.
pub(super) fn interfaces<'a>(case: &'a CaseRecord, node: &str) -> Option<Vec<&'a str>> {
    let name =
        if case.nodes.first().is_some_and(|first| first == node) { "interface" } else { "peer_interface" };
    // Rails are joined by a plus sign.
    Some(case.planned(name)?.split(['+', ',']).collect())
}

/// The RDMA ports that were chosen for this node. Software devices (soft-RoCE) count no bytes: their interface takes
/// their place.
fn ports<'a>(case: &'a CaseRecord, node: &str) -> Option<Vec<&'a str>> {
    let name = if case.nodes.first().is_some_and(|first| first == node) { "port" } else { "peer_port" };
    Some(case.planned(name)?.split(['+', ',']).collect())
}

fn of_other_rows(case: &CaseRecord, node: &str, way: Way, point: Point<'_>) -> f64 {
    let rows = MovedRows::of(&case.evidence).unwrap_or_default().0;
    rows.iter()
        .filter(|moved| end_of(moved, way) == (node, Some(point)))
        .map(|moved| moved.bytes as f64)
        .sum()
}

/// Of a node whose library chose the way: that all of its interfaces together, and all of its ports, counted too little.
fn at_any_end(case: &CaseRecord, moved: &Moved, way: Way) -> Option<Shortfall> {
    let (node, _) = end_of(moved, way);
    let of_kind = |kind: &'static Kind| {
        let seen = seen(case, kind.probe).find(|seen| seen.node == node)?;
        let of = |(name, count): (&str, u64)| Some((count, name.strip_prefix(way.counter())?.to_owned()));
        let counts: Vec<(u64, String)> =
            seen.counts().filter_map(of).filter(|(_, name)| name != "lo").collect();
        let (_, most) = counts.iter().max()?.clone();
        Some((counts.iter().map(|(count, _)| count).sum::<u64>(), kind, most, seen.evidence()))
    };
    let (counted, kind, most, evidence) =
        [&INTERFACE, &PORT].into_iter().filter_map(of_kind).max_by_key(|(counted, ..)| *counted)?;
    let least = moved.bytes as f64 * LEAST - moved.buffered as f64;
    ((counted as f64) < least).then(|| Shortfall {
        moved: moved.clone(),
        node: node.to_owned(),
        evidence,
        kind,
        chosen: vec![most],
        way,
        counted: Some(counted),
        why: None,
        carried: Vec::new(),
        late: late(case),
    })
}

/// Share of the bytes of a trial that counters may miss because they are updated seldom.
fn late(case: &CaseRecord) -> f64 {
    let time = case.params.nanos("time").ok().filter(|time| time.get() > 0);
    time.map_or(1.0, |time| (RENEWED.as_secs() / time.as_secs()).min(1.0))
}

fn at_end(case: &CaseRecord, moved: &Moved, way: Way) -> Option<Shortfall> {
    let end = if way == Way::Sent { &moved.sender } else { &moved.receiver };
    if *end == Some(PathEnd::Any) {
        return at_any_end(case, moved, way);
    }
    let (node, point) = end_of(moved, way);
    let (kind, chosen) = match point.map(|point| (point.kind, vec![point.name])) {
        Some(named) => named,
        None => match interfaces(case, node) {
            Some(interfaces) => (&INTERFACE, interfaces),
            None => (&PORT, ports(case, node)?),
        },
    };
    let seen = seen(case, kind.probe).find(|seen| seen.node == node);
    if seen.is_none() && point.is_none() {
        return None;
    }
    let all = seen.iter().flat_map(Seen::counts);
    let counts: Vec<(&str, u64)> =
        all.filter_map(|(name, count)| Some((name.strip_prefix(way.counter())?, count))).collect();
    let of = |name: &&str| counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count);
    let counted = chosen.iter().map(of).sum::<Option<u64>>();
    let least = moved.bytes as f64 * LEAST - moved.buffered as f64;
    if counted.is_some_and(|own| own as f64 >= least) {
        return None;
    }
    // Counters that miss a trial are no sum over all trials.
    let partly = seen.as_ref().and_then(|seen| lacking(seen, way, &chosen));
    let counted = counted.filter(|_| partly.is_none());
    let others = counts.iter().copied().filter(|(name, count)| *count > 0 && !chosen.contains(name));
    let mut carried: Vec<Carrier> = others
        .map(|(name, bytes)| {
            let own = of_other_rows(case, node, way, Point { kind, name });
            Carrier { name: name.to_owned(), bytes, own }
        })
        .filter(|other| counted.is_some() && other.bytes as f64 - other.own >= least / 2.0)
        .collect();
    carried.sort_by_key(|other| std::cmp::Reverse(other.bytes));
    let late = late(case);
    let below = |why: &&str| chosen.iter().any(|name| is_below(why, name));
    let why = partly.or_else(|| {
        seen.as_ref()?.reading.unreadable.iter().map(String::as_str).find(below).map(str::to_owned)
    });
    let evidence = seen.iter().flat_map(Seen::evidence).collect();
    let chosen = chosen.into_iter().map(str::to_owned).collect();
    let (node, moved) = (node.to_owned(), moved.clone());
    Some(Shortfall { moved, node, evidence, kind, chosen, way, counted, why, carried, late })
}

/// Why a counter of the chosen interfaces misses a trial; `None` if nothing says so.
fn lacking(seen: &Seen<'_>, way: Way, chosen: &[&str]) -> Option<String> {
    let is_of = |said: &&str| {
        let rest = said.strip_prefix(way.counter()).unwrap_or_default();
        let mut behind = chosen.iter().filter_map(|name| rest.strip_prefix(name));
        behind.any(|behind| behind.is_empty() || behind.starts_with([' ', ':']))
    };
    let back = seen
        .reading
        .backwards
        .iter()
        .map(String::as_str)
        .find(is_of)
        .map(|name| format!("{name} went backwards: it was reset"));
    // The reason follows in the line (`... vanished between the readings`).
    back.or_else(|| seen.reading.unreadable.iter().map(String::as_str).rfind(is_of).map(str::to_owned))
}

/// Whether the line is about a file of this interface, or about the device of this port.
fn is_below(why: &str, name: &str) -> bool {
    let device = name.split('/').next().unwrap_or(name);
    why.contains(&format!("/{device}/"))
}

impl Shortfall {
    /// Smaller ranks show more.
    fn rank(&self) -> u32 {
        match self.counted {
            Some(_) if self.is_contradiction() => 0,
            Some(_) => 1,
            None => 2,
        }
    }

    /// Whether the traffic went elsewhere: another interface carried it, or more is missing than late counters can
    /// miss.
    fn is_contradiction(&self) -> bool {
        let least = self.moved.bytes as f64 * (LEAST - self.late) - self.moved.buffered as f64;
        let is_elsewhere = !self.carried.is_empty() && self.moved.bytes as f64 >= ENOUGH;
        self.counted.is_some_and(|own| is_elsewhere || (own as f64) < least)
    }

    fn text(&self) -> String {
        let (names, node) = (self.chosen.join(" and "), &self.node);
        let Some(own) = self.counted else {
            let why = self.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            return format!(
                "the counters of {names} of {node} could not be read{why}, so it is not known whether it \
                 carried the measured traffic"
            );
        };
        let carried: Vec<String> = self.carried.iter().map(Carrier::text).collect();
        let elsewhere = match self.carried.as_slice() {
            // Some drivers have the card write its counters once a second (bnxt), others query it as seldom.
            [] => format!(
                "no other {noun} counted as much: the traffic took a path without {noun}, or the driver updates its \
                 counters rarely (try trials of several seconds, -p time=)",
                noun = self.kind.noun
            ),
            [first, ..] if first.name == "lo" => format!(
                "{} carried them: both addresses belong to one host, and its kernel delivers packets between \
                 them locally; put the ends into network namespaces of their own, or measure between two \
                 hosts",
                carried.join(", ")
            ),
            [first, ..] if first.own > 0.0 => format!(
                "{} carried them too: the traffic used fewer paths than planned; if their addresses are in \
                 one subnet, one interface may send and answer ARP for the other (see arp_ignore): give each \
                 its own subnet",
                carried.join(", ")
            ),
            _ => format!("{} carried them: check {}", carried.join(", "), self.kind.choice),
        };
        let end = |way| match end_of(&self.moved, way) {
            (node, Some(point)) if self.moved.from == self.moved.to => format!("{} of {node}", point.name),
            (node, _) => node.to_owned(),
        };
        format!(
            "{} went from {} to {}, but {names} of {node} {} only {}; {elsewhere}",
            megabytes(self.moved.bytes as f64),
            end(Way::Sent),
            end(Way::Received),
            self.way.verb(),
            megabytes(own as f64),
        )
    }

    fn finding(&self, case: &CaseRecord) -> Finding {
        let severity = match self.counted {
            None => Severity::Info,
            Some(_) if self.is_contradiction() => Severity::Problem,
            Some(_) => Severity::Warning,
        };
        let mut evidence = vec![MovedRows::NAME.to_owned()];
        evidence.extend(self.evidence.iter().cloned());
        let text = format!("the path is not confirmed: {}", self.text());
        let finding = Finding::new(RULE.kind, severity, case.subject.clone(), text);
        let percent = self.counted.map(|own| 100.0 * own as f64 / self.moved.bytes as f64);
        let value = percent.and_then(|percent| quantity(percent, Unit::Percent));
        let finding = about(case, Finding { value, evidence, ..finding });
        Finding { node: Some(self.node.clone()), ..finding }
    }
}

impl Carrier {
    fn text(&self) -> String {
        let bytes = megabytes(self.bytes as f64);
        if self.own > 0.0 {
            format!("{} ({bytes}, of which {} were its own)", self.name, megabytes(self.own))
        } else {
            format!("{} ({bytes})", self.name)
        }
    }
}

fn megabytes(bytes: f64) -> String {
    format!("{} MB", significant(bytes / 1e6))
}

#[cfg(test)]
mod tests;

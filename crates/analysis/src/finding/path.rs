//! `path-unconfirmed`: the interface that was chosen did not carry what was measured.
//!
//! Three things are told apart. Counters that cannot be read prove nothing, and change nothing. Counters that show too
//! little, while nobody else shows it either, may be late: the finding is a warning, and verdicts stand with a remark. And
//! counters that contradict what was measured make every verdict on the case unknown, for its numbers are of another path.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Fact, Finding, Moved, MovedRows, Nanos, PathEnd, Severity, Unit};

use super::probes::{Seen, seen};
use super::{Rule, about};
use crate::number::{quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "path-unconfirmed",
    doc: "The counters of the chosen interface show less than 98 % of what was measured, or of several those of \
          one less than its part. Where that is no lateness of theirs, it went elsewhere, and verdicts on the \
          case are unknown.",
    find,
};

/// Part of what was moved that the interface must have counted.
///
/// It is a lower bound only: an interface counts everybody's packets, and what is more may be anybody's. Headers do not
/// count into what was moved: a device that takes segments in one piece counts their headers once, or once for each.
const LEAST: f64 = 0.98;

/// Drivers that do not ask their card for its counts at every reading renew them this often at the latest (bnxt has the
/// card write them once a second, `BNXT_DEF_STATS_COAL_TICKS`). What a trial moved in its last such span may not be counted.
const RENEWED: Nanos = Nanos::secs(1);

/// What another interface counted is a sign of the way from so many bytes on. Of fewer, what happens to go over it beside
/// the measurement may be as much.
const ENOUGH: f64 = 10e6;

/// Why the counters of the chosen interfaces contradict that the case went through them; none when they show it, or when
/// they prove nothing.
pub(crate) fn contradiction(case: &CaseRecord) -> Option<String> {
    shortfalls(case).find(Shortfall::is_contradiction).map(|it| it.text())
}

/// Why the counters of the chosen interfaces do not show what went through them, which may be because they were late.
pub(crate) fn doubt(case: &CaseRecord) -> Option<String> {
    shortfalls(case).find(|shortfall| shortfall.counted.is_some()).map(|it| it.text())
}

/// What counts bytes: its probe, what it is called, and how the person chooses another.
#[derive(PartialEq)]
struct Kind {
    probe: &'static str,
    noun: &'static str,
    choice: &'static str,
}

const INTERFACE: Kind = Kind { probe: "nic", noun: "interface", choice: "the routes and at -p interface=" };
const PORT: Kind = Kind { probe: "ib_port", noun: "port", choice: "-p device= and -p peer_device=" };

/// An interface or a port.
#[derive(Clone, Copy, PartialEq)]
struct Point<'a> {
    kind: &'static Kind,
    name: &'a str,
}

/// The ends of a row: the one that sent, and the one that received.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Sent,
    Received,
}

/// Something else that counted enough to have carried it.
struct Carrier {
    name: String,
    bytes: u64,
    /// What it was to carry of the case by itself; 0 where it is none of the case's.
    own: f64,
}

/// An end whose counters do not show what was moved.
struct Shortfall {
    moved: Moved,
    node: String,
    evidence: Vec<String>,
    kind: &'static Kind,
    /// The interfaces or ports that were chosen.
    chosen: Vec<String>,
    way: Way,
    /// Bytes that they counted; none when that could not be read.
    counted: Option<u64>,
    /// Why it could not, where the probe told.
    why: Option<String>,
    /// The others, the one with the most bytes first.
    carried: Vec<Carrier>,
    /// Part of the bytes that counters may lack because they are renewed seldom.
    late: f64,
}

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    records.iter().flat_map(|case| shortfalls(case).map(move |shortfall| shortfall.finding(case))).collect()
}

/// One for each row of what was moved, at most: an end is enough to say that it went elsewhere. Of two ends the one that
/// shows more stands, so that counters which could not be read at one end do not hide what those of the other show.
fn shortfalls(case: &CaseRecord) -> impl Iterator<Item = Shortfall> {
    let rows = MovedRows::of(&case.evidence).unwrap_or_default().0;
    rows.into_iter().filter_map(move |moved| {
        let ends = [Way::Sent, Way::Received].into_iter().filter_map(|way| at_end(case, &moved, way));
        ends.min_by_key(Shortfall::rank)
    })
}

/// The node of an end, and what the benchmark says that it went through there.
fn end_of(moved: &Moved, way: Way) -> (&str, Option<Point<'_>>) {
    let (node, end) = match way {
        Way::Sent => (&moved.from, &moved.sender),
        Way::Received => (&moved.to, &moved.receiver),
    };
    let named = match end {
        Some(PathEnd::Interface(name)) => Some((&INTERFACE, name)),
        Some(PathEnd::Port(name)) => Some((&PORT, name)),
        None => moved.interface.as_ref().map(|name| (&INTERFACE, name)),
    };
    (node, named.map(|(kind, name)| Point { kind, name }))
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

/// The interfaces that were chosen for this node; none when the routes decide.
pub(super) fn interfaces<'a>(case: &'a CaseRecord, node: &str) -> Option<Vec<&'a str>> {
    let name =
        if case.nodes.first().is_some_and(|first| first == node) { "interface" } else { "peer_interface" };
    // Of rails they are written with a plus between them.
    Some(case.planned(name)?.split(['+', ',']).collect())
}

/// The RDMA ports that were chosen for this node. Of devices that software plays the interface stands in their place, as
/// they count no bytes.
fn ports<'a>(case: &'a CaseRecord, node: &str) -> Option<Vec<&'a str>> {
    let name = if case.nodes.first().is_some_and(|first| first == node) { "port" } else { "peer_port" };
    Some(case.planned(name)?.split(['+', ',']).collect())
}

/// What other rows of the case have moved through this at this end.
fn of_other_rows(case: &CaseRecord, node: &str, way: Way, point: Point<'_>) -> f64 {
    let rows = MovedRows::of(&case.evidence).unwrap_or_default().0;
    rows.iter()
        .filter(|moved| end_of(moved, way) == (node, Some(point)))
        .map(|moved| moved.bytes as f64)
        .sum()
}

fn at_end(case: &CaseRecord, moved: &Moved, way: Way) -> Option<Shortfall> {
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
    // What a trial lacks is no sum over all of them.
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
    let time = case.params.nanos("time").ok().filter(|time| time.get() > 0);
    let late = time.map_or(1.0, |time| (RENEWED.as_secs() / time.as_secs()).min(1.0));
    let below = |why: &&str| chosen.iter().any(|name| is_below(why, name));
    let why = partly.or_else(|| {
        seen.as_ref()?.reading.unreadable.iter().map(String::as_str).find(below).map(str::to_owned)
    });
    let evidence = seen.iter().flat_map(Seen::evidence).collect();
    let chosen = chosen.into_iter().map(str::to_owned).collect();
    let (node, moved) = (node.to_owned(), moved.clone());
    Some(Shortfall { moved, node, evidence, kind, chosen, way, counted, why, carried, late })
}

/// Why a counter of these did not tell of every trial; none where nothing says so.
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
        .map(|name| format!("{name} went backwards: somebody set it to 0"));
    // The reason comes behind what is known without it (`... vanished between the readings`).
    back.or_else(|| seen.reading.unreadable.iter().map(String::as_str).rfind(is_of).map(str::to_owned))
}

/// Whether this is of a file of this interface, or of the device of this port.
fn is_below(why: &str, name: &str) -> bool {
    let device = name.split('/').next().unwrap_or(name);
    why.contains(&format!("/{device}/"))
}

impl Shortfall {
    /// The more it shows, the less.
    fn rank(&self) -> u32 {
        match self.counted {
            Some(_) if self.is_contradiction() => 0,
            Some(_) => 1,
            None => 2,
        }
    }

    /// Whether it went elsewhere: another interface carried it, or more is missing than counters that are late can lack.
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
            // Some drivers have the card hand over its counts once a second (bnxt), and others ask for them as seldom.
            [] => format!(
                "no other {noun} counted as much: the traffic took a path without {noun}, or the driver updates its \
                 counters rarely (try trials of several seconds, -p time=)",
                noun = self.kind.noun
            ),
            [first, ..] if first.name == "lo" => format!(
                "{} carried them: both addresses belong to one host, and its kernel delivers packets between them \
                 without a wire; put the ends into network namespaces of their own, or measure between two hosts",
                carried.join(", ")
            ),
            [first, ..] if first.own > 0.0 => format!(
                "{} carried them: both are of this case, so that all of it went over fewer than were asked for; where \
                 their addresses are of one network, one interface may send and answer for the other (arp_ignore): give \
                 each a network of its own",
                carried.join(", ")
            ),
            _ => format!("{} carried them: look at {}", carried.join(", "), self.kind.choice),
        };
        // Of ends on one node only what they went through tells which is which.
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

//! `path-unconfirmed`: the interface that was chosen did not carry what was measured.
//!
//! Three things are told apart. Counters that cannot be read prove nothing, and change nothing. Counters that show too
//! little, while nobody else shows it either, may be late: the finding is a warning, and verdicts stand with a remark. And
//! counters that contradict what was measured make every verdict on the case unknown, for its numbers are of another path.

use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Nanos, Severity, Unit};
use serde_json::Value;

use super::probes::{Seen, seen};
use super::{Rule, about};
use crate::number::{quantity, significant};

pub(super) const RULE: Rule = Rule {
    kind: "path-unconfirmed",
    doc: "The counters of the chosen interface show less than 98 % of what was measured. Where \
          that is no lateness of theirs, it went elsewhere, and verdicts on the case are unknown.",
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

/// What went from one end to the other over all trials, as the benchmark put it down.
#[derive(Clone, Copy)]
struct Moved<'a> {
    from: &'a str,
    to: &'a str,
    /// The interface of both ends, where the benchmark knows better than the plan: one of several rails.
    interface: Option<&'a str>,
    /// Payload that came there.
    bytes: f64,
    /// What may have been in the buffers of both ends when the counters were read, and was counted by one side only.
    buffered: f64,
}

/// What counts bytes: its probe, what it is called, and how the person chooses another.
struct Kind {
    probe: &'static str,
    noun: &'static str,
    choice: &'static str,
}

const INTERFACE: Kind = Kind { probe: "nic", noun: "interface", choice: "the routes and at -p interface=" };
const PORT: Kind = Kind { probe: "ib_port", noun: "port", choice: "-p device= and -p peer_device=" };

/// An end whose counters do not show what was moved.
struct Shortfall<'a> {
    moved: Moved<'a>,
    node: &'a str,
    evidence: Vec<String>,
    kind: &'static Kind,
    /// The interfaces or ports that were chosen.
    chosen: Vec<&'a str>,
    verb: &'static str,
    /// Bytes that they counted; none when that could not be read.
    counted: Option<u64>,
    /// Other interfaces that counted enough to have carried it, with their bytes.
    carried: Vec<(&'a str, u64)>,
    /// Part of the bytes that counters may lack because they are renewed seldom.
    late: f64,
}

fn find(records: &[CaseRecord]) -> Vec<Finding> {
    records.iter().flat_map(|case| shortfalls(case).map(move |shortfall| shortfall.finding(case))).collect()
}

/// One for each row of what was moved, at most: an end is enough to say that it went elsewhere.
fn shortfalls(case: &CaseRecord) -> impl Iterator<Item = Shortfall<'_>> {
    let rows = case.evidence.get("moved").and_then(Value::as_array).into_iter().flatten();
    rows.filter_map(Moved::read).filter_map(move |moved| {
        [(moved.from, "tx"), (moved.to, "rx")].into_iter().find_map(|(node, way)| {
            let (kind, chosen) =
                match moved.interface.map(|name| vec![name]).or_else(|| interfaces(case, node)) {
                    Some(interfaces) => (&INTERFACE, interfaces),
                    None => (&PORT, ports(case, node)?),
                };
            let seen = seen(case, kind.probe).find(|seen| seen.node == node)?;
            at_end(case, moved, &seen, kind, chosen, way)
        })
    })
}

impl<'a> Moved<'a> {
    fn read(row: &'a Value) -> Option<Self> {
        Some(Self {
            from: row["from"].as_str()?,
            to: row["to"].as_str()?,
            interface: row["interface"].as_str(),
            bytes: row["bytes"].as_f64()?,
            buffered: row["buffered"].as_f64().unwrap_or(0.0),
        })
    }
}

/// The interfaces that were chosen for this node; none when the routes decide.
pub(super) fn interfaces<'a>(case: &'a CaseRecord, node: &str) -> Option<Vec<&'a str>> {
    let name =
        if case.nodes.first().is_some_and(|first| first == node) { "interface" } else { "peer_interface" };
    // Of rails they are written with a plus between them.
    Some(case.chosen.text(name).ok()?.split(['+', ',']).collect())
}

/// The RDMA ports that were chosen for this node. Of devices that software plays the interface stands in their place, as
/// they count no bytes.
fn ports<'a>(case: &'a CaseRecord, node: &str) -> Option<Vec<&'a str>> {
    let name = if case.nodes.first().is_some_and(|first| first == node) { "port" } else { "peer_port" };
    Some(case.chosen.text(name).ok()?.split(['+', ',']).collect())
}

/// What other rails of the case have moved over this interface at this end.
fn of_other_rails(case: &CaseRecord, node: &str, way: &str, interface: &str) -> f64 {
    let rows = case.evidence.get("moved").and_then(Value::as_array).into_iter().flatten();
    let here = |moved: &Moved<'_>| {
        let end = if way == "tx" { moved.from } else { moved.to };
        end == node && moved.interface == Some(interface)
    };
    rows.filter_map(Moved::read).filter(here).map(|moved| moved.bytes).sum()
}

fn at_end<'a>(
    case: &'a CaseRecord,
    moved: Moved<'a>,
    seen: &Seen<'a>,
    kind: &'static Kind,
    chosen: Vec<&'a str>,
    way: &str,
) -> Option<Shortfall<'a>> {
    let counter = format!("{way}_bytes ");
    let counts: Vec<(&str, u64)> =
        seen.counts().filter_map(|(name, count)| Some((name.strip_prefix(&counter)?, count))).collect();
    let of = |name: &&str| counts.iter().find(|(known, _)| known == name).map(|(_, count)| *count);
    let counted = chosen.iter().map(of).sum::<Option<u64>>();
    let least = moved.bytes * LEAST - moved.buffered;
    if counted.is_some_and(|own| own as f64 >= least) {
        return None;
    }
    let others = counts.iter().copied().filter(|(name, _)| !chosen.contains(name));
    let mut carried: Vec<(&str, u64)> = others
        .filter(|(name, count)| *count as f64 - of_other_rails(case, seen.node, way, name) >= least / 2.0)
        .filter(|(_, count)| *count > 0 && counted.is_some())
        .collect();
    carried.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let time = case.params.nanos("time").ok().filter(|time| time.get() > 0);
    let late = time.map_or(1.0, |time| (RENEWED.as_secs() / time.as_secs()).min(1.0));
    let verb = if way == "tx" { "sent" } else { "received" };
    Some(Shortfall {
        node: seen.node,
        evidence: seen.evidence(),
        moved,
        kind,
        chosen,
        verb,
        counted,
        carried,
        late,
    })
}

impl Shortfall<'_> {
    /// Whether it went elsewhere: another interface carried it, or more is missing than counters that are late can lack.
    fn is_contradiction(&self) -> bool {
        let least = self.moved.bytes * (LEAST - self.late) - self.moved.buffered;
        let is_elsewhere = !self.carried.is_empty() && self.moved.bytes >= ENOUGH;
        self.counted.is_some_and(|own| is_elsewhere || (own as f64) < least)
    }

    fn text(&self) -> String {
        let (names, node) = (self.chosen.join(" and "), self.node);
        let Some(own) = self.counted else {
            return format!(
                "the counters of {names} of {node} could not be read, so that nothing shows whether it carried what was \
                 measured"
            );
        };
        let carried: Vec<String> = self
            .carried
            .iter()
            .map(|(name, count)| format!("{name} ({})", megabytes(*count as f64)))
            .collect();
        let elsewhere = match self.carried.as_slice() {
            // Some drivers have the card hand over its counts once a second (bnxt), and others ask for them as seldom.
            [] => format!(
                "no other {noun} counted as much: either they went a way that has no {noun}, or the driver renews its \
                 counters seldom, which trials of several seconds show (-p time=)",
                noun = self.kind.noun
            ),
            [("lo", _), ..] => format!(
                "{} carried them: both addresses are of one host, whose kernel hands over what is sent from one to the \
                 other without a wire; give the ends network namespaces of their own, or measure between two hosts",
                carried.join(", ")
            ),
            _ => format!("{} carried them: look at {}", carried.join(", "), self.kind.choice),
        };
        format!(
            "{} went from {} to {}, but {names} of {node} {} only {}; {elsewhere}",
            megabytes(self.moved.bytes),
            self.moved.from,
            self.moved.to,
            self.verb,
            megabytes(own as f64),
        )
    }

    fn finding(&self, case: &CaseRecord) -> Finding {
        let severity = match self.counted {
            None => Severity::Info,
            Some(_) if self.is_contradiction() => Severity::Problem,
            Some(_) => Severity::Warning,
        };
        let mut evidence = vec!["moved".to_owned()];
        evidence.extend(self.evidence.iter().cloned());
        let text = format!("the path is not confirmed: {}", self.text());
        let finding = Finding::new(RULE.kind, severity, case.subject.clone(), text);
        let percent = self.counted.map(|own| 100.0 * own as f64 / self.moved.bytes);
        let value = percent.and_then(|percent| quantity(percent, Unit::Percent));
        let finding = about(case, Finding { value, evidence, ..finding });
        Finding { node: Some(self.node.to_owned()), ..finding }
    }
}

fn megabytes(bytes: f64) -> String {
    format!("{} MB", significant(bytes / 1e6))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::fixture::measured;

    /// A case from n1 to n2 over eth0 at both ends that moved 1 GB, during which the interfaces counted this.
    fn case(first: &Value, second: &Value, buffered: u64) -> CaseRecord {
        let mut case = measured("n1");
        case.nodes.push("n2".to_owned());
        case.chosen.set("interface", "eth0");
        case.chosen.set("peer_interface", "eth0");
        let moved = json!([{ "from": "n1", "to": "n2", "bytes": 1_000_000_000, "buffered": buffered }]);
        case.evidence.insert("moved".to_owned(), moved);
        let nic = |counts: &Value| json!({ "nic": { "counts": counts } });
        case.evidence.insert("probes".to_owned(), json!({ "n1": nic(first), "n2": nic(second) }));
        case
    }

    fn sent(eth0: u64, lo: u64) -> Value {
        json!({ "tx_bytes eth0": eth0, "rx_bytes eth0": 5, "tx_bytes lo": lo, "rx_bytes lo": lo })
    }

    fn received(eth0: u64, lo: u64) -> Value {
        json!({ "rx_bytes eth0": eth0, "tx_bytes eth0": 5, "tx_bytes lo": lo, "rx_bytes lo": lo })
    }

    #[test]
    fn what_the_chosen_interfaces_carried_is_confirmed_with_others_traffic_beside_it() {
        for count in [980_000_000, 1_046_000_000, 9_000_000_000] {
            assert_eq!(find(&[case(&sent(count, 0), &received(count, 0), 0)]), [], "{count}");
        }
        let found = find(&[case(&sent(979_000_000, 0), &received(1_000_000_000, 0), 0)]);
        assert_eq!((found.len(), found[0].severity), (1, Severity::Warning), "nobody else carried it");
        assert!(
            found[0].text.contains("but eth0 of n1 sent only 979 MB; no other interface"),
            "{}",
            found[0].text
        );
    }

    #[test]
    fn what_went_over_rdma_is_looked_for_at_its_port() {
        let of = |first: u64, second: u64| {
            let mut case = measured("n1");
            case.nodes.push("n2".to_owned());
            case.chosen.set("port", "mlx5_0/1");
            case.chosen.set("peer_port", "mlx5_2/1");
            let moved = json!([{ "from": "n1", "to": "n2", "bytes": 1_000_000_000, "buffered": 0 }]);
            case.evidence.insert("moved".to_owned(), moved);
            let port = |counts: &Value| json!({ "ib_port": { "counts": counts } });
            let sent = port(&json!({ "tx_bytes mlx5_0/1": first, "tx_bytes mlx5_1/1": 0 }));
            let received =
                port(&json!({ "rx_bytes mlx5_2/1": second, "rx_bytes mlx5_3/1": 1_010_000_000 - second }));
            case.evidence.insert("probes".to_owned(), json!({ "n1": sent, "n2": received }));
            find(&[case])
        };
        assert_eq!(of(1_010_000_000, 1_010_000_000), []);
        let found = of(1_010_000_000, 5_000_000);
        assert!(found[0].text.contains("but mlx5_2/1 of n2 received only 5 MB"), "{}", found[0].text);
        assert!(
            found[0]
                .text
                .ends_with("mlx5_3/1 (1005 MB) carried them: look at -p device= and -p peer_device="),
            "{}",
            found[0].text
        );
        assert_eq!(found[0].evidence, ["moved", "probes.n2.ib_port"]);
    }

    #[test]
    fn a_short_cut_through_the_kernel_is_found_and_named() {
        let found = find(&[case(&sent(4_000, 1_010_000_000), &received(1_046_000_000, 0), 0)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((finding.severity, finding.node.as_deref()), (Severity::Problem, Some("n1")));
        assert!(
            finding
                .text
                .contains("sent only 0.004 MB; lo (1010 MB) carried them: both addresses are of one host")
        );
        assert_eq!(finding.evidence, ["moved", "probes.n1.nic"]);
    }

    #[test]
    fn another_card_is_named_too_and_at_the_receiver() {
        let other = json!({ "rx_bytes eth0": 10, "rx_bytes eth1": 1_046_000_000, "rx_bytes lo": 77 });
        let found = find(&[case(&sent(1_046_000_000, 0), &other, 0)]);
        assert!(
            found[0].text.contains("eth1 (1046 MB) carried them: look at the routes"),
            "{}",
            found[0].text
        );
        assert_eq!(found[0].node.as_deref(), Some("n2"));
    }

    #[test]
    fn what_waits_in_buffers_is_allowed_for_and_rails_are_added_up() {
        let almost = case(&sent(1_046_000_000, 0), &received(960_000_000, 0), 30_000_000);
        assert_eq!(find(&[almost]), []);
        let half = json!({ "tx_bytes eth0": 520_000_000, "tx_bytes eth1": 500_000_000 });
        let mut rails = case(&half, &received(1_046_000_000, 0), 0);
        assert_eq!(find(std::slice::from_ref(&rails)).len(), 1);
        rails.chosen.set("interface", "eth0+eth1");
        assert_eq!(find(&[rails]), []);
    }

    #[test]
    fn what_went_elsewhere_contradicts_and_what_was_not_shown_is_only_doubted() {
        let lo = case(&sent(4_000, 1_010_000_000), &received(1_046_000_000, 0), 0);
        let why = contradiction(&lo).expect("elsewhere");
        assert!(
            why.starts_with("1000 MB went from n1 to n2, but eth0 of n1 sent only 0.004 MB; lo (1010"),
            "{why}"
        );
        // Nobody else counted them. In trials of 600 ms the counters may be late as a whole; in trials of 5 s they lack a
        // fifth at most, and the bytes of 5 trials at least 0.78 GB.
        for (time, count, contradicts) in
            [("600 ms", 0, false), ("5 s", 780_000_001, false), ("5 s", 779_999_999, true)]
        {
            let mut missing = case(&sent(count, 0), &received(1_046_000_000, 0), 0);
            let typed = seatrial_model::Kind::Time(Nanos(0), Nanos::secs(60)).parse(time).expect("a time");
            missing.params.set("time", typed);
            assert_eq!(contradiction(&missing).is_some(), contradicts, "{count} within {time}");
            assert!(doubt(&missing).is_some());
            let wanted = if contradicts { Severity::Problem } else { Severity::Warning };
            assert_eq!(find(&[missing])[0].severity, wanted);
        }
        let mut few = case(&sent(10, 9_000_000), &received(1_046_000_000, 0), 0);
        few.evidence.insert("moved".to_owned(), json!([{ "from": "n1", "to": "n2", "bytes": 9_000_000 }]));
        assert!(contradiction(&few).is_none() && doubt(&few).is_some(), "others' traffic may be as much");
        let unread = case(&json!({}), &received(1_046_000_000, 0), 0);
        assert_eq!(
            (contradiction(&unread), doubt(&unread)),
            (None, None),
            "what cannot be read proves nothing"
        );
    }

    /// A case of two rails with 500 MB each, during which the first node counted this.
    fn rails(eth0: u64, eth1: u64) -> CaseRecord {
        let mut case = case(&json!({ "tx_bytes eth0": eth0, "tx_bytes eth1": eth1 }), &json!({}), 0);
        for name in ["interface", "peer_interface"] {
            case.chosen.set(name, "eth0+eth1");
        }
        let row = |name: &str| json!({ "from": "n1", "to": "n2", "interface": name, "bytes": 500_000_000 });
        case.evidence.insert("moved".to_owned(), json!([row("eth0"), row("eth1")]));
        let both = json!({ "rx_bytes eth0": 523_000_000, "rx_bytes eth1": 523_000_000 });
        case.evidence.get_mut("probes").expect("there")["n2"]["nic"]["counts"] = both;
        case
    }

    #[test]
    fn each_rail_must_have_carried_its_own_part() {
        assert_eq!(find(&[rails(523_000_000, 523_000_000)]), []);
        // All of it over the first, as when both addresses are in one network and the routes know one way to it.
        let found = find(&[rails(1_046_000_000, 0)]);
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.severity, Severity::Problem);
        assert!(
            finding.text.contains("but eth1 of n1 sent only 0 MB; eth0 (1046 MB) carried them"),
            "{}",
            finding.text
        );
        // The other rail's own part is no sign that it carried this one's.
        let late = rails(523_000_000, 100_000_000);
        assert_eq!((contradiction(&late), find(&[late])[0].severity), (None, Severity::Warning));
    }

    #[test]
    fn without_a_choice_there_is_nothing_to_confirm_and_without_counters_no_proof() {
        let mut routed = case(&sent(0, 0), &received(0, 0), 0);
        routed.chosen = seatrial_model::Params::default();
        assert_eq!(find(&[routed]), []);
        let found = find(&[case(&json!({}), &received(1_046_000_000, 0), 0)]);
        assert_eq!((found.len(), found[0].severity), (1, Severity::Info));
    }
}

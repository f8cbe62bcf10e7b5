//! `slow-nfs-server` and `nfs-retransmissions`: what an NFS client counted of its server.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::profile::fold;
use seatrial_model::record::CaseRecord;
use seatrial_model::{Finding, Severity, Unit};

use super::Rule;
use super::shared_file_systems::shared;
use crate::nfs::{Served, served};
use crate::number::{quantity, significant};

pub(super) const SLOW: Rule = Rule {
    kind: "slow-nfs-server",
    doc: "An NFS server takes most of the time of a case to answer, 20 round trips of the network and 5 ms a request or more, \
          nothing was sent again, and the network is not full.",
    find: |records| {
        of_exports(records, SLOW.kind, is_slow, |export, served| slowness(served) + &at_once(records, export))
    },
};

pub(super) const RETRANSMISSIONS: Rule = Rule {
    kind: "nfs-retransmissions",
    doc: "One in a thousand requests to an NFS server or more, and at least three, were sent again.",
    find: |records| {
        of_exports(records, RETRANSMISSIONS.kind, |_, served| is_lossy(served), |_, served| loss(served))
    },
};

/// Share of the time from which on the server is what a case waits for.
const MOST: f64 = 0.5;

/// Round trips of the network, and milliseconds, that an answer takes at least: a disk of the server alone takes some.
const ROUND_TRIPS: f64 = 20.0;
const LEAST_MS: f64 = 5.0;

/// Share of the limit of the network from which on requests wait for their own data.
const FULL: f64 = 0.5;

/// Share and number of requests sent again that one interruption does not explain.
const AGAIN: f64 = 0.001;
const LEAST_AGAIN: u64 = 3;

fn is_lossy(served: &Served<'_>) -> bool {
    let (again, requests) = (served.sent_again(), served.requests());
    again >= LEAST_AGAIN && again as f64 >= AGAIN * requests as f64
}

fn is_slow(case: &CaseRecord, served: &Served<'_>) -> bool {
    let Some((.., answer_ms)) = served.longest() else { return false };
    let percent = case.headline().and_then(|(_, metric)| metric.percent_of_limit());
    served.shares().0 >= MOST
        && answer_ms >= LEAST_MS
        && served.round_trip_ms.is_some_and(|network| answer_ms >= ROUND_TRIPS * network)
        && served.sent_again() == 0
        && percent.is_none_or(|percent| percent < 100.0 * FULL)
}

/// `WRITE takes 84 ms to be answered, the round trip of the network 0.3 ms`.
fn slowness(served: &Served<'_>) -> String {
    let (name, _, answer) = served.longest().unwrap_or_default();
    let network = served.round_trip_ms.unwrap_or_default();
    let (answer, network) = (significant(answer), significant(network));
    format!(
        "{name} takes {answer} ms to be answered, a round trip of the network {network} ms, and nothing was sent again"
    )
}

/// That several nodes share the server, if they measured it at the same time.
fn at_once(records: &[CaseRecord], export: &str) -> String {
    let shared = shared(records).into_iter().find(|one| one.source == export);
    let words = |nodes: usize| {
        format!(
            "; {nodes} nodes measured it at the same time, and each number is a share: measure a node by itself with -w"
        )
    };
    shared.map_or_else(String::new, |shared| words(shared.nodes.len()))
}

fn loss(served: &Served<'_>) -> String {
    format!(
        "{} of {} requests were sent again, {} after a timeout",
        served.sent_again(),
        served.requests(),
        served.timeouts()
    )
}

/// What the counters of `node` say in each of these cases that is on NFS: the sentence, if its server is slow.
pub(super) fn slow_server(cases: &[&CaseRecord], node: &str) -> Vec<Option<String>> {
    of_node(cases, node, |case, served| is_slow(case, served).then(|| slowness(served)))
}

/// The same of requests that were sent again.
pub(super) fn retransmissions(cases: &[&CaseRecord], node: &str) -> Vec<Option<String>> {
    of_node(cases, node, |_, served| is_lossy(served).then(|| loss(served)))
}

fn of_node(
    cases: &[&CaseRecord],
    node: &str,
    told: impl Fn(&CaseRecord, &Served<'_>) -> Option<String>,
) -> Vec<Option<String>> {
    let own = cases.iter().flat_map(|case| served(case).into_iter().map(move |served| (*case, served)));
    own.filter(|(_, served)| served.node == node).map(|(case, served)| told(case, &served)).collect()
}

/// The exports whose server is slow.
pub(super) fn slow_exports(records: &[CaseRecord]) -> BTreeSet<String> {
    exports(records, is_slow).into_keys().collect()
}

/// A case on an export, what its node counted, and whether that is what is looked for.
type Use<'a> = (&'a CaseRecord, Served<'a>, bool);

/// The nodes that use an export; those alone of which `is_so` holds, if that is wanted.
fn nodes<'a>(uses: &[Use<'a>], only: bool) -> BTreeSet<&'a str> {
    uses.iter().filter(|(.., is_so)| *is_so || !only).map(|(_, served, _)| served.node).collect()
}

/// The exports of which it is so on half of the nodes or more that use them: of fewer it is theirs.
fn exports<'a>(
    records: &'a [CaseRecord],
    is_it: impl Fn(&CaseRecord, &Served<'_>) -> bool,
) -> BTreeMap<String, Vec<Use<'a>>> {
    let mut exports: BTreeMap<String, Vec<Use<'a>>> = BTreeMap::new();
    for case in records {
        for served in served(case) {
            let is_so = is_it(case, &served);
            exports.entry(served.export.clone()).or_default().push((case, served, is_so));
        }
    }
    exports.retain(|_, uses| {
        let own = nodes(uses, true).len();
        own > 0 && 2 * own >= nodes(uses, false).len()
    });
    exports
}

/// One finding for each export.
fn of_exports(
    records: &[CaseRecord],
    kind: &str,
    is_it: impl Fn(&CaseRecord, &Served<'_>) -> bool,
    words: impl Fn(&str, &Served<'_>) -> String,
) -> Vec<Finding> {
    let finding = |(export, uses): (String, Vec<Use<'_>>)| {
        let on = fold(&nodes(&uses, true).into_iter().collect::<Vec<_>>());
        let own = || uses.iter().filter(|(.., is_so)| *is_so);
        let (case, served, _) = own().next()?;
        let text = format!("the NFS server of {export}, seen from {on}: {}", words(&export, served));
        let evidence = own().map(|(case, ..)| case.case.to_string()).collect();
        let value = match served.longest() {
            Some((.., answer)) if kind == SLOW.kind => quantity(answer, Unit::Millisecond),
            _ => quantity(served.sent_again() as f64, Unit::Count),
        };
        let finding = Finding::new(kind, Severity::Warning, case.subject.clone(), text);
        Some(Finding { cause: Some(kind.to_owned()), evidence, value, ..finding })
    };
    exports(records, is_it).into_iter().filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::fixture::{limit, metric};
    use crate::nfs::fixture::written;

    fn kinds(records: &[CaseRecord]) -> Vec<(String, String)> {
        let all = [SLOW.find, RETRANSMISSIONS.find].into_iter().flat_map(|find| find(records));
        all.map(|finding| (finding.kind, finding.text)).collect()
    }

    #[test]
    fn a_server_that_answers_late_is_told_with_the_round_trip_of_the_network() {
        let found = kinds(&[written("n1", 84, 0), written("n2", 80, 0)]);
        let says = "the NFS server of 10.78.1.1:/srv, seen from n[1-2]: WRITE takes 84 ms to be answered, a round trip of \
                    the network 0.3 ms, and nothing was sent again";
        assert_eq!(found, [("slow-nfs-server".to_owned(), says.to_owned())]);
        assert_eq!(kinds(&[written("n1", 3, 0)]), [], "3 ms are no long time");
    }

    #[test]
    fn a_full_or_a_slow_network_and_one_node_of_many_do_not_speak_against_the_server() {
        let mut full = written("n1", 84, 0);
        full.metrics.insert("throughput".to_owned(), metric(90.0, (89.0, 91.0), limit(117.0)));
        full.headline = Some("throughput".to_owned());
        assert_eq!(kinds(&[full.clone()]), []);
        full.metrics.insert("throughput".to_owned(), metric(9.0, (8.9, 9.1), limit(117.0)));
        assert_eq!(kinds(&[full]).len(), 1);
        let mut far = written("n1", 84, 0);
        let probes = far.evidence.get_mut("probes").expect("probes");
        probes["n1"]["nfs"]["levels"]["round_trip_us 10.78.1.1:/srv /srv/shared"] = 10_000.into();
        assert_eq!(kinds(&[far]), []);
        assert_eq!(kinds(&[written("n1", 84, 0), written("n2", 1, 0), written("n3", 1, 0)]), []);
    }

    #[test]
    fn requests_that_are_sent_again_are_told_and_the_server_is_not() {
        let found = kinds(&[written("n1", 84, 5)]);
        let says = "the NFS server of 10.78.1.1:/srv, seen from n1: 5 of 100 requests were sent again, 0 after a timeout";
        assert_eq!(found, [("nfs-retransmissions".to_owned(), says.to_owned())]);
        assert_eq!(kinds(&[written("n1", 84, 2)]), [], "two are an interruption");
    }

    #[test]
    fn of_one_node_the_sentence_is_told_and_nothing_where_no_case_is_on_nfs() {
        let (slow, quick) = (written("n1", 84, 0), written("n2", 1, 0));
        let cases = [&slow, &quick];
        let told = slow_server(&cases, "n1");
        assert!(matches!(told.as_slice(), [Some(text)] if text.starts_with("WRITE takes 84 ms")), "{told:?}");
        assert_eq!((slow_server(&cases, "n2"), slow_server(&cases, "n3")), (vec![None], vec![]));
        assert_eq!(retransmissions(&cases, "n1"), [None]);
    }
}

//! `shaped`: pairs that come as far as a shaper on one of their nodes allows.

use seatrial_model::machine::{Nic, Queueing};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Actor, Finding, Remedy, Severity, Site, SiteNode, Subject, Unit};
use seatrial_stats::Sorted;

use crate::number::significant;

const KIND: &str = "shaped";

/// Share of the shaper's rate that pairs reach where no faster pair proves that the shaper is the cause.
const REACHED: f64 = 0.9;

/// A queueing discipline at the root of an interface that limits the rate.
pub(super) struct Shaper {
    pub nic: String,
    /// In Gbit/s.
    pub gbit: f64,
    kind: String,
}

impl Shaper {
    /// `tbf on eth0 of n3 shapes to 200 Mbit/s`.
    pub fn text(&self, node: &str) -> String {
        format!("{} on {} of {node} shapes to {} Mbit/s", self.kind, self.nic, significant(1e3 * self.gbit))
    }
}

pub(super) fn shapers(node: &SiteNode) -> Vec<Shaper> {
    let nics = node.machine.nics.listed().iter();
    let of_nic = |nic: &Nic| -> Vec<Shaper> {
        let queues = nic.queueing.listed().iter().filter(|queue| queue.root);
        let rate = |queue: &Queueing| queue.rate_bytes_per_second.map(|rate| rate as f64 * 8e-9);
        let shaper = |queue: &Queueing| {
            Some(Shaper { nic: nic.name.clone(), gbit: rate(queue)?, kind: queue.kind.clone() })
        };
        queues.filter_map(shaper).collect()
    };
    nics.flat_map(of_nic).collect()
}

/// Adds findings about the shapers that are not the cause of another finding.
pub(super) fn tell(findings: &mut Vec<Finding>, records: &[CaseRecord], site: &Site) {
    for node in &site.nodes {
        for shaper in shapers(node) {
            let text = shaper.text(&node.name);
            let is_told =
                findings.iter().any(|finding| finding.cause.is_some() && finding.text.contains(&text));
            if !is_told {
                findings.extend(of_pairs(records, &node.name, &shaper, &text));
            }
        }
    }
}

fn of_pairs(records: &[CaseRecord], node: &str, shaper: &Shaper, cause: &str) -> Option<Finding> {
    let rate = |case: &CaseRecord| {
        let [one, other] = case.nodes.as_slice() else { return None };
        let (_, metric) = case.headline().filter(|_| one != other && (one == node || other == node))?;
        let rate = metric.median;
        let is_reached = rate <= shaper.gbit && rate >= REACHED * shaper.gbit;
        (metric.unit == Unit::GigabitsPerSecond && is_reached).then_some(rate)
    };
    let rates: Vec<f64> = records.iter().filter_map(rate).collect();
    let count =
        if rates.len() == 1 { "1 case comes".to_owned() } else { format!("{} cases come", rates.len()) };
    let rates = Sorted::new(&rates).ok()?;
    let text = format!("{cause}, and {count} that far: {} Gbit/s", significant(rates.median()));
    let action = format!("if this limit is unwanted, on {node}: `tc qdisc del dev {} root`", shaper.nic);
    let finding = Finding::new(KIND, Severity::Warning, Subject::node(), text);
    Some(Finding { node: Some(node.to_owned()), ..finding }.with_remedy(Remedy::of(Actor::Root, action)))
}

//! A rule: what is seen, what refutes it, the cause, the remedy.

use seatrial_model::{Actor, Remedy};

use super::scene::Scene;
use super::sign::{Observation, Observed, Sign, command_for_lower};
use crate::finding::address;
use crate::finding::matrix::SlowSide;

/// Why a node is at fault, as data. Texts have the places `{node}`; `{seen}`, which is what the sign saw; `{device}` and
/// `{command}`, which it found; `{nodes}`, the nodes of the first case as `-w` takes them; `{route}`, the command that shows the
/// way between two nodes of a case; `{mtu}`, a clause that compares the MTU of the node with that of the others; `{tcp_rmem}`, the
/// command for larger receive buffers. Words such as `INTERFACE` are filled in where they are known (`finding::fill`).
#[derive(Debug)]
pub struct CauseRule {
    /// Id of the cause, as the field `cause` of a finding has it.
    pub id: &'static str,
    /// The cause in a few words: `small send buffer`.
    pub title: &'static str,
    /// The side on which the node is slow.
    pub side: SlowSide,
    /// The families of benchmarks that it explains; all where none is named.
    pub families: &'static [&'static str],
    /// One of these is seen. Without any, the rule holds where no other does.
    pub seen: &'static [Sign],
    /// None of these is seen.
    pub refuted_by: &'static [Sign],
    /// What limits flows because of the cause, in the words of their benchmark.
    pub limits: &'static [&'static str],
    /// The cause, as the end of a sentence.
    pub cause: &'static str,
    /// Who can mend it.
    pub actor: Actor,
    /// What to do, with the command.
    pub action: &'static str,
}

impl CauseRule {
    /// A rule without a side and without what refutes it.
    pub(super) const NEW: Self = Self {
        id: "",
        title: "",
        side: SlowSide::Both,
        families: &[],
        seen: &[],
        refuted_by: &[],
        limits: &[],
        cause: "",
        actor: Actor::Root,
        action: "",
    };

    /// Whether the cause can lower the numbers of this benchmark.
    pub fn is_of(&self, bench: &str) -> bool {
        self.families.is_empty() || self.families.iter().any(|family| bench.split('.').next() == Some(family))
    }

    fn is_about(&self, scene: &Scene<'_>) -> bool {
        self.side.overlaps(scene.side) && (self.families.is_empty() || scene.is_of(self.families))
    }

    pub(super) fn holds(&self, scene: &Scene<'_>) -> Option<Observation> {
        if !self.is_about(scene) {
            return None;
        }
        let refuted = self.refuted_by.iter().any(|sign| matches!(sign.sight(scene), Observed::Seen(_)));
        self.seen.iter().filter(|_| !refuted).find_map(|sign| match sign.sight(scene) {
            Observed::Seen(seen) => Some(seen),
            Observed::Absent | Observed::Unknown => None,
        })
    }

    /// Whether all its signs were looked for, and none is there. Reasons are those of cases without numbers.
    pub(super) fn is_excluded(&self, scene: &Scene<'_>) -> bool {
        let mut signs = self.seen.iter().filter(|sign| !matches!(sign, Sign::Reason(_))).peekable();
        self.is_about(scene)
            && signs.peek().is_some()
            && signs.all(|sign| matches!(sign.sight(scene), Observed::Absent))
    }

    /// Whether a finding of this kind, about what limits flows, follows from the cause.
    pub fn explains(&self, kind: &str) -> bool {
        kind.strip_prefix("limited-by-").is_some_and(|word| self.limits.contains(&word))
    }

    /// What to do where no case need be known.
    pub(crate) fn general_remedy(&self, node: &str, seen: &Observation) -> Option<Remedy> {
        let action = self.action.replace("{node}", node);
        let action = seen.places().iter().fold(action, |text, (place, value)| match value.is_empty() {
            true => text,
            false => text.replace(place, value),
        });
        (!action.contains('{')).then(|| Remedy::of(self.actor, action))
    }

    /// Where the node is slow, in words; none where that says nothing.
    pub const fn side_words(&self) -> &'static str {
        match self.side {
            SlowSide::Both => "",
            SlowSide::Sends => "the node sends slowly",
            SlowSide::Receives => "the node receives slowly",
        }
    }

    /// Whether what the cause is stays open: a part that no counter of the nodes shows.
    pub(super) fn is_open(&self) -> bool {
        let is_of_path = |sign: &Sign| matches!(sign, Sign::LimitedBy("path") | Sign::SteadyRate);
        self.seen.is_empty() || self.seen.iter().any(is_of_path)
    }

    pub(super) fn text(&self, scene: &Scene<'_>, seen: &Observation) -> String {
        filled(self.cause, scene, seen)
    }

    pub(super) fn remedy(&self, scene: &Scene<'_>, seen: &Observation) -> Remedy {
        Remedy::of(self.actor, filled(self.action, scene, seen))
    }
}

/// The command for larger receive buffers where those of the other nodes are no larger.
const TCP_RMEM: &str = "`sysctl -w net.ipv4.tcp_rmem=\"4096 131072 33554432\"`; a file in /etc/sysctl.d keeps it beyond the next boot";

fn filled(text: &str, scene: &Scene<'_>, seen: &Observation) -> String {
    let (nodes, route, mtu) = (scene.nodes(), address::route_of(scene.node, &scene.cases), scene.mtu());
    let tcp_rmem = command_for_lower(scene, &["net.ipv4.tcp_rmem"]).unwrap_or_else(|| TCP_RMEM.to_owned());
    let of_scene = [
        ("{node}", scene.node),
        ("{nodes}", &nodes),
        ("{route}", &route),
        ("{mtu}", &mtu),
        ("{tcp_rmem}", &tcp_rmem),
    ];
    let places = of_scene.into_iter().chain(seen.places());
    places.fold(text.to_owned(), |text, (place, value)| text.replace(place, value))
}

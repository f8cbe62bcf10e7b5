//! Settings of hosts during a study of them: set before the cases that need them, taken back before the others.
//!
//! The nodes keep the journal of `seatrial settings apply`, by the id of the run, so that whatever ends the run,
//! `seatrial settings restore` takes back what is set.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use seatrial_cluster::{Answered, Fleet, FleetEvent, NodeIndex, order_settings};
use seatrial_model::record::CaseRecord;
use seatrial_model::setting::{NodeChange, SettingBlock, SettingChange, SettingsOrder};
use seatrial_model::{Case, Cause, Reason};

/// What the hosts of a study have now.
pub struct HostSettings {
    /// Id of the journals.
    id: String,
    /// The changes of each node whose journal may exist.
    present: BTreeMap<NodeIndex, Vec<SettingChange>>,
    /// Whether what an earlier part of the run left was taken back.
    is_begun: bool,
    /// Why a setting cannot be set on a node, by both.
    refused: BTreeMap<(String, String), Reason>,
    /// Why a node has values that nobody wants: nothing can be compared on it any more.
    stuck: BTreeMap<String, Reason>,
    /// What was not taken back, until it is told.
    news: Vec<String>,
    lost: Vec<FleetEvent>,
}

/// What was noticed while settings were changed.
pub struct SettingsNews {
    /// Losses of nodes.
    pub lost: Vec<FleetEvent>,
    /// Where values could not be taken back, why, and what to type.
    pub not_restored: Vec<String>,
}

/// `cases` in pieces whose hosts have the same settings.
pub fn pieces(cases: &[Case]) -> impl Iterator<Item = &[Case]> {
    cases.chunk_by(|one, next| label(one) == label(next))
}

fn label(case: &Case) -> Option<&str> {
    set_for(case).map(|block| block.setting.as_str())
}

/// The block of a case that wants a setting; `None` for cases that want the hosts as they are.
fn set_for(case: &Case) -> Option<&SettingBlock> {
    case.origin.study.as_ref()?.set()
}

fn block(case: &Case) -> Option<&SettingBlock> {
    case.origin.study.as_ref()?.block.as_ref()
}

impl HostSettings {
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            present: BTreeMap::new(),
            is_begun: false,
            refused: BTreeMap::new(),
            stuck: BTreeMap::new(),
            news: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// Takes back what an earlier part of the run left, if one of its records is of a study of settings: it may have
    /// been killed after the last case and before the settings were taken back.
    pub fn go_on(&mut self, earlier: &[CaseRecord], fleet: &mut dyn Fleet) -> SettingsNews {
        let is_of_block =
            |record: &CaseRecord| record.origin.study.as_ref().is_some_and(|study| study.block.is_some());
        if earlier.iter().any(is_of_block) {
            self.begin(fleet);
        }
        self.news()
    }

    fn begin(&mut self, fleet: &mut dyn Fleet) {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.present.extend((0..fleet.agents().len()).map(|node| (NodeIndex(node), Vec::new())));
            self.restore(fleet);
        }
    }

    /// Gives the nodes of `cases` the settings that these need, and all others their own.
    pub fn prepare(&mut self, cases: &[Case], fleet: &mut dyn Fleet) -> SettingsNews {
        if cases.iter().any(|case| block(case).is_some()) {
            let agents = fleet.agents().iter().enumerate();
            let nodes: HashMap<String, NodeIndex> =
                agents.map(|(at, hello)| (hello.node.clone(), NodeIndex(at))).collect();
            self.begin(fleet);
            let wanted = self.wanted(cases, &nodes);
            if wanted != self.present {
                self.restore(fleet);
                self.apply(wanted, cases.first().and_then(label).unwrap_or_default(), fleet);
            }
        }
        self.news()
    }

    /// Takes back everything that is set.
    pub fn take_back(&mut self, fleet: &mut dyn Fleet) -> SettingsNews {
        self.restore(fleet);
        self.news()
    }

    /// Why a case of a study of settings would not measure what it is for, if so.
    pub fn refusal(&self, case: &Case) -> Option<Reason> {
        let setting = &block(case)?.setting;
        let of_node = |node: &String| {
            self.stuck.get(node).or_else(|| self.refused.get(&(setting.clone(), node.clone())))
        };
        case.nodes.iter().find_map(of_node).cloned()
    }

    fn wanted(
        &self,
        cases: &[Case],
        nodes: &HashMap<String, NodeIndex>,
    ) -> BTreeMap<NodeIndex, Vec<SettingChange>> {
        let mut wanted: BTreeMap<NodeIndex, Vec<SettingChange>> = BTreeMap::new();
        let open = cases.iter().filter(|case| self.refusal(case).is_none());
        for NodeChange { node, change, .. } in open.filter_map(set_for).flat_map(|block| &block.changes) {
            let Some(node) = nodes.get(node) else { continue };
            let changes = wanted.entry(*node).or_default();
            if !changes.contains(change) {
                changes.push(change.clone());
            }
        }
        wanted
    }

    fn apply(&mut self, wanted: BTreeMap<NodeIndex, Vec<SettingChange>>, label: &str, fleet: &mut dyn Fleet) {
        let order = |(node, changes): (&NodeIndex, &Vec<SettingChange>)| {
            let (id, changes) = (self.id.clone(), changes.clone());
            (*node, SettingsOrder::Apply { id, changes, restore_after: None, persist: false })
        };
        let orders = wanted.iter().map(order).collect();
        self.present = wanted;
        for (node, answered) in order_settings(fleet, orders, &mut |event| self.lost.push(event)) {
            if let Some(why) = failure(&answered) {
                let name = fleet.agents()[node.0].node.clone();
                let text = format!("{label} could not be set on {name}: {why}");
                self.refused.insert((label.to_owned(), name), Reason::new(Cause::Denied, text));
            }
        }
    }

    fn restore(&mut self, fleet: &mut dyn Fleet) {
        let order =
            |node: NodeIndex| (node, SettingsOrder::Restore { ids: vec![self.id.clone()], force: false });
        let orders = std::mem::take(&mut self.present).into_keys().map(order).collect();
        for (node, answered) in order_settings(fleet, orders, &mut |event| self.lost.push(event)) {
            if let Some(why) = failure(&answered) {
                let (name, id) = (fleet.agents()[node.0].node.clone(), &self.id);
                let text = format!(
                    "settings of {name} may not be as before: {why}; type `seatrial settings restore {id}` for it"
                );
                self.stuck.insert(name, Reason::new(Cause::Denied, text.clone()));
                self.news.push(text);
            }
        }
    }

    fn news(&mut self) -> SettingsNews {
        SettingsNews { lost: std::mem::take(&mut self.lost), not_restored: std::mem::take(&mut self.news) }
    }
}

/// Why an order was not carried out in full.
fn failure(answered: &Answered) -> Option<String> {
    let answer = match answered {
        Ok(answer) => answer,
        Err(why) => return Some(why.clone()),
    };
    let bad = answer.outcomes.iter().filter(|outcome| !outcome.state.is_good());
    let whys: BTreeSet<String> = bad.map(|outcome| format!("{}: {}", outcome.setting, outcome.why)).collect();
    let why = whys.into_iter().collect::<Vec<_>>().join("; ");
    answer.refused.clone().or_else(|| (!why.is_empty()).then_some(why))
}

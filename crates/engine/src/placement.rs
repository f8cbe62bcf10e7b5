//! Placements: the nodes that a plan is made for, and what cases that run at the same time have in common.

use std::collections::{BTreeSet, HashMap};

use seatrial_model::name::nearest;
use seatrial_model::profile::Test;
use seatrial_model::{About, Case, CaseId, Cause, Origin, Reason, Site, SiteNode, Value};

use crate::inputs::{PlanError, PlanInputs};
use crate::pattern::{ALONE, BISECT, Ends, PATTERNS, Partners, Pattern, Step};

/// Set where cases that run at the same time are pinned to the same cores of a node, because it has too few.
const SHARES_CORES: &str = "shares_cores";

#[derive(Debug)]
pub struct Placement {
    /// The nodes, in the order of the parts.
    pub site: Site,
    /// The pattern and the step for the record, if any.
    pub tag: Option<Tag>,
    /// Why a two-node benchmark does not run here unless its case uses two cards of the node: traffic over the
    /// loopback says nothing about a network.
    pub too_few: Option<Reason>,
}

/// Nodes of a case that cannot be planned, since some could not be reached.
#[derive(Debug)]
pub struct Unreached {
    pub nodes: Vec<String>,
    pub why: String,
    /// The pattern and the step for the record, if any.
    pub tag: Option<Tag>,
}

/// How the nodes of a case were chosen.
#[derive(Clone, Debug)]
pub struct Tag {
    pattern: &'static Pattern,
    step: u64,
    links: Option<u32>,
    isolates_by: Option<&'static str>,
}

/// The common key of cases that are measured at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CoRunKey {
    group: String,
    bench: String,
    pattern: String,
    pub step: u64,
    params: String,
}

/// Placements, players without a partner, and cases of nodes that could not be reached.
#[derive(Debug, Default)]
pub struct Placements {
    pub sites: Vec<Placement>,
    pub alone: Vec<(String, Reason)>,
    pub unreached: Vec<Unreached>,
}

/// The nodes of one plan each. A one-part benchmark is planned node by node, so that a node it cannot run on is
/// reported by itself; a two-part benchmark pair by pair; one with more parts on all nodes together. Unreachable
/// nodes are paired as if they were there, so that the number of cases does not depend on which node was lost.
pub fn placements(about: &About, test: &Test, inputs: &PlanInputs<'_>) -> Result<Placements, PlanError> {
    let here = &inputs.site.nodes;
    let names: Vec<&str> = here.iter().map(|node| node.name.as_str()).collect();
    let names = [names, inputs.absent.iter().map(|(name, _)| name.as_str()).collect()].concat();
    let why_not = |at: usize| at.checked_sub(here.len()).map(|at| inputs.absent[at].1.as_str());
    let players: Vec<usize> = (0..names.len()).filter(|at| (inputs.plays)(names[*at], &test.roles)).collect();
    let present = || players.iter().copied().filter(|at| why_not(*at).is_none());
    let site = |nodes: &[usize]| Site { nodes: nodes.iter().map(|at| here[*at].clone()).collect() };
    let plain = |nodes: &[usize]| Placement { site: site(nodes), tag: None, too_few: None };
    let unreached = |nodes: &[usize], tag| {
        let why: Vec<&str> = nodes.iter().filter_map(|at| why_not(*at)).collect();
        let nodes = nodes.iter().map(|at| names[*at].to_owned()).collect();
        Unreached { nodes, why: why.join("; "), tag }
    };
    let mut found = Placements::default();
    if test.pattern.as_deref() == Some(BISECT) {
        let nodes: Vec<usize> = present().collect();
        if test.partner.is_some() {
            return Err(PlanError::Contradiction(format!("pattern {BISECT} has no partners")));
        }
        let tag = Some(Tag::bisect(about, pattern_of(test)?)?);
        found.sites.push(Placement { tag, ..plain(&nodes) });
        let missing = players.iter().filter(|at| why_not(**at).is_some());
        found.unreached.extend(missing.map(|at| unreached(&[*at], None)));
        return Ok(found);
    }
    if about.parts.len() != 2 {
        match about.parts.len() {
            1 => found.sites.extend(present().map(|at| plain(&[at]))),
            _ => found.sites.push(plain(&present().collect::<Vec<_>>())),
        }
        let missing = players.iter().filter(|at| why_not(**at).is_some());
        found.unreached.extend(missing.map(|at| unreached(&[*at], None)));
        return Ok(found);
    }
    let pattern = pattern_of(test)?;
    let everybody: Vec<usize> = (0..names.len()).collect();
    let of_role: Vec<usize> = match test.partner.as_deref() {
        None | Some(ANY) => Vec::new(),
        Some(role) => {
            let role = [role.to_owned()];
            everybody.iter().copied().filter(|at| (inputs.plays)(names[*at], &role)).collect()
        }
    };
    let partners = test.partner.as_deref().map(|partner| match partner {
        ANY => Partners::Any(&everybody),
        _ => Partners::Role(&of_role),
    });
    let steps = pattern.steps(&Ends { players: &players, partners, rounds: test.rounds });
    let mut paired = BTreeSet::new();
    for Step { number, pairs } in &steps {
        for (one, other) in pairs {
            paired.extend([*one, *other].into_iter().filter(|at| test.partner.is_none() || at == one));
            let nodes = if one == other { vec![*one] } else { vec![*one, *other] };
            let tag = (pattern.at_once || pattern.has_rounds).then_some(Tag {
                pattern,
                step: *number,
                links: test.links,
                isolates_by: None,
            });
            match nodes.iter().all(|at| why_not(*at).is_none()) {
                true => found.sites.push(Placement { site: site(&nodes), tag, too_few: None }),
                false => found.unreached.push(unreached(&nodes, tag)),
            }
        }
    }
    for player in players.iter().filter(|player| !paired.contains(player)) {
        if why_not(*player).is_some() {
            found.unreached.push(unreached(&[*player], None));
        } else if players.len() == 1 && (test.partner.is_none() || names.len() == 1) {
            found.sites.push(Placement { too_few: Some(too_few(test)), ..plain(&[*player]) });
        } else if let Some(partner) = test.partner.as_ref().filter(|_| !pattern.at_once) {
            let whose = if partner == ANY { String::new() } else { format!(" that plays {partner}") };
            let text = format!("no other node{whose} is here to be its partner; add one with -w");
            found.alone.push((names[*player].to_owned(), Reason::new(Cause::Missing, text)));
        }
    }
    Ok(found)
}

fn too_few(test: &Test) -> Reason {
    let whose = match test.roles.as_slice() {
        [] => String::new(),
        roles => format!(" that play {}", roles.join(" or ")),
    };
    let text = format!(
        "{} needs 2 nodes{whose}, 1 was given; add nodes with -w or -N, or measure the loopback with --pattern {ALONE} \
         (profile: pattern = \"{ALONE}\")",
        test.id
    );
    Reason::new(Cause::Missing, text)
}

/// Any node may be the partner.
const ANY: &str = "any";

fn pattern_of(test: &Test) -> Result<&'static Pattern, PlanError> {
    let id = test.pattern.as_deref().unwrap_or(PATTERNS[0].id);
    let pattern = Pattern::find(id).ok_or_else(|| PlanError::UnknownPattern {
        id: id.to_owned(),
        nearest: match id {
            "loopback" | "local" | "self" => Some(ALONE),
            typed => nearest(typed, PATTERNS.iter().map(|pattern| pattern.id)),
        }
        .map(str::to_owned),
        known: PATTERNS.iter().map(|pattern| pattern.id).collect::<Vec<_>>().join(", "),
    })?;
    if test.rounds.is_some() && !pattern.has_rounds {
        let with = PATTERNS.iter().filter(|pattern| pattern.has_rounds).map(|pattern| pattern.id);
        let text =
            format!("pattern {id} has no rounds to be counted; {} has", with.collect::<Vec<_>>().join(", "));
        return Err(PlanError::Contradiction(text));
    }
    Ok(pattern)
}

impl Tag {
    fn bisect(about: &About, pattern: &'static Pattern) -> Result<Self, PlanError> {
        let Some(metric) = about.isolating() else {
            let text = format!(
                "pattern {BISECT} compares groups of nodes by a metric that their slowest node decides; {} has none",
                about.id
            );
            return Err(PlanError::Contradiction(text));
        };
        Ok(Self { pattern, step: 0, links: None, isolates_by: Some(metric.name) })
    }

    /// Writes the tag into `case`. Where the pairs of a step run at the same time, the id names the step: the same
    /// two nodes are measured in several steps.
    pub fn mark(&self, case: &mut Case) {
        case.origin.pattern = Some(self.pattern.id.to_owned());
        case.origin.links = self.links;
        case.origin.isolates_by = self.isolates_by.map(str::to_owned);
        if self.pattern.at_once {
            case.origin.step = Some(self.step);
            case.id = with_step(case.id.clone(), &case.origin);
        }
    }

    pub fn is_at_once(&self) -> bool {
        self.pattern.at_once
    }

    pub fn step(&self) -> u64 {
        self.step
    }
}

pub fn co_run_key(case: &Case) -> Option<CoRunKey> {
    let step = case.origin.step?;
    let pattern = case.origin.pattern.clone()?;
    let (group, bench, params) = (case.group.clone(), case.bench.clone(), case.params.to_string());
    Some(CoRunKey { group, bench, pattern, step, params })
}

/// `id` with the step and the repeat of `origin`, if any.
pub fn with_step(id: CaseId, origin: &Origin) -> CaseId {
    let id = match (origin.step, &origin.pattern) {
        (Some(step), Some(pattern)) => marked(&id, &format!("{pattern}.{step}")),
        _ => id,
    };
    origin.study.as_ref().map_or_else(|| id.clone(), |study| with_repeat(&id, study.repeat))
}

pub fn with_repeat(id: &CaseId, repeat: u32) -> CaseId {
    marked(id, &format!("repeat.{repeat}"))
}

/// `id` with `#mark` before the parameters, which are in brackets at the end.
fn marked(id: &CaseId, mark: &str) -> CaseId {
    let id = id.as_str();
    let end = if id.ends_with(']') { id.rfind('[').unwrap_or(id.len()) } else { id.len() };
    let Ok(id) = format!("{}#{mark}{}", &id[..end], &id[end..]).parse();
    id
}

/// Cores that cases of one step use already. A node in several cases gives each its own core while there are enough:
/// with all receivers of an incast on one core, that core would be measured.
#[derive(Debug, Default)]
pub struct Cores {
    /// Since the last time that all cores of a node were taken.
    taken: HashMap<String, BTreeSet<u32>>,
    ever: HashMap<String, BTreeSet<u32>>,
}

impl Cores {
    /// `site` without the taken cores, where some are taken and others are left.
    pub fn left_of(&self, site: &Site) -> Option<Site> {
        let is_taken = |node: &SiteNode| self.taken.get(&node.name).is_some_and(|taken| !taken.is_empty());
        if !site.nodes.iter().any(is_taken) {
            return None;
        }
        let mut left = site.clone();
        for node in &mut left.nodes {
            let taken = self.taken.get(&node.name);
            for thread in &mut node.machine.cpu.threads {
                thread.allowed &= taken.is_none_or(|taken| !taken.contains(&core_of(thread.core, thread.id)));
            }
        }
        Some(left)
    }

    /// Takes the cores of `case`; marks the case when another one has them already.
    pub fn take(&mut self, case: &mut Case, site: &Site) {
        let mut own: HashMap<&str, BTreeSet<u32>> = HashMap::new();
        for place in &case.places {
            let machine = site.machine(&place.node);
            let core = |cpu: u32| {
                core_of(machine.and_then(|machine| machine.cpu.thread(cpu)).and_then(|it| it.core), cpu)
            };
            own.entry(&place.node).or_default().extend(place.bindings.iter().map(|seat| core(seat.cpu)));
        }
        let mut is_shared = false;
        for (node, cores) in own {
            let ever = self.ever.entry(node.to_owned()).or_default();
            is_shared |= !ever.is_disjoint(&cores);
            ever.extend(&cores);
            let taken = self.taken.entry(node.to_owned()).or_default();
            taken.extend(cores);
            let mut usable = site.machine(node).into_iter().flat_map(|machine| machine.cpu.usable());
            if usable.all(|thread| taken.contains(&core_of(thread.core, thread.id))) {
                // The next case begins again with the first core.
                taken.clear();
            }
        }
        if is_shared {
            case.planned.set(SHARES_CORES, Value::Flag(true));
        }
    }
}

/// The core of a thread; a thread of unknown core counts as its own core, beyond all core numbers.
fn core_of(core: Option<u32>, thread: u32) -> u32 {
    core.unwrap_or(u32::MAX - thread)
}

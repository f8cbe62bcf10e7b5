//! Placements: the nodes that a plan is made for, and what cases that run at the same time have in common.

use std::collections::{BTreeSet, HashMap};

use seatrial_model::machine::{Known, Machine};
use seatrial_model::name::nearest;
use seatrial_model::profile::{Groups, RACK, Test, rack};
use seatrial_model::{About, Case, CaseId, Cause, Origin, Parts, Reason, Site, SiteNode, Value};

use crate::inputs::{PlanError, PlanInputs};
use crate::pattern::{ALL, ALONE, BISECT, Division, Ends, GROUPS, PATTERNS, Partners, Pattern, Step};

/// Set where cases that run at the same time are pinned to the same cores of a node, because it has too few.
const SHARES_CORES: &str = "shares_cores";

#[derive(Debug)]
pub struct Placement {
    /// The nodes, in the order of the parts.
    pub site: Site,
    /// The pattern and the step for the record, if any.
    pub tag: Option<Tag>,
    /// Why a two-node benchmark does not run here unless its case uses two cards of the node, or measures the node itself:
    /// traffic over the loopback says nothing about a network.
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
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    pattern: &'static Pattern,
    step: u64,
    links: Option<u32>,
    isolates_by: Option<&'static str>,
}

/// The common key of cases that are measured at the same time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
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
/// reported by itself; others by their pattern. Unreachable nodes are paired as if they were there, so that the number
/// of cases does not depend on which node was lost; a group does without them.
pub fn placements(about: &About, test: &Test, inputs: &PlanInputs<'_>) -> Result<Placements, PlanError> {
    let nodes = Nodes::of(test, inputs);
    let mut found = Placements::default();
    let is_one = nodes.players.len() <= 1 && matches!(about.parts, Parts::AllNodes(_));
    if (about.parts.is_alone() || is_one) && test.pattern.is_none() && test.groups.is_none() {
        for player in &nodes.players {
            match nodes.why_not(*player) {
                None => found.sites.push(nodes.placement(&[*player], None)),
                Some(_) => found.unreached.push(nodes.unreached(&[*player], None)),
            }
        }
        return Ok(found);
    }
    let pattern = pattern_of(about, test)?;
    let isolates_by = if pattern.id == BISECT { Some(isolating(about)?) } else { None };
    let classes = test.groups.as_ref().map(|groups| classes(groups, &nodes));
    let division = match (&test.groups, &classes) {
        (Some(Groups::Count(count)), _) => Division::Count(*count as usize),
        (_, classes) => Division::Classes(classes.as_deref().unwrap_or_default()),
    };
    let everybody: Vec<usize> = (0..nodes.names.len()).collect();
    let of_role: Vec<usize> = match test.partner.as_deref() {
        None | Some(ANY) => Vec::new(),
        Some(role) => {
            let role = [role.to_owned()];
            everybody.iter().copied().filter(|at| (inputs.plays)(nodes.names[*at], &role)).collect()
        }
    };
    let partners = test.partner.as_deref().map(|partner| match partner {
        ANY => Partners::Any(&everybody),
        _ => Partners::Role(&of_role),
    });
    let mut steps = pattern.steps(&Ends { players: &nodes.players, partners, rounds: test.rounds, division });
    if pattern.tells_nodes && is_one_way(about, test) {
        steps.iter_mut().for_each(Step::both_ways);
    }
    let mut placed: BTreeSet<usize> = BTreeSet::new();
    for Step { number, groups } in &steps {
        let tag = (pattern.at_once || pattern.has_rounds || pattern.has_groups).then_some(Tag {
            pattern,
            step: *number,
            links: test.links,
            isolates_by,
        });
        for group in groups {
            if pattern.has_groups {
                let (here, absent): (Vec<usize>, Vec<usize>) =
                    group.iter().partition(|at| nodes.why_not(**at).is_none());
                placed.extend(group);
                found.unreached.extend(absent.iter().map(|at| nodes.unreached(&[*at], None)));
                if !here.is_empty() {
                    found.sites.push(nodes.placement(&here, tag));
                }
                continue;
            }
            placed.extend(group.iter().filter(|at| test.partner.is_none() || **at == group[0]));
            match group.iter().all(|at| nodes.why_not(*at).is_none()) {
                true => found.sites.push(nodes.placement(group, tag)),
                false => found.unreached.push(nodes.unreached(group, tag)),
            }
        }
    }
    for player in nodes.players.iter().filter(|player| !placed.contains(player)) {
        if nodes.why_not(*player).is_some() {
            found.unreached.push(nodes.unreached(&[*player], None));
        } else if pattern.has_groups {
            found.alone.push((nodes.names[*player].to_owned(), no_group(test.groups.as_ref())));
        } else if nodes.players.len() == 1 && (test.partner.is_none() || nodes.names.len() == 1) {
            let alone = nodes.placement(&[*player], None);
            found.sites.push(Placement { too_few: Some(too_few(test)), ..alone });
        } else if let Some(partner) = test.partner.as_ref().filter(|_| !pattern.at_once) {
            let whose = if partner == ANY { String::new() } else { format!(" that plays {partner}") };
            let text = format!("no other node{whose} is here to be its partner; add one with -w");
            found.alone.push((nodes.names[*player].to_owned(), Reason::new(Cause::Missing, text)));
        }
    }
    Ok(found)
}

/// The nodes of a run: first those with an agent, then those that could not be reached.
struct Nodes<'a> {
    here: &'a [SiteNode],
    absent: &'a [(String, String)],
    names: Vec<&'a str>,
    /// The nodes that play a role of the test.
    players: Vec<usize>,
}

impl<'a> Nodes<'a> {
    fn of(test: &Test, inputs: &PlanInputs<'a>) -> Self {
        let (here, absent) = (inputs.site.nodes.as_slice(), inputs.absent);
        let names = here.iter().map(|node| node.name.as_str());
        let names: Vec<&str> = names.chain(absent.iter().map(|(name, _)| name.as_str())).collect();
        let players = (0..names.len()).filter(|at| (inputs.plays)(names[*at], &test.roles)).collect();
        Self { here, absent, names, players }
    }

    /// Why a node could not be reached.
    fn why_not(&self, at: usize) -> Option<&'a str> {
        at.checked_sub(self.here.len()).map(|at| self.absent[at].1.as_str())
    }

    fn placement(&self, nodes: &[usize], tag: Option<Tag>) -> Placement {
        let site = Site { nodes: nodes.iter().map(|at| self.here[*at].clone()).collect() };
        Placement { site, tag, too_few: None }
    }

    fn unreached(&self, nodes: &[usize], tag: Option<Tag>) -> Unreached {
        let why: Vec<&str> = nodes.iter().filter_map(|at| self.why_not(*at)).collect();
        let nodes = nodes.iter().map(|at| self.names[*at].to_owned()).collect();
        Unreached { nodes, why: why.join("; "), tag }
    }
}

/// The group of each node; none for a node that is in no set or whose fact is not known.
fn classes(groups: &Groups, nodes: &Nodes<'_>) -> Vec<Option<String>> {
    let class = |(at, name): (usize, &&str)| match groups {
        Groups::Count(_) => None,
        Groups::Fact(fact) if fact == RACK => rack(name).map(str::to_owned),
        Groups::Fact(fact) => {
            let machine = &nodes.here.get(at)?.machine;
            known(machine, fact).known().cloned()
        }
        Groups::Sets(sets) => sets.iter().position(|set| set.contains(name)).map(|set| set.to_string()),
    };
    nodes.names.iter().enumerate().map(class).collect()
}

/// A fact that groups can be made by.
fn known<'a>(machine: &'a Machine, fact: &str) -> &'a Known<String> {
    match fact {
        "cpu" => &machine.cpu.model,
        "switch" => &machine.leaf_switch,
        _ => &machine.product.name,
    }
}

fn no_group(groups: Option<&Groups>) -> Reason {
    let text = match groups {
        Some(Groups::Fact(fact)) if fact == "switch" => {
            "the leaf switch of the node is not known: Slurm tells it to what it starts, where slurm.conf has \
             TopologyPlugin=topology/tree; or name the nodes of each switch, joined by +"
                .to_owned()
        }
        Some(Groups::Fact(fact)) if fact == RACK => {
            "the name of the node has no rack in it, as r12n03 has r12: name the nodes of each rack, joined by +".to_owned()
        }
        Some(Groups::Fact(fact)) => format!("the inventory of the node does not know its {fact}"),
        _ => "the node is in none of the groups".to_owned(),
    };
    Reason::new(Cause::Missing, text)
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

/// Whether a pair of nodes says something about one direction only, and both nodes are measured.
fn is_one_way(about: &About, test: &Test) -> bool {
    let direction = test.params.get("direction").map_or(&[][..], Vec::as_slice);
    matches!(about.parts, Parts::OneWay(_))
        && test.partner.is_none()
        && !direction.iter().any(|way| way == "reverse" || way == "both")
}

/// Any node may be the partner.
const ANY: &str = "any";

fn pattern_of(about: &About, test: &Test) -> Result<&'static Pattern, PlanError> {
    let contradiction = |text: String| Err(PlanError::Contradiction(text));
    let takes_groups = about.parts.takes_groups();
    let default = match (takes_groups, &test.groups) {
        (_, Some(_)) => GROUPS,
        (true, None) => ALL,
        (false, None) => PATTERNS[0].id,
    };
    let id = test.pattern.as_deref().unwrap_or(default);
    let pattern = Pattern::find(id).ok_or_else(|| PlanError::UnknownPattern {
        id: id.to_owned(),
        nearest: match id {
            "loopback" | "local" | "self" => Some(ALONE),
            typed => nearest(typed, PATTERNS.iter().map(|pattern| pattern.id)),
        }
        .map(str::to_owned),
        known: PATTERNS.iter().map(|pattern| pattern.id).collect::<Vec<_>>().join(", "),
    })?;
    if pattern.has_groups && !takes_groups {
        return contradiction(format!(
            "pattern {id} makes cases of many nodes, and a case of {} has two parts; leave it out, or use another pattern",
            about.id
        ));
    }
    if about.parts.is_alone() && !pattern.has_groups {
        return contradiction(format!(
            "pattern {id} pairs nodes, and {} measures each node by itself, or all of a group at once: leave it out, or use {ALL}",
            about.id
        ));
    }
    if pattern.has_groups && test.partner.is_some() {
        return contradiction(format!("pattern {id} has no partners: leave `partner` out"));
    }
    match (id == GROUPS, &test.groups) {
        (true, None) => {
            return contradiction(format!("pattern {id} needs the groups: --groups (profile: groups)"));
        }
        (false, Some(groups)) => {
            return contradiction(format!("groups {groups} are for the pattern {GROUPS}, not for {id}"));
        }
        _ => {}
    }
    if test.rounds.is_some() && !pattern.has_rounds {
        let with = PATTERNS.iter().filter(|pattern| pattern.has_rounds).map(|pattern| pattern.id);
        let text =
            format!("pattern {id} has no rounds to be counted; {} has", with.collect::<Vec<_>>().join(", "));
        return contradiction(text);
    }
    Ok(pattern)
}

/// The metric by which groups of nodes are compared.
fn isolating(about: &About) -> Result<&'static str, PlanError> {
    about.isolating().map(|metric| metric.name).ok_or_else(|| {
        PlanError::Contradiction(format!(
            "pattern {BISECT} compares groups of nodes by a metric that their slowest node decides; {} has none",
            about.id
        ))
    })
}

impl Tag {
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
    if let Some(beside) = &case.origin.beside {
        let step = u64::from(beside.number);
        return Some(CoRunKey { group: beside.test.clone(), step, ..CoRunKey::default() });
    }
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
pub fn marked(id: &CaseId, mark: &str) -> CaseId {
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

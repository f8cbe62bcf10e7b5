//! Which CPUs the threads of both ends are pinned to: near the card, away from it, on its interrupts' cores, or listed.

use std::collections::BTreeMap;

use seatrial_model::machine::{Cpu, CpuThread, Machine, Nic};
use seatrial_model::{Binding, Case, Cause, Factor, Kind, ParamSpec, Params, Reason, Site, Value};
use seatrial_sys::cpuset::CpuSet;

use super::Ends;
use super::bindings::{binding, core_bindings, domain};

/// The CPUs of the threads.
pub const AFFINITY: ParamSpec = ParamSpec::new("affinity", Kind::Text, "auto").word("auto").doc(
    "CPUs of the threads. auto: one core per thread, on the card's NUMA node, not serving its interrupts; none: not \
     pinned; far: another NUMA node; irq: the interrupt cores; or a list such as 0+2-3.",
);

/// What `--factors affinity` takes away.
pub const UNPINNED: Factor = Factor {
    name: AFFINITY.name,
    doc: "Pinning of the threads; without it the scheduler places them.",
    off: &[(AFFINITY.name, "none")],
};

/// Whether no thread of either end is on a core that serves an interrupt of its card.
pub const OFF_IRQ_CORES: &str = "off_irq_cores";

/// Whether every thread shares the last-level cache with a core that does.
pub const SAME_LLC: &str = "same_llc";

/// How far bonds and VLANs are followed down to the cards that carry them.
const DEEPEST: u32 = 4;

/// Bindings of the threads of both ends, and how they lie to the cards' interrupts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadPlacement {
    /// By end; empty where nobody is pinned.
    pub bindings: [Vec<Binding>; 2],
    /// None where nobody is pinned, or it is not known of both ends which CPUs serve the interrupts.
    off_irq_cores: Option<bool>,
    same_llc: Option<bool>,
}

impl ThreadPlacement {
    /// Places the parts, and notes in the case how its threads lie to the cards' interrupts, as far as that is known.
    pub fn apply(self, ends: &Ends<'_>, parts: &[&str], case: &mut Case) {
        self.note(&mut case.planned);
        case.places = ends.places(parts, self.bindings);
    }

    /// Notes in `planned` how the threads lie to the cards' interrupts, as far as that is known.
    pub fn note(&self, planned: &mut Params) {
        for (name, told) in [(OFF_IRQ_CORES, self.off_irq_cores), (SAME_LLC, self.same_llc)] {
            if let Some(told) = told {
                planned.set(name, Value::Flag(told));
            }
        }
    }
}

/// Bindings for `count` threads at each end, as the parameter [`AFFINITY`] wants them; none leaves them to the
/// scheduler.
pub fn place_threads(
    ends: &Ends<'_>,
    site: &Site,
    params: &Params,
    count: usize,
) -> Result<ThreadPlacement, Reason> {
    let nics = ends.interfaces().map_or([None, None], |both| [Some(both.first), Some(both.second)]);
    place_threads_over(ends, site, params, &[nics], &vec![0; count])
}

/// The same where each thread works for one of several paths, which begin and end at these interfaces: `way_of` has the
/// number of the path for each thread.
pub fn place_threads_over(
    ends: &Ends<'_>,
    site: &Site,
    params: &Params,
    nics: &[[Option<&Nic>; 2]],
    path_of: &[usize],
) -> Result<ThreadPlacement, Reason> {
    let affinity = params.text(AFFINITY.name).unwrap_or("auto");
    let machines: Vec<&Machine> = site.nodes.iter().take(2).map(|node| &node.machine).collect();
    let (Some(first), Some(second)) = (machines.first(), machines.last()) else {
        return Err(Reason::new(Cause::Inapplicable, "there is no node to measure on"));
    };
    let of = |machine, end: usize| {
        nics.iter().map(|path| Side::of(machine, path[end])).collect::<Result<Vec<_>, _>>()
    };
    let mut sides = [of(first, 0)?, of(second, 1)?];
    if affinity != "irq" {
        sides = sides.map(off_each_other);
    }
    // Where nobody is pinned CPUs must be known all the same: an empty machine has no plan.
    if affinity == "none" {
        return Ok(ThreadPlacement::default());
    }
    let mut bindings: [Vec<Binding>; 2] = [Vec::new(), Vec::new()];
    for end in 0..2 {
        let candidates =
            sides[end].iter().map(|side| side.candidates(affinity)).collect::<Result<Vec<_>, _>>()?;
        // Ends that have the same cores are kept apart as far as there are enough.
        let others: Vec<u32> = match ends.on_one_kernel() {
            true => bindings[..end].iter().flatten().map(|binding| binding.cpu).collect(),
            false => Vec::new(),
        };
        bindings[end] = assigned(&candidates, path_of, &others);
    }
    let both = |of: &dyn Fn(&Side<'_>, &Binding) -> Option<bool>| {
        let told = sides.iter().zip(&bindings).flat_map(|(sides, bindings)| {
            bindings.iter().zip(path_of).map(|(binding, path)| of(&sides[*path], binding))
        });
        told.collect::<Option<Vec<bool>>>().map(|told| told.into_iter().all(|yes| yes))
    };
    let off_irq_cores = both(&|side, binding| side.irqs.is_ok().then(|| !side.serves(binding)));
    let same_llc = both(&|side, binding| side.irqs.is_ok().then(|| side.is_beside(binding)));
    Ok(ThreadPlacement { bindings, off_irq_cores, same_llc })
}

/// A binding for each thread, from the list of the path that it works for, the best first. A CPU goes to one thread
/// until all of the list are taken; then they go round again. Those that the other end has come last.
fn assigned(candidates: &[Vec<Binding>], path_of: &[usize], others: &[u32]) -> Vec<Binding> {
    let mut times: BTreeMap<u32, usize> = others.iter().map(|cpu| (*cpu, 1)).collect();
    let mut take = |path: &usize| {
        let taken = |binding: &&Binding| times.get(&binding.cpu).copied().unwrap_or(0);
        let binding = *candidates.get(*path)?.iter().min_by_key(taken)?;
        *times.entry(binding.cpu).or_default() += 1;
        Some(binding)
    };
    path_of.iter().filter_map(&mut take).collect()
}

/// Where all paths are known to have interrupts, each keeps off those of the others too.
fn off_each_other(mut sides: Vec<Side<'_>>) -> Vec<Side<'_>> {
    let all: Option<Vec<Vec<u32>>> = sides.iter().map(|side| side.irqs.clone().ok()).collect();
    if let Some(all) = all.map(|all| all.concat()) {
        sides.iter_mut().for_each(|side| side.irqs = Ok(all.clone()));
    }
    sides
}

/// What an end has to choose from.
struct Side<'a> {
    machine: &'a Machine,
    bindings: Vec<Binding>,
    /// The NUMA node of the card.
    node: Option<u32>,
    /// CPUs that serve its interrupts, or why that is not known.
    irqs: Result<Vec<u32>, String>,
}

impl<'a> Side<'a> {
    fn of(machine: &'a Machine, nic: Option<&Nic>) -> Result<Self, Reason> {
        let cards = nic.map_or(Vec::new(), |nic| cards(machine, nic, DEEPEST));
        let irqs = match (nic, cards.is_empty()) {
            (None, _) => Err("no interface is known that the data takes".to_owned()),
            (Some(nic), true) => Err(told(nic.irq_cpus.why(), &nic.name)),
            (Some(_), false) => Ok(cards.iter().flat_map(|card| card.irq_cpus.listed()).copied().collect()),
        };
        let nodes = cards.iter().copied().chain(nic);
        let node = nodes.filter_map(|nic| nic.numa_node().known().copied()).next();
        Ok(Self { machine, bindings: core_bindings(machine)?, node, irqs })
    }

    /// Threads of the cores that serve interrupts; none when it is not known which these are.
    fn irq_threads(&self) -> impl Iterator<Item = &CpuThread> {
        let served = self.irqs.as_deref().unwrap_or_default();
        served.iter().filter_map(|id| self.machine.cpu.thread(*id))
    }

    /// Whether a thread of the binding's core serves an interrupt.
    fn serves(&self, binding: &Binding) -> bool {
        let core = core(&self.machine.cpu, binding.cpu);
        self.irq_threads().any(|thread| thread.id == binding.cpu || core.is_some() && thread.core == core)
    }

    /// Whether the binding shares the last-level cache with a core that serves interrupts.
    fn is_beside(&self, binding: &Binding) -> bool {
        self.irq_threads().any(|thread| domain(thread) == binding.domain)
    }

    /// One binding per core: those on the card's NUMA node first; of these, those that serve no interrupt, since a core
    /// that does has less time for us; of these, those that find in their cache what an interrupt's core has put there.
    fn near(&self) -> Vec<Binding> {
        let mut all = self.bindings.clone();
        all.sort_by_key(|binding| {
            let is_elsewhere = self.node.is_some_and(|node| binding.node != node);
            (is_elsewhere, self.serves(binding), !self.is_beside(binding))
        });
        all
    }

    /// One binding per core on other NUMA nodes than the card's.
    fn far(&self) -> Result<Vec<Binding>, Reason> {
        let refuse = |text: &str| Reason::new(Cause::Inapplicable, format!("affinity=far: {text}"));
        let node = self.node.ok_or_else(|| refuse("no NUMA node is known that the interface is next to"))?;
        let all: Vec<Binding> =
            self.bindings.iter().filter(|binding| binding.node != node).copied().collect();
        if all.is_empty() {
            return Err(refuse(&format!(
                "no CPU is on another NUMA node than the interface, which is on {node}"
            )));
        }
        Ok(all)
    }

    /// The CPUs that serve the card's interrupts.
    fn on_irqs(&self) -> Result<Vec<Binding>, Reason> {
        let refuse = |text: &str| Reason::new(Cause::Inapplicable, format!("affinity=irq: {text}"));
        let served = self.irqs.as_ref().map_err(|why| refuse(why))?;
        let usable = |id: &u32| self.machine.cpu.thread(*id).filter(|thread| thread.usable());
        let all: Vec<Binding> =
            served.iter().filter_map(usable).map(|it| binding(self.machine, it)).collect();
        if all.is_empty() {
            let cpus: CpuSet = served.iter().copied().collect();
            return Err(refuse(&format!("the card's interrupts go to CPUs {cpus}, which we may not use")));
        }
        Ok(all)
    }

    /// The CPUs of a list, in the order of their numbers.
    fn listed(&self, list: &str) -> Result<Vec<Binding>, Reason> {
        let refuse = |text: String| Reason::new(Cause::Contradiction, format!("affinity={list}: {text}"));
        // A comma on the command line would be a sweep over several values.
        let cpus: CpuSet = list
            .replace('+', ",")
            .parse()
            .map_err(|error| refuse(format!("{error}; it is auto, none, far, irq, or CPUs such as 0+2-3")))?;
        let one = |id: u32| {
            let thread = self.machine.cpu.thread(id).filter(|thread| thread.usable());
            let thread = thread.ok_or_else(|| {
                refuse(format!("CPU {id} does not exist or is not allowed for this process"))
            })?;
            Ok(binding(self.machine, thread))
        };
        let bindings: Vec<Binding> = cpus.iter().map(one).collect::<Result<_, Reason>>()?;
        if bindings.is_empty() {
            return Err(refuse("it names no CPU".to_owned()));
        }
        Ok(bindings)
    }

    /// The bindings that the value of `affinity` allows, the best first; none of the lists is empty.
    fn candidates(&self, affinity: &str) -> Result<Vec<Binding>, Reason> {
        match affinity {
            "auto" => Ok(self.near()),
            "far" => self.far(),
            "irq" => self.on_irqs(),
            list => self.listed(list),
        }
    }
}

/// The interfaces below one whose interrupts are known: itself, or what a bond, bridge or VLAN stands on.
fn cards<'a>(machine: &'a Machine, nic: &'a Nic, depth: u32) -> Vec<&'a Nic> {
    if nic.irq_cpus.is_known() || depth == 0 {
        return if nic.irq_cpus.is_known() { vec![nic] } else { Vec::new() };
    }
    let all = machine.nics.listed().iter();
    let below = all.filter(|other| nic.lower.contains(&other.name));
    below.flat_map(|lower| cards(machine, lower, depth - 1)).collect()
}

fn told(why: Option<&str>, name: &str) -> String {
    format!("it is not known which CPUs serve the interrupts of {name}: {}", why.unwrap_or("it was not read"))
}

fn core(cpu: &Cpu, id: u32) -> Option<u32> {
    cpu.thread(id)?.core
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::SiteNode;
    use seatrial_model::machine::Known;
    use seatrial_testkit::{card, eight_cores};

    fn pair(nic: &Nic) -> Site {
        Site { nodes: vec![eight_cores("n1", vec![nic.clone()]), eight_cores("n2", vec![nic.clone()])] }
    }

    fn placed(site: &Site, affinity: &str, count: usize) -> Result<ThreadPlacement, Reason> {
        let asked = [("interface", "auto"), ("affinity", affinity)];
        let params: Params = asked.map(|(name, value)| (name.to_owned(), value.into())).into_iter().collect();
        place_threads(&Ends::of(site, &params)?, site, &params, count)
    }

    fn cpus(bindings: &[Binding]) -> Vec<u32> {
        bindings.iter().map(|binding| binding.cpu).collect()
    }

    #[test]
    fn threads_sit_next_to_the_card_off_its_interrupts_and_in_their_cache() {
        // Interrupts on the sibling of CPU 6: cores 4 to 7 are the card's node, and 6 and 7 share a cache.
        let site = pair(&card("eth0", 1, Some(&[14])));
        let one = placed(&site, "auto", 1).expect("bindings");
        assert_eq!(cpus(&one.bindings[0]), [7]);
        assert_eq!((one.off_irq_cores, one.same_llc), (Some(true), Some(true)));
        let three = placed(&site, "auto", 3).expect("bindings");
        assert_eq!(cpus(&three.bindings[1]), [7, 4, 5]);
        assert_eq!((three.off_irq_cores, three.same_llc), (Some(true), Some(false)));
        let five = placed(&site, "auto", 5).expect("bindings");
        assert_eq!(cpus(&five.bindings[0]), [7, 4, 5, 6, 0], "the card's node before the other one");
        assert_eq!(five.off_irq_cores, Some(false));
    }

    #[test]
    fn the_cost_of_interrupts_can_be_shown_on_their_own_cores() {
        let site = pair(&card("eth0", 0, Some(&[1, 9])));
        let placement = placed(&site, "irq", 2).expect("bindings");
        assert_eq!(cpus(&placement.bindings[0]), [1, 9]);
        assert_eq!((placement.off_irq_cores, placement.same_llc), (Some(false), Some(true)));
        let reason = placed(&pair(&card("eth0", 0, None)), "irq", 1).expect_err("not known");
        assert_eq!(reason.cause, Cause::Inapplicable);
        assert!(
            reason.text.contains("affinity=irq") && reason.text.contains("/x does not exist"),
            "{reason}"
        );
    }

    #[test]
    fn where_the_interrupts_are_not_known_nothing_is_said_of_them() {
        let placement = placed(&pair(&card("eth0", 1, None)), "auto", 2).expect("bindings");
        assert_eq!(cpus(&placement.bindings[0]), [4, 5]);
        assert_eq!((placement.off_irq_cores, placement.same_llc), (None, None));
        let none = placed(&pair(&card("eth0", 1, Some(&[0]))), "none", 2).expect("none");
        assert_eq!(none, ThreadPlacement::default());
    }

    #[test]
    fn a_bond_has_the_interrupts_of_its_members() {
        let mut bond = Nic { pci: Known::default(), ..card("bond0", 0, None) };
        bond.lower = vec!["eth0".to_owned(), "eth1".to_owned()];
        let mut member = card("eth0", 1, Some(&[4, 5]));
        member.networks = Known::Known(Vec::new());
        let other = Nic { name: "eth1".to_owned(), irq_cpus: Known::Known(vec![6]), ..member.clone() };
        let nics = vec![bond, member, other];
        let site = Site { nodes: vec![eight_cores("n1", nics.clone()), eight_cores("n2", nics)] };
        let placement = placed(&site, "auto", 1).expect("bindings");
        assert_eq!((cpus(&placement.bindings[0]), placement.off_irq_cores), (vec![7], Some(true)));
    }

    #[test]
    fn where_there_is_no_card_cores_are_taken_in_their_order_and_again_when_there_are_too_few() {
        let site = Site { nodes: vec![eight_cores("n1", Vec::new())] };
        let alone = placed(&site, "auto", 1).expect("bindings");
        assert_eq!(
            alone.bindings.map(|bindings| cpus(&bindings)),
            [vec![0], vec![1]],
            "ends of one node are kept apart"
        );
        let pair = Site { nodes: vec![eight_cores("n1", Vec::new()), eight_cores("n2", Vec::new())] };
        let ten = placed(&pair, "auto", 10).expect("bindings");
        let wanted = vec![0, 1, 2, 3, 4, 5, 6, 7, 0, 1];
        assert_eq!(ten.bindings.map(|bindings| cpus(&bindings)), [wanted.clone(), wanted]);
        assert!(placed(&Site { nodes: vec![SiteNode::new("n1", Machine::default())] }, "auto", 1).is_err());
    }

    #[test]
    fn far_is_another_node_and_a_list_is_taken_as_it_is() {
        let site = pair(&card("eth0", 1, Some(&[4])));
        let far = placed(&site, "far", 5).expect("bindings");
        assert_eq!(cpus(&far.bindings[0]), [0, 1, 2, 3, 0]);
        assert_eq!(far.same_llc, Some(false));
        let listed = placed(&site, "12+4", 2).expect("bindings");
        assert_eq!((cpus(&listed.bindings[0]), listed.off_irq_cores), (vec![4, 12], Some(false)));
        for (wrong, why) in [("16", "CPU 16 does not exist"), ("near", "it is auto"), ("", "names no CPU")] {
            let reason = placed(&site, wrong, 1).expect_err("refused");
            assert!(reason.cause == Cause::Contradiction && reason.text.contains(why), "{reason}");
        }
    }

    #[test]
    fn ends_of_one_kernel_are_kept_apart_though_they_like_the_same_cores() {
        let mut site = pair(&card("eth0", 1, Some(&[4])));
        site.nodes.iter_mut().for_each(|node| node.machine.boot_id = Known::Known("a".to_owned()));
        let placement = placed(&site, "auto", 2).expect("bindings");
        assert_eq!(placement.bindings.map(|bindings| cpus(&bindings)), [vec![5, 6], vec![7, 4]]);
    }
}

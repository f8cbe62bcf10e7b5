//! Builds the map of a machine from its inventory and the results of a run.

use std::collections::{BTreeMap, BTreeSet};

use seatrial_model::machine::{Gpu, Known, Machine, NumaNode, PartLimit};
use seatrial_model::{Bytes, Subject};

use super::cores::cores;
use super::fold::folded;
use super::peers;
use super::results::Results;
use super::switches::{below_switches, switches};
use super::{MapBox, MapLink, MapResult, MapRun};
use crate::inventory::{LimitText, Node, Part, parts, system};
use crate::labels::named;
use crate::notes::Notes;
use crate::words::count;

/// Benchmarks that measure the link between a GPU and the processor.
const HOST_LINK: &[&str] = &["gpu.host_copy", "gpu.host_copy_all"];

/// The part that benchmarks of all cores measure.
const ALL_CORES: &str = "cores";

/// Failing parts that the box of the whole machine names.
const MOST_FAILING: usize = 3;

/// Start of the quantity of a GPU's limit that is the limit of its link.
const HOST_LINK_LIMIT: &str = "host link";

pub fn map(node: &Node, title: &str, run: Option<MapRun<'_>>) -> MapBox {
    let mut map = Builder { node, run, results: Results::new(run) };
    let machine = &node.machine;
    let is_numa = |id: Option<u32>| id.is_some_and(|id| machine.node(id).is_some());
    let has_only = machine.nodes_with_cpus().count() == 1;
    let mut inside = Vec::new();
    if map.has_several() {
        inside.push(map.memory("All memory"));
    }
    inside.extend(map.sockets());
    let is_elsewhere =
        |part: &Part| part.is_on_pci && !is_numa(part.numa_node) && !(has_only && part.numa_node.is_none());
    inside.extend(map.place("On the PCI bus, NUMA node unknown", is_elsewhere));
    inside.extend(map.place("Not on the PCI bus", |part| !part.is_on_pci));
    inside.extend(around("File systems", map.file_systems(|disk| disk.is_none())));
    let mut whole = MapBox {
        name: title.to_owned(),
        words: words(machine),
        results: map.results.left(),
        inside,
        is_place: true,
        ..MapBox::default()
    };
    whole.failing = whole.failing();
    whole.failing.truncate(MOST_FAILING);
    whole
}

fn words(machine: &Machine) -> Vec<String> {
    let short = system::in_short(machine);
    let told = system::rows(machine, &mut Notes::default());
    let product = told.into_iter().find(|(label, _)| *label == "system").map(|(_, text)| text);
    product
        .into_iter()
        .filter(|text| !text.starts_with("unknown"))
        .chain([short])
        .filter(|text| !text.is_empty())
        .collect()
}

struct Builder<'a> {
    node: &'a Node,
    run: Option<MapRun<'a>>,
    results: Results,
}

impl<'a> Builder<'a> {
    /// The NUMA nodes in their sockets; those of no socket or of several beside them.
    fn sockets(&mut self) -> Vec<MapBox> {
        let node = self.node;
        let mut sockets: BTreeMap<u32, (Vec<MapBox>, Vec<MapResult>)> = BTreeMap::new();
        let mut others = Vec::new();
        for numa in &node.machine.numa {
            let drawn = self.numa_node(numa);
            match socket_of(&node.machine, numa) {
                Some(socket) => {
                    let (inside, results) = sockets.entry(socket).or_default();
                    results.extend(self.results.take(&drawn.name, is_of_cpu));
                    inside.push(drawn);
                }
                None => others.push(drawn),
            }
        }
        if let [(_, results)] = sockets.values_mut().collect::<Vec<_>>().as_mut_slice() {
            results.extend(self.results.take(ALL_CORES, is_of_cpu));
        }
        let model = node.machine.cpu.model.known();
        let socket = |(id, (inside, results))| MapBox {
            name: format!("Socket {id}"),
            words: model.into_iter().cloned().collect(),
            results,
            inside,
            is_place: true,
            ..MapBox::default()
        };
        sockets.into_iter().map(socket).chain(others).collect()
    }

    fn numa_node(&mut self, numa: &NumaNode) -> MapBox {
        let node = self.node;
        let name = format!("NUMA node {}", numa.id);
        let memory = if self.has_several() {
            MapBox {
                name: "Memory".to_owned(),
                words: size(&numa.total_bytes),
                limit: self.limit(&Subject::numa(numa.id), ""),
                results: self.results.take(&name, |test| !is_of_cpu(test)),
                ..MapBox::default()
            }
        } else {
            self.memory("Memory")
        };
        let is_only = node.machine.nodes_with_cpus().count() == 1 && numa.has_cpus();
        let is_here = |part: &Part| part.is_on_pci && part.numa_node.map_or(is_only, |id| id == numa.id);
        let inside = [memory].into_iter().chain(cores(&node.machine, numa)).chain(self.devices(is_here));
        let words = if numa.has_cpus() { Vec::new() } else { vec!["no CPUs".to_owned()] };
        MapBox { name, words, inside: inside.collect(), is_place: true, ..MapBox::default() }
    }

    fn has_several(&self) -> bool {
        self.node.machine.numa.len() != 1
    }

    /// The memory of the whole machine.
    fn memory(&mut self, name: &str) -> MapBox {
        let machine = &self.node.machine;
        let mut words = size(&machine.memory.total_bytes);
        if let Known::Known(dimms) = &machine.dimms {
            words.push(system::modules_of(dimms));
        }
        MapBox {
            name: name.to_owned(),
            words,
            limit: self.limit(&Subject::node(), ""),
            results: self.results.take("memory", |_| true),
            ..MapBox::default()
        }
    }

    /// A box around the devices that are wanted, unless there are none.
    fn place(&mut self, name: &str, is_wanted: impl Fn(&Part) -> bool) -> Option<MapBox> {
        around(name, self.devices(is_wanted))
    }

    /// The wanted ones of GPUs, interfaces, RDMA ports and disks, each with the file systems on it.
    fn devices(&mut self, is_wanted: impl Fn(&Part) -> bool) -> Vec<MapBox> {
        let is_device = |part: &Part| matches!(part.subject.kind(), "gpu" | "nic" | "hca" | "disk");
        let wanted =
            parts::all(&self.node.machine).into_iter().filter(|part| is_device(part) && is_wanted(part));
        let machine = &self.node.machine;
        let drawn: Vec<_> =
            wanted.map(|part| (switches(machine, &part.subject), self.device(part))).collect();
        below_switches(drawn)
    }

    fn device(&mut self, part: Part) -> MapBox {
        let name = named(part.subject.as_str(), "");
        let subject = part.subject;
        let link = part.link.map(|link| MapLink {
            name: link,
            limit: self.limit(&subject, HOST_LINK_LIMIT),
            results: self.results.take(&name, |test| HOST_LINK.contains(&test)),
        });
        let has_link = link.is_some();
        let gpus = self.node.machine.gpus.listed();
        let gpu = gpus.iter().find(|gpu| named(&format!("gpu:{}", gpu.index), "") == name);
        MapBox {
            limit: self.limit(&subject, ""),
            results: self.results.take(&name, |test| !(has_link && HOST_LINK.contains(&test))),
            links: link.into_iter().chain(gpu.into_iter().flat_map(|gpu| self.nvlinks(gpu, gpus))).collect(),
            inside: self.file_systems_on(&name),
            words: part.words,
            name,
            ..MapBox::default()
        }
    }

    /// `18 NVLinks to GPU 1`, with the bandwidth to it. Behind a switch every other GPU has a line.
    fn nvlinks(&self, gpu: &Gpu, gpus: &[Gpu]) -> Vec<MapLink> {
        let mut ends: BTreeMap<String, (usize, Vec<&Gpu>)> = BTreeMap::new();
        for remote in gpu.nvlinks.listed() {
            let other = gpus.iter().find(|other| other.pci.address == *remote);
            let others = || gpus.iter().filter(|other| other.index != gpu.index).collect();
            let (name, to) = match other {
                Some(other) => (format!("GPU {}", other.index), vec![other]),
                None if remote == "?" => ("an unknown end".to_owned(), Vec::new()),
                None => ("a switch".to_owned(), others()),
            };
            ends.entry(name).or_insert((0, to)).0 += 1;
        }
        let results = |to: Vec<&Gpu>| {
            let is_behind_switch = to.len() > 1;
            let of = |other: &Gpu| {
                let found = self.run.map(|run| peers::between(&run, gpu.index, other.index));
                let named = move |result: MapResult| match is_behind_switch {
                    true => MapResult { test: format!("{} to GPU {}", result.test, other.index), ..result },
                    false => result,
                };
                found.unwrap_or_default().into_iter().map(named).collect::<Vec<_>>()
            };
            to.into_iter().flat_map(of).collect()
        };
        let link = |(end, (number, to)): (String, (usize, Vec<&Gpu>))| MapLink {
            name: format!("{} to {end}", count(number, "NVLink")),
            results: results(to),
            ..MapLink::default()
        };
        ends.into_iter().map(link).collect()
    }

    fn file_systems_on(&mut self, disk: &str) -> Vec<MapBox> {
        self.file_systems(|on| on == Some(disk))
    }

    /// The file systems whose one disk is wanted.
    fn file_systems(&mut self, is_wanted: impl Fn(Option<&str>) -> bool) -> Vec<MapBox> {
        let machine = &self.node.machine;
        let disks = parts::all(machine).into_iter().map(|part| part.subject);
        let disks: BTreeSet<Subject> = disks.filter(|subject| subject.kind() == "disk").collect();
        let on = |mount: &str| {
            let system = machine.file_systems.listed().iter().find(|system| system.mount == mount)?;
            let [disk] = system.disks.as_slice() else { return None };
            disks.contains(&Subject::device("disk", disk)).then_some(disk.as_str())
        };
        let systems = parts::all(machine).into_iter().filter(|part| part.subject.kind() == "fs");
        let mut drawn = Vec::new();
        for part in systems {
            let name = named(part.subject.as_str(), "");
            if is_wanted(on(&name)) {
                let results = self.results.take(&name, |_| true);
                drawn.push(MapBox { name, words: part.words, results, ..MapBox::default() });
            }
        }
        folded(drawn)
    }

    /// The limit of a subject whose quantity starts with `what`; by default not the limit of a link.
    fn limit(&self, subject: &Subject, what: &str) -> Option<LimitText> {
        let is_it = |limit: &&PartLimit| {
            limit.subject == *subject && limit.what.starts_with(HOST_LINK_LIMIT) == (what == HOST_LINK_LIMIT)
        };
        self.node.limits.iter().find(is_it).map(|found| LimitText::of(&found.limit))
    }
}

fn is_of_cpu(test: &str) -> bool {
    test.starts_with("cpu.")
}

fn around(name: &str, inside: Vec<MapBox>) -> Option<MapBox> {
    let is_any = !inside.is_empty();
    is_any.then(|| MapBox { name: name.to_owned(), inside, is_place: true, ..MapBox::default() })
}

fn size(bytes: &Known<u64>) -> Vec<String> {
    bytes.known().map(|bytes| Bytes(*bytes).rounded()).into_iter().collect()
}

/// The one socket of all CPUs of a NUMA node.
fn socket_of(machine: &Machine, numa: &NumaNode) -> Option<u32> {
    let of = |cpu: &u32| machine.cpu.thread(*cpu).and_then(|thread| thread.socket);
    let sockets: BTreeSet<Option<u32>> = numa.cpus.iter().map(of).collect();
    let mut sockets = sockets.into_iter();
    sockets.next().flatten().filter(|_| sockets.next().is_none())
}

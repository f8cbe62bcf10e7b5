//! The map of a machine: nested boxes from the machine to its devices, each with its limit and its results.

mod build;
mod cores;
mod fold;
mod peers;
mod results;
mod switches;

use std::collections::BTreeSet;

use seatrial_model::Verdict;
use seatrial_model::record::Document;

pub use build::map;

use super::shade::Shade;
use crate::inventory::LimitText;
use crate::words::Badge;

/// A run whose results stand on the map, and the nodes that the map stands for.
#[derive(Clone, Copy)]
pub struct MapRun<'a> {
    pub document: &'a Document,
    pub nodes: &'a BTreeSet<&'a str>,
}

/// A part of the machine and the parts inside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapBox {
    pub name: String,
    /// What it is.
    pub words: Vec<String>,
    pub limit: Option<LimitText>,
    pub links: Vec<MapLink>,
    pub results: Vec<MapResult>,
    /// Of the whole machine: results that fail in boxes inside, for pictures in which those are out of sight.
    pub failing: Vec<MapResult>,
    pub inside: Vec<Self>,
    /// Whether the box is a place of other boxes rather than a part.
    pub is_place: bool,
}

/// The link of a box: to the processor, or to other GPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapLink {
    /// `PCIe 5.0 x16`, `18 NVLinks to GPU 1`.
    pub name: String,
    pub limit: Option<LimitText>,
    pub results: Vec<MapResult>,
}

/// The worst number of one test of one part.
#[derive(Clone, Debug, PartialEq)]
pub struct MapResult {
    pub test: String,
    /// The headline, or how the case ended without one.
    pub value: String,
    pub limit: Option<String>,
    pub percent: Option<String>,
    /// How much of the limit is reached, from 0 to 100.
    pub share: Option<f64>,
    pub shade: Shade,
    /// The shade of the node in the middle, from the worst to the best.
    pub usual: Shade,
    pub badge: Badge,
    pub case: String,
    /// The node, where the map stands for several.
    pub node: Option<String>,
    /// `2 of 64 fail; median 215 GB/s`, where the map stands for several nodes.
    pub over_nodes: Option<String>,
}

impl MapBox {
    /// Every part in one line: `n1: Socket 0: NUMA node 0: Memory; 8 cores`.
    pub fn outline(&self) -> String {
        let inside: Vec<String> = self.inside.iter().map(Self::outline).collect();
        if inside.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, inside.join("; ")) }
    }

    /// The results of the box and of its links.
    pub fn all_results(&self) -> impl Iterator<Item = &MapResult> {
        self.results.iter().chain(self.links.iter().flat_map(|link| &link.results))
    }

    /// The shades of its results and of the results inside.
    pub fn shades(&self) -> BTreeSet<Shade> {
        let inside = self.inside.iter().flat_map(Self::shades);
        let own = self.all_results().flat_map(|result| [result.shade, result.usual]);
        let is_bare = !self.is_place && self.all_results().next().is_none();
        own.chain(is_bare.then_some(Shade::NotMeasured)).chain(inside).collect()
    }

    /// The worst shade of its own results.
    pub fn worst(&self) -> Shade {
        self.all_results().map(|result| result.shade).max().unwrap_or_default()
    }

    /// The same of the node in the middle: a part that is bad on few nodes is sound on most.
    pub fn shade(&self) -> Shade {
        self.all_results().map(|result| result.usual).max().unwrap_or_default()
    }

    /// Whether some part is bad on few nodes only.
    pub fn is_mixed(&self) -> bool {
        self.worst() != self.shade() || self.inside.iter().any(Self::is_mixed)
    }

    /// The results that fail of the boxes inside, each with the name of its box.
    fn failing(&self) -> Vec<MapResult> {
        let is_failing = |result: &&MapResult| result.shade == Shade::Verdict(Verdict::Fail);
        let of = |part: &Self| {
            let named = |result: &MapResult| MapResult {
                test: format!("{}: {}", part.name, result.test),
                ..result.clone()
            };
            part.all_results().filter(is_failing).map(named).collect::<Vec<_>>()
        };
        self.inside.iter().flat_map(|part| of(part).into_iter().chain(part.failing())).collect()
    }
}

impl MapResult {
    /// `gpu.memory read 3642 GB/s on n13, 92% of 3939 GB/s, pass`.
    pub fn text(&self) -> String {
        let of = match (&self.percent, &self.limit) {
            (Some(percent), Some(limit)) => format!(", {percent} of {limit}"),
            _ => String::new(),
        };
        let on = self.node.as_ref().map_or(String::new(), |node| format!(" on {node}"));
        let others = self.over_nodes.as_ref().map_or(String::new(), |text| format!("; {text}"));
        let badge = match self.shade {
            Shade::Verdict(_) if self.badge.word != self.value => format!(", {}", self.badge.word),
            _ => String::new(),
        };
        format!("{} {}{on}{of}{badge}{others}", self.test, self.value)
    }
}

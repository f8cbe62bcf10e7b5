//! The map of a machine: nested boxes from the machine to its devices, each with its limit and its results.

mod build;
mod cores;
mod results;

use std::collections::BTreeSet;

use seatrial_model::record::Document;

pub use build::map;

use super::cases::Verdicts;
use super::shade::Shade;
use crate::inventory::LimitText;
use crate::words::Badge;

/// A run whose results stand on the map, and the nodes that the map stands for.
#[derive(Clone, Copy)]
pub struct MapRun<'a> {
    pub document: &'a Document,
    pub verdicts: &'a Verdicts<'a>,
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

/// The worst case of one benchmark on one part.
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
    pub badge: Badge,
    pub case: String,
    /// The node, where the map stands for several.
    pub node: Option<String>,
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
        let own = self.all_results().map(|result| result.shade);
        let is_bare = !self.is_place && self.all_results().next().is_none();
        own.chain(is_bare.then_some(Shade::NotMeasured)).chain(inside).collect()
    }

    /// The worst shade of its own results.
    pub fn shade(&self) -> Shade {
        self.all_results().map(|result| result.shade).max().unwrap_or_default()
    }
}

impl MapResult {
    /// `worst: n13`, where the map stands for several nodes.
    pub fn worst(&self) -> Option<String> {
        self.node.as_ref().map(|node| format!("worst: {node}"))
    }

    /// `gpu.memory 4210 GB/s, 87% of 4814 GB/s, pass, worst: n1`.
    pub fn text(&self) -> String {
        let of = match (&self.percent, &self.limit) {
            (Some(percent), Some(limit)) => format!(", {percent} of {limit}"),
            _ => String::new(),
        };
        let on = self.worst().map_or(String::new(), |worst| format!(", {worst}"));
        let badge = match self.shade {
            Shade::Verdict(_) if self.badge.word != self.value => format!(", {}", self.badge.word),
            _ => String::new(),
        };
        format!("{} {}{of}{badge}{on}", self.test, self.value)
    }
}

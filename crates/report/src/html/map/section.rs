//! The maps of the machines of a run on its page.

use std::collections::BTreeSet;

use askama::Template;
use seatrial_model::Verdict;

use super::list::list;
use super::svg::{Target, elements, safe};
use crate::html::filter::Filter;
use crate::html::shown::Shown;
use crate::html::words::text;
use crate::inventory::{Node, kinds};
use crate::view::map::{MapBox, MapRun, map};
use crate::view::nodes::with_verdict;
use crate::view::shade::Shade;
use crate::words::set_of;

/// Maps on a page that are open; those of further kinds of machines are folded.
const MOST_OPEN: usize = 4;

/// Maps on a page; further kinds of machines are in the inventory only.
const MOST: usize = 24;

/// Widths of the two pictures of a map, of which one is shown.
const WIDTHS: [(&str, f64); 2] = [("wide", 1180.0), ("narrow", 360.0)];

const LONGEST_SET: usize = 160;

/// The map of one kind of machine.
#[derive(Template)]
#[template(path = "map.html")]
pub struct MachineMap {
    title: String,
    is_open: bool,
    filter: Filter,
    pictures: Vec<String>,
    legend: Vec<(&'static str, &'static str)>,
    /// Whether boxes show the usual node and the worst one.
    is_mixed: bool,
    list: String,
}

/// A map for each kind of machine, those with failing nodes first.
pub fn maps(shown: &Shown<'_>) -> Vec<MachineMap> {
    let mut kinds = kinds(shown.context.nodes);
    let failed: BTreeSet<&str> = with_verdict(shown.document, Verdict::Fail).into_iter().collect();
    // Stable: the most frequent kind comes first of each.
    kinds.sort_by_key(|(_, names)| !names.iter().any(|name| failed.contains(name)));
    let drawn = |(at, (node, names)): (usize, &(&Node, Vec<&str>))| {
        let nodes: BTreeSet<&str> = names.iter().copied().collect();
        let run = MapRun { document: shown.document, nodes: &nodes };
        let map = map(node, &set_of(names, LONGEST_SET), Some(run));
        let filter = shown.filter_of(names.iter().copied(), Filter::ANY);
        MachineMap { is_open: at < MOST_OPEN, ..MachineMap::new(&map, filter, &|case| shown.place(case)) }
    };
    kinds.iter().take(MOST).enumerate().map(drawn).collect()
}

impl MachineMap {
    fn new(map: &MapBox, filter: Filter, target: Target<'_>) -> Self {
        let shades = map.shades();
        let legend = Shade::LEGEND.iter().filter(|(shade, _)| shades.contains(shade));
        Self {
            title: text(&map.name),
            is_open: true,
            filter,
            pictures: WIDTHS.iter().map(|(class, width)| picture(map, class, *width, target)).collect(),
            legend: legend.map(|(shade, text)| (shade.class(), *text)).collect(),
            is_mixed: map.is_mixed(),
            list: list(map, target),
        }
    }
}

/// A picture without links is an image; one with links is a group, whose links a screen reader can reach.
fn picture(map: &MapBox, class: &str, width: f64, target: Target<'_>) -> String {
    let (drawn, height) = elements(map, 0.0, width, true, target);
    let role = if drawn.contains("<a ") { "group" } else { "img" };
    let name = safe(&map.name);
    format!(
        "<svg class=\"map {class}\" viewBox=\"0 0 {width} {height:.0}\" role=\"{role}\" aria-label=\"Map of {name}; the list \
         below has the same\">{drawn}</svg>"
    )
}

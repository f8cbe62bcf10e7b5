//! The maps of the machines of a run on its page.

use std::collections::BTreeSet;

use askama::Template;

use super::list::list;
use super::svg::{Target, elements, safe};
use crate::html::filter::Filter;
use crate::html::shown::Shown;
use crate::html::words::text;
use crate::inventory::kinds;
use crate::view::map::{MapBox, MapRun, map};
use crate::view::shade::Shade;
use crate::words::set_of;

/// Maps on a page; further kinds of machines are in the inventory only.
const MOST: usize = 4;

/// Widths of the two pictures of a map, of which one is shown.
const WIDTHS: [(&str, f64); 2] = [("wide", 1180.0), ("narrow", 360.0)];

const LONGEST_SET: usize = 160;

/// The map of one kind of machine.
#[derive(Template)]
#[template(path = "map.html")]
pub struct MachineMap {
    title: String,
    filter: Filter,
    pictures: Vec<String>,
    legend: Vec<(&'static str, &'static str)>,
    /// Whether boxes show the usual node and the worst one.
    is_mixed: bool,
    list: String,
}

pub fn maps(shown: &Shown<'_>) -> Vec<MachineMap> {
    let kinds = kinds(shown.context.nodes);
    let shown_kinds = kinds.iter().take(MOST);
    shown_kinds
        .map(|(node, names)| {
            let nodes: BTreeSet<&str> = names.iter().copied().collect();
            let run = MapRun { document: shown.document, nodes: &nodes };
            let filter = shown.filter_of(names.iter().copied(), Filter::ANY);
            MachineMap::new(&map(node, &set_of(names, LONGEST_SET), Some(run)), filter, &|case| {
                shown.place(case)
            })
        })
        .collect()
}

impl MachineMap {
    fn new(map: &MapBox, filter: Filter, target: Target<'_>) -> Self {
        let shades = map.shades();
        let legend = Shade::LEGEND.iter().filter(|(shade, _)| shades.contains(shade));
        Self {
            title: text(&map.name),
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

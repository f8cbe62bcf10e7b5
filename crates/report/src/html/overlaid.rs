//! Curves of the sides of a comparison over each other.

use seatrial_analysis::Curves;
use seatrial_model::record::SeriesRecord;

use super::curve::{Figure, MOST_CURVES};
use super::series::together;
use super::words::text;
use crate::compare::Compared;
use crate::labels::{self, Label};
use crate::words::count;

/// Figures at most; the JSON form has all curves.
const MOST: usize = 24;

/// A figure per series and case, headline metrics of benchmarks first, and a remark on what is not drawn.
pub fn figures(compared: &Compared<'_>) -> (Vec<Figure>, String) {
    let names = names(compared.curves);
    let draw = |(curves, name): (&Curves, String)| figure(curves, &name, compared.legend);
    let mut figures: Vec<Figure> = compared.curves.iter().zip(names).filter_map(draw).collect();
    let hidden = figures.len().saturating_sub(MOST);
    figures.truncate(MOST);
    let mut notes = Vec::new();
    if hidden > 0 {
        notes.push(format!("{} in the JSON form.", count(hidden, "more figure")));
    }
    if !figures.is_empty() && compared.legend.len() > MOST_CURVES {
        notes.push(format!("The first {MOST_CURVES} are drawn; the JSON form has all curves."));
    }
    (figures, notes.join(" "))
}

fn figure(curves: &Curves, name: &str, legend: &[String]) -> Option<Figure> {
    let named = |(side, series): &'_ (usize, SeriesRecord)| (legend[*side].clone(), series.clone());
    let with: Vec<(String, SeriesRecord)> = curves.of_sides.iter().take(MOST_CURVES).map(named).collect();
    let with: Vec<(String, &SeriesRecord)> =
        with.iter().map(|(name, series)| (name.clone(), series)).collect();
    let figure = together(&format!("{} · {}", curves.bench, curves.name), &with, &[])?;
    let at = curves.at.as_ref().map_or(String::new(), |(name, value)| format!("{name}={value}"));
    let of: Vec<&str> = [name, &at].into_iter().filter(|part| !part.is_empty()).collect();
    let of = if of.is_empty() { String::new() } else { format!(" · {}", of.join(" ")) };
    Some(Figure { caption: text(&format!("{}{of}", figure.caption)), ..figure })
}

/// What tells the curves of a benchmark apart.
fn names(all: &[Curves]) -> Vec<String> {
    let label = |curves: &Curves| Label::new(&curves.nodes, &curves.subject, &curves.params);
    let mut cases: Vec<(&str, Label, &[String])> = Vec::new();
    for curves in all {
        let item = (curves.bench.as_str(), label(curves), curves.nodes.as_slice());
        if !cases.contains(&item) {
            cases.push(item);
        }
    }
    let names = labels::names(&cases);
    let position = |curves: &Curves| {
        cases.iter().position(|(bench, known, _)| *bench == curves.bench && *known == label(curves))
    };
    let is_alone = |bench: &str| cases.iter().filter(|(known, ..)| *known == bench).count() == 1;
    let name = |curves: &Curves| match position(curves) {
        Some(at) if !is_alone(&curves.bench) => names[at].clone(),
        _ => String::new(),
    };
    all.iter().map(name).collect()
}

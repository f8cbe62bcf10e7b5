//! The first lines: the result, the nodes that may be used, what was measured, and why a run took longer than planned.

use seatrial_model::record::Document;

use crate::grid;
use crate::ink::Ink;
use crate::view::headline::{nodes, said, took, usable};
use crate::view::prolonged::prolonged;
use crate::words::{clean, time, verdict_title};

/// Listed nodes; more are counted.
const MOST_NAMES: usize = 4;

/// Characters of the folded names of nodes that may be used.
const LONGEST_SET: usize = 50;

pub fn block(document: &Document, width: u16) -> String {
    let said = clean(&said(document));
    let first = match document.verdict {
        Some(verdict) => {
            let text = grid::paragraphs(&[(verdict_title(verdict), said)], width);
            text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
        }
        None => Ink::Strong.on(&said),
    };
    let run = &document.run;
    let profile = run.profile.as_ref().map(|profile| format!("profile {}", profile.id));
    let titled = run.profile.as_ref().map(|profile| format!("profile {}: {}", profile.id, profile.title));
    let on = (!run.nodes.is_empty()).then(|| format!("on {}", nodes(&run.nodes, MOST_NAMES)));
    let prolonged = prolonged(document);
    let took = took(run).map_or_else(|became| became, |time| format!("took {time}"));
    let took = prolonged.is_none().then_some(took);
    let line = |profile: Option<String>| {
        let parts = [profile, on.clone(), Some(time(run.started)), took.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    };
    let second = Some(line(titled)).filter(|text| text.chars().count() <= usize::from(width));
    let second = second.unwrap_or_else(|| line(profile));
    let third = prolonged.map(|text| grid::paragraphs(&[(Ink::Faint.on("took"), clean(&text))], width));
    let usable = usable(document, LONGEST_SET).map(|text| clean(&text) + "\n").unwrap_or_default();
    format!("{first}\n{usable}{}\n{}", Ink::Faint.on(&clean(&second)), third.unwrap_or_default())
}

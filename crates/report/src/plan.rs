//! What a run would do: cases, time, bytes written, privileges, disturbed services. Nothing has run yet.

use std::collections::BTreeSet;
use std::time::Duration;

use seatrial_model::{About, Case, Interaction, Nanos, Need, Reason};

use crate::TextStyle;
use crate::grid::{GridColumn, fitted, paragraphs};
use crate::ink::{Ink, render_colors};
use crate::words::{clean, span};

/// The plan as text for a terminal: `cases` would run, `settled` cases would not, each with its reason.
pub fn render(cases: &[Case], settled: &[(Case, Reason)], abouts: &[&About], style: TextStyle) -> String {
    let sum = |of: fn(&Case) -> Nanos| cases.iter().fold(Nanos(0), |sum, case| sum.plus(of(case)));
    let (least, most) = (span(Duration::from(sum(Case::estimate))), span(Duration::from(sum(Case::longest))));
    let total = if least == most { least } else { format!("{least} to {most}") };
    let count = cases.len();
    let plural = if count == 1 { "case" } else { "cases" };
    let title = format!("{count} {plural}, about {total}; nothing was run");
    let mut text = format!("{}\n\n", Ink::Strong.on(&title));
    if count > 0 {
        let cells = |of: &dyn Fn(&Case) -> String| cases.iter().map(of).collect::<Vec<_>>();
        let columns = [
            GridColumn::words("case", cells(&|case| breakable(case.id.as_str()))),
            GridColumn::numbers("trials", cells(&trials)),
            GridColumn::numbers("about", cells(&|case| span(case.estimate().into()))),
            GridColumn::words("chosen", cells(&planned)),
        ];
        text += &fitted(&columns, style.width());
        text.push('\n');
    }
    if !settled.is_empty() {
        let columns = [
            GridColumn::words(
                "left out",
                settled.iter().map(|(case, _)| breakable(case.id.as_str())).collect(),
            ),
            GridColumn::words("because", settled.iter().map(|(_, reason)| clean(&reason.text)).collect()),
        ];
        text += &fitted(&columns, style.width());
        text.push('\n');
    }
    text += &warnings(cases, style.width());
    text += &effects(cases, abouts);
    render_colors(&text, style.style)
}

/// An id that may be wrapped between its parameters, not inside a word.
fn breakable(id: &str) -> String {
    clean(&id.replace('[', " [").replace(',', ", "))
}

fn warnings(cases: &[Case], width: u16) -> String {
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for case in cases {
        for finding in &case.findings {
            let text = clean(&finding.text);
            match told.iter_mut().find(|(known, _)| *known == text) {
                Some((_, ids)) => ids.push(case.id.as_str()),
                None => told.push((text, vec![case.id.as_str()])),
            }
        }
    }
    let row = |(text, ids): &(String, Vec<&str>)| {
        let of = match &ids[..] {
            all if all.len() == cases.len() => String::new(),
            [one] => format!(" ({})", clean(one)),
            some => format!(" ({} cases)", some.len()),
        };
        (Ink::Doubt.on("!"), format!("{text}{of}"))
    };
    paragraphs(&told.iter().map(row).collect::<Vec<_>>(), width)
}

fn trials(case: &Case) -> String {
    let (least, most) = (case.budget.trials, case.budget.max_trials);
    if least == most { least.to_string() } else { format!("{least}..{most}") }
}

/// What the run needs and what it disturbs, one line each.
fn effects(cases: &[Case], abouts: &[&About]) -> String {
    let used: BTreeSet<&str> = cases.iter().map(|case| case.bench.as_str()).collect();
    let mut lines = BTreeSet::new();
    let mut written = 0;
    for about in abouts.iter().filter(|about| used.contains(about.id)) {
        written += about.cost.written * cases.iter().filter(|case| case.bench == about.id).count() as u64;
        match about.interaction {
            Interaction::Passive => {}
            Interaction::Loads(what) => _ = lines.insert(format!("loads     {what} ({})", about.id)),
            Interaction::Disrupts(what) => _ = lines.insert(format!("changes   {what} ({})", about.id)),
        }
        for need in about.needs {
            lines.insert(match need {
                Need::Library(name) => format!("needs     {name} ({})", about.id),
                Need::Privilege(what) => format!("needs     privilege: {what} ({})", about.id),
                Need::Nodes(count) => format!("needs     {count} nodes ({})", about.id),
                Need::Directory => format!("needs     a directory ({})", about.id),
            });
        }
    }
    let size = if written > 0 { " with default parameters, over all trials" } else { "" };
    let written = seatrial_model::Bytes(written);
    lines.insert(format!("writes    {written} to storage{size}, besides the run folder"));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The plan's choices for a case, and why the case is there.
fn planned(case: &Case) -> String {
    let said = [case.planned.to_string().replace(',', ", "), case.origin.to_string()];
    clean(&said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", "))
}

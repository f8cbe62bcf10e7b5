//! What a run would do: cases, time, bytes written, privileges, disturbed services. Nothing has run yet.

use std::collections::BTreeSet;
use std::time::Duration;

use seatrial_model::{About, Bytes, Case, Interaction, Nanos, Need, Reason, Subject, Writes};

use crate::TextStyle;
use crate::grid::{GridColumn, fitted, paragraphs};
use crate::ink::{Ink, render_colors};
use crate::words::{clean, span};

/// The plan as text for a terminal: `cases` would run, `settled` cases would not, each with its reason; `times` are the
/// estimated and the longest time of all cases together.
pub fn render(
    cases: &[Case],
    settled: &[(Case, Reason)],
    abouts: &[&About],
    times: [Nanos; 2],
    style: TextStyle,
) -> String {
    let [least, most] = times.map(|time| span(Duration::from(time)));
    let total = if least == most { least } else { format!("{least} to {most}") };
    let count = cases.len();
    let plural = if count == 1 { "case" } else { "cases" };
    let title = format!("{count} {plural}, about {total}; nothing was run");
    let mut text = format!("{}\n\n", Ink::Strong.on(&title));
    if count > 0 {
        let cells = |of: &dyn Fn(&Case) -> String| cases.iter().map(of).collect::<Vec<_>>();
        let columns = [
            GridColumn::words("test, benchmark, node, parameters", cells(&named)),
            GridColumn::numbers("trials", cells(&trials)),
            GridColumn::numbers("about", cells(&|case| span(case.estimate().into()))),
            GridColumn::words("chosen", cells(&planned)),
        ];
        text += &fitted(&columns, style.width());
        text.push('\n');
    }
    if !settled.is_empty() {
        let columns = [
            GridColumn::words("left out", settled.iter().map(|(case, _)| named(case)).collect()),
            GridColumn::words("because", settled.iter().map(|(_, reason)| clean(&reason.text)).collect()),
        ];
        text += &fitted(&columns, style.width());
        text.push('\n');
    }
    text += &warnings(cases, style.width());
    text += &effects(cases, abouts);
    render_colors(&text, style.style)
}

/// What a case is, in words that may be wrapped: test, benchmark, nodes, subject and the parameters that are not the
/// default. Trials have a column.
fn named(case: &Case) -> String {
    let id = case.id.as_str();
    let params = id.split_once('[').map_or("", |(_, rest)| rest.trim_end_matches(']'));
    let is_shown = |param: &&str| {
        !param.is_empty() && !param.starts_with("trials=") && !param.starts_with("max_trials=")
    };
    let params = params.split(',').filter(is_shown).collect::<Vec<_>>().join(", ");
    let test = if case.group == case.bench { "" } else { case.group.as_str() };
    let subject = if case.subject == Subject::node() { "" } else { case.subject.as_str() };
    let all = [test, case.bench.as_str(), &case.nodes.join(" "), subject, &params];
    clean(&all.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "))
}

fn warnings(cases: &[Case], width: u16) -> String {
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for case in cases {
        for finding in &case.findings {
            let text = clean(&finding.full_text());
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
    for about in abouts.iter().filter(|about| used.contains(about.id)) {
        let own = cases.iter().filter(|case| case.bench == about.id);
        lines.extend(written(own).map(|text| format!("writes    {text} ({})", about.id)));
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
    if !lines.iter().any(|line| line.starts_with("writes")) {
        lines.insert("writes    nothing to storage besides the run folder".to_owned());
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// What the planned trials of `cases` write to storage; `None` if nothing.
fn written<'a>(cases: impl Iterator<Item = &'a Case>) -> Option<String> {
    let all = cases.map(|case| case.writes).fold(Writes::default(), |sum, writes| Writes {
        files: Bytes(sum.files.get().saturating_add(writes.files.get())),
        total: Bytes(sum.total.get().saturating_add(writes.total.get())),
        rewriting: sum.rewriting.plus(writes.rewriting),
    });
    let (files, total) = (all.files.rounded(), all.total.rounded());
    let again = if all.total > all.files {
        format!(": files of {files}, rewritten by later trials")
    } else {
        String::new()
    };
    match (all.total.get() > 0, all.rewriting.get() > 0) {
        (false, false) => None,
        (true, false) => Some(format!("{total} to storage{again}")),
        (filled, true) => {
            let fill = if filled { format!(", after {total} to fill them") } else { String::new() };
            let time = span(Duration::from(all.rewriting));
            Some(format!(
                "files of {files} to storage, rewritten for {time} as fast as the storage can{fill}"
            ))
        }
    }
}

/// The plan's choices for a case, and why the case is there.
fn planned(case: &Case) -> String {
    let said = [case.planned.to_string().replace(',', ", "), case.origin.to_string()];
    clean(&said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use seatrial_model::{Budget, Params};

    use super::*;

    fn case(writes: Writes) -> Case {
        let budget = Budget {
            trials: 3,
            max_trials: 6,
            measure: Nanos::secs(1),
            prepare: Nanos::secs(1),
            precision_percent: 2.0,
            ..Budget::NOTHING
        };
        Case { writes, ..Case::new(&About::WORKER, "n1", Subject::node(), &Params::default(), budget) }
    }

    #[test]
    fn what_is_written_once_again_and_for_a_time_is_told_apart() {
        let mib = 1 << 20;
        let timed = Writes { rewriting: Nanos::secs(6), ..Writes::times(64 * mib, 0) };
        let filled = Writes { rewriting: Nanos::secs(6), ..Writes::times(64 * mib, 3) };
        for (writes, expected) in [
            (vec![Writes::default()], None),
            (vec![Writes::times(64 * mib, 1)], Some("64 MiB to storage")),
            (
                vec![Writes::times(64 * mib, 3)],
                Some("192 MiB to storage: files of 64 MiB, rewritten by later trials"),
            ),
            (vec![Writes::times(64 * mib, 1); 2], Some("128 MiB to storage")),
            (vec![timed], Some("files of 64 MiB to storage, rewritten for 6 s as fast as the storage can")),
            (
                vec![filled],
                Some(
                    "files of 64 MiB to storage, rewritten for 6 s as fast as the storage can, after 192 MiB to \
                     fill them",
                ),
            ),
        ] {
            let cases: Vec<Case> = writes.into_iter().map(case).collect();
            assert_eq!(written(cases.iter()).as_deref(), expected);
        }
    }
}

//! The live view as lines that fit a terminal: one line per running case, or with many cases a summary with the
//! slowest.

use std::collections::BTreeMap;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use seatrial_model::profile::fold;
use seatrial_model::{CaseId, Outcome, Phase};
use seatrial_report::cut_middle;

use super::live::{Counts, Landed, Live, Running};

const MOST_LINES: usize = 6;

/// Cases of the summary that are named.
const SLOWEST: usize = 3;

/// Columns of the bars.
const WIDE: usize = 24;
const NARROW: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub width: usize,
    pub height: usize,
    pub colored: bool,
}

type Piece = (Option<AnsiColor>, String);

/// The lines for `live` at `now`, since the start of the run; none is wider than the room.
pub fn lines(live: &Live, now: Duration, room: Room) -> Vec<String> {
    if live.total == 0 {
        return Vec::new();
    }
    let mut lines = vec![head(live, now)];
    if live.running.len() <= MOST_LINES {
        lines.extend(live.running.iter().map(|(case, running)| row(case, running, now, room.width)));
    } else {
        lines.extend(board(live, now, room.width));
    }
    lines.extend(live.last.iter().map(|landed| last(landed, room.width)));
    // The last row is left for the cursor.
    lines.truncate(room.height.saturating_sub(1).max(1));
    lines.into_iter().map(|line| paint(line, room)).collect()
}

/// The progress as a sentence, for a log.
pub fn left(live: &Live, now: Duration) -> String {
    format!("about {} left", span(live.left(now)))
}

/// A duration in words: `8 s`, `3 min 20 s`, `2 h 5 min`.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn head(live: &Live, now: Duration) -> Vec<Piece> {
    let Counts { measured, failed, unmeasured, skipped } = live.counts;
    let share = live.done as f64 / live.total.max(1) as f64;
    let mut line = bar(share, WIDE);
    line.push(plain(format!(" {}/{}", live.done, live.total)));
    let words = [
        (None, measured, "measured"),
        (Some(AnsiColor::Red), failed, "failed"),
        (Some(AnsiColor::Yellow), unmeasured, "unmeasured"),
        (None, skipped, "skipped"),
    ];
    for (color, count, word) in words.into_iter().filter(|(_, count, _)| *count > 0) {
        line.push((color, format!(" · {count} {word}")));
    }
    line.push(plain(format!(" · {}", left(live, now))));
    line
}

/// One case; progress is at the right, so that the name gets the remaining room.
fn row(case: &CaseId, running: &Running, now: Duration, width: usize) -> Vec<Piece> {
    let so_far = now.saturating_sub(running.since);
    let share = match running.estimate {
        Duration::ZERO => 0.0,
        whole => so_far.as_secs_f64() / whole.as_secs_f64(),
    };
    let trial = format!("  trial {}/{} ", running.trial + 1, running.trials.max(running.trial + 1));
    let phase = format!("{:<9} ", doing(running.phase));
    let left = match running.estimate.checked_sub(so_far) {
        Some(left) => format!(" {:>10}", span(left)),
        None => format!(" {:>10}", format!("+{}", span(so_far - running.estimate))),
    };
    let taken = count(&trial) + count(&phase) + NARROW + count(&left);
    let room = width.saturating_sub(taken + 1);
    let name = format!("{:<room$}", cut_middle(case.as_str(), room));
    let mut line = vec![plain(name), plain(trial), plain(phase)];
    line.extend(bar(share, NARROW));
    line.push(plain(left));
    line
}

fn board(live: &Live, now: Duration, width: usize) -> Vec<Vec<Piece>> {
    let nodes: Vec<&str> =
        live.running.values().flat_map(|running| &running.nodes).map(String::as_str).collect();
    let mut benches: BTreeMap<&str, usize> = BTreeMap::new();
    let mut phases: BTreeMap<Option<Phase>, usize> = BTreeMap::new();
    for (case, running) in &live.running {
        *benches.entry(bench(case)).or_default() += 1;
        *phases.entry(running.phase).or_default() += 1;
    }
    let counted = |all: Vec<(String, usize)>| {
        all.into_iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(" · ")
    };
    let phases = counted(phases.into_iter().map(|(phase, count)| (doing(phase).to_owned(), count)).collect());
    let mut benches: Vec<(String, usize)> =
        benches.into_iter().map(|(bench, count)| (bench.to_owned(), count)).collect();
    benches.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let labelled = |label: &str, text: &str| {
        vec![plain(format!("{label:<9}")), plain(cut_middle(text, width.saturating_sub(10)))]
    };
    let mut lines = vec![
        labelled("running", &format!("{} · {} waiting · {phases}", live.running.len(), live.waiting())),
        labelled("on", &fold(&nodes)),
        labelled("measuring", &format!(" {}", counted(benches))),
    ];
    // By the time beyond the estimate, since cases differ.
    let mut late: Vec<(Duration, &CaseId, &Running)> = live
        .running
        .iter()
        .map(|(case, running)| {
            (now.saturating_sub(running.since).saturating_sub(running.estimate), case, running)
        })
        .collect();
    late.sort_by_key(|(late, case, running)| (std::cmp::Reverse(*late), running.since, (*case).clone()));
    for (late, case, running) in late.into_iter().take(SLOWEST) {
        let so_far = span(now.saturating_sub(running.since));
        let late =
            if late < Duration::from_secs(1) { String::new() } else { format!(", {} late", span(late)) };
        let told = format!("  {} for {so_far}{late}", doing(running.phase));
        let room = width.saturating_sub(10 + count(&told));
        lines.push(vec![
            plain(format!("{:<9}", "slowest")),
            plain(cut_middle(case.as_str(), room)),
            plain(told),
        ]);
    }
    lines
}

fn last(landed: &Landed, width: usize) -> Vec<Piece> {
    let (color, word) = match landed.outcome {
        Outcome::Measured => (AnsiColor::Green, "done"),
        Outcome::Failed => (AnsiColor::Red, "FAIL"),
        Outcome::Unmeasured => (AnsiColor::Yellow, "none"),
        Outcome::Skipped => (AnsiColor::White, "skip"),
    };
    // Both ends of an id matter; of a sentence, the start.
    let room = width.saturating_sub(9);
    let name = cut_middle(landed.case.as_str(), room.saturating_sub(count(&landed.text).min(room / 2)));
    let text = end(&landed.text, room.saturating_sub(count(&name)));
    vec![(Some(color), word.to_owned()), plain(format!("  {name}")), plain(format!("  {text}"))]
}

fn doing(phase: Option<Phase>) -> &'static str {
    match phase {
        None => "starting",
        Some(Phase::Prepare) => "preparing",
        Some(Phase::Connect) => "connects",
        Some(Phase::WarmUp) => "warms up",
        Some(Phase::Measure) => "measuring",
        Some(Phase::Verify) => "verifies",
    }
}

fn bench(case: &CaseId) -> &str {
    let before = case.as_str().split('@').next().unwrap_or_default();
    before.rsplit(':').next().unwrap_or(before)
}

fn bar(share: f64, width: usize) -> Vec<Piece> {
    let full = ((share.clamp(0.0, 1.0) * width as f64) as usize).min(width);
    vec![(Some(AnsiColor::Cyan), "━".repeat(full)), plain("─".repeat(width - full))]
}

fn plain(text: impl Into<String>) -> Piece {
    (None, text.into())
}

fn count(text: &str) -> usize {
    text.chars().count()
}

/// `text` in at most `room` columns, cut at the end.
fn end(text: &str, room: usize) -> String {
    let text = text.lines().next().unwrap_or_default();
    match room.checked_sub(1) {
        _ if count(text) <= room => text.to_owned(),
        Some(kept) => text.chars().take(kept).chain(['…']).collect(),
        None => String::new(),
    }
}

/// The line, cut to the room, in colour where allowed.
fn paint(line: Vec<Piece>, room: Room) -> String {
    let mut left = room.width;
    let mut painted = String::new();
    for (color, text) in line {
        // Names of nodes and paths must not contain control characters.
        let text: String = text.chars().filter(|c| !c.is_control()).take(left).collect();
        left -= count(&text);
        match color.filter(|_| room.colored) {
            Some(color) => {
                let style = Style::new().fg_color(Some(color.into()));
                painted += &format!("{style}{text}{style:#}");
            }
            None => painted += &text,
        }
    }
    painted
}

#[cfg(test)]
mod tests;

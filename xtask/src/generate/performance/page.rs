//! The page that all begin with, and the page of an area.

use std::fmt::Write;

use super::super::File;
use super::{Subject, word};
use crate::instructions::KeptLoops;
use crate::versus::Lead;
use crate::versus::kept::Kept;

const MARK: &str = "<!-- Made by `cargo xtask generate` from xtask/performance. -->\n";

const HEAD: &str = "\
# Performance

Seatrial and another program do the same work on the same processors, in turn. A row is one such work.

- **Ratio**: above 1, Seatrial is better, for rates and for times alike. It is the median over rounds; a round is one turn of ours,
  held against the geometric mean of two turns of the other's.
- **Interval**: 95 % if the rounds were looked at once, else 1 - 0.05 / looks.
- **Ahead**, **behind**: the whole interval lies on that side of 1. **Level**: it lies within 1 % of 1. **Open**: all else.
- **Goal met**: the ratio reaches the goal, and the interval goes no lower than that of the other program against itself, and 5 %
  below the goal at most.

The newest row of each work counts here.

![Ratio and interval of every row, by area](performance/ratios.svg)

";

const REPEAT: &str = "\
## Repeat

    cargo xtask versus AREA --prepare
    cargo xtask versus AREA --list
    cargo xtask versus AREA --only TEXT --keep
    cargo xtask generate

`AREA` is the name of a page above. Areas that make a lab (`cluster`, `network`, `storage`, `transfer`) need root.

- `--prepare` fetches and builds the peers that are no Debian packages, at fixed commits, below `target/peers`;
  `--source NAME=FOLDER` takes one from a folder or git repository. Rows of a peer that is not prepared are left out; Debian
  packages are installed when rows are measured.
- `--only` selects rows by a part of their name.
- `--keep` writes the rows into `xtask/performance/AREA.jsonl`, in place of those of the same name, processor and number of threads.
  `generate` makes these pages of it. A reason (`why`) and the version of the other program (`peer`) are written there by hand.
- `--rounds`: 36 rounds a row at most. `versus` looks after every six, and the row ends when the interval decides. As every look is
  a chance to be wrong, that interval is the one of 1 - 0.05 / looks (Bonferroni).
- A round begins when other programs, the host (steal) and waits for CPU or storage (`/proc/pressure`) take at most 5 % of a quarter
  of a second, or after 20 s; then the round counts as disturbed.
- Seatrial measures without probes (`--no-probes`), so that none of its trials is repeated because others used the machine.
- `--own BINARY` compares with an earlier binary of Seatrial that knows `--no-probes`, with a goal of 0.99.

Rows without a number of looks are older. Their intervals are of 95 %, also where wider ones decided. Their ratios are those to the
first of the other's two turns. Disturbed trials of Seatrial's were repeated, and the number of disturbed rounds was not kept.
";

/// The ratio of which the page says how many rows reach it.
const FAR: f64 = 1.2;

/// The page that fits into two minutes.
pub(super) fn summary(subjects: &[Subject]) -> File {
    let mut text = format!(
        "{MARK}{HEAD}| area | ahead | level | open | behind | best row | worst row |\n|---|---|---|---|---|---|---|\n"
    );
    let (measured, others): (Vec<&Subject>, Vec<&Subject>) =
        subjects.iter().partition(|subject| subject.is_of_peers());
    for subject in &measured {
        let rows = subject.newest();
        let count = |lead: &str| rows.iter().filter(|row| word(row.lead) == lead).count().to_string();
        let named = |row: Option<&&Kept>| {
            row.map_or_else(String::new, |row| format!("{}: {:.3}", row.work, row.ratio))
        };
        let cells = [
            link(subject),
            count("ahead"),
            count("level"),
            count("open"),
            count("behind"),
            named(rows.first()),
            named(rows.last()),
        ];
        push(&mut text, &cells);
    }
    let all: Vec<&Kept> = measured.iter().flat_map(|subject| subject.newest()).collect();
    let far = all.iter().filter(|row| row.lead == Lead::Ahead && row.ratio >= FAR).count();
    writeln!(text, "\n{far} of {} rows are ahead by a ratio of {FAR} or more.", all.len())
        .expect("a String takes all");
    if !others.is_empty() {
        let links: Vec<String> = others.into_iter().map(link).collect();
        writeln!(text, "\nMeasured without such rows: {}.", links.join(", ")).expect("a String takes all");
    }
    text += "\n## Behind\n\n| area | work | ratio [interval] | measured | why |\n|---|---|---|---|---|\n";
    for subject in &measured {
        for row in subject.newest().into_iter().filter(|row| row.lead == Lead::Behind) {
            let why = row.why.clone().unwrap_or_else(|| "not examined".to_owned());
            let ratio = ratio(row.ratio, row.interval);
            push(&mut text, &[subject.name.clone(), row.work.clone(), ratio, row.date.to_string(), why]);
        }
    }
    text.push('\n');
    text += REPEAT;
    File::new("docs/performance.md", &text)
}

fn link(subject: &Subject) -> String {
    format!("[{}](performance/{}.md)", subject.title(), subject.name)
}

/// The page of an area: its tables stand where its text says `{rows}`, the instructions of hot loops where it says
/// `{instructions}`.
pub(super) fn area(subject: &Subject, loops: &KeptLoops) -> File {
    let mut text = subject.text.replace("{rows}", tables(&subject.rows).trim_end());
    text =
        text.replace("{instructions}", instructions(loops).trim_end()).replace("{compiler}", &loops.compiler);
    File::new(format!("docs/performance/{}.md", subject.name), &format!("{MARK}{text}"))
}

fn instructions(loops: &KeptLoops) -> String {
    let mut text = "| crate | round | instructions |\n|---|---|---|\n".to_owned();
    for (name, count) in &loops.rounds {
        let (of, round) = name.split_once("::").unwrap_or(("", name));
        let round = round.rsplit("::").next().unwrap_or(round).replace('_', " ").replace(" kib ", " KiB ");
        push(&mut text, &[of.to_owned(), round, count.to_string()]);
    }
    text
}

/// A table for each day and machine, the newest first.
fn tables(rows: &[Kept]) -> String {
    if rows.is_empty() {
        return "No rows are kept yet.".to_owned();
    }
    let head = |row: &Kept| format!("{}, {}:", row.date, row.machine);
    let mut heads: Vec<String> = rows.iter().map(head).collect();
    heads.sort_by(|one, other| other.cmp(one));
    heads.dedup();
    let mut text = String::new();
    for wanted in heads {
        writeln!(text, "{wanted}\n\n| work | Seatrial | peer | ratio [interval] | peer against itself [95 %] | goal | rounds | who is ahead | standing |\n|---|---|---|---|---|---|---|---|---|").expect("a String takes all");
        for row in rows.iter().filter(|row| head(row) == wanted) {
            let cells = [
                row.work.clone(),
                format!("{} {}", row.ours, row.unit),
                format!("{} {}", row.theirs, row.unit),
                ratio(row.ratio, row.interval),
                ratio(row.itself, row.itself_interval),
                row.goal.map_or_else(|| "none".to_owned(), |goal| format!(">= {goal:.2}")),
                rounds(row),
                row.lead.to_string(),
                row.standing.map_or_else(String::new, |standing| standing.to_string()),
            ];
            push(&mut text, &cells);
        }
        text.push('\n');
    }
    text
}

/// How many rounds, how often they were looked at, and how many began while others used the machine, as far as it is known.
fn rounds(row: &Kept) -> String {
    let mut text = row.rounds.to_string();
    for (name, count) in [("looks", row.looks), ("disturbed", row.disturbed)] {
        text += &count.map_or_else(String::new, |count| format!(", {name}: {count}"));
    }
    text
}

pub(super) fn ratio(ratio: f64, interval: Option<[f64; 2]>) -> String {
    match interval {
        Some([low, high]) => format!("{ratio:.3} [{low:.3}, {high:.3}]"),
        None => format!("{ratio:.3}"),
    }
}

fn push(text: &mut String, cells: &[String]) {
    for cell in cells {
        let space = if cell.is_empty() { "" } else { " " };
        write!(text, "|{space}{}{space}", cell.replace('|', "\\|")).expect("a String takes all");
    }
    // An empty last cell keeps its space.
    text.push_str(if cells.last().is_some_and(String::is_empty) { " |\n" } else { "|\n" });
}

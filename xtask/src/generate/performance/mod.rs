//! The pages of performance, from the kept results of `cargo xtask versus AREA --keep` and the text about each area.

mod page;
mod picture;

use std::cmp::Ordering;
use std::path::Path;

use anyhow::{Context, Result};

use super::File;
use crate::instructions::KeptLoops;
use crate::versus::kept::{self, Kept};
use crate::versus::{AREAS, Lead, TRUTH};
use crate::workspace;

/// One page below `docs/performance`.
struct Subject {
    /// The word behind `versus`, where rows are compared.
    name: String,
    /// What was written by hand; starts with the title.
    text: String,
    /// Every kept row.
    rows: Vec<Kept>,
}

impl Subject {
    /// The newest row of each work, the best first.
    fn newest(&self) -> Vec<&Kept> {
        let newer = |row: &Kept| {
            self.rows.iter().any(|other| {
                other.work == row.work && (other.date, &other.machine.cpu) > (row.date, &row.machine.cpu)
            })
        };
        let mut rows: Vec<&Kept> = self.rows.iter().filter(|row| !newer(row)).collect();
        rows.sort_by(|one, other| {
            let order = other.ratio.partial_cmp(&one.ratio).unwrap_or(Ordering::Equal);
            order.then_with(|| one.work.cmp(&other.work))
        });
        rows
    }

    /// Whether its rows compare with programs of others: what a check costs is nobody's lead.
    fn is_of_peers(&self) -> bool {
        !self.rows.is_empty() && self.name != TRUTH.name
    }

    fn title(&self) -> &str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// The page, its picture, and a page an area.
///
/// # Errors
/// When a text or a file of results cannot be read, or a file of results is that of no area.
pub fn files() -> Result<Vec<File>> {
    made(&workspace::root().join(kept::FOLDER))
}

fn made(folder: &Path) -> Result<Vec<File>> {
    let subjects = subjects(folder)?;
    let loops = KeptLoops::read()?;
    let mut files: Vec<File> = subjects.iter().map(|subject| page::area(subject, &loops)).collect();
    files.push(page::summary(&subjects));
    files.push(picture::file(&subjects));
    Ok(files)
}

/// In the order of the areas; those without rows behind them.
fn subjects(folder: &Path) -> Result<Vec<Subject>> {
    let mut names: Vec<String> = kept::areas(folder)?.into_iter().map(str::to_owned).collect();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".md").map(str::to_owned));
    }
    names.sort_by_key(|name| {
        (AREAS.iter().position(|area| area.name == name).unwrap_or(AREAS.len()), name.clone())
    });
    names.dedup();
    let subject = |name: String| {
        let path = folder.join(format!("{name}.md"));
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Subject { rows: kept::read(folder, &name)?, name, text })
    };
    names.into_iter().map(subject).collect()
}

/// The word of a lead, which is its class in the picture as well.
fn word(lead: Lead) -> &'static str {
    match lead {
        Lead::Ahead => "ahead",
        Lead::Level => "level",
        Lead::Behind => "behind",
        Lead::Open(_) => "open",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Stale, Tree};
    use super::*;

    const ROW: &str = r#"{"work":"a & b vs c","peer":"c 1.0","unit":"s","ours":1.0,"theirs":2.0,"ratio":2.0,"interval":[1.5,2.5],"itself":1.0,"rounds":6,"lead":"ahead","date":"2026-11-02","machine":{"cpu":"X","cores":2,"kernel":"6.1"}}"#;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        // An older row of another machine, on which the work was behind.
        let older = ROW
            .replace("11-02", "11-01")
            .replace("2.0,\"interval\":[1.5,2.5]", "0.05,\"interval\":[0.01,0.5]")
            .replace("ahead", "behind")
            .replace("\"X\"", "\"Y\"");
        std::fs::write(folder.path().join("memory.jsonl"), format!("{ROW}\n{older}\n")).unwrap();
        std::fs::write(folder.path().join("memory.md"), "# Memory\n\nMethod.\n\n{rows}\n\nRemarks.\n")
            .unwrap();
        std::fs::write(folder.path().join("gpu.md"), "# GPU\n\nBy hand.\n").unwrap();
        folder
    }

    fn text(files: &[File], path: &str) -> String {
        files.iter().find(|file| file.path == path).unwrap().text.clone()
    }

    #[test]
    fn an_area_has_all_its_rows_and_the_summary_the_newest_of_each_work() {
        let folder = folder();
        let files = made(folder.path()).unwrap();
        let area = text(&files, "docs/performance/memory.md");
        let at = |wanted: &str| area.find(wanted).unwrap_or_else(|| panic!("{wanted}: {area}"));
        assert!(at("Method.") < at("2026-11-02, X, 2 threads, Linux 6.1"), "{area}");
        assert!(at("Linux 6.1") < at("2026-11-01, Y") && at("2026-11-01, Y") < at("Remarks."), "{area}");
        let row = "| a & b vs c | 1 s | 2 s | 2.000 [1.500, 2.500] | 1.000 | none |";
        assert!(area.contains(&format!("{row} 6 | ahead | |")), "{area}");
        let told = ROW.replace("\"rounds\":6", "\"rounds\":6,\"looks\":2,\"disturbed\":1");
        std::fs::write(folder.path().join("memory.jsonl"), told).unwrap();
        let area = text(&made(folder.path()).unwrap(), "docs/performance/memory.md");
        assert!(area.contains(&format!("{row} 6, looks: 2, disturbed: 1 | ahead | |")), "{area}");
        let summary = text(&files, "docs/performance.md");
        assert!(summary.contains("| [Memory](performance/memory.md) | 1 | 0 | 0 | 0 |"), "{summary}");
        assert!(summary.contains("1 of 1 rows are ahead by a ratio of 1.2 or more."), "{summary}");
        assert!(summary.contains("[GPU](performance/gpu.md)"), "{summary}");
        let picture = text(&files, "docs/performance/ratios.svg");
        assert!(picture.contains("class=\"ahead\"") && picture.contains("a &amp; b vs c"), "{picture}");
        assert!(!picture.contains("0.050"), "{picture}");
    }

    #[test]
    fn the_page_of_what_truth_costs_has_the_kept_instructions() {
        let page = text(&files().unwrap(), "docs/performance/truth.md");
        assert!(page.contains("| bench | a block of 64 KiB is made |"), "{page}");
        assert!(!page.contains('{'), "{page}");
    }

    #[test]
    fn a_page_of_old_results_is_stale() {
        let (folder, root) = (folder(), tempfile::tempdir().unwrap());
        let tree = |files| Tree { root: root.path(), folders: &["docs/performance"], files };
        let files = made(folder.path()).unwrap();
        let first = tree(files);
        first.stale().unwrap().iter().for_each(|one| first.mend(one).unwrap());
        assert_eq!(first.stale().unwrap(), []);
        std::fs::write(folder.path().join("memory.jsonl"), ROW.replace("\"ahead\"", "\"behind\"")).unwrap();
        let summary = text(&made(folder.path()).unwrap(), "docs/performance.md");
        let behind = "| memory | a & b vs c | 2.000 [1.500, 2.500] | 2026-11-02 | not examined |";
        assert!(summary.contains(behind), "{summary}");
        let changed = ["docs/performance.md", "docs/performance/memory.md", "docs/performance/ratios.svg"];
        let changed: Vec<Stale> = changed.map(|path| Stale::Changed(path.to_owned())).into();
        assert_eq!(tree(made(folder.path()).unwrap()).stale().unwrap(), changed);
    }

    #[test]
    fn results_of_an_unknown_area_and_without_a_text_are_refused() {
        let folder = folder();
        std::fs::write(folder.path().join("latency.jsonl"), "").unwrap();
        assert!(made(folder.path()).err().unwrap().to_string().contains("latency.md"));
        std::fs::write(folder.path().join("sailing.jsonl"), "").unwrap();
        assert!(made(folder.path()).err().unwrap().to_string().contains("no area 'sailing'"));
    }

    #[test]
    fn every_area_has_a_text() {
        let subjects = subjects(&workspace::root().join(kept::FOLDER)).unwrap();
        for area in AREAS {
            assert!(subjects.iter().any(|subject| subject.name == area.name), "{}.md", area.name);
        }
    }

    #[test]
    fn the_page_is_read_in_two_minutes_and_every_row_that_is_behind_has_its_reason() {
        let page = text(&files().unwrap(), "docs/performance.md");
        assert!(page.lines().count() <= 110, "{} lines", page.lines().count());
        let subjects = subjects(&workspace::root().join(kept::FOLDER)).unwrap();
        for subject in subjects.iter().filter(|subject| subject.is_of_peers()) {
            for row in subject.newest().into_iter().filter(|row| row.lead == Lead::Behind) {
                let (start, why) = (format!("| {} | {} |", subject.name, row.work), row.why.as_deref());
                let end = format!("| {} | {} |", row.date, why.unwrap_or("not examined"));
                let is_there = page.lines().any(|line| line.starts_with(&start) && line.ends_with(&end));
                assert!(is_there, "{start} {end}");
            }
        }
    }
}

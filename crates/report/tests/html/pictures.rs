//! The pictures and the screens of `docs/report.md`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use seatrial_model::record::{Document, MetricRecord};
use seatrial_report::html::PageContext;
use seatrial_report::terminal::{TerminalContext, render};
use seatrial_report::{Style, TextStyle};

use super::chromium::Chromium;
use super::machines::nodes;
use super::{fixture, page_in};

/// Width and height of a picture.
const SIZES: [(u32, u32); 2] = [(1280, 1400), (400, 1400)];

/// The records that the pictures show.
pub fn records() -> [(&'static str, Document); 4] {
    let records = [
        ("laptop", fixture::host()),
        ("two-gpus", fixture::two_gpus()),
        ("fleet", fixture::fleet_with_three_bad_nodes()),
        ("virtual-machine", fixture::virtual_machine()),
    ];
    records.map(|(name, document)| (name, with_samples(document)))
}

/// Every metric with samples around its median: fixtures have none.
fn with_samples(mut document: Document) -> Document {
    let fill = |metric: &mut MetricRecord| {
        let half = 0.8 * (metric.max - metric.min) / 13.0;
        let sample = |trial: usize, at: usize| {
            let noise = ((at * 37 + trial * 101) % 41) as f64 / 20.0 - 1.0;
            let slow = if at % 29 == 17 { 6.0 } else { 0.0 };
            metric.median + half * (noise - slow + 0.4 * (trial as f64 - 1.0))
        };
        metric.samples = Some((0..3).map(|trial| (0..80).map(|at| sample(trial, at)).collect()).collect());
    };
    document.results.iter_mut().flat_map(|case| case.metrics.values_mut()).for_each(fill);
    document
}

/// The folder that the records were kept in.
const FOLDER: &str = "/home/ada/.local/share/seatrial/runs/20260921-083015-bcdf";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// `text` with the first screens of today, each behind a comment with the name of its record.
fn with_screens(text: &str) -> String {
    let abouts = fixture::abouts();
    let context =
        TerminalContext { folder: Some(Path::new(FOLDER)), abouts: &abouts, ..TerminalContext::default() };
    let mut text = text.to_owned();
    for (name, document) in records() {
        let mark = format!("<!-- screen of {name} -->\n```text\n");
        let from = text.find(&mark).unwrap_or_else(|| panic!("no {mark}")) + mark.len();
        let to = from + text[from..].find("```\n").expect("the end of the screen");
        text.replace_range(from..to, &render(&document, &context, TextStyle::new(Style::Plain, Some(80))));
    }
    text
}

#[test]
fn the_document_about_reports_shows_the_screens_of_today() {
    let text = std::fs::read_to_string(docs().join("report.md")).expect("the document");
    let is_same = with_screens(&text) == text;
    assert!(is_same, "cargo test -p seatrial-report --test html pictures -- --ignored");
}

#[test]
#[ignore = "makes docs/pictures and the screens in docs/report.md anew"]
fn pictures() {
    let document = docs().join("report.md");
    let text = std::fs::read_to_string(&document).expect("the document");
    std::fs::write(&document, with_screens(&text)).expect("written");
    let folder = docs().join("pictures");
    let abouts = fixture::abouts();
    let mut browser = Chromium::start().expect("Chromium");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, document) in records() {
        let nodes = nodes(name, &document);
        let context = PageContext {
            folder: Some(Path::new(FOLDER)),
            nodes: &nodes,
            abouts: &abouts,
            ..PageContext::default()
        };
        let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html"));
        std::fs::write(&page, page_in(&document, &context)).expect("a page");
        for (width, height) in SIZES {
            browser.open(&page, width);
            let picture = browser.picture(width, height);
            put(&picture, &folder.join(format!("{name}-{width}.png")));
        }
    }
}

/// Writes a PNG in base64 with few colours.
fn put(picture: &str, to: &Path) {
    let command = "base64 -d | pngquant --quality 60-95 - > \"$0\"";
    let mut child =
        Command::new("sh").args(["-c", command]).arg(to).stdin(Stdio::piped()).spawn().expect("a shell");
    child.stdin.take().expect("a pipe").write_all(picture.as_bytes()).expect("the shell reads");
    assert!(child.wait().expect("an end").success(), "pngquant of the package of that name");
}

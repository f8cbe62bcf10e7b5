//! The picture of all rows: a line a row, from the lower to the upper end of its interval, with a dot at the ratio.

use std::fmt::Write;

use super::super::File;
use super::{Subject, page, word};

/// Where the axis begins and ends.
const RATIOS: (f64, f64) = (0.07, 22.0);
/// Where it begins and ends in the picture.
const ACROSS: (f64, f64) = (110.0, 880.0);
/// From row to row, before an area, and above the first.
const PITCH: f64 = 7.0;
const GAP: f64 = 16.0;
const TOP: f64 = 64.0;

const STYLE: &str = "\
<style>
text { font: 14px sans-serif; fill: #1f2328; }
.grid { stroke: #d1d9e0; } .one { stroke: #1f2328; }
.ahead { stroke: #0969da; fill: #0969da; } .level { stroke: #59636e; fill: #59636e; }
.open { stroke: #9a6700; fill: #ffffff; } .behind { stroke: #d1242f; fill: #d1242f; }
line { stroke-width: 2; } .grid, .one { stroke-width: 1; } circle { stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; } .grid { stroke: #3d444d; } .one { stroke: #f0f6fc; }
.ahead { stroke: #4493f8; fill: #4493f8; } .level { stroke: #9198a1; fill: #9198a1; }
.open { stroke: #d29922; fill: #0d1117; } .behind { stroke: #f85149; fill: #f85149; }
}
</style>
";

/// The picture.
pub(super) fn file(subjects: &[Subject]) -> File {
    let (mut rows, mut y) = (String::new(), TOP);
    for subject in subjects.iter().filter(|subject| subject.is_of_peers()) {
        y += GAP;
        writeln!(rows, "<text x=\"8\" y=\"{:.0}\">{}</text>", y + 5.0, escaped(&subject.name))
            .expect("a String takes all");
        for row in subject.newest() {
            let class = word(row.lead);
            let [low, high] = row.interval.unwrap_or([row.ratio; 2]);
            let title = format!("{}: {}, {}", row.work, page::ratio(row.ratio, row.interval), row.lead);
            writeln!(
                rows,
                "<g class=\"{class}\"><title>{}</title><line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y:.0}\" y2=\"{y:.0}\"/><circle cx=\"{:.1}\" cy=\"{y:.0}\" r=\"2.6\"/></g>",
                escaped(&title), across(low), across(high), across(row.ratio)
            )
            .expect("a String takes all");
            y += PITCH;
        }
    }
    let height = y + GAP;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 {height:.0}\" width=\"900\" height=\"{height:.0}\">\n{STYLE}"
    );
    for (number, word) in ["ahead", "level", "open", "behind"].into_iter().enumerate() {
        let x = ACROSS.0 + 100.0 * number as f64;
        writeln!(text, "<g class=\"{word}\"><line x1=\"{:.0}\" x2=\"{:.0}\" y1=\"15\" y2=\"15\"/><circle cx=\"{x:.0}\" cy=\"15\" r=\"4\"/></g><text x=\"{:.0}\" y=\"20\">{word}</text>", x - 10.0, x + 10.0, x + 16.0).expect("a String takes all");
    }
    for ratio in [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0] {
        let (x, class) = (across(ratio), if ratio == 1.0 { "one" } else { "grid" });
        writeln!(text, "<text x=\"{x:.1}\" y=\"50\" text-anchor=\"middle\">{ratio}</text><line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"56\" y2=\"{height:.0}\"/>").expect("a String takes all");
    }
    text += &rows;
    text += "</svg>";
    File::new("docs/performance/ratios.svg", &text)
}

/// Where a ratio lies, on a logarithmic axis; at the end of it what lies beyond.
fn across(ratio: f64) -> f64 {
    let share = (ratio / RATIOS.0).ln() / (RATIOS.1 / RATIOS.0).ln();
    ACROSS.0 + share.clamp(0.0, 1.0) * (ACROSS.1 - ACROSS.0)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_as_fast_and_half_as_fast_are_equally_far_from_the_same() {
        let (half, one, twice) = (across(0.5), across(1.0), across(2.0));
        assert!((one - half - (twice - one)).abs() < 1e-9 && half < one);
        assert_eq!((across(1e-9), across(1e9)), ACROSS);
    }
}

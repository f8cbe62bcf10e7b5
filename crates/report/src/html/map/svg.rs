//! A map as SVG.

use std::fmt::Write;

use super::layout::{Line, NAME_SIZE, Placed, RESULT_LINE, TEXT_LINE, TEXT_SIZE, Text, characters, place};
use crate::html::plot::escaped;
use crate::html::words::{grouped, text};
use crate::view::map::{MapBox, MapResult};
use crate::words::cut;

/// Where the link of a result leads: the place of its case, empty if the case is not shown.
pub type Target<'a> = &'a dyn Fn(&str) -> String;

/// The elements of a map and its height.
pub fn elements(drawn: &MapBox, y: f64, width: f64, has_run: bool, target: Target<'_>) -> (String, f64) {
    let placed = place(drawn, (0.5, y + 0.5), width - 1.0, has_run);
    let mut out = String::new();
    draw(&placed, target, &mut out);
    (out, placed.height + 1.0)
}

fn draw(placed: &Placed<'_>, target: Target<'_>, out: &mut String) {
    let class = if placed.of.is_place { "place" } else { placed.of.shade().class() };
    let (x, y, width, height) = (placed.x, placed.y, placed.width, placed.height);
    let _ = write!(
        out,
        "<rect class=\"box {class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"4\"/>"
    );
    let worst = placed.of.worst();
    if !placed.of.is_place && worst != placed.of.shade() {
        let _ = write!(
            out,
            "<rect class=\"band {}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"5\" height=\"{height:.1}\" rx=\"2\"/>",
            worst.class()
        );
    }
    placed.lines.iter().for_each(|line| write_line(line, target, out));
    placed.inside.iter().for_each(|inside| draw(inside, target, out));
}

fn write_line(line: &Line<'_>, target: Target<'_>, out: &mut String) {
    let (class, size, told) = match &line.text {
        Text::Name(told) => ("name", NAME_SIZE, told),
        Text::Words(told) => ("words", TEXT_SIZE, told),
        Text::Quiet(told) => ("quiet", TEXT_SIZE, told),
        Text::Result(result, below) => return write_result(line, result, below, target, out),
    };
    let (x, y) = (line.x, line.y + size);
    let _ = write!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", safe(told));
}

/// Test, value and percent of the limit, above a bar of the share of the limit, and how the nodes differ.
fn write_result(line: &Line<'_>, result: &MapResult, below: &[String], target: Target<'_>, out: &mut String) {
    let to = target(&result.case);
    if !to.is_empty() {
        let _ = write!(out, "<a href=\"#{to}\">");
    }
    let class = result.shade.class();
    let sign = result.shade.badge().map_or(String::new(), |badge| format!("{} ", badge.sign));
    let percent = result.percent.as_deref().unwrap_or_default();
    let room = characters(line.width, TEXT_SIZE).saturating_sub(percent.chars().count() + 5);
    let on = result.node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
    let value = grouped(&result.value) + &on;
    let most = room.saturating_sub(value.chars().count() + 1).max(6);
    // Where the box has no room for the family of the benchmark, the box says it.
    let test = match result.test.split_once('.') {
        Some((_, name)) if result.test.chars().count() > most => name,
        _ => &result.test,
    };
    let test = cut(test, most);
    let (x, y, right) = (line.x, line.y, line.x + line.width);
    let _ = write!(
        out,
        "<g class=\"result {class}\"><title>{}</title><text x=\"{x:.1}\" y=\"{:.1}\"><tspan class=\"sign\">{sign}</tspan>{} \
         <tspan class=\"value\">{}</tspan></text>",
        safe(&result.text()),
        y + TEXT_SIZE,
        safe(&test),
        safe(&value)
    );
    for (number, told) in below.iter().enumerate() {
        let y = y + RESULT_LINE - 1.0 + TEXT_SIZE + number as f64 * TEXT_LINE;
        let _ = write!(out, "<text class=\"words\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", safe(told));
    }
    if let Some(share) = result.share {
        let (y, long) = (y + TEXT_SIZE + 4.5, line.width * share / 100.0);
        let _ = write!(
            out,
            "<text class=\"percent\" x=\"{right:.1}\" y=\"{:.1}\">{}</text><rect class=\"track\" x=\"{x:.1}\" y=\"{y:.1}\" \
             width=\"{:.1}\" height=\"3\"/><rect class=\"reach\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{long:.1}\" height=\"3\"/>",
            line.y + TEXT_SIZE,
            safe(percent),
            line.width,
        );
    }
    out.push_str("</g>");
    if !to.is_empty() {
        out.push_str("</a>");
    }
}

pub fn safe(told: &str) -> String {
    escaped(&text(told))
}

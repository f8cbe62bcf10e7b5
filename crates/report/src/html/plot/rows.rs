//! Plots of numbers beside each other: a row per case, or a tick per node.

use kuva::render::color::Color;
use kuva::render::render::Scene;

use super::frame::{Frame, layout};
use super::marks::{path, shape};
use super::svg::{plain, svg};
use super::{ends, widened};
use crate::words::cut;

const ROW: f64 = 24.0;

const LONGEST_NAME: usize = 24;

/// A row: a median with its interval, all samples, a limit.
#[derive(Clone, Debug)]
pub struct Interval {
    pub name: String,
    pub median: f64,
    pub ci95: Option<(f64, f64)>,
    pub ends: (f64, f64),
    pub limit: Option<f64>,
    /// The bounds of the profile.
    pub bounds: Vec<f64>,
    /// The class of its verdict.
    pub class: &'static str,
    pub tip: String,
}

/// Where the axis starts.
#[derive(Clone, Copy, PartialEq)]
pub enum Start {
    Zero,
    /// Near the smallest value: for ratios around one.
    Values,
}

/// A row per case: median, interval, samples, limit and bounds. `None` without numbers.
pub fn intervals(label: &str, rows: &[Interval], start: Start) -> Option<String> {
    let values = rows.iter().flat_map(|row| {
        let (low, high) = row.ci95.unwrap_or((row.median, row.median));
        let ends = [Some(row.ends.0), Some(row.ends.1), Some(low), Some(high), row.limit];
        ends.into_iter().flatten().chain(row.bounds.iter().copied())
    });
    let (low, high) = ends(values)?;
    let low = if start == Start::Values { low - 0.04 * (high - low) } else { low.min(0.0) };
    let x = widened((low, high + 0.04 * (high - low)));
    let height = 44.0 + ROW * rows.len() as f64;
    let mut layout = layout(x, (0.5, rows.len() as f64 + 0.5), height);
    (layout.y_axis_min, layout.y_axis_max) = (Some(0.5), Some(rows.len() as f64 + 0.5));
    layout.x_axis_min = (low == 0.0).then_some(low);
    layout.show_grid = true;
    layout.y_categories = Some(rows.iter().rev().map(|row| plain(&cut(&row.name, LONGEST_NAME))).collect());
    let mut frame = Frame::new(&layout);
    for (at, row) in rows.iter().rev().enumerate() {
        let y = frame.at.map_y(at as f64 + 1.0);
        let x = |value: f64| frame.at.map_x(value);
        let (ends, median) = ((x(row.ends.0), x(row.ends.1)), x(row.median));
        let ci = row.ci95.map(|(low, high)| (x(low), x(high)));
        let upright = row.limit.map(|limit| (x(limit), "var(--limit)")).into_iter();
        let upright: Vec<(f64, &str)> =
            upright.chain(row.bounds.iter().map(|bound| (x(*bound), "var(--bound)"))).collect();
        let colour = match row.class {
            "fail" => "var(--fail)",
            "warn" | "unknown" => "var(--warn)",
            _ => "var(--c0)",
        };
        frame.open("pt", &row.tip);
        // A hover area along the whole row.
        frame.rect((ends.0 - 4.0, y - ROW / 2.0), (ends.1 - ends.0 + 8.0, ROW), "transparent", None);
        frame.line(vec![(ends.0, y), (ends.1, y)], colour, 1.2, None);
        if let Some((low, high)) = ci {
            frame.rect((low, y - 4.0), ((high - low).max(1.0), 8.0), colour, Some(0.35));
        }
        frame.shape((median, y), 0, colour);
        frame.close();
        for (x, colour) in upright {
            frame.line(vec![(x, y - 9.0), (x, y + 9.0)], colour, 2.0, None);
        }
    }
    Some(frame.finish(label))
}

/// A tick for every value on one line, the worst marked: a distribution over nodes.
pub fn rug(values: &[f64], worst: Option<f64>, label: &str) -> String {
    const LONG: f64 = 160.0;
    let Some((low, high)) = ends(values.iter().copied()) else { return String::new() };
    let place =
        |value: f64| if high > low { 4.0 + (LONG - 8.0) * (value - low) / (high - low) } else { LONG / 2.0 };
    // Values within half a unit are drawn once.
    let mut places: Vec<i64> = values.iter().map(|value| (2.0 * place(*value)).round() as i64).collect();
    places.sort_unstable();
    places.dedup();
    let ticks: String = places.iter().map(|at| format!("M{} 4v10", *at as f64 / 2.0)).collect();
    let mut scene = Scene::new(LONG, 18.0).with_background(None);
    scene.add(path(ticks, None, Color::from("var(--c0)"), 0.7, None));
    if let Some(worst) = worst {
        scene.add(path(shape((place(worst), 9.0), 3, 4.0), Some("var(--fail)"), Color::None, 0.0, None));
    }
    svg(&scene, label, "rug")
}

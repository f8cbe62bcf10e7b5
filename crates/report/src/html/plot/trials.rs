//! A plot of all samples: a column per trial, with its median.

use seatrial_model::Unit;
use seatrial_stats::Sorted;

use super::frame::{Frame, layout, set_height};
use super::{Mark, Scale, ends};
use crate::html::words::{quantity, text};
use crate::words::count;

const HEIGHT: f64 = 230.0;

/// Dots at most; of more samples some are left out, the smallest and the largest never.
const MOST_DOTS: usize = 600;

/// The width of a dot, where there are few and where there are many.
const DOT: [f64; 2] = [5.0, 3.4];

/// Samples from which on there are many.
const MANY: usize = 60;

/// Names of trials below the plot.
const MOST_NAMES: usize = 10;

/// The share of a column that its dots take.
const FILLED: f64 = 0.76;

pub struct Trials<'a> {
    /// The text for screen readers.
    pub label: String,
    pub trials: &'a [Vec<f64>],
    pub unit: Unit,
    /// The median of all.
    pub median: f64,
    pub up: Scale,
    /// Limits and bounds.
    pub marks: Vec<Mark>,
}

impl Trials<'_> {
    pub fn draw(&self) -> Option<String> {
        let values = self.trials.iter().flatten().copied();
        let lines = self.marks.iter().filter_map(Mark::height);
        let y = ends(values.chain(lines).chain([self.median]))?;
        let x = (0.5, self.trials.len() as f64 + 0.5);
        let mut layout = set_height(layout(x, y, HEIGHT), y, self.up);
        (layout.x_axis_min, layout.x_axis_max) = (Some(x.0), Some(x.1));
        layout.x_tick_step = Some(self.trials.len().div_ceil(MOST_NAMES) as f64);
        layout.x_label = Some("trial".to_owned());
        let mut frame = Frame::new(&layout);
        let (left, right) = (frame.at.margin_left, frame.at.width - frame.at.margin_right);
        let median = frame.at.map_y(self.median);
        frame.line(vec![(left, median), (right, median)], "var(--line)", 1.0, None);
        for (at, samples) in self.trials.iter().enumerate() {
            self.draw_trial(&mut frame, at + 1, samples);
        }
        frame.marks(&self.marks);
        Some(frame.finish(&self.label))
    }

    fn draw_trial(&self, frame: &mut Frame, number: usize, samples: &[f64]) {
        let Some(range) = ends(samples.iter().copied()) else { return };
        let all = self.trials.iter().map(Vec::len).sum::<usize>();
        let step = all.div_ceil(MOST_DOTS).max(1);
        let x = |share: f64| frame.at.map_x(number as f64 + FILLED * (share - 0.5));
        let last = samples.len().saturating_sub(1).max(1) as f64;
        let is_kept = |(at, value): &(usize, &f64)| {
            value.is_finite() && (at % step == 0 || **value == range.0 || **value == range.1)
        };
        let dot = |(at, value): (usize, &f64)| {
            let share = if samples.len() == 1 { 0.5 } else { at as f64 / last };
            format!("M{:.1} {:.1}h0", x(share), frame.at.map_y(*value))
        };
        let dots: String = samples.iter().enumerate().filter(is_kept).map(dot).collect();
        let ends = (x(0.0), x(1.0));
        let median = Sorted::new(samples).ok().and_then(|sorted| sorted.quantile(0.5).ok());
        let told = median.map(|median| format!(", median {}", quantity(median, self.unit)));
        let tip = format!("trial {number}: {}{}", count(samples.len(), "sample"), told.unwrap_or_default());
        frame.open("pt", &text(&tip));
        let (top, bottom) = (frame.at.margin_top, frame.at.height - frame.at.margin_bottom);
        frame.rect((ends.0, top), (ends.1 - ends.0, bottom - top), "transparent", None);
        if let Some(median) = median {
            let y = frame.at.map_y(median);
            frame.line(vec![(ends.0, y), (ends.1, y)], "var(--ink2)", 1.6, None);
        }
        frame.close();
        // Above the line of the median, so that samples close to it are seen.
        frame.dots(dots, DOT[usize::from(all >= MANY)]);
    }
}

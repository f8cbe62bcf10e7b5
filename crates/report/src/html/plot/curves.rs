//! Plots of curves with bands and marks.

use std::sync::Arc;

use kuva::render::layout::TickFormat;
use kuva::render::render::TextAnchor;

use super::frame::{Frame, layout, set_height};
use super::marks::{colour, dashes};
use super::ticks::{power, quantile};
use super::{Mark, Plot, Point, Scale, ends, widened};

const HEIGHT: f64 = 250.0;

/// Number of points in all curves beyond which marks are left out.
const MOST_MARKS: usize = 160;

impl Plot {
    /// The plot as SVG; `None` for an empty plot.
    pub fn draw(&self) -> Option<String> {
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let xs =
            points().map(|point| self.x(point.x)).chain(self.marks.iter().filter_map(|mark| match mark {
                Mark::Across(..) | Mark::Bound(..) => None,
                Mark::At(x, _) | Mark::AtLimit(x, _) | Mark::Failed(x, _) => Some(self.x(*x)),
            }));
        let middles = ends(points().map(|point| point.y))?;
        // An interval may be so wide that it would leave no room for the curve: it is cut at the edge.
        let room = (middles.1 - middles.0).max(0.25 * middles.1.abs());
        let ys = points().flat_map(|point| {
            let (low, high) = point.band.unwrap_or((point.y, point.y));
            let low = match self.up {
                Scale::Log => low.max(0.5 * middles.0),
                _ if middles.0 >= 0.0 => low.max(middles.0 - room).max(0.0),
                _ => low.max(middles.0 - room),
            };
            let high =
                if self.up == Scale::Log { high.min(2.0 * middles.1) } else { high.min(middles.1 + room) };
            [low, point.y, high]
        });
        let across = self.marks.iter().filter_map(Mark::height);
        let (x, y) = (ends(xs)?, ends(ys.chain(across))?);
        let mut frame = self.frame(x, y);
        self.draw_curves(&mut frame);
        self.draw_marks(&mut frame);
        Some(frame.finish(&self.label))
    }

    fn x(&self, x: f64) -> f64 {
        match self.across {
            Scale::Doubling { .. } => x.max(f64::MIN_POSITIVE).log2(),
            _ => x,
        }
    }

    fn frame(&self, x: (f64, f64), y: (f64, f64)) -> Frame {
        let x = widened(x);
        let mut layout = set_height(layout(x, y, HEIGHT), y, self.up);
        (layout.x_axis_min, layout.x_axis_max) = (Some(x.0), Some(x.1));
        layout.x_label = Some(self.across_name.clone());
        match self.across {
            Scale::Doubling { bytes } => {
                layout.x_tick_step = Some(((x.1 - x.0) / 6.0).ceil().max(1.0));
                layout.x_tick_format = TickFormat::Custom(Arc::new(move |at| power(at, bytes)));
            }
            Scale::Nines => {
                layout.x_tick_step = Some(1.0);
                layout.x_tick_format = TickFormat::Custom(Arc::new(quantile));
            }
            Scale::Log if x.0 > 0.0 => layout.log_x = true,
            Scale::Log | Scale::Linear => {}
        }
        Frame::new(&layout)
    }

    fn draw_curves(&self, frame: &mut Frame) {
        let all: usize = self.curves.iter().map(|curve| curve.points.len()).sum();
        for (style, curve) in self.curves.iter().enumerate() {
            let (low, high) = frame.at.y_range;
            let place = |point: &Point, y: f64| {
                (frame.at.map_x(self.x(point.x)), frame.at.map_y(y.clamp(low.min(high), high.max(low))))
            };
            let colour = colour(style);
            let banded: Vec<(&Point, (f64, f64))> =
                curve.points.iter().filter_map(|point| Some((point, point.band?))).collect();
            let upper = banded.iter().map(|(point, band)| place(point, band.1));
            let lower = banded.iter().rev().map(|(point, band)| place(point, band.0));
            let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
            let line: Vec<(f64, f64)> = curve.points.iter().map(|point| place(point, point.y)).collect();
            if banded.len() > 1 {
                frame.area(&outline, &colour);
            }
            frame.line(line.clone(), &colour, 2.0, dashes(style));
            if all <= MOST_MARKS {
                for (point, at) in curve.points.iter().zip(line) {
                    frame.dot(at, style, &colour, &point.tip);
                }
            }
        }
    }

    fn draw_marks(&self, frame: &mut Frame) {
        let (left, right) = (frame.at.margin_left, frame.at.width - frame.at.margin_right);
        let (top, bottom) = (frame.at.margin_top, frame.at.height - frame.at.margin_bottom);
        frame.marks(&self.marks);
        for mark in &self.marks {
            match mark {
                Mark::Across(..) | Mark::Bound(..) => {}
                Mark::At(x, name) | Mark::AtLimit(x, name) => {
                    let (colour, dashes) = match mark {
                        Mark::AtLimit(..) => ("var(--limit)", "6 3"),
                        _ => ("var(--faint)", "2 3"),
                    };
                    let x = frame.at.map_x(self.x(*x));
                    frame.line(vec![(x, top), (x, bottom)], colour, 1.2, Some(dashes));
                    let (x, anchor) = if x > (left + right) / 2.0 {
                        (x - 5.0, TextAnchor::End)
                    } else {
                        (x + 5.0, TextAnchor::Start)
                    };
                    frame.text((x, bottom - 6.0), name, anchor, colour);
                }
                Mark::Failed(x, tip) => frame.cross((frame.at.map_x(self.x(*x)), bottom - 8.0), tip),
            }
        }
    }
}

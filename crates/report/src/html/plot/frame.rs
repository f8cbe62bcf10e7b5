//! Axes, grid and primitives by `kuva`, and the SVG as an element of the page.

use std::sync::Arc;

use kuva::render::axis::{add_axes_and_grid, add_labels_and_title};
use kuva::render::color::Color;
use kuva::render::layout::{AxisLabelOverlap, ComputedLayout, Layout, TickFormat};
use kuva::render::render::{Primitive, Scene, TextAnchor};
use kuva::render::theme::Theme;

use super::marks::{path, shape};
use super::svg::{plain, svg};
use super::ticks::{power_of_ten, tick};
use super::{Mark, Scale, widened};
use crate::number::decimals;

/// Width of a plot in SVG units; a phone shows it at three quarters.
const WIDTH: f64 = 420.0;

pub struct Frame {
    scene: Scene,
    pub at: ComputedLayout,
}

impl Frame {
    pub fn new(layout: &Layout) -> Self {
        let mut at = ComputedLayout::from_layout(layout);
        // The unit is above the plot, so the margin for an axis name is not needed.
        at.margin_left -= at.label_size as f64 - 2.0;
        at.margin_bottom -= if layout.x_label.is_none() { at.label_size as f64 } else { 8.0 };
        at.recompute_transforms();
        let mut scene = Scene::new(at.width, at.height).with_background(None);
        add_axes_and_grid(&mut scene, &at, layout);
        add_labels_and_title(&mut scene, &at, layout);
        Self { scene, at }
    }

    pub fn line(&mut self, points: Vec<(f64, f64)>, colour: &str, width: f64, dashes: Option<&str>) {
        self.scene.add(Primitive::PolyLine {
            points,
            stroke: Color::from(colour),
            stroke_width: width,
            stroke_dasharray: dashes.map(str::to_owned),
        });
    }

    pub fn area(&mut self, outline: &[(f64, f64)], colour: &str) {
        let mut d: String = outline
            .iter()
            .enumerate()
            .map(|(at, (x, y))| format!("{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' }))
            .collect();
        d.push('Z');
        self.scene.add(path(d, Some(colour), Color::None, 0.0, Some(0.16)));
    }

    /// Round dots where the paths of `d` begin, of moves and lines of no length.
    pub fn dots(&mut self, d: String, width: f64) {
        self.open("dots", "");
        self.scene.add(path(d, None, Color::from("var(--c0)"), width, None));
        self.close();
    }

    /// The lines of limits and bounds over the whole width, with their names.
    pub fn marks(&mut self, marks: &[Mark]) {
        for mark in marks {
            match mark {
                Mark::Across(y, name) => self.across((*y, name), "var(--limit)", "6 3", TextAnchor::End),
                Mark::Bound(y, name) => self.across((*y, name), "var(--bound)", "2 3", TextAnchor::Start),
                Mark::At(..) | Mark::AtLimit(..) | Mark::Failed(..) => {}
            }
        }
    }

    fn across(&mut self, (y, name): (f64, &str), colour: &str, dashes: &str, anchor: TextAnchor) {
        let (left, right) = (self.at.margin_left, self.at.width - self.at.margin_right);
        let y = self.at.map_y(y);
        self.line(vec![(left, y), (right, y)], colour, 1.5, Some(dashes));
        // Below the line where there is no room above.
        let above = if y - self.at.margin_top < 14.0 { y + 13.0 } else { y - 5.0 };
        let x = if matches!(anchor, TextAnchor::End) { right } else { left + 5.0 };
        self.text((x, above), name, anchor, colour);
    }

    /// A rectangle from its upper left corner.
    pub fn rect(&mut self, at: (f64, f64), size: (f64, f64), fill: &str, opacity: Option<f64>) {
        self.scene.add(Primitive::Rect {
            x: at.0,
            y: at.1,
            width: size.0.max(0.0),
            height: size.1.max(0.0),
            fill: Color::Css(fill.into()),
            stroke: None,
            stroke_width: None,
            opacity,
        });
    }

    pub fn dot(&mut self, at: (f64, f64), style: usize, colour: &str, tip: &str) {
        self.open("pt", tip);
        // A finger is wider than a mark.
        self.rect((at.0 - 8.0, at.1 - 8.0), (16.0, 16.0), "transparent", None);
        self.shape(at, style, colour);
        self.close();
    }

    pub fn shape(&mut self, at: (f64, f64), style: usize, colour: &str) {
        self.scene.add(path(shape(at, style, 3.6), Some(colour), Color::None, 0.0, None));
    }

    pub fn cross(&mut self, at: (f64, f64), tip: &str) {
        self.open("pt", tip);
        self.rect((at.0 - 8.0, at.1 - 8.0), (16.0, 16.0), "transparent", None);
        let (x, y) = at;
        let d = format!("M{} {}l8 8m0 -8l-8 8", x - 4.0, y - 4.0);
        self.scene.add(path(d, None, Color::from("var(--fail)"), 2.2, None));
        self.close();
    }

    pub fn text(&mut self, at: (f64, f64), content: &str, anchor: TextAnchor, colour: &str) {
        self.scene.add(Primitive::Text {
            x: at.0,
            y: at.1,
            content: plain(content),
            size: 11,
            anchor,
            rotate: None,
            bold: false,
            color: Some(Color::from(colour)),
        });
    }

    /// Opens a group with a tooltip. `class` is trusted.
    pub fn open(&mut self, class: &'static str, tip: &str) {
        let title = (!tip.is_empty()).then(|| tip.to_owned());
        let extra_attrs = Some(format!("class=\"{class}\""));
        self.scene.add(Primitive::GroupStart { transform: None, title, extra_attrs });
    }

    pub fn close(&mut self) {
        self.scene.add(Primitive::GroupEnd);
    }

    pub fn finish(mut self, label: &str) -> String {
        // The page has its own style of marks.
        self.scene.has_tooltips = false;
        svg(&self.scene, label, "plot")
    }
}

/// The same with a vertical axis for values within `y`: from zero, or logarithmic around the values.
pub fn set_height(layout: Layout, y: (f64, f64), up: Scale) -> Layout {
    let mut layout = layout;
    if up == Scale::Log && y.0 > 0.0 {
        let y = (y.0 / 1.15, y.1 * 1.15);
        (layout.log_y, layout.y_range) = (true, y);
        layout.y_tick_format = TickFormat::Custom(Arc::new(power_of_ten));
        (layout.y_axis_min, layout.y_axis_max) = (Some(y.0), Some(y.1));
    } else {
        let low = y.0.min(0.0);
        layout.y_range = widened((low, y.1 + 0.06 * (y.1 - low)));
        layout.y_axis_min = (low == 0.0).then_some(low);
    }
    layout
}

/// Axes over these ranges, in the colours of the page.
pub fn layout(x: (f64, f64), y: (f64, f64), height: f64) -> Layout {
    let mut layout = Layout::new(x, y).with_width(WIDTH).with_height(height);
    let digits = decimals([(y.1 - y.0) / 4.0]).min(decimals([y.1.abs().max(y.0.abs())]) + 1);
    layout.label_size = 12;
    layout.tick_size = 11;
    layout.tick_length = Some(3.0);
    layout.y_tick_format = TickFormat::Custom(Arc::new(move |at| tick(at, digits)));
    layout.x_tick_format = TickFormat::Custom(Arc::new(|at| tick(at, 3)));
    layout.x_label_overlap = AxisLabelOverlap::Thin;
    layout.theme = Theme {
        background: "none".into(),
        axis_color: "var(--line)".into(),
        grid_color: "var(--grid)".into(),
        tick_color: "var(--line)".into(),
        text_color: "currentColor".into(),
        ..Theme::light()
    };
    layout
}

//! Differences as small pictures, one in each row of a table, on a common scale: better is to the right.

use kuva::render::color::Color;
use kuva::render::render::{Primitive, Scene, TextAnchor};
use seatrial_model::Verdict;

use super::ends;
use super::marks::{path, shape};
use super::svg::svg;
use super::ticks::tick;
use crate::view::table::Gain;

const WIDTH: f64 = 240.0;

const ROW: f64 = 22.0;

const AXIS: f64 = 30.0;

/// Space at either end for arrows beyond the scale.
const EDGE: f64 = 18.0;

const HALF: f64 = 4.0;

/// The narrowest and the widest scale, in percent. A larger difference is drawn as an arrow beside its number.
const ENDS: (f64, f64) = (0.4, 200.0);

/// The common scale of the pictures of a table. It is a square root, so that differences of 50 % and of 1 % are both
/// visible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// The value at either end, in percent.
    end: f64,
}

impl Gains {
    /// A scale on which `gains` can be told apart. Very wide intervals are cut.
    pub fn new(gains: &[Gain]) -> Self {
        let farthest =
            |values: &mut dyn Iterator<Item = f64>| ends(values.map(f64::abs)).map_or(0.0, |ends| ends.1);
        let middle = farthest(&mut gains.iter().map(|gain| gain.percent));
        let around = farthest(&mut gains.iter().flat_map(|gain| {
            let (low, high) = gain.ci95.unwrap_or((gain.percent, gain.percent));
            [low, high, gain.smallest.unwrap_or_default()]
        }));
        let wanted = if middle > 0.0 { around.min(2.0 * middle) } else { around };
        // The value half way to the end, a quarter of it, is a round number.
        Self { end: 4.0 * rounded(wanted.clamp(ENDS.0, ENDS.1) / 4.0) }
    }

    /// The axis, for the head of the column.
    pub fn axis(&self) -> String {
        let mut scene = Scene::new(WIDTH, AXIS).with_background(None);
        let mut say = |x: f64, y: f64, content: &str, anchor: TextAnchor| {
            scene.add(Primitive::Text {
                x,
                y,
                content: content.to_owned(),
                size: 11,
                anchor,
                rotate: None,
                bold: false,
                color: Some(Color::from("currentColor")),
            });
        };
        let middle = WIDTH / 2.0;
        say(middle - 8.0, 11.0, "← worse", TextAnchor::End);
        say(middle + 8.0, 11.0, "better →", TextAnchor::Start);
        say(middle, 26.0, "0", TextAnchor::Middle);
        for (percent, sign) in
            [(self.end, "+"), (self.end / 4.0, "+"), (-self.end / 4.0, "-"), (-self.end, "-")]
        {
            let label = format!("{sign}{}%", tick(percent.abs(), 2));
            say(self.place(percent), 26.0, &label, TextAnchor::Middle);
        }
        svg(&scene, "", "gain")
    }

    pub fn picture(&self, gain: &Gain, tone: Verdict, tip: &str) -> String {
        let colour = match tone {
            Verdict::Fail => "var(--fail)",
            Verdict::Pass => "var(--pass)",
            Verdict::Unknown | Verdict::Warn => "var(--unknown)",
            Verdict::Skip => "var(--ink2)",
        };
        let mut scene = Scene::new(WIDTH, ROW).with_background(None);
        let (x, y) = (|percent: f64| self.place(percent), ROW / 2.0);
        let mut line = |d: String, colour: &str, width: f64| {
            scene.add(path(d, None, Color::from(colour), width, None));
        };
        for percent in [self.end, self.end / 4.0, -self.end / 4.0, -self.end] {
            line(format!("M{} 0V{ROW}", x(percent)), "var(--grid)", 1.0);
        }
        line(format!("M{} 0V{ROW}", x(0.0)), "var(--line)", 1.0);
        if let Some(smallest) = gain.smallest {
            let (low, high) = (x(-smallest), x(smallest));
            let d = format!("M{low:.1} 3H{high:.1}V{}H{low:.1}Z", ROW - 3.0);
            scene.add(path(d, Some("var(--ink2)"), Color::None, 0.0, Some(0.13)));
        }
        scene.add(Primitive::GroupStart {
            transform: None,
            title: Some(tip.to_owned()),
            extra_attrs: Some("class=\"pt\"".to_owned()),
        });
        let everywhere = format!("M0 0H{WIDTH}V{ROW}H0Z");
        scene.add(path(everywhere, Some("transparent"), Color::None, 0.0, None));
        if let Some((low, high)) = gain.ci95 {
            let whisker = |percent: f64| self.whisker(percent, y);
            let d = format!("M{:.1} {y}H{:.1}{}{}", x(low), x(high), whisker(low), whisker(high));
            scene.add(path(d, None, Color::from(colour), 1.5, None));
        }
        let dot = if gain.percent.abs() > self.end {
            arrow(x(gain.percent), y, gain.percent.signum())
        } else {
            shape((x(gain.percent), y), 0, 3.6)
        };
        scene.add(path(dot, Some(colour), Color::None, 0.0, None));
        scene.add(Primitive::GroupEnd);
        // The page has its own style of marks.
        scene.has_tooltips = false;
        svg(&scene, "", "gain")
    }

    /// The x position of a difference; beyond the scale it is behind the end.
    fn place(&self, percent: f64) -> f64 {
        let half = WIDTH / 2.0 - EDGE;
        let beyond = if percent.abs() > self.end { EDGE / 2.0 } else { 0.0 };
        let way = (percent.abs() / self.end).min(1.0).sqrt();
        WIDTH / 2.0 + (half * way + beyond).copysign(percent)
    }

    /// The end of an interval; absent beyond the scale.
    fn whisker(&self, percent: f64, y: f64) -> String {
        if percent.abs() > self.end {
            return String::new();
        }
        format!("M{:.1} {}v{}", self.place(percent), y - HALF, 2.0 * HALF)
    }
}

/// The next of 1, 2 and 5 by tens.
fn rounded(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    // Powers of ten are not exact below one.
    steps.into_iter().find(|step| *step >= value * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

fn arrow(x: f64, y: f64, sign: f64) -> String {
    format!("M{x:.1} {}l{} {HALF}l{} {HALF}Z", y - HALF, 6.0 * sign, -6.0 * sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(percent: f64, half: f64) -> Gain {
        Gain { percent, ci95: Some((percent - half, percent + half)), smallest: Some(1.3 * half) }
    }

    #[test]
    fn the_scale_ends_at_a_round_number_behind_the_farthest_difference() {
        assert_eq!(Gains::new(&[gain(-39.7, 0.8), gain(0.1, 0.3)]).end, 80.0);
        assert_eq!(Gains::new(&[gain(-39.0, 0.8), gain(0.1, 0.3)]).end, 40.0);
        assert_eq!(Gains::new(&[gain(0.6, 0.05)]).end, 0.8);
        assert_eq!(Gains::new(&[gain(0.1, 0.0)]).end, 0.4);
        assert_eq!(Gains::new(&[]).end, 0.4);
    }

    #[test]
    fn one_wide_interval_does_not_squeeze_the_others_and_the_scale_is_never_wider_than_it_helps() {
        assert_eq!(Gains::new(&[gain(2.0, 300.0), gain(-1.0, 0.5)]).end, 4.0);
        assert_eq!(Gains::new(&[gain(900.0, 1.0)]).end, 200.0);
        // If nothing differs, only the intervals are visible.
        assert_eq!(Gains::new(&[gain(0.0, 3.0)]).end, 4.0);
    }

    #[test]
    fn better_is_to_the_right_and_what_lies_beyond_stands_behind_the_end() {
        let scale = Gains::new(&[gain(70.0, 1.0)]);
        let places = [-400.0, -80.0, 0.0, 20.0, 80.0, 400.0].map(|percent| scale.place(percent));
        assert_eq!(places, [9.0, 18.0, 120.0, 171.0, 222.0, 231.0]);
        assert!(scale.picture(&gain(400.0, 1.0), Verdict::Fail, "").contains("l6 4l-6 4Z"));
    }
}

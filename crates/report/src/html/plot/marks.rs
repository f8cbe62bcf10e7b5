//! Colours and shapes of curves.

use kuva::render::color::Color;
use kuva::render::render::{PathData, Primitive, Scene};

use super::STYLES;
use super::svg::svg;

pub fn sample(style: usize) -> String {
    let mut scene = Scene::new(22.0, 12.0).with_background(None);
    let colour = colour(style);
    scene.add(Primitive::PolyLine {
        points: vec![(1.0, 6.0), (21.0, 6.0)],
        stroke: Color::from(colour.as_str()),
        stroke_width: 2.0,
        stroke_dasharray: dashes(style).map(str::to_owned),
    });
    scene.add(path(shape((11.0, 6.0), style, 3.6), Some(&colour), Color::None, 0.0, None));
    svg(&scene, "", "sample")
}

/// An upright line in a legend.
pub fn upright(colour: &str) -> String {
    let mut scene = Scene::new(22.0, 12.0).with_background(None);
    scene.add(path("M11 0v12".to_owned(), None, Color::from(colour), 2.0, None));
    svg(&scene, "", "sample")
}

/// The colour of a curve, a variable of the style sheet.
pub fn colour(style: usize) -> String {
    format!("var(--c{})", style % STYLES)
}

/// The dashes of a curve whose colour and shape are used a second time.
pub fn dashes(style: usize) -> Option<&'static str> {
    (style >= STYLES).then_some("4 3")
}

/// Circle, square, triangle, diamond, and two more.
pub fn shape((x, y): (f64, f64), style: usize, r: f64) -> String {
    match style % STYLES {
        0 => format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z", x - r, d = 2.0 * r),
        1 => format!("M{:.1} {:.1}h{d}v{d}h-{d}Z", x - r, y - r, d = 2.0 * r),
        2 => format!("M{x:.1} {:.1}l{r} {d}h-{d}Z", y - r, d = 2.0 * r),
        3 => format!("M{x:.1} {:.1}l{r} {r}l-{r} {r}l-{r} -{r}Z", y - r),
        4 => format!("M{x:.1} {:.1}l{r} -{d}h-{d}Z", y + r, d = 2.0 * r),
        _ => format!("M{:.1} {:.1}h{d}v{}h-{d}Z", x - r, y - r / 2.0, r, d = 2.0 * r),
    }
}

pub fn path(
    d: String,
    fill: Option<&str>,
    stroke: Color,
    stroke_width: f64,
    opacity: Option<f64>,
) -> Primitive {
    let fill = fill.map(Color::from);
    Primitive::Path(Box::new(PathData { d, fill, stroke, stroke_width, opacity, stroke_dasharray: None }))
}

//! SVG as text.

use kuva::backend::svg::SvgBackend;
use kuva::render::render::Scene;

/// The scene as an element of the page: as wide as its container, with a label for screen readers.
pub fn svg(scene: &Scene, label: &str, class: &str) -> String {
    let drawn = SvgBackend::new().render_scene(scene);
    let inside = drawn.split_once('>').map_or("", |(_, inside)| inside);
    let (width, height) = (scene.width, scene.height);
    let label = escaped(label);
    let role = if label.is_empty() {
        "aria-hidden=\"true\"".to_owned()
    } else {
        format!("role=\"img\" aria-label=\"{label}\"")
    };
    format!("<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" {role}>{inside}")
}

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// The library takes text between dollars for a formula.
pub fn plain(text: &str) -> String {
    text.replace('$', "\u{ff04}")
}

//! The style of maps: with the variables of the page, or with their values for a file of its own.

use crate::html::frame::{DARK, STYLE};

/// The style of maps on a page.
pub const CSS: &str = include_str!("../../../templates/map.css");

/// The style for a file of its own. Programs without variables of CSS show the light colours.
pub fn standing_alone() -> String {
    let light = STYLE.split_once('}').map_or("", |(root, _)| root);
    let dark = format!("@media (prefers-color-scheme: dark) {{\n{}}}\n", with_values(DARK));
    with_values(light) + &dark
}

fn with_values(variables: &str) -> String {
    let pairs = variables.split(['{', ';', '\n']).filter_map(|pair| pair.trim().split_once(": "));
    pairs
        .filter(|(name, _)| name.starts_with("--"))
        .fold(CSS.to_owned(), |css, (name, value)| css.replace(&format!("var({name})"), value))
}

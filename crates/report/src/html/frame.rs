//! What every page has: its head, style and script, the bar to filter by, the switch of the theme.

use super::words::text;
use crate::words::Badge;

/// Colours for the dark, in two places of the style: where the system asks for it, and where the person does.
const DARK: &str = include_str!("../../templates/dark.css");
const STYLE: &str = include_str!("../../templates/style.css");
const SCRIPT: &str = include_str!("../../templates/script.js");

/// The frame of a page; `frame.html` reads it under the name `frame`.
pub struct PageFrame {
    pub style: String,
    pub script: &'static str,
    /// What the window is called.
    pub title: String,
    /// Roles to filter by.
    pub roles: Vec<String>,
    /// Verdicts to filter by, the heaviest first.
    pub verdicts: Vec<Badge>,
    /// The version of Seatrial that the page speaks of.
    pub version: String,
}

impl PageFrame {
    /// The frame of a page about `of`.
    pub fn new(of: &str, version: &str, roles: Vec<String>, verdicts: Vec<Badge>) -> Self {
        Self {
            style: STYLE.replace("/* dark */", DARK),
            script: SCRIPT,
            title: format!("{} · Seatrial", text(of)),
            roles,
            verdicts,
            version: text(version),
        }
    }
}

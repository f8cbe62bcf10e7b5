//! The frame of every page: head, style and script, filter bar, theme switch.

use super::map;
use super::words::text;
use crate::words::Badge;

/// Dark colours, included in two places of the style: for the system's preference and for the switch.
pub const DARK: &str = include_str!("../../templates/dark.css");
pub const STYLE: &str = include_str!("../../templates/style.css");
const SCRIPT: &str = include_str!("../../templates/script.js");

/// The frame of a page; `frame.html` reads it under the name `frame`.
pub struct PageFrame {
    pub style: String,
    pub script: &'static str,
    pub title: String,
    pub roles: Vec<String>,
    /// Whether there is a single node, so that nothing is filtered by node.
    pub is_of_one_node: bool,
    /// Verdicts to filter by, the heaviest first.
    pub verdicts: Vec<Badge>,
    pub version: String,
}

impl PageFrame {
    pub fn new(of: &str, version: &str, roles: Vec<String>, verdicts: Vec<Badge>) -> Self {
        Self {
            style: STYLE.replace("/* dark */", DARK) + map::CSS,
            script: SCRIPT,
            title: format!("{} · Seatrial", text(of)),
            roles,
            is_of_one_node: false,
            verdicts,
            version: text(version),
        }
    }
}

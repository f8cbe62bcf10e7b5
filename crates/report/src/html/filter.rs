//! What the page can be filtered by: nodes, roles, verdicts.

use askama::Template;

use super::words::text;

/// What something on the page can be filtered by, as attributes of its element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Template)]
#[template(path = "filter.html")]
pub struct Filter {
    /// Nodes it is about, one a line; nothing is about all of them.
    pub nodes: String,
    /// Their roles, one a line.
    pub roles: String,
    /// The class of the verdict; nothing where nothing was judged.
    pub verdict: &'static str,
}

impl Filter {
    /// The class of what stays whatever verdicts are chosen.
    pub const ANY: &'static str = "any";

    /// What something about `nodes` can be filtered by.
    pub fn of_nodes<'n>(nodes: impl IntoIterator<Item = &'n str>, verdict: &'static str) -> Self {
        let nodes: Vec<String> = nodes.into_iter().map(text).collect();
        Self { nodes: nodes.join("\n"), roles: String::new(), verdict }
    }
}

//! Filters of the page: nodes, roles, verdicts.

use askama::Template;

use super::words::text;

#[derive(Clone, Debug, Default, PartialEq, Eq, Template)]
#[template(path = "filter.html")]
pub struct Filter {
    /// Its nodes, one per line; empty for all nodes.
    pub nodes: String,
    pub roles: String,
    /// The class of the verdict; empty without a verdict.
    pub verdict: &'static str,
}

impl Filter {
    /// The class of elements that stay visible under every verdict filter.
    pub const ANY: &'static str = "any";

    pub fn of_nodes<'n>(nodes: impl IntoIterator<Item = &'n str>, verdict: &'static str) -> Self {
        let nodes: Vec<String> = nodes.into_iter().map(text).collect();
        Self { nodes: nodes.join("\n"), roles: String::new(), verdict }
    }
}

//! What one part of a machine could do at best, as far as its own facts tell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limit::{Bound, Limit};
use crate::subject::Subject;

/// The derived limit of a part, for an inventory. A benchmark's limit may be tighter: it knows frames and protocols.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartLimit {
    /// The part: `node`, `numa:0`, `nic:eth0`, `hca:mlx5_0/1`, `gpu:0`, `disk:sda`.
    pub subject: Subject,
    /// What is limited, in words: `memory bandwidth`, `rate in one direction`.
    pub what: String,
    /// The bounds, or why there is none.
    pub limit: Limit,
}

impl PartLimit {
    /// The tightest bound; none where no limit is known.
    pub fn binding(&self) -> Option<&Bound> {
        match &self.limit {
            Limit::Chain(bounds) => bounds.iter().min_by(|a, b| {
                let base = |bound: &Bound| bound.value.value() * bound.value.unit().factor();
                base(a).total_cmp(&base(b))
            }),
            Limit::Unknown { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_bound_binds_whatever_its_unit() {
        let bound = |text: &str| Bound {
            value: text.parse().expect("a quantity"),
            formula: text.to_owned(),
            provenance: "test".to_owned(),
        };
        let part = |limit| PartLimit { subject: Subject::node(), what: "rate".to_owned(), limit };
        let chain = part(Limit::Chain(vec![bound("100 Gbit/s"), bound("7.88 GB/s"), bound("8 GB/s")]));
        assert_eq!(chain.binding().map(|bound| bound.formula.as_str()), Some("7.88 GB/s"));
        assert!(part(Limit::Unknown { reason: "why".to_owned() }).binding().is_none());
    }
}

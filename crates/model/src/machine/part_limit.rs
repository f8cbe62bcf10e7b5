//! Hardware limits of the parts of a machine, from the inventory alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limit::Limit;
use crate::subject::Subject;

/// Hardware limit of one part. The limit of a benchmark may be tighter, by frames and protocols.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartLimit {
    /// The part: `node`, `numa:0`, `nic:eth0`, `hca:mlx5_0/1`, `gpu:0`, `disk:sda`.
    pub subject: Subject,
    /// The limited quantity, in words: `memory bandwidth`, `rate in one direction`.
    pub what: String,
    /// The bounds, or why there are none.
    pub limit: Limit,
}

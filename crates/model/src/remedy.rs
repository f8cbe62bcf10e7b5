//! What to do about a problem, and who can do it.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Who can do it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// Whoever starts the run.
    User,
    /// The administrator of the nodes.
    Administrator,
    /// The administrator, as root on the node itself.
    Root,
    /// Whoever runs switches and cables.
    NetworkTeam,
    /// The vendor of the hardware.
    Vendor,
}

impl Actor {
    /// The actor in words.
    pub const fn words(self) -> &'static str {
        match self {
            Actor::User => "user",
            Actor::Administrator => "administrator",
            Actor::Root => "administrator, as root",
            Actor::NetworkTeam => "network team",
            Actor::Vendor => "vendor",
        }
    }
}

/// One thing to do.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Remedy {
    /// Who can do it.
    pub actor: Actor,
    /// What to do, as an imperative without a final dot.
    pub action: Cow<'static, str>,
}

impl Remedy {
    /// For numbers that other programs disturbed.
    pub const ON_A_QUIET_MACHINE: Self = Self::new(Actor::User, "measure again on a quiet machine");

    /// For numbers whose interval has the wanted value inside.
    pub const MORE_TRIALS: Self =
        Self::new(Actor::User, "measure again with more trials (parameter `trials`)");

    /// A remedy with a fixed action.
    pub const fn new(actor: Actor, action: &'static str) -> Self {
        Self { actor, action: Cow::Borrowed(action) }
    }

    /// A remedy whose action names nodes, devices or values.
    pub fn of(actor: Actor, action: String) -> Self {
        Self { actor, action: Cow::Owned(action) }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "do ({}): {}", self.actor.words(), self.action)
    }
}

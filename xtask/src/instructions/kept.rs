//! The kept numbers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::workspace;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptLoops {
    /// The version of rustc.
    pub compiler: String,
    /// Instructions of a round, by crate and test.
    pub rounds: BTreeMap<String, f64>,
}

fn path() -> PathBuf {
    workspace::root().join("xtask/src/instructions/kept.json")
}

impl KeptLoops {
    pub fn read() -> Result<Self> {
        let path = path();
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))
    }

    pub fn write(&self) -> Result<()> {
        let path = path();
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }
}

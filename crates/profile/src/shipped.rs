//! The profiles inside the binary.

/// A profile that needs no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The name for `check` and `extends`.
    pub name: &'static str,
    pub text: &'static str,
}

/// A profile and, in a file of their own, the tables of its document.
macro_rules! with_tables {
    ($name:literal) => {
        Shipped {
            name: $name,
            text: concat!(
                include_str!(concat!("../../../profiles/", $name, ".toml")),
                "\n",
                include_str!(concat!("../../../profiles/", $name, ".tables.toml"))
            ),
        }
    };
}

pub const SHIPPED: &[Shipped] = &[
    Shipped { name: "health", text: include_str!("../../../profiles/health.toml") },
    Shipped { name: "gate", text: include_str!("../../../profiles/gate.toml") },
    Shipped { name: "ai-node", text: include_str!("../../../profiles/ai-node.toml") },
    Shipped { name: "ai-cluster", text: include_str!("../../../profiles/ai-cluster.toml") },
    Shipped { name: "hgx-h100", text: include_str!("../../../profiles/hgx-h100.toml") },
    Shipped { name: "hgx-h200", text: include_str!("../../../profiles/hgx-h200.toml") },
    Shipped { name: "host", text: include_str!("../../../profiles/host.toml") },
    with_tables!("cobalt2-2018"),
    with_tables!("dragnet"),
    with_tables!("discov-net"),
    with_tables!("ncsa-io"),
    with_tables!("transfer-study"),
    Shipped { name: "io500-like", text: include_str!("../../../profiles/io500-like.toml") },
];

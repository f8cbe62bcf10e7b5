//! The profiles inside the binary.

/// A profile that needs no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The name for `check` and `extends`.
    pub name: &'static str,
    pub text: &'static str,
}

pub const SHIPPED: &[Shipped] = &[
    Shipped { name: "host", text: include_str!("../../../profiles/host.toml") },
    Shipped { name: "cobalt2-2018", text: include_str!("../../../profiles/cobalt2-2018.toml") },
    Shipped { name: "dragnet", text: include_str!("../../../profiles/dragnet.toml") },
    Shipped { name: "discov-net", text: include_str!("../../../profiles/discov-net.toml") },
    Shipped { name: "ncsa-io", text: include_str!("../../../profiles/ncsa-io.toml") },
    Shipped { name: "transfer-study", text: include_str!("../../../profiles/transfer-study.toml") },
];

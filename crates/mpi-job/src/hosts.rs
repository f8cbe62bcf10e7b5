//! The nodes of a job.

/// The nodes of a job, in the order of their ranks.
#[derive(Clone, Debug, Default)]
pub struct JobHosts {
    pub names: Vec<String>,
    /// How the launcher is told each node; empty on one node, where no launcher asks.
    pub addresses: Vec<String>,
    /// The interface of all nodes, where the plan knows it.
    pub interface: Option<String>,
    /// The network of that interface, as 10.0.0.0/24.
    pub network: Option<String>,
    /// Whether a node has an active RDMA port.
    pub has_hca: bool,
}

impl JobHosts {
    pub fn are_several(&self) -> bool {
        self.names.len() > 1
    }

    /// ` on n2`, where there are several.
    pub fn on(&self, node: usize) -> String {
        match self.names.get(node) {
            Some(name) if self.are_several() => format!(" on {name}"),
            _ => String::new(),
        }
    }
}

//! Starts agents over ssh.
//!
//! The site's client and configuration apply: jump hosts, shared connections, certificates, host keys. Seatrial adds
//! BatchMode, ConnectTimeout and ServerAliveInterval; options given with the client (`ssh -o ...`) take precedence.
//! An interruption of a few seconds is tolerated.
//!
//! A thousand clients would overload this machine, so above `FANOUT` nodes the list is cut into about the square root
//! of their number of shares. The first node of a share is the gateway to its other nodes (see
//! [`relay`](super::relay)), with its own ssh configuration. Where nodes cannot reach each other, the controller
//! connects to them itself.
//!
//! The binary is copied automatically: see [`boot`].

mod boot;
mod client;
mod receiver;

use std::ffi::OsString;
use std::time::Duration;

pub(super) use client::{Child, Client, Share};
pub use receiver::{COPY_RECEIVER_READY, CopyReceiver};

use super::relay::RelayStart;
use super::startup::AgentStartup;
use crate::fleet::{Fleet, LaunchError, Launcher};

/// Time limit for a connection, and again, after the copy of the binary, for the inventory. During the copy, the
/// longest standstill: longer than ssh needs to notice a dead connection, and than a slow link needs for the MBs that
/// pipe and socket buffer as sent.
pub(super) const HELLO_WITHIN: Duration = Duration::from_secs(90);

/// Default limit of connections. A client takes about 10 MB and tens of milliseconds of CPU time to start.
const FANOUT: usize = 64;

#[derive(Clone, Debug)]
pub struct SshLauncher {
    build: String,
    nodes: Vec<String>,
    client: Vec<OsString>,
    sysroots: Vec<(String, String)>,
    fanout: usize,
}

impl SshLauncher {
    pub fn new(build: impl Into<String>, nodes: Vec<String>) -> Self {
        Self { build: build.into(), nodes, client: vec!["ssh".into()], sysroots: Vec::new(), fanout: FANOUT }
    }

    /// Another command than `ssh`, with first arguments: `ssh -F lab/ssh_config`.
    #[must_use]
    pub fn client(mut self, client: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.client = client.into_iter().map(Into::into).collect();
        self
    }

    /// A directory in place of `/` for the kernel's files on one node.
    #[must_use]
    pub fn sysroot(mut self, node: impl Into<String>, tree: impl Into<String>) -> Self {
        self.sysroots.push((node.into(), tree.into()));
        self
    }

    /// Number of nodes above which relays are used [default: 64].
    #[must_use]
    pub fn fanout(mut self, nodes: usize) -> Self {
        self.fanout = nodes;
        self
    }

    fn children(&self) -> Vec<Child> {
        let tree = |node: &String| self.sysroots.iter().find(|(name, _)| name == node);
        let child = |node: &String| {
            let sysroot = tree(node).map(|(_, tree)| tree.clone());
            Child { node: node.clone(), sysroot }
        };
        self.nodes.iter().map(child).collect()
    }
}

/// The list in pieces of about the square root of its length.
fn shares(children: &[Child]) -> impl Iterator<Item = &[Child]> {
    let count = children.len();
    let root = count.isqrt();
    let shares = if root * root < count { root + 1 } else { root };
    children.chunks(count.div_ceil(shares.max(1)).max(1))
}

impl Launcher for SshLauncher {
    fn launch(&self) -> Result<Box<dyn Fleet>, LaunchError> {
        let client =
            Client::new(self.client.clone(), &self.build).map_err(|error| LaunchError::Launcher {
                launcher: "ssh".to_owned(),
                why: format!("reading our own binary, to copy it: {error}"),
            })?;
        let children = self.children();
        let mut gathering = AgentStartup::new(&self.build, HELLO_WITHIN);
        gathering.stand_as(&self.nodes);
        if children.len() <= self.fanout {
            gathering.start_all(children.iter().map(|child| client.start(child)).collect());
            return Ok(Box::new(gathering.finish()?));
        }
        let mut alone = Vec::new();
        for share in shares(&children) {
            match share {
                [child] => alone.push(client.start(child)),
                [own, ..] => {
                    let [opening, renewed] = client.relay(own);
                    let share = Share { client: self.client.clone(), children: share.to_vec() };
                    gathering.start_relay(RelayStart { opening, renewed, share });
                }
                [] => {}
            }
        }
        gathering.start_all(alone);
        let unreached = gathering.take_unreached();
        if let Some((_, why)) = unreached.first() {
            let (count, all) = (unreached.len(), children.len());
            tracing::warn!(
                "{count} of {all} nodes cannot be reached through other nodes and are tried directly; the first: {why}"
            );
            let is_meant = |child: &&Child| unreached.iter().any(|(node, _)| *node == child.node);
            gathering.start_all(children.iter().filter(is_meant).map(|child| client.start(child)).collect());
        }
        Ok(Box::new(gathering.finish()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn children(count: usize) -> Vec<Child> {
        (0..count).map(|at| Child { node: format!("n{at}"), sysroot: None }).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..Default::default() })]

        #[test]
        fn every_node_is_in_one_share_and_no_machine_has_many_connections(count in 1_usize..5_000) {
            let all = children(count);
            prop_assert_eq!(shares(&all).flatten().cloned().collect::<Vec<_>>(), all.clone());
            let most = count.isqrt() + 1;
            prop_assert!(shares(&all).count() <= most);
            prop_assert!(shares(&all).all(|share| share.len() <= most));
        }
    }

    #[test]
    fn four_thousand_nodes_keep_every_machine_below_the_default() {
        let all = children(4_000);
        assert!(shares(&all).count() <= FANOUT && shares(&all).all(|share| share.len() <= FANOUT));
    }
}

//! Agents over the site's own ssh.
//!
//! The client and its configuration are the site's: jump hosts, shared connections, certificates and host keys work as
//! they do for a person. What Seatrial adds is that nobody is asked (BatchMode), that a node which does not answer is
//! given up (ConnectTimeout), and that a dead connection is noticed (ServerAliveInterval); a link that is cut for a few
//! seconds is not one. Options given with the client (`ssh -o ...`) come before these.
//!
//! Up to a number of nodes there is one connection to each. A thousand of them would cost this machine a thousand
//! clients for as long as the run lasts, so above that number the nodes are cut into about the square root of their
//! number of shares. The first node of a share is the gateway to the others: see [`relay`](super::relay). Neighbours in
//! the list are usually neighbours in the network, so a share is a piece of the list. There, the gateway's own
//! configuration of ssh applies. Where nodes may not reach each other the controller tries them itself.
//!
//! The binary travels by itself: see [`boot`].

mod boot;
mod client;

use std::ffi::OsString;
use std::time::Duration;

pub(super) use client::{Child, Client, Share};

use super::relay::RelayStart;
use super::startup::AgentStartup;
use crate::fleet::{Fleet, LaunchError, Launcher};

/// Time for a connection, and once more, when the binary had to be copied, for sick drivers to be looked at from then on.
/// While it is copied, the longest time in which nothing of it moves: longer than ssh takes to find the connection dead,
/// and than a slow link takes for what the pipe and the socket hold, some MB that count as taken before they are there.
pub(super) const HELLO_WITHIN: Duration = Duration::from_secs(90);

/// Connections of one machine, at most, as long as nobody says otherwise. A client takes some 10 MB and tens of
/// milliseconds of CPU time to come up.
const FANOUT: usize = 64;

/// Starts agents over ssh.
#[derive(Clone, Debug)]
pub struct SshLauncher {
    build: String,
    nodes: Vec<String>,
    client: Vec<OsString>,
    sysroots: Vec<(String, String)>,
    fanout: usize,
}

impl SshLauncher {
    /// Agents of `build` on `nodes`, each under the name that ssh knows it by.
    pub fn new(build: impl Into<String>, nodes: Vec<String>) -> Self {
        Self { build: build.into(), nodes, client: vec!["ssh".into()], sysroots: Vec::new(), fanout: FANOUT }
    }

    /// Another client than `ssh`, with its first arguments: `ssh -F lab/ssh_config`.
    #[must_use]
    pub fn client(mut self, client: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.client = client.into_iter().map(Into::into).collect();
        self
    }

    /// A tree that stands in for the kernel's files on one node.
    #[must_use]
    pub fn sysroot(mut self, node: impl Into<String>, tree: impl Into<String>) -> Self {
        self.sysroots.push((node.into(), tree.into()));
        self
    }

    /// The number of nodes above which some are reached through others; 64 when not said.
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

/// Pieces of the list, about as many as each is long.
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
                why: format!("reading our own binary, which is to be copied: {error}"),
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

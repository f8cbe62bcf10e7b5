//! Bonds, and modes of IP over InfiniBand; from Linux Documentation/networking/bonding.rst,
//! ABI/testing/sysfs-class-net-bonding, infiniband/ipoib.rst.

use seatrial_model::machine::{Bond, BondMember, Known};
use seatrial_sys::root::{ReadError, SysRoot};

pub(super) fn read(root: &SysRoot, class: &str, folder: &str) -> Option<Bond> {
    let own = format!("{folder}/bonding");
    root.exists(&own).then(|| {
        let names = root.text(format!("{own}/slaves")).unwrap_or_default();
        let mut names: Vec<&str> = names.split_whitespace().collect();
        names.sort_unstable();
        Bond {
            mode: word(root, &format!("{own}/mode")),
            hash_policy: word(root, &format!("{own}/xmit_hash_policy")),
            miimon_ms: root.value(format!("{own}/miimon")).into(),
            active: root.text(format!("{own}/active_slave")).ok().filter(|name| !name.is_empty()),
            members: names.into_iter().map(|name| member(root, class, name)).collect(),
        }
    })
}

fn member(root: &SysRoot, class: &str, name: &str) -> BondMember {
    let file = |file: &str| format!("{class}/{name}/bonding_slave/{file}");
    BondMember {
        name: name.to_owned(),
        state: root.text(file("state")).into(),
        link: root.text(file("mii_status")).into(),
        link_failures: root.value(file("link_failure_count")).into(),
        // In modes without aggregators the file holds words.
        aggregator: root.value(file("ad_aggregator_id")).ok(),
    }
}

/// The word of a file such as `802.3ad 4`.
fn word(root: &SysRoot, path: &str) -> Known<String> {
    let text = root.text(path);
    let first = text.and_then(|text| match text.split_whitespace().next() {
        Some(word) => Ok(word.to_owned()),
        None => Err(ReadError::garbage(path, &text, "a word and its number")),
    });
    first.into()
}

/// `datagram` or `connected`; `None` for other interfaces.
pub(super) fn ipoib_mode(root: &SysRoot, folder: &str, link_layer: &Known<String>) -> Option<Known<String>> {
    let is_infiniband = link_layer.known().is_some_and(|layer| layer == "infiniband");
    is_infiniband.then(|| {
        let path = format!("{folder}/mode");
        Known::from(root.text(&path)).and_then(|mode| match mode.as_str() {
            "datagram" | "connected" => Known::Known(mode),
            other => Known::unknown(ReadError::garbage(&path, other, "datagram or connected").to_string()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn a_bond_tells_its_mode_and_the_state_of_each_member() {
        let (_dir, root) = tree(&[
            ("net/bond0/bonding/mode", "802.3ad 4\n"),
            ("net/bond0/bonding/xmit_hash_policy", "layer3+4 1\n"),
            ("net/bond0/bonding/miimon", "100\n"),
            ("net/bond0/bonding/active_slave", "\n"),
            ("net/bond0/bonding/slaves", "eth1 eth0\n"),
            ("net/eth0/bonding_slave/state", "active\n"),
            ("net/eth0/bonding_slave/mii_status", "up\n"),
            ("net/eth0/bonding_slave/link_failure_count", "3\n"),
            ("net/eth0/bonding_slave/ad_aggregator_id", "1\n"),
            ("net/eth1/bonding_slave/state", "backup\n"),
        ]);
        let bond = read(&root, "/net", "/net/bond0").expect("a bond");
        assert_eq!(bond.mode, Known::Known("802.3ad".to_owned()));
        assert_eq!(bond.hash_policy, Known::Known("layer3+4".to_owned()));
        assert_eq!((bond.miimon_ms.clone(), bond.active.clone()), (Known::Known(100), None));
        let names: Vec<&str> = bond.members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["eth0", "eth1"]);
        assert_eq!((bond.members[0].link_failures.known(), bond.members[0].aggregator), (Some(&3), Some(1)));
        assert_eq!(bond.members[1].state, Known::Known("backup".to_owned()));
        assert!(bond.members[1].link.why().is_some_and(|why| why.contains("mii_status")));
        assert_eq!(read(&root, "/net", "/net/eth0"), None);
    }

    #[test]
    fn the_mode_of_ip_over_infiniband_is_one_of_two_words() {
        let infiniband = Known::Known("infiniband".to_owned());
        let mode = |text: &str| {
            let (_dir, root) = tree(&[("ib0/mode", text)]);
            ipoib_mode(&root, "/ib0", &infiniband).expect("infiniband")
        };
        assert_eq!(mode("connected\n"), Known::Known("connected".to_owned()));
        assert!(mode("sideways\n").why().is_some_and(|why| why.contains("expected datagram or connected")));
        let (_dir, root) = tree(&[("eth0/mode", "datagram\n")]);
        assert_eq!(ipoib_mode(&root, "/eth0", &Known::Known("ethernet".to_owned())), None);
    }
}

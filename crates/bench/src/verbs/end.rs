//! One port of a node as an end of a case, and its peer port.

use super::params::PEER;
use super::port_list::{parse, ports_of};
use seatrial_model::machine::{Hca, HcaPort, Known, Nic, NicKind};
use seatrial_model::{Case, Cause, Params, Reason, Site, SiteNode};

/// A port of a device of a node.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    pub node: &'a SiteNode,
    pub hca: &'a Hca,
    pub port: &'a HcaPort,
}

impl End<'_> {
    /// `mlx5_0/1`.
    pub fn label(&self) -> String {
        format!("{}/{}", self.hca.name, self.port.number)
    }

    fn is_active(&self) -> bool {
        self.port.is_active() == Known::Known(true)
    }

    /// The interface whose interrupts and NUMA node are those of the card.
    pub fn nic(&self) -> Nic {
        let mut all = self.node.machine.nics.listed().iter();
        let below = all.find(|nic| self.port.netdevs.contains(&nic.name));
        let irq_cpus = below.map_or_else(
            || Known::unknown("the device has no interface whose interrupts are known"),
            |nic| nic.irq_cpus.clone(),
        );
        let pci = if self.hca.pci.is_known() {
            self.hca.pci.clone()
        } else {
            below.map_or_else(Known::default, |nic| nic.pci.clone())
        };
        Nic { name: self.hca.name.clone(), kind: NicKind::Physical, irq_cpus, pci, ..Nic::default() }
    }
}

/// The two ends of a planned case, for each of its ports.
pub fn ends_of<'a>(case: &Case, site: &'a Site) -> Option<Vec<[End<'a>; 2]>> {
    let end = |index: u32, label: &str| -> Option<End<'a>> {
        let name = case.nodes.get(index as usize).or(case.nodes.first())?;
        let node = site.node(name)?;
        let (device, number) = parse(label)?;
        let hca = node.machine.hcas.known()?.iter().find(|hca| hca.name == device)?;
        Some(End { node, hca, port: hca.port(number.into())? })
    };
    let labels = ports_of(case, 0)?.into_iter().zip(ports_of(case, 1)?);
    labels.map(|(own, other)| Some([end(0, own)?, end(1, other)?])).collect()
}

/// The ports of a node that are asked for: by name, or all that are active.
pub fn wanted<'a>(node: &'a SiteNode, word: &str, param: &str) -> Result<Vec<End<'a>>, Reason> {
    let all = ports(node)?;
    let labels = || all.iter().map(End::label).collect::<Vec<_>>().join(", ");
    if word == "auto" {
        let active: Vec<End<'a>> = all.iter().copied().filter(End::is_active).collect();
        if active.is_empty() {
            let text = format!(
                "no port of {} is active (it has {}): see their states in its inventory",
                node.name,
                labels()
            );
            return Err(Reason::new(Cause::Missing, text));
        }
        return Ok(active);
    }
    let is_it = |end: &&End<'a>| end.label() == word || end.hca.name == word;
    let found: Vec<End<'a>> = all.iter().filter(is_it).copied().collect();
    match found.as_slice() {
        [one] => Ok(vec![*one]),
        [] => {
            let text = format!("{param}={word}: {} has no such port; it has {}", node.name, labels());
            Err(Reason::new(Cause::Missing, text))
        }
        _ => {
            let text = format!("{param}={word} has several ports: name one, such as {}", found[0].label());
            Err(Reason::new(Cause::Contradiction, text))
        }
    }
}

/// All ports of a node.
fn ports(node: &SiteNode) -> Result<Vec<End<'_>>, Reason> {
    let hcas = match &node.machine.hcas {
        Known::Known(hcas) => hcas,
        Known::Unknown(why) => {
            let text = format!("the RDMA devices of {} are not known: {why}", node.name);
            return Err(Reason::new(Cause::Missing, text));
        }
    };
    let all: Vec<End<'_>> =
        hcas.iter().flat_map(|hca| hca.ports.iter().map(move |port| End { node, hca, port })).collect();
    if all.is_empty() {
        return Err(Reason::new(Cause::Inapplicable, format!("{} has no RDMA device", node.name)));
    }
    Ok(all)
}

/// The port at the other end of `own`, on `node`.
///
/// # Errors
/// When the node has none that `own` could talk to.
pub fn partner<'a>(own: End<'a>, node: &'a SiteNode, params: &Params) -> Result<End<'a>, Reason> {
    let word = params.text(PEER.name).unwrap_or("auto");
    if !matches!(word, "auto" | "other-card") {
        return Ok(wanted(node, word, PEER.name)?[0]);
    }
    let alone = own.node.name == node.name;
    let layer = own.port.link_layer.known();
    let fits: Vec<End<'a>> = ports(node)?
        .into_iter()
        .filter(|end| end.is_active() && end.port.link_layer.known() == layer)
        .collect();
    if alone {
        let others = fits.into_iter().filter(|end| are_distinct(own.hca, end.hca) == Ok(true));
        // The ports of a card in order: the second port of a card is paired with the second of another.
        let best = others.min_by_key(|end| (end.port.number != own.port.number, end.label()));
        return match best {
            Some(end) => Ok(end),
            None if word == "auto" => Ok(own),
            None => Err(Reason::new(Cause::Missing, no_other_card(own, node))),
        };
    }
    // The cards of equal nodes have equal names; otherwise their order decides.
    let same = fits.iter().find(|end| end.label() == own.label());
    let place =
        ports(own.node)?.iter().filter(|end| end.is_active()).position(|end| end.label() == own.label());
    let found = same.or_else(|| fits.get(place.unwrap_or(0) % fits.len().max(1)));
    found.copied().ok_or_else(|| {
        let layer = layer.map_or("any kind", String::as_str);
        let text = format!("{} has no active port of {layer} that {} could talk to", node.name, own.label());
        Reason::new(Cause::Missing, text)
    })
}

fn no_other_card(own: End<'_>, node: &SiteNode) -> String {
    let others = node.machine.hcas.listed().iter().filter(|hca| hca.name != own.hca.name);
    let why: Vec<String> = others
        .map(|hca| match are_distinct(own.hca, hca) {
            Ok(true) => format!("{} has no active port of the same kind", hca.name),
            Ok(false) => format!("{} is on the same card", hca.name),
            Err(why) => format!("{}: {why}", hca.name),
        })
        .collect();
    let why = if why.is_empty() { "it has no other device".to_owned() } else { why.join("; ") };
    format!(
        "{} has no port on a physically distinct card for {}: {why}; name a second node with -w",
        node.name,
        own.label()
    )
}

/// Whether two devices are on cards of their own: they sit in different slots of PCI, and the image of their firmware
/// has another number, which all functions of a card share (InfiniBand Architecture Specification, SystemImageGUID).
pub fn are_distinct(one: &Hca, other: &Hca) -> Result<bool, String> {
    if one.name == other.name {
        return Ok(false);
    }
    if one.is_software || other.is_software {
        return Err("software plays it, so that there is no card".to_owned());
    }
    let slots = one.card().zip(other.card()).ok_or("its place on the PCI bus is not known")?;
    let images = (&one.sys_image_guid, &other.sys_image_guid);
    let (Known::Known(own), Known::Known(others)) = images else {
        return Err("its system image GUID is not known".to_owned());
    };
    Ok(slots.0 != slots.1 && own != others)
}

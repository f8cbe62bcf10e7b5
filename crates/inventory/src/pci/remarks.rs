//! Anomalies of PCI Express links.

use std::collections::BTreeSet;

use seatrial_model::machine::{Known, NumaNode, PciDevice, PciLink, PciPort};

use super::port::either;
use crate::reading::Reading;

pub(super) fn report<'a>(
    devices: impl Iterator<Item = &'a PciDevice>,
    numa: &[NumaNode],
    at: &mut Reading<'_>,
) {
    let mut told = BTreeSet::new();
    for device in devices {
        if let Some(node) =
            device.numa_node.known().filter(|node| numa.iter().all(|known| known.id != **node))
        {
            at.remark(
                "pci",
                format!("{} is assigned to NUMA node {node}, which does not exist", device.address),
            );
        }
        for link in device.path.links() {
            // Functions of a card share a link, and so do devices below a switch.
            let card = link.lower.address.split('.').next().unwrap_or_default().to_owned();
            if told.insert((card, link.upper.map(|end| end.address.clone()))) {
                remark(&link, at);
            }
        }
    }
}

fn remark(link: &PciLink<'_>, at: &mut Reading<'_>) {
    let name = name(link);
    if [Some(link.lower), link.upper].into_iter().flatten().any(|end| end.emulated) {
        return;
    }
    for end in [Some(link.lower), link.upper].into_iter().flatten() {
        if let Some(text) = beyond_itself(end) {
            at.remark("pci", text);
        }
    }
    if let Some(text) = disagreement(link) {
        at.remark("pci", format!("the two ends of link {name} disagree: {text}"));
        return;
    }
    let Some(text) = reduced_link(link) else { return };
    let idle = if is_narrow(link) { "" } else { "; an idle device may lower it, check again under load" };
    at.remark("pci", format!("link {name} runs at {text}{idle}"));
}

/// State and capability of a link that runs below it: `8 GT/s x16, both its ends can do 32 GT/s x16`.
pub fn reduced_link(link: &PciLink<'_>) -> Option<String> {
    if [Some(link.lower), link.upper].into_iter().flatten().any(|end| end.emulated) {
        return None;
    }
    let speed = either(&link.lower.speed_gts, link.upper.map(|end| &end.speed_gts));
    let width = either(&link.lower.width, link.upper.map(|end| &end.width));
    let most = either(&link.lower.max_speed_gts, link.upper.map(|end| &end.max_speed_gts));
    let widest = either(&link.lower.max_width, link.upper.map(|end| &end.max_width));
    let slow = matches!((&speed, &most), (Known::Known(now), Known::Known(could)) if now < could);
    if !slow && !is_narrow(link) {
        return None;
    }
    let (now, could) = (shape(&speed, &width), shape(&most, &widest));
    let ends = if link.upper.is_some() { "both its ends can do" } else { "its end can do" };
    Some(format!("{now}, {ends} {could}"))
}

/// Whether it runs with fewer lanes than its ends have.
fn is_narrow(link: &PciLink<'_>) -> bool {
    let width = either(&link.lower.width, link.upper.map(|end| &end.width));
    let widest = either(&link.lower.max_width, link.upper.map(|end| &end.max_width));
    matches!((width, widest), (Known::Known(now), Known::Known(could)) if now < could)
}

fn name(link: &PciLink<'_>) -> String {
    match link.upper {
        Some(upper) => format!("{} - {}", link.lower.address, upper.address),
        None => link.lower.address.clone(),
    }
}

fn shape(speed: &Known<f64>, width: &Known<u32>) -> String {
    let speed = speed.known().map_or("? GT/s".to_owned(), |speed| format!("{speed} GT/s"));
    let width = width.known().map_or("x?".to_owned(), |width| format!("x{width}"));
    format!("{speed} {width}")
}

/// A port that runs above its capability.
fn beyond_itself(end: &PciPort) -> Option<String> {
    let faster =
        matches!((&end.speed_gts, &end.max_speed_gts), (Known::Known(now), Known::Known(most)) if now > most);
    let wider = matches!((&end.width, &end.max_width), (Known::Known(now), Known::Known(most)) if now > most);
    (faster || wider).then(|| {
        let (now, most) = (shape(&end.speed_gts, &end.width), shape(&end.max_speed_gts, &end.max_width));
        format!("{} runs at {now}, above its capability of {most}", end.address)
    })
}

/// Both ends must report the same link state.
fn disagreement(link: &PciLink<'_>) -> Option<String> {
    let upper = link.upper?;
    let speeds =
        matches!((&link.lower.speed_gts, &upper.speed_gts), (Known::Known(a), Known::Known(b)) if a != b);
    let widths = matches!((&link.lower.width, &upper.width), (Known::Known(a), Known::Known(b)) if a != b);
    (speeds || widths).then(|| {
        let (a, b) = (shape(&link.lower.speed_gts, &link.lower.width), shape(&upper.speed_gts, &upper.width));
        format!("{a} and {b}")
    })
}

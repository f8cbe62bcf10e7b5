//! Several ports in one case: which talk to which, how lists of them are written, and what they found together.

use seatrial_model::{Cause, Params, Reason, SiteNode};

use super::end::{End, partner, wanted};
use super::params::{DEVICE, PEER};
use super::port_list::{PLUS, joined};
use crate::interfaces::CROSS;

/// Each port that is asked for together with others, with the port that it talks to; none where no list is asked for.
///
/// # Errors
/// When a port is not there, has no partner, or would be in two pairs.
pub fn pairs<'a>(
    first: &'a SiteNode,
    second: &'a SiteNode,
    params: &Params,
) -> Result<Option<Vec<[End<'a>; 2]>>, Reason> {
    let own = params.text(DEVICE.name).unwrap_or("auto");
    let peers = params.text(PEER.name).unwrap_or("auto");
    if !own.contains(PLUS) {
        if peers == CROSS {
            let text = format!(
                "{}={CROSS} needs several ports in {}=, such as mlx5_0/1+mlx5_1/1",
                PEER.name, DEVICE.name
            );
            return Err(Reason::new(Cause::Contradiction, text));
        }
        if peers.contains(PLUS) {
            let text = format!("{}={peers} needs as many in {}=, such as {peers}", PEER.name, DEVICE.name);
            return Err(Reason::new(Cause::Contradiction, text));
        }
        return Ok(None);
    }
    let listed = |node: &'a SiteNode, list: &str, param: &str| -> Result<Vec<End<'a>>, Reason> {
        let one = |word: &str| match word.trim() {
            "" | "auto" => {
                let text = format!("{param}={list} is not a list of ports, such as mlx5_0/1+mlx5_1/1");
                Err(Reason::new(Cause::Contradiction, text))
            }
            word => Ok(wanted(node, word, param)?[0]),
        };
        list.split(PLUS).map(one).collect()
    };
    let ours = listed(first, own, DEVICE.name)?;
    let theirs = match peers {
        CROSS => {
            let straight = Params::from([(PEER.name, "auto".into())]);
            let mut theirs =
                ours.iter().map(|own| partner(*own, second, &straight)).collect::<Result<Vec<_>, _>>()?;
            theirs.rotate_left(1);
            theirs
        }
        "auto" | "other-card" => {
            ours.iter().map(|own| partner(*own, second, params)).collect::<Result<Vec<_>, _>>()?
        }
        list => listed(second, list, PEER.name)?,
    };
    if ours.len() != theirs.len() {
        let text = format!("{}={own} and {}={peers} have not as many ports", DEVICE.name, PEER.name);
        return Err(Reason::new(Cause::Contradiction, text));
    }
    let pairs: Vec<[End<'a>; 2]> = ours.into_iter().zip(theirs).map(|(own, other)| [own, other]).collect();
    match twice(&pairs) {
        Some(label) => {
            let text = format!(
                "{label} would be in two pairs of {}: a port cannot give its rate twice; name others with {}=",
                joined(pairs.iter().map(|[own, other]| format!("{} to {}", own.label(), other.label()))),
                PEER.name
            );
            Err(Reason::new(Cause::Contradiction, text))
        }
        None => Ok(Some(pairs)),
    }
}

/// A port in two pairs.
fn twice(pairs: &[[End<'_>; 2]]) -> Option<String> {
    let name = |end: &End<'_>| (end.node.name.clone(), end.label());
    let is_in = |pair: &[End<'_>; 2], end: &End<'_>| pair.iter().any(|other| name(other) == name(end));
    pairs.iter().enumerate().find_map(|(at, pair)| {
        let again = pair.iter().find(|end| pairs[..at].iter().any(|before| is_in(before, end)));
        again.map(End::label)
    })
}

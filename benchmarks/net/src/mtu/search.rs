//! The search for the largest size that gets through.

use seatrial_model::Reason;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrived,
    Lost,
    /// The sender's own interface refused it (`EMSGSIZE`).
    Refused,
}

/// Usual MTUs, tried first: jumbo frames, IP over InfiniBand (datagram mode over 4 KiB and 2 KiB), Ethernet, PPPoE,
/// VXLAN over Ethernet.
const USUAL: [u32; 8] = [65_520, 9000, 8950, 4092, 2044, 1500, 1492, 1450];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundMtu {
    pub largest: u32,
    /// Whether the next larger size is lost on the path, not refused by the sender's own interface.
    pub lost_above: bool,
}

/// The largest size from `least` to `most` that arrives; `None` if not even `least` does. Assumes that every size
/// below one that arrives also arrives.
///
/// # Errors
/// Those of `send`.
pub fn search(
    least: u32,
    most: u32,
    mut send: impl FnMut(u32) -> Result<Fate, Reason>,
) -> Result<Option<FoundMtu>, Reason> {
    let first = send(most)?;
    if first == Fate::Arrived {
        return Ok(Some(FoundMtu { largest: most, lost_above: false }));
    }
    let (mut bad, mut fate) = (most, first);
    let mut good = None;
    let usual = USUAL.into_iter().filter(|size| (least + 1..most).contains(size));
    for size in usual.chain([least]) {
        match send(size)? {
            Fate::Arrived => {
                good = Some(size);
                break;
            }
            other => (bad, fate) = (size, other),
        }
    }
    let Some(mut good) = good else { return Ok(None) };
    // If a usual size is the answer, one try of one more byte ends the search.
    let mut next = good + 1;
    while good + 1 < bad {
        match send(next)? {
            Fate::Arrived => good = next,
            other => (bad, fate) = (next, other),
        }
        next = good + (bad - good) / 2;
    }
    Ok(Some(FoundMtu { largest: good, lost_above: fate == Fate::Lost }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches on a path of MTU `path` from an interface of MTU `own`, and counts the packets.
    fn on(path: u32, own: u32, most: u32) -> (Option<FoundMtu>, u32) {
        let mut sent = 0;
        let found = search(576, most, |size| {
            sent += 1;
            Ok(match size {
                _ if size > own => Fate::Refused,
                _ if size > path => Fate::Lost,
                _ => Fate::Arrived,
            })
        });
        (found.expect("no error"), sent)
    }

    #[test]
    fn every_path_is_measured_exactly() {
        for path in (576..9100).step_by(7).chain([577, 1499, 1500, 1501, 8999, 9000, 65_535]) {
            let (found, sent) = on(path, 65_535, 65_535);
            assert_eq!(found.map(|found| found.largest), Some(path));
            assert!(sent <= 30, "{path}: {sent}");
        }
    }

    #[test]
    fn a_usual_path_takes_few_packets() {
        assert_eq!(on(9000, 9000, 9000), (Some(FoundMtu { largest: 9000, lost_above: false }), 1));
        let (found, sent) = on(1500, 9000, 9000);
        assert_eq!(found, Some(FoundMtu { largest: 1500, lost_above: true }));
        assert!(sent <= 7, "{sent}");
    }

    #[test]
    fn what_the_own_interface_refuses_is_not_lost() {
        let (found, _) = on(9000, 1500, 9000);
        assert_eq!(found, Some(FoundMtu { largest: 1500, lost_above: false }));
    }

    #[test]
    fn a_path_that_carries_nothing_is_told_so() {
        assert_eq!(on(100, 9000, 9000).0, None);
    }
}

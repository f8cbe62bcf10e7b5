//! For which shares of the time what held a flow back, from the counters of its two ends.

use std::collections::BTreeMap;

use seatrial_model::{HeldBack, Hold};

use super::bottleneck::{Bottleneck, Shares, bottleneck};
use super::record::End;

/// Shares over all flows of all trials, the largest first. Flows whose kernels count no times are left out.
pub fn held_back<'a>(flows: impl IntoIterator<Item = (&'a End, &'a End)>) -> HeldBack {
    let (mut sums, mut count) = (BTreeMap::<Bottleneck, f64>::new(), 0_usize);
    for (sender, receiver) in flows {
        let Some(shares) = of_flow(&Shares::of(sender, receiver), bottleneck(sender, receiver)) else {
            continue;
        };
        count += 1;
        shares.into_iter().for_each(|(what, share)| *sums.entry(what).or_default() += share);
    }
    let mut holds: Vec<Hold> = sums
        .into_iter()
        .filter_map(|(what, sum)| {
            let (name, source) = told(what)?;
            let share = sum / count as f64;
            Some(Hold { what: name.to_owned(), share, source: source.to_owned(), ..Hold::default() })
        })
        .filter(|hold| hold.share > 0.0)
        .collect();
    holds.sort_by(|one, other| other.share.total_cmp(&one.share));
    HeldBack(holds)
}

/// The shares of one flow that `limited` limits; together they are 1 at most.
fn of_flow(shares: &Shares, limited: Bottleneck) -> Option<Vec<(Bottleneck, f64)>> {
    let (mut idle, mut window, buffer) = (1.0 - shares.busy?, shares.rwnd_limited?, shares.sndbuf_limited?);
    let mut open = (1.0 - idle - window - buffer).max(0.0);
    let mut sender = [
        (Bottleneck::SenderStarved, shares.sender_waited.unwrap_or(0.0)),
        (Bottleneck::SenderCpu, shares.sender_cpu),
    ];
    let mut receiver = [
        (Bottleneck::ReceiverStarved, shares.receiver_waited.unwrap_or(0.0)),
        (Bottleneck::ReceiverCpu, shares.receiver_cpu),
        (Bottleneck::Reader, shares.receiver_rested),
    ];
    // A window closes while the receiver waits for a CPU, works or rests; what is left is the window's own.
    let mut found = taken(&mut window, &mut receiver);
    found.push((Bottleneck::ReceiveWindow, window));
    found.push((Bottleneck::SendBuffer, buffer));
    found.extend(taken(&mut idle, &mut sender));
    found.push((Bottleneck::Application, idle));
    // In the rest of the time there was data to send and room for it.
    match limited {
        Bottleneck::SenderCpu | Bottleneck::SenderStarved => found.extend(taken(&mut open, &mut sender)),
        Bottleneck::ReceiverCpu | Bottleneck::ReceiverStarved => {
            found.extend(taken(&mut open, &mut receiver));
        }
        Bottleneck::Loss | Bottleneck::Pacing | Bottleneck::Path => found.push((limited, open)),
        _ => {}
    }
    Some(found)
}

/// Gives the time `from` to an end by what the end did, which is given once only.
fn taken(from: &mut f64, end: &mut [(Bottleneck, f64)]) -> Vec<(Bottleneck, f64)> {
    let take = |(what, left): &mut (Bottleneck, f64)| {
        let share = from.min(*left);
        *from -= share;
        *left -= share;
        (*what, share)
    };
    end.iter_mut().map(take).collect()
}

/// Its name, and the counter that says so; `None` for what no counter explains.
const fn told(what: Bottleneck) -> Option<(&'static str, &'static str)> {
    Some(match what {
        Bottleneck::SenderCpu => ("sender's CPU is busy", "CPU time of the sending thread"),
        Bottleneck::ReceiverCpu => ("receiver's CPU is busy", "CPU time of the receiving thread"),
        Bottleneck::SenderStarved => {
            ("other programs on the sender's CPU", "schedstat of the sending thread")
        }
        Bottleneck::ReceiverStarved => {
            ("other programs on the receiver's CPU", "schedstat of the receiving thread")
        }
        Bottleneck::Reader => ("receiving program does not read", "rest of the receiving thread"),
        Bottleneck::Application => ("sending program has nothing to send", "tcpi_busy_time"),
        Bottleneck::ReceiveWindow => ("receive window", "tcpi_rwnd_limited"),
        Bottleneck::SendBuffer => ("send buffer", "tcpi_sndbuf_limited"),
        Bottleneck::Loss => ("packet loss", "tcpi_total_retrans, no queue in the path"),
        Bottleneck::Pacing => ("pacing as asked for", "SO_MAX_PACING_RATE"),
        Bottleneck::Path => ("path is full", "congestion window; nothing else held the flow back"),
        Bottleneck::Unknown => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(busy: f64, window: f64, buffer: f64) -> Shares {
        Shares {
            sender_cpu: 0.1,
            sender_waited: Some(0.2),
            receiver_cpu: 0.1,
            receiver_waited: Some(0.0),
            busy: Some(busy),
            rwnd_limited: Some(window),
            sndbuf_limited: Some(buffer),
            ..Shares::default()
        }
    }

    fn named(shares: &Shares, limited: Bottleneck) -> Vec<(Bottleneck, f64)> {
        let all = of_flow(shares, limited).expect("counted");
        let total: f64 = all.iter().map(|(_, share)| share).sum();
        assert!(total <= 1.0 + 1e-9, "{total}");
        let round = |share: f64| (share * 1000.0).round() / 1000.0;
        all.into_iter().map(|(what, share)| (what, round(share))).filter(|(_, share)| *share > 0.0).collect()
    }

    #[test]
    fn a_closed_window_is_the_receivers_where_it_works_and_its_own_otherwise() {
        let found = named(&shares(1.0, 0.9, 0.0), Bottleneck::ReceiveWindow);
        assert_eq!(found, [(Bottleneck::ReceiverCpu, 0.1), (Bottleneck::ReceiveWindow, 0.8)]);
    }

    #[test]
    fn time_with_nothing_to_send_is_the_senders() {
        let found = named(&shares(0.6, 0.0, 0.0), Bottleneck::SenderStarved);
        let expected =
            [(Bottleneck::SenderStarved, 0.2), (Bottleneck::SenderCpu, 0.1), (Bottleneck::Application, 0.1)];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_end_that_never_sleeps_has_the_rest_of_the_time_once() {
        let found = named(&Shares { sender_cpu: 0.75, ..shares(0.9, 0.0, 0.0) }, Bottleneck::SenderStarved);
        let expected = [
            (Bottleneck::SenderStarved, 0.1),
            (Bottleneck::SenderStarved, 0.1),
            (Bottleneck::SenderCpu, 0.75),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_rest_of_the_time_is_that_of_the_path() {
        assert_eq!(
            named(&shares(1.0, 0.0, 0.25), Bottleneck::Path),
            [(Bottleneck::SendBuffer, 0.25), (Bottleneck::Path, 0.75)]
        );
        assert_eq!(of_flow(&Shares::default(), Bottleneck::Unknown), None);
    }
}

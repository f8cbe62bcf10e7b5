//! The search for the highest loss-free rate before a policer, in simulated time, so that the result does not depend
//! on the test machine.

use super::pace::{CATCH_UP_NS, Pace};
use super::rate_search::{Border, Came, MOST_STEPS, RateSearch, Step, found};
use super::record::{Sent, SentFlow};
use super::steps::came;
use seatrial_stats::mix;

const MESSAGE: usize = 1000;
const BATCH: u64 = 64;

/// Kernel time per datagram: a flood reaches 100,000 per second.
const DATAGRAM_NS: u64 = 10_000;

/// Length of a step, and the time between two: the receiver waits for longer if datagrams are missing.
const STEP_NS: u64 = 250_000_000;
const AFTER_FREE_NS: u64 = 20_000_000;
const AFTER_LOSS_NS: u64 = 300_000_000;

const LOOK_NS: u64 = 5_000_000;

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = mix(self.0);
        self.0 % end
    }
}

/// A token bucket: one token per datagram, refilled at `rate` per second up to its depth.
struct Policer {
    rate: f64,
    depth: f64,
    tokens: f64,
    at_ns: u64,
    dropped: u64,
}

impl Policer {
    fn passes(&mut self, now_ns: u64) -> bool {
        let more = (now_ns - self.at_ns) as f64 * self.rate / 1e9;
        (self.tokens, self.at_ns) = ((self.tokens + more).min(self.depth), now_ns);
        let passes = self.tokens >= 1.0;
        self.tokens -= if passes { 1.0 } else { 0.0 };
        self.dropped += u64::from(!passes);
        passes
    }
}

/// Late wake-ups of the sender: one in `one_in`, by up to `most_ns`.
#[derive(Clone, Copy, Debug)]
struct Pauses {
    one_in: u64,
    most_ns: u64,
}

const NONE: Pauses = Pauses { one_in: u64::MAX, most_ns: 1 };

struct World {
    now_ns: u64,
    policer: Policer,
    pauses: Pauses,
    numbers: Numbers,
}

impl World {
    fn new(rate: f64, depth: f64, pauses: Pauses, seed: u64) -> Self {
        let policer = Policer { rate, depth, tokens: depth, at_ns: 0, dropped: 0 };
        Self { now_ns: 1_000_000_000, policer, pauses, numbers: Numbers(seed) }
    }

    fn step(&mut self, rate: Option<f64>) -> Step {
        let (start, mut sent, mut received) = (self.now_ns, 0, 0);
        let (mut pace, mut span_ns) = (Pace::new(rate, MESSAGE, start), 0);
        while self.now_ns < start + STEP_NS {
            let due = pace.due(self.now_ns, sent).min(BATCH);
            span_ns = self.now_ns - start;
            for _ in 0..due {
                received += u64::from(self.policer.passes(self.now_ns));
                self.now_ns += DATAGRAM_NS;
            }
            sent += due;
            let next = pace.next_ns(sent);
            if next > self.now_ns {
                self.now_ns = next.min(self.now_ns + LOOK_NS) + self.late();
            }
        }
        let flow = SentFlow {
            datagrams: sent,
            span_ns,
            slipped_ns: pace.slipped_ns,
            behind_ns: pace.behind_ns,
            ..SentFlow::default()
        };
        let told = Sent { message: MESSAGE, rate, flows: vec![flow], ..Sent::default() };
        self.now_ns += if received < sent { AFTER_LOSS_NS } else { AFTER_FREE_NS };
        came(rate, &told, received, sent - received)
    }

    fn late(&mut self) -> u64 {
        let usual = self.numbers.below(100_000);
        if self.numbers.below(self.pauses.one_in) == 0 {
            usual + self.numbers.below(self.pauses.most_ns)
        } else {
            usual
        }
    }

    fn searched(&mut self) -> Vec<Step> {
        let mut search = RateSearch::new(1);
        while let Some(asked) = search.next() {
            let step = self.step(asked);
            search.note(step);
            assert!(search.steps.len() <= MOST_STEPS as usize);
        }
        search.steps
    }
}

fn rate(step: &Step) -> f64 {
    step.offered / MESSAGE as f64
}

/// Checks what holds for every search, whatever the machine did. Returns the best step, and what bounds it.
fn sound(world: &World, steps: &[Step]) -> (Option<Step>, Border) {
    assert_eq!(steps.iter().map(|step| step.lost).sum::<u64>(), world.policer.dropped, "{steps:?}");
    let (best, border) = found(steps);
    if let Some(best) = best {
        // A burst at the end of a step may find the bucket full again.
        let most = world.policer.rate + 2.0 * world.policer.depth / (best.span_ns as f64 / 1e9);
        assert!(rate(best) <= most, "{best:?} of {}", world.policer.rate);
        // Above the best step there is a step that was not loss-free, and near to it if the search was complete.
        let above: Vec<_> = steps.iter().filter(|step| step.came != Came::Free).collect();
        assert!(!above.is_empty() || border == Border::NotReached, "{steps:?}");
    }
    (best.copied(), border)
}

#[test]
fn a_search_finds_what_a_policer_lets_through() {
    for (seed, pps) in (0..120).zip([2_500.0, 4_000.0, 9_000.0, 20_000.0].into_iter().cycle()) {
        for depth in [60.0, 120.0, 400.0] {
            let mut world = World::new(pps, depth, NONE, seed);
            let steps = world.searched();
            let (best, border) = sound(&world, &steps);
            let best = best.map(|best| rate(&best)).expect("one is loss-free");
            // A full bucket lets a step pass its depth more.
            let most = pps + depth / (STEP_NS as f64 / 1e9);
            assert!(best > pps * 0.97 && best <= most * 1.01, "{best} of {pps}, {depth}: {steps:?}");
            assert_eq!(border, Border::Lost, "{pps}, {depth}: {steps:?}");
        }
    }
}

#[test]
fn pauses_that_the_bucket_holds_change_nothing_of_it() {
    const PPS: f64 = 4_000.0;
    for seed in 0..150 {
        // At 4,000 per second 48 datagrams are due after 12 ms.
        let pauses = Pauses { one_in: 20, most_ns: 12_000_000 };
        let mut world = World::new(PPS, 120.0, pauses, seed);
        let steps = world.searched();
        let (best, _) = sound(&world, &steps);
        let best = best.map(|best| rate(&best)).expect("one is loss-free");
        assert!(best > PPS * 0.95 && best <= PPS * 1.15, "{best}: {steps:?}");
    }
}

#[test]
fn a_sender_that_is_away_for_long_is_late_and_loses_nothing_below_the_rate() {
    const PPS: f64 = 4_000.0;
    let depth = PPS * CATCH_UP_NS as f64 / 1e9 + 40.0;
    let (mut late, mut with_a_rate) = (0, 0);
    for seed in 0..150 {
        let pauses = Pauses { one_in: 100, most_ns: 300_000_000 };
        let mut world = World::new(PPS, depth, pauses, seed);
        let steps = world.searched();
        let (best, _) = sound(&world, &steps);
        with_a_rate += u32::from(best.is_some());
        late += steps.iter().filter(|step| step.came == Came::Late).count();
        let below =
            steps.iter().filter(|step| step.asked.is_some_and(|asked| asked < 0.98 * PPS * MESSAGE as f64));
        for step in below {
            assert!(step.came != Came::Lost, "{step:?} of {steps:?}");
        }
    }
    assert!(late > 150 && with_a_rate > 50, "{late} were late, {with_a_rate} found a rate");
}

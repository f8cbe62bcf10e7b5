//! Waits for a time in which nothing else uses the machine: neither programs beside us, nor guests that the host prefers, nor
//! writing that is still under way.

use std::thread::sleep;
use std::time::{Duration, Instant};

use seatrial_sys::net::host_time;
use seatrial_sys::root::SysRoot;

/// CPU time that others or the host may take of all CPUs, and time in which somebody may wait for CPU or storage (PSI).
const MOST: f64 = 0.05;

/// How long one look takes. Nothing of ours runs in that time.
const LOOK: Duration = Duration::from_millis(250);

/// One round waits so long at most, and all rounds of a row together so long.
const A_ROUND: Duration = Duration::from_secs(20);
const A_ROW: Duration = Duration::from_secs(120);

/// Looks at the machine for a while; returns the largest share that others took, 0 to 1.
pub struct Quiet {
    look: Box<dyn FnMut() -> f64>,
}

impl Quiet {
    /// This machine. What cannot be read counts as quiet.
    pub fn live() -> Self {
        let root = SysRoot::live();
        Self {
            look: Box::new(move || {
                let before = Reading::of(&root);
                sleep(LOOK);
                Reading::of(&root).since(&before)
            }),
        }
    }

    /// A machine on which nothing else ever runs.
    #[cfg(test)]
    pub fn always() -> Self {
        Self { look: Box::new(|| 0.0) }
    }
}

/// Waits before rounds, and remembers what it waited for.
pub struct Patience {
    quiet: Quiet,
    /// One round may wait so long, and the rounds that are left together so long.
    a_round: Duration,
    left: Duration,
    /// Rounds that began on a busy machine, and the largest share that others took then.
    busy: (usize, f64),
}

impl Patience {
    pub fn new(quiet: Quiet) -> Self {
        Self { quiet, a_round: A_ROUND, left: A_ROW, busy: (0, 0.0) }
    }

    /// Returns when the machine is quiet, or has not been for too long.
    pub fn wait(&mut self) {
        let start = Instant::now();
        let longest = self.a_round.min(self.left);
        let mut share = (self.quiet.look)();
        while share > MOST && start.elapsed() < longest {
            share = (self.quiet.look)();
        }
        self.left = self.left.saturating_sub(start.elapsed().saturating_sub(LOOK));
        if share > MOST {
            self.busy = (self.busy.0 + 1, self.busy.1.max(share));
        }
    }

    /// Rounds that began on a busy machine.
    pub fn disturbed(&self) -> usize {
        self.busy.0
    }

    /// What is to be said of the rounds.
    pub fn told(&self) -> Option<String> {
        let (rounds, share) = self.busy;
        (rounds > 0).then(|| {
            format!(
                "rounds that began while others took up to {:.0} % of the machine: {rounds}",
                100.0 * share
            )
        })
    }
}

/// Times of the whole machine, in nanoseconds.
#[derive(Default)]
struct Reading {
    busy: u64,
    idle: u64,
    stalled: Vec<u64>,
    at: Option<Instant>,
}

impl Reading {
    fn of(root: &SysRoot) -> Self {
        let time = host_time(root).unwrap_or_default();
        let stalled = ["cpu", "io"].map(|what| {
            let text = root.text(format!("/proc/pressure/{what}")).unwrap_or_default();
            1000 * total(&text)
        });
        Self {
            busy: time.busy_ns() + time.steal_ns,
            idle: time.idle_ns,
            stalled: stalled.to_vec(),
            at: Some(Instant::now()),
        }
    }

    fn since(&self, earlier: &Self) -> f64 {
        let [busy, idle] = [(self.busy, earlier.busy), (self.idle, earlier.idle)]
            .map(|(now, then)| now.saturating_sub(then) as f64);
        let of_cpus = if busy + idle > 0.0 { busy / (busy + idle) } else { 0.0 };
        let elapsed = self.at.zip(earlier.at).map_or(0, |(now, then)| (now - then).as_nanos());
        let waits = self.stalled.iter().zip(&earlier.stalled);
        let waits = waits.map(|(now, then)| now.saturating_sub(*then) as f64 / (elapsed as f64).max(1.0));
        waits.fold(of_cpus, f64::max)
    }
}

/// Microseconds in which some thread waited (proc(5): `some avg10=0.00 avg60=0.00 avg300=0.00 total=4711`).
fn total(text: &str) -> u64 {
    let some = text.lines().find_map(|line| line.strip_prefix("some "));
    let total = some.and_then(|line| line.split(' ').find_map(|word| word.strip_prefix("total=")));
    total.and_then(|total| total.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience(looks: &'static [f64]) -> Patience {
        let mut looks = looks.iter().copied().cycle();
        let look = Box::new(move || looks.next().expect("they come round again"));
        Patience { a_round: Duration::from_millis(5), ..Patience::new(Quiet { look }) }
    }

    #[test]
    fn a_round_begins_when_the_machine_is_quiet() {
        let mut patience = patience(&[0.5, 0.2, 0.01]);
        patience.wait();
        assert_eq!((patience.told(), patience.disturbed()), (None, 0));
    }

    #[test]
    fn a_machine_that_is_never_quiet_is_told_with_the_share_of_the_others() {
        let mut patience = patience(&[0.3, 0.25]);
        (0..3).for_each(|_| patience.wait());
        let told = patience.told().expect("told");
        assert!(told.contains("took up to") && told.ends_with(" % of the machine: 3"), "{told}");
        assert_eq!(patience.disturbed(), 3);
    }

    #[test]
    fn a_row_has_one_store_of_patience() {
        let mut patience = patience(&[0.3]);
        patience.left = Duration::ZERO;
        let start = Instant::now();
        patience.wait();
        assert!(start.elapsed() < A_ROUND && patience.told().is_some());
    }

    #[test]
    fn waiting_threads_and_busy_processors_count_whichever_is_more() {
        let at = Instant::now();
        let before = Reading { busy: 10, idle: 90, stalled: vec![5, 7], at: Some(at) };
        let later = at + Duration::from_nanos(100);
        let now = |busy, stalled| Reading { busy, idle: 90 + 200 - busy + 10, stalled, at: Some(later) };
        assert!((now(30, vec![5, 7]).since(&before) - 0.1).abs() < 1e-9);
        assert!((now(30, vec![5, 57]).since(&before) - 0.5).abs() < 1e-9);
        assert_eq!(Reading::default().since(&Reading::default()), 0.0);
    }

    #[test]
    fn the_total_of_waiting_is_read_and_what_is_no_such_file_is_none() {
        let text = "some avg10=1.00 avg60=0.00 avg300=0.00 total=4711\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n";
        assert_eq!([text, "", "some total=many"].map(total), [4711, 0, 0]);
    }
}

//! The worker: makes the streams, runs at the pace or searches for the fastest, checks the data.

use std::sync::Arc;

use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase, Reason};
use seatrial_sys::root::SysRoot;
use seatrial_sys::sched::{self, Class};
use serde_json::json;

use super::layout::PipelineLayout;
use super::ring::BlockRings;
use super::settings::{Mode, Settings};
use super::shared::Shared;
use super::window::{Pace, Window, rounds_within};
use crate::kernel::{Isa, Kernel, Pass};
use seatrial_bench::search::Search;
use seatrial_bench::{Running, Sink, Stop, ThreadSpec, ThreadTeam};

/// Most late blocks of a kept pace, in percent; COBALT2 demands 99.75 %.
pub const MOST_LATE_PERCENT: f64 = 0.25;

/// Warm-up pace of a search: faster than any machine, so that its rate shows the possible pace.
const UNATTAINABLE: f64 = 64.0;

/// Tries of a search with a good first guess; divides the measuring time.
const TRIES: u64 = 8;

/// Least rounds per try.
const FEWEST_ROUNDS: u64 = 2;

/// Most streams whose page placement is read: each makes the kernel walk all memory of the process.
const ASKED: usize = 16;

/// Small stacks: there may be thousands of threads, and none calls deeply.
const STACK_BYTES: usize = 256 << 10;

pub struct PipelineWorker {
    pub(super) shared: Arc<Shared>,
    class: Class,
    mode: Mode,
    rounds: u64,
    team: ThreadTeam<'static, ()>,
    guess: f64,
}

impl PipelineWorker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let settings = Settings::of(&case.params)?;
        let ring = case.planned.text("ring")?.split(' ').map(str::parse).collect::<Result<Vec<u64>, _>>();
        let ring = ring.ok().filter(|ring| ring.len() == settings.scenario.steps.len());
        let foreign =
            || Reason::new(Cause::Protocol, "the case does not name the number of blocks of every step");
        let rings = BlockRings::of(&settings.scenario, ring.ok_or_else(foreign)?);
        let pages = seatrial_bench::pages(&case.params)?;
        Self::of(place, settings, rings, pages, case.planned.count("rounds")?)
    }

    pub(super) fn of(
        place: &PartPlacement,
        settings: Settings,
        rings: BlockRings,
        pages: Vec<seatrial_sys::memory::Pages>,
        rounds: u64,
    ) -> Result<Self, Reason> {
        let isa = Isa::available().last().copied();
        let read = isa.and_then(|isa| Pass::select(Kernel::Read, None, isa));
        let read = read.ok_or_else(|| Reason::new(Cause::Missing, "this CPU runs no read kernel"))?;
        let Settings { scenario, mode, threads, class, .. } = settings;
        let layout = PipelineLayout::new(scenario.stations, scenario.steps.len(), &place.bindings, threads);
        if layout.groups.is_empty() {
            return Err(Reason::new(Cause::Protocol, "the placement has no CPU for any station"));
        }
        let memory = rings.memory;
        let shared = Arc::new(Shared::new(scenario, layout, rings.blocks, pages, read));
        let places = shared.layout.groups.iter().flat_map(|group| group.threads.iter().cloned());
        let threads = places.enumerate().map(|(number, place)| {
            let spec = ThreadSpec::new(format!("mem{number}"), None).on(place).stack_bytes(STACK_BYTES);
            (spec, wake_exactly)
        });
        let team = ThreadTeam::start(threads, "-p threads=core")?;
        let remedy = "free some, or measure with -p blocks=one";
        seatrial_bench::require_room(memory.get(), "the blocks take", remedy)?;
        let made = Arc::clone(&shared);
        team.all(move |thread, ()| made.make(thread))?;
        shared.streams.take_fastest();
        Ok(Self { shared, class, mode, rounds, team, guess: 1.0 })
    }

    /// Runs `rounds` rounds, or as many as fit into the phase; `None` if it ended before.
    fn window(&self, pace: f64, rounds: u64, stop: &Stop) -> Result<Option<Window>, Reason> {
        let pace = Pace { round: self.shared.scenario.round(), pace };
        match rounds.min(rounds_within(stop.left(), &pace)) {
            0 => Ok(None),
            rounds => Window::run(&self.team, &self.shared, &pace, rounds, stop),
        }
    }

    fn warm_up(&mut self, stop: &Stop) -> Result<(), Reason> {
        let pace = if self.mode == Mode::Max { UNATTAINABLE } else { 1.0 };
        if let Some(window) = self.window(pace, u64::MAX, stop)? {
            self.guess = pace * window.done_share(&self.shared);
        }
        Ok(())
    }

    fn paced(&self, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let Some(window) = self.window(1.0, self.rounds, stop)? else { return Ok(()) };
        window.tell(&self.shared, out)?;
        out.evidence("lateness", window.lateness.to_evidence());
        Ok(())
    }

    /// Searches for the fastest pace that is kept; each try starts afresh.
    fn search(&self, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        let mut search = Search::from(self.guess);
        let mut fastest = 0.0;
        while let Some(pace) = search.next() {
            let rounds = ((self.rounds / TRIES) as f64 * pace) as u64;
            let rounds = rounds.max(FEWEST_ROUNDS);
            let time = Pace { round: self.shared.scenario.round(), pace };
            if rounds_within(stop.left(), &time) < rounds {
                break;
            }
            let Some(window) = self.window(pace, rounds, stop)? else { break };
            window.tell(&self.shared, out)?;
            let kept = window.late_percent() <= MOST_LATE_PERCENT;
            if kept && pace > fastest {
                fastest = pace;
                out.evidence("lateness", window.lateness.to_evidence());
            }
            search.tell(kept);
        }
        let unfinished = search.next();
        out.evidence("search", json!({ "guess": self.guess, "lost": search.lost(), "untried": unfinished }));
        Ok(())
    }

    fn tell_place(&self, out: &mut dyn Sink) {
        self.shared.streams.look(|streams| {
            let every = streams.len().div_ceil(ASKED).max(1);
            let held = || streams.iter().map(|stream| stream.held());
            out.evidence("place", seatrial_bench::evidence_of_place(held()));
            out.evidence("pages", seatrial_bench::evidence_of_pages(held().step_by(every)));
        });
        out.evidence("prefetch", self.shared.streams.trial().to_evidence());
        out.evidence("isa", json!(self.shared.read.isa().name()));
    }

    /// Real-time threads get at most `sched_rt_runtime_us` of every period (sched(7), "Limiting the CPU usage").
    fn tell_class(&self, out: &mut dyn Sink) {
        let limit =
            |name: &str| SysRoot::live().value::<i64>(format!("/proc/sys/kernel/sched_rt_{name}_us")).ok();
        let throttle = json!({ "runtime_us": limit("runtime"), "period_us": limit("period") });
        out.evidence("sched", json!({ "class": self.class.to_string(), "real_time_limit": throttle }));
    }
}

/// Removes the timer slack of the calling thread.
fn wake_exactly() -> Result<(), Reason> {
    sched::wake_exactly().map_err(|errno| {
        Reason::new(Cause::Denied, format!("cannot set the timer slack (prctl PR_SET_TIMERSLACK): {errno}"))
    })
}

impl Running for PipelineWorker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            return self.warm_up(stop);
        }
        match self.mode {
            Mode::Paced => self.paced(stop, out)?,
            Mode::Max => self.search(stop, out)?,
        }
        self.tell_place(out);
        self.tell_class(out);
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let shared = Arc::clone(&self.shared);
        let mut found = self.team.all(move |thread, ()| Ok(shared.verify(thread)))?.concat();
        found.sort_unstable_by_key(|(stream, _)| *stream);
        Ok(sum(found.into_iter().map(|(_, integrity)| integrity)))
    }
}

/// The first corruption, or the sum of all checks. Streams that never ran left nothing to check.
fn sum(all: impl Iterator<Item = Integrity>) -> Integrity {
    let mut checked_in_all = 0;
    let mut unverified = None;
    for integrity in all {
        match integrity {
            Integrity::Corrupt { .. } => return integrity,
            Integrity::Verified { checked } => checked_in_all += checked,
            Integrity::Unverified { .. } => unverified = Some(integrity),
        }
    }
    match unverified {
        Some(nothing) if checked_in_all == 0 => nothing,
        _ => Integrity::Verified { checked: checked_in_all },
    }
}

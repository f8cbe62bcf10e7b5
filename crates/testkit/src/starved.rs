//! Whether the machine kept programs from its CPUs while something was measured. What it takes from both ends of a
//! measurement changes what they can show, and no method gives it back: a figure may miss a counted truth by so much and
//! by no more.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use seatrial_sys::affinity;
use seatrial_sys::net::host_time;
use seatrial_sys::root::SysRoot;

/// How long a sleeper sleeps each time.
const NAP: Duration = Duration::from_millis(2);

/// What a wake-up may be late on a CPU that has other work as well, whose turns are a few milliseconds.
const USUAL: Duration = Duration::from_millis(10);

/// By how much more than the time that was taken a figure may be off: a queue that stood for a while is longer than the
/// time that it stood, since what came meanwhile has to go as well.
const ECHO: f64 = 3.0;

/// Watches from its making to its end.
pub struct Watch {
    began: Instant,
    waited: Option<f64>,
    stolen: Option<f64>,
    over: Arc<AtomicBool>,
    sleepers: Vec<JoinHandle<Duration>>,
}

impl Watch {
    /// Begins. A thread on each CPU sees how late it is woken, which shows what a hypervisor takes whether it tells so or
    /// not.
    pub fn begin() -> Self {
        let over = Arc::<AtomicBool>::default();
        let cpus: Vec<u32> = affinity::allowed().map_or_else(|_| Vec::new(), |cpus| cpus.iter().collect());
        let sleeper = |cpu: u32| {
            let over = Arc::clone(&over);
            thread::spawn(move || {
                // Where it may not be pinned it sees what any thread sees.
                let _ = affinity::pin(&[cpu].into_iter().collect());
                let mut late = Duration::ZERO;
                while !over.load(Ordering::Relaxed) {
                    let before = Instant::now();
                    thread::sleep(NAP);
                    let this = before.elapsed().saturating_sub(NAP);
                    if this > USUAL {
                        late += this;
                    }
                }
                late
            })
        };
        let sleepers = cpus.into_iter().map(sleeper).collect();
        Self { began: Instant::now(), waited: waited(), stolen: stolen(), over, sleepers }
    }

    /// The part of the time, 0 to 1, in which somebody waited for a CPU, or a CPU was not there.
    pub fn end(self) -> f64 {
        let seconds = self.began.elapsed().as_secs_f64().max(1e-9);
        let waited = since(self.waited, waited()) / seconds;
        self.taken().max(waited).min(1.0)
    }

    /// The part of the time in which a CPU was not there, or was not to be had for longer than work of our own takes
    /// turns: what somebody outside of this machine took, or a quota.
    pub fn taken(mut self) -> f64 {
        let seconds = self.began.elapsed().as_secs_f64().max(1e-9);
        let stolen = since(self.stolen, stolen());
        self.over.store(true, Ordering::Relaxed);
        let late =
            self.sleepers.drain(..).map(|sleeper| sleeper.join().map_or(0.0, |late| late.as_secs_f64()));
        (late.fold(stolen, f64::max) / seconds).clamp(0.0, 1.0)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// What a count has grown by.
fn since(then: Option<f64>, now: Option<f64>) -> f64 {
    then.zip(now).map_or(0.0, |(then, now)| now - then)
}

/// Whether a figure that is off by this part of itself, beyond what is allowed anyway, may be so because of this part of
/// the time.
pub fn explains(starved: f64, off: f64) -> bool {
    off <= ECHO * starved
}

/// Seconds since the start of the machine in which somebody waited for a CPU (Documentation/accounting/psi.rst); none
/// where the kernel does not count them.
fn waited() -> Option<f64> {
    let text = fs::read_to_string("/proc/pressure/cpu").ok()?;
    let total = text.lines().next()?.split("total=").nth(1)?;
    Some(total.trim().parse::<f64>().ok()? / 1e6)
}

/// Seconds that a hypervisor took from all CPUs together; none where the kernel does not tell.
fn stolen() -> Option<f64> {
    Some(host_time(&SysRoot::live()).ok()?.steal_ns as f64 / 1e9)
}

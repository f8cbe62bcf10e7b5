//! Progress on standard error: on a terminal the running cases, time left and last results; else one line per case.

mod live;
mod parked;
mod view;

use std::fmt;
use std::io::{IsTerminal, stderr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use seatrial_model::record::CaseRecord;
use seatrial_model::{Cause, Event, Outcome};

use crate::args::ColorChoice;
use crate::output::{self, is_colored};
use live::Live;
use view::{Room, lines};

/// Redraws a second at most; also the rate when nothing happens.
const MOST_HERTZ: u8 = 8;
const STEADY: Duration = Duration::from_millis(250);

/// Failures that are printed at once; further ones are counted.
const MOST_FAILURES: usize = 100;

pub struct Progress {
    live: Arc<Mutex<Live>>,
    started: Instant,
    shown: Option<ProgressBar>,
    failures: usize,
    is_silent: bool,
}

impl Progress {
    /// A live view when standard error is a suitable terminal, else plain lines.
    pub fn new(color: ColorChoice) -> Self {
        let (live, started) = (Arc::<Mutex<Live>>::default(), Instant::now());
        let shown = can_draw().then(|| {
            let (live, colored) = (Arc::clone(&live), is_colored(color, true));
            let write = move |_: &ProgressState, out: &mut dyn fmt::Write| {
                let (width, height) = parked::size();
                let room = Room { width: width.into(), height: height.into(), colored };
                let live = live.lock().unwrap_or_else(PoisonError::into_inner);
                // Writing to a string cannot fail.
                let _ = out.write_str(&lines(&live, started.elapsed(), room).join("\n"));
            };
            let terminal = Box::new(parked::Parked::default());
            let target = ProgressDrawTarget::term_like_with_hz(terminal, MOST_HERTZ);
            let bar = ProgressBar::with_draw_target(None, target);
            // The template is constant; if it does not parse, the default bar is used.
            if let Ok(style) = ProgressStyle::with_template("{lines}") {
                bar.set_style(style.with_key("lines", write));
            }
            bar.enable_steady_tick(STEADY);
            bar
        });
        Self { live, started, shown, failures: 0, is_silent: false }
    }

    /// Shows nothing but what [`Self::say`] is told.
    pub fn silent() -> Self {
        Self { live: Arc::default(), started: Instant::now(), shown: None, failures: 0, is_silent: true }
    }

    pub fn show(&mut self, event: &Event) {
        let now = self.started.elapsed();
        let (done, total, left) = {
            let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            live.note(event, now, headline);
            (live.done, live.total, live.left(now).as_secs())
        };
        match event {
            Event::RoundPlanned { cases, .. } => {
                let count = cases.len();
                let cases = if count == 1 { "case" } else { "cases" };
                self.line(&format!("{count} {cases}, about {left} s"));
                // Drawn at once, so that short runs are seen too.
                if let Some(bar) = &self.shown {
                    bar.suspend(|| ());
                }
            }
            Event::CaseEnded { record } => {
                let headline = match record.outcome {
                    Outcome::Measured => String::new(),
                    // The reason is printed once for all.
                    _ if record.cause == Some(Cause::Interrupted) => ": interrupted".to_owned(),
                    _ => format!(": {}", record.reason.as_deref().unwrap_or("no numbers")),
                };
                self.line(&format!(
                    "{done}/{total} {} in {:.1} s{headline}, about {left} s left",
                    record.case, record.seconds
                ));
                self.failed(record);
            }
            Event::Note { text, .. } => self.say(text),
            Event::PhaseEntered { .. } | Event::CaseStarted { .. } | Event::TrialEnded { .. } => {}
        }
        if let Some(bar) = &self.shown {
            bar.tick();
        }
    }

    /// Prints the failure of a case above the live view; in a log each case has its line already.
    fn failed(&mut self, record: &CaseRecord) {
        if record.outcome != Outcome::Failed || self.shown.is_none() {
            return;
        }
        self.failures += 1;
        let reason = record.reason.as_deref().unwrap_or("no reason was reported");
        match self.failures {
            ..=MOST_FAILURES => self.say(&format!("FAIL {}: {reason}", record.case)),
            count if count == MOST_FAILURES + 1 => {
                self.say("FAIL more cases: further failures are only counted");
            }
            _ => {}
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    /// Prints a message above the live view.
    pub fn say(&self, text: &str) {
        match &self.shown {
            Some(bar) => bar.suspend(|| write_line(text)),
            None => write_line(text),
        }
    }

    /// Prints a line where there is no live view.
    fn line(&self, text: &str) {
        if self.shown.is_none() && !self.is_silent {
            write_line(text);
        }
    }
}

/// Whether standard error is a terminal with cursor movement.
fn can_draw() -> bool {
    let term = std::env::var_os("TERM");
    stderr().is_terminal() && term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

fn headline(record: &CaseRecord) -> String {
    let Some((_, metric)) = record.headline() else {
        return format!("in {:.1} s", record.seconds);
    };
    let digits = match metric.median.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    let scatter = match metric.ci95 {
        Some((low, high)) if metric.median != 0.0 => {
            format!(" ±{:.1} %", 50.0 * (high - low) / metric.median.abs())
        }
        _ => String::new(),
    };
    format!("{:.digits$} {}{scatter}", metric.median, metric.unit)
}

fn write_line(text: &str) {
    output::warn(text);
}

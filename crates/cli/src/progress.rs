//! Progress on standard error: a bar on a terminal, a line a case elsewhere.

use std::collections::HashMap;
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use seatrial_model::{CaseId, Event, Nanos, Outcome, Phase};

use crate::args::ColorChoice;
use crate::output::is_colored;

/// Shows a run as it goes.
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    /// Of the cases that are not done.
    estimates: HashMap<CaseId, Nanos>,
    /// The sum of these, so that a case costs the same in a run of many.
    estimated: u64,
    total: usize,
    done: usize,
}

impl Progress {
    /// A bar when standard error is a terminal, plain lines otherwise.
    pub fn new(color: ColorChoice) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(8));
            let bar_in = if is_colored(color, true) { "{bar:24.cyan/dim}" } else { "{bar:24}" };
            // The template is a constant; should it not parse, the default bar does.
            if let Ok(style) =
                ProgressStyle::with_template(&format!("{bar_in} {{pos}}/{{len}}  {{wide_msg}}"))
            {
                bar.set_style(style.progress_chars("━━─"));
            }
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Self { bar, started: Instant::now(), estimates: HashMap::new(), estimated: 0, total: 0, done: 0 }
    }

    /// Takes note of an event.
    pub fn show(&mut self, event: &Event) {
        match event {
            Event::RoundPlanned { cases, .. } => {
                self.total += cases.len();
                for case in cases {
                    self.estimates.insert(case.id.clone(), case.estimate());
                    self.estimated = self.estimated.saturating_add(case.estimate().get());
                }
                if let Some(bar) = &self.bar {
                    bar.set_length(self.total as u64);
                }
                let count = cases.len();
                let cases = if count == 1 { "case" } else { "cases" };
                self.line(&format!("{count} {cases}, about {} s", self.left().as_secs()));
            }
            Event::PhaseEntered { case, trial, phase } => {
                if let Some(bar) = &self.bar {
                    let word = if *phase == Phase::Measure { "measuring" } else { phase.word() };
                    bar.set_message(format!(
                        "{case}  trial {}: {word}, about {} s left",
                        trial + 1,
                        self.left().as_secs()
                    ));
                }
            }
            Event::CaseEnded { record } => {
                self.done += 1;
                if let Some(estimate) = self.estimates.remove(&record.case) {
                    self.estimated = self.estimated.saturating_sub(estimate.get());
                }
                if let Some(bar) = &self.bar {
                    bar.set_position(self.done as u64);
                }
                let headline = match record.outcome {
                    Outcome::Measured => String::new(),
                    _ => format!(": {}", record.reason.as_deref().unwrap_or("no numbers")),
                };
                let (done, total, left) = (self.done, self.total, self.left().as_secs());
                self.line(&format!(
                    "{done}/{total} {} in {:.1} s{headline}, about {left} s left",
                    record.case, record.seconds
                ));
            }
            Event::Note { text, .. } => self.say(text),
            Event::CaseStarted { .. } | Event::TrialEnded { .. } => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Says something that must be read, above the bar.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| write_line(text)),
            None => write_line(text),
        }
    }

    /// A line that only stands in for the bar.
    fn line(&self, text: &str) {
        if self.bar.is_none() {
            write_line(text);
        }
    }

    /// Time left: the estimates of what is not done, corrected by how the estimates of what is done came out.
    fn left(&self) -> Duration {
        let left = self.estimated;
        let each = if self.done == 0 {
            return Duration::from_nanos(left);
        } else {
            self.started.elapsed() / u32::try_from(self.done).unwrap_or(u32::MAX)
        };
        let by_pace = each * u32::try_from(self.total - self.done.min(self.total)).unwrap_or(u32::MAX);
        (by_pace + Duration::from_nanos(left)) / 2
    }
}

fn write_line(text: &str) {
    // Nobody to tell when standard error is closed.
    let _ = writeln!(stderr(), "{text}");
}

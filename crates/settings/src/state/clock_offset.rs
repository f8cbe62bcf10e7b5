//! `state.clock_offset`: how far the time of day of a node is from that of the machine that starts the run.
//!
//! A node cannot know it. The machine that starts the run asks all agents several times and knows it from the answer that
//! came soonest: the offset is the node's time less the middle between question and answer, and wrong by half of that time at
//! most (Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989).

use seatrial_model::machine::Machine;
use seatrial_model::setting::{Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Nanos, Subject};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::found::on_node;

pub struct ClockOffset;

const ABOUT: SettingAbout = SettingAbout {
    id: "state.clock_offset",
    title: "clock offset from the starting machine",
    doc: "How far the time of day of this node is from that of the machine where `seatrial` was typed, at least. Files \
          of a shared file system are older than what they were made from, and logs of nodes cannot be put in \
          order, where it is more than the time between two events. Asked 16 times at the start, where several nodes are \
          measured; of the answer that came soonest, offset = time of the node - (time sent + time received) / 2, \
          wrong by half of the round trip at most (Cristian, 1989). The value is the offset less that error, in \
          whole milliseconds; above 0 both are in the note.",
    kind: Kind::Time(Nanos(0), Nanos::secs(4_000_000_000)),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "clock_gettime(2), CLOCK_REALTIME, of both",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "let chronyd, ntpd or systemd-timesyncd of all nodes and of this machine ask the same servers (`chronyc \
             sources`), then set the clock at once (`chronyc makestep`)",
    traps: "If most nodes are off, the clock of the machine that starts the run is the wrong one. A clock that is \
            set back lets timers and logs of running jobs jump.",
};

/// The clock of a node that is `ahead` nanoseconds ahead of ours, or behind, as far as `error` allows to say so.
pub fn clock_offset(ahead: i64, error: Nanos) -> SettingReading {
    // In whole milliseconds, so that the sound nodes of a fleet are one row.
    let at_least = Nanos::millis(ahead.unsigned_abs().saturating_sub(error.get()) / 1_000_000);
    let reading = SettingReading::new(&ABOUT, Subject::node(), Present::Value(at_least.into()));
    if at_least == Nanos(0) {
        return reading;
    }
    let way = if ahead < 0 { "behind" } else { "ahead" };
    let note = format!(
        "{:.6} s {way}, wrong by {:.6} s at most",
        Nanos(ahead.unsigned_abs()).as_secs(),
        error.as_secs()
    );
    reading.noting(note)
}

impl Setting for ClockOffset {
    fn about(&self) -> &'static SettingAbout {
        &ABOUT
    }

    fn read(&self, _: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        let why = "clocks are compared where several nodes are measured";
        on_node(&ABOUT, Present::Absent(why.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_way_of_the_question_cannot_explain_is_an_offset() {
        let told = |ahead, error| {
            let reading = clock_offset(ahead, Nanos(error));
            let value = reading.present.value().map(ToString::to_string).unwrap_or_default();
            (value, reading.note.unwrap_or_default())
        };
        let second = 1_000_000_000;
        assert_eq!(
            told(-5 * second, 41_000),
            ("4999 ms".to_owned(), "5.000000 s behind, wrong by 0.000041 s at most".to_owned())
        );
        assert_eq!(told(30_000, 40_000), ("0 ns".to_owned(), String::new()));
    }
}

//! `state.clock_synchronised` and `state.clock_error`: whether a time service keeps the clock right.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{Present, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Nanos, Value};
use seatrial_sys::clock_state::{ClockState, clock_state};
use seatrial_sys::root::SysRoot;

use crate::Setting;
use crate::found::{micros, on_node};

pub struct ClockFact {
    about: &'static SettingAbout,
    of: fn(&ClockState) -> Option<Value>,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "state.clock_synchronised",
    title: "clock synchronised by a time service",
    doc: "Whether NTP or PTP keeps the clock of this machine. Without, its clock drifts by seconds a day: files of a \
          shared file system are older than what they were made from, logs of nodes cannot be put in order, \
          and Kerberos, certificates and Slurm's munge refuse to work.",
    kind: Kind::Flag,
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: "adjtimex(2), STA_UNSYNC",
    apply: &[],
    privilege: Privilege::Root,
    remedy: "start chronyd, ntpd or systemd-timesyncd (`timedatectl set-ntp true`)",
    traps: "Set by the time service, which has to reach a server (`chronyc tracking`). A container shows the clock of \
            its host.",
};

pub static SYNCHRONISED: ClockFact =
    ClockFact { about: &ABOUT, of: |state| Some(Value::Flag(state.synchronised)) };

pub static LARGEST_ERROR: ClockFact = ClockFact {
    about: &SettingAbout {
        id: "state.clock_error",
        title: "largest error of the clock",
        doc: "Bound on the error of the clock that the time service has told the kernel; it grows by 500 us in \
              every second without an update, and stays at 16 s where no service runs.",
        kind: Kind::Time(Nanos(0), Nanos::secs(3600)),
        source: "adjtimex(2), maxerror",
        ..ABOUT
    },
    of: |state| micros(state.largest_error_us),
};

impl ClockFact {
    fn found(&self, state: &ClockState) -> Present {
        let absurd = || Present::Unreadable("the kernel states an error that no number holds".to_owned());
        (self.of)(state).map_or_else(absurd, Present::Value)
    }
}

impl Setting for ClockFact {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        // A system call tells of the live system alone.
        let present = match root.is_live() {
            false => Present::Absent("only the files of this machine are available".to_owned()),
            true => match clock_state() {
                Ok(state) => self.found(&state),
                Err(errno) => Present::Unreadable(format!("adjtimex(2): {errno}")),
            },
        };
        on_node(self.about, present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_synchronised_or_not_within_its_error() {
        let told = |synchronised, largest_error_us| {
            let state = ClockState { synchronised, largest_error_us };
            [SYNCHRONISED.found(&state), LARGEST_ERROR.found(&state)]
                .map(|found| found.value().map(Value::to_string).unwrap_or_default())
        };
        assert_eq!(told(true, 1500), ["true", "1500 us"]);
        assert_eq!(told(false, 16_000_000), ["false", "16 s"]);
        assert_eq!(told(true, u64::MAX)[1], "");
    }
}

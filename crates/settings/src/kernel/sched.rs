//! CPU time of real-time tasks.

use seatrial_model::setting::SettingAbout;
use seatrial_model::{Kind, Nanos};

use crate::sysctl::{ROW, Sysctl};

pub static RT_RUNTIME: Sysctl = Sysctl(&SettingAbout {
    id: "kernel.sched_rt_runtime_us",
    title: "CPU time of real-time tasks per period",
    // scheduler/sched-rt-group.rst.
    doc: "The kernel stops real-time tasks on a CPU when they have used this much of each period \
          (kernel.sched_rt_period_us, one second by default), so that a runaway task does not block the \
          host; since Linux 6.12 only while ordinary tasks wait. A program that computes all the time under \
          SCHED_FIFO is then stopped for the rest, by default 50 ms of each second, which delays a step of a \
          pipeline.",
    kind: Kind::Time(Nanos(0), Nanos::secs(2147)),
    unlimited: Some("-1"),
    source: "/proc/sys/kernel/sched_rt_runtime_us",
    traps: "Without a limit, a real-time task in an endless loop blocks everything else on its CPU, also the \
            login shell. Lost at the next boot unless a file in /etc/sysctl.d sets it.",
    ..ROW
});

//! The share that real-time programs may take.

use seatrial_model::setting::SettingAbout;
use seatrial_model::{Kind, Nanos};

use crate::sysctl::{ROW, Sysctl, by_sysctl};

pub static RT_RUNTIME: Sysctl = Sysctl(&SettingAbout {
    id: "kernel.sched_rt_runtime_us",
    title: "time of real-time programs each second",
    // scheduler/sched-rt-group.rst.
    doc: "The kernel stops real-time programs on a CPU when they have used this much of each period \
          (kernel.sched_rt_period_us, one second by default), so that a runaway one does not take the host; since \
          Linux 6.12 only while ordinary programs wait. A program that computes all the time under SCHED_FIFO then \
          stands still for the rest, 50 ms of each second by default, which is a late step in a pipeline.",
    kind: Kind::Time(Nanos(0), Nanos::secs(2147)),
    unlimited: Some("-1"),
    source: "/proc/sys/kernel/sched_rt_runtime_us",
    apply: by_sysctl!("kernel.sched_rt_runtime_us"),
    traps: "Without a limit a real-time program in an endless loop takes its CPU away from everything else, the login \
            shell included. Lost at the next boot unless a file in /etc/sysctl.d says it too.",
    ..ROW
});

//! The scheduler and the clock.

use crate::tree::Tree;

#[test]
fn no_limit_of_real_time_programs_is_minus_one() {
    let with = |text: &str| Tree::new().file("/proc/sys/kernel/sched_rt_runtime_us", text);
    let id = "kernel.sched_rt_runtime_us";
    assert_eq!(with("950000\n").line(id), "node: 950 ms");
    assert_eq!(with("-1\n").line(id), "node: unlimited");
    assert!(with("-2\n").line(id).contains("expected a number of microseconds"));
    assert_eq!(
        with("950000\n").command(id, "unlimited").as_deref(),
        Some("sysctl -w kernel.sched_rt_runtime_us=-1")
    );
}

#[test]
fn the_clock_source_is_one_word_and_a_host_without_one_has_none() {
    let with = |text: &str| {
        Tree::new().file("/sys/devices/system/clocksource/clocksource0/current_clocksource", text)
    };
    let id = "kernel.clocksource";
    assert_eq!(with("hpet\n").line(id), "node: hpet");
    // A kernel may have clock sources that our list lacks.
    assert_eq!(with("pit_of_tomorrow\n").line(id), "node: pit_of_tomorrow");
    assert!(with("tsc hpet\n").line(id).contains("expected one word"));
    assert!(Tree::new().line(id).starts_with("node: absent: /sys/devices/system/clocksource"));
    assert_eq!(
        with("hpet\n").command(id, "tsc").as_deref(),
        Some("echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource")
    );
}

//! CPU frequency, hardware threads and idle states.

use crate::tree::Tree;

const CPU: &str = "/sys/devices/system/cpu";

fn policy(tree: Tree, number: u32, cpus: &str, files: &[(&str, &str)]) -> Tree {
    let folder = format!("{CPU}/cpufreq/policy{number}");
    tree.file(&format!("{folder}/affected_cpus"), cpus).files(&folder, files)
}

fn governors(governors: &[&str]) -> Tree {
    governors.iter().zip(0..).fold(Tree::new(), |tree, (governor, number)| {
        policy(tree, number, &format!("{number}\n"), &[("scaling_governor", governor)])
    })
}

fn state(tree: Tree, cpu: u32, state: u32, name: &str, latency: &str, disable: &str) -> Tree {
    let folder = format!("{CPU}/cpu{cpu}/cpuidle/state{state}");
    tree.files(&folder, &[("name", name), ("latency", latency), ("disable", disable)])
}

/// Two CPUs with POLL, C1 and C6.
fn idle() -> Tree {
    [0, 1].into_iter().fold(Tree::new().file(&format!("{CPU}/online"), "0-1\n"), |tree, cpu| {
        let tree = state(tree, cpu, 0, "POLL\n", "0\n", "0\n");
        let tree = state(tree, cpu, 1, "C1\n", "2\n", "0\n");
        state(tree, cpu, 2, "C6\n", "133\n", "0\n")
    })
}

#[test]
fn the_governor_tells_whether_it_is_a_hint_alone() {
    let active = |driver: &str| {
        let files =
            [("scaling_governor", "powersave\n"), ("scaling_driver", driver), ("affected_cpus", "0\n")];
        let tree = Tree::new().files("/sys/devices/system/cpu/cpufreq/policy0", &files);
        tree.read("cpu.governor")[0].facts.flag("active").ok()
    };
    assert_eq!(active("intel_pstate\n"), Some(true));
    assert_eq!(active("amd-pstate-epp\n"), Some(true));
    assert_eq!(active("intel_cpufreq\n"), Some(false));
    assert_eq!(active("acpi-cpufreq\n"), Some(false));
    assert_eq!(active("\n"), None);
}

#[test]
fn policies_that_agree_are_one_reading() {
    assert_eq!(governors(&["performance\n", "performance\n"]).lines("cpu.governor"), ["node: performance"]);
}

#[test]
fn policies_that_differ_are_told_by_their_cpus() {
    let tree = policy(governors(&["performance\n"]), 4, "4 5 6 7\n", &[("scaling_governor", "powersave\n")]);
    let tree = policy(tree, 8, "8\n", &[("scaling_governor", "performance\n")]);
    assert_eq!(tree.lines("cpu.governor"), ["cpus:0,8: performance", "cpus:4-7: powersave"]);
    assert_eq!(
        tree.command("cpu.governor", "performance").as_deref(),
        Some("echo performance | tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor")
    );
}

#[test]
fn a_policy_without_online_cpus_rests() {
    let tree = policy(governors(&["performance\n"]), 1, "\n", &[]);
    assert_eq!(tree.line("cpu.governor"), "node: performance");
}

#[test]
fn a_governor_that_is_not_on_offer_is_not_believed() {
    let files =
        [("scaling_governor", "performance\n"), ("scaling_available_governors", "powersave ondemand\n")];
    let line = policy(Tree::new(), 0, "0\n", &files).line("cpu.governor");
    assert!(line.starts_with("node: unreadable:") && line.contains("powersave ondemand"), "{line}");
    let files =
        [("scaling_governor", "ondemand\n"), ("scaling_available_governors", "powersave ondemand \n")];
    assert_eq!(policy(Tree::new(), 0, "0\n", &files).line("cpu.governor"), "node: ondemand");
}

#[test]
fn garbage_of_one_policy_leaves_the_others_known() {
    for garbage in ["", "two words\n"] {
        let lines = governors(&["performance\n", garbage]).lines("cpu.governor");
        assert_eq!(lines[0], "cpus:0: performance");
        assert!(
            lines[1].starts_with("cpus:1: unreadable: /sys/") && lines[1].contains("policy1"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_virtual_machine_has_no_policies_and_no_boost() {
    let tree = Tree::new().virtual_machine();
    std::fs::create_dir(tree.root().locate(format!("{CPU}/cpufreq"))).expect("made");
    let usual = "; in a virtual machine the host controls the frequency";
    assert_eq!(tree.line("cpu.governor"), format!("node: absent: {CPU}/cpufreq holds no policy{usual}"));
    assert_eq!(
        tree.line("cpu.boost"),
        format!("node: absent: neither {CPU}/intel_pstate/no_turbo nor {CPU}/cpufreq/boost exists{usual}")
    );
}

#[test]
fn the_energy_preference_is_absent_where_the_driver_has_none() {
    let id = "cpu.energy_performance_preference";
    assert!(governors(&["powersave\n"]).line(id).starts_with("node: absent: "));
    let files = [("energy_performance_preference", "balance_performance\n")];
    assert_eq!(policy(Tree::new(), 0, "0\n", &files).line(id), "node: balance_performance");
}

#[test]
fn the_two_files_of_boost_have_opposite_meanings() {
    let no_turbo = |value: &str| Tree::new().file(&format!("{CPU}/intel_pstate/no_turbo"), value);
    let boost = |value: &str| Tree::new().file(&format!("{CPU}/cpufreq/boost"), value);
    assert_eq!(
        [no_turbo("1\n"), no_turbo("0\n")].map(|tree| tree.line("cpu.boost")),
        ["node: false", "node: true"]
    );
    assert_eq!(
        [boost("1\n"), boost("0\n")].map(|tree| tree.line("cpu.boost")),
        ["node: true", "node: false"]
    );
    let off = |tree: Tree| tree.command("cpu.boost", "false").expect("a way");
    assert_eq!(off(no_turbo("0\n")), "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo");
    assert_eq!(off(boost("1\n")), "echo 0 > /sys/devices/system/cpu/cpufreq/boost");
}

#[test]
fn files_of_boost_that_contradict_each_other_are_not_believed() {
    let both = |intel: &str, generic: &str| {
        let tree = Tree::new().file(&format!("{CPU}/intel_pstate/no_turbo"), intel);
        tree.file(&format!("{CPU}/cpufreq/boost"), generic).line("cpu.boost")
    };
    assert_eq!(both("1\n", "0\n"), "node: false");
    let line = both("1\n", "1\n");
    assert!(line.contains("no_turbo is 1") && line.contains("contradict"), "{line}");
    assert!(both("yes\n", "1\n").contains("holds \"yes\", expected 0 or 1"));
    assert!(both("", "1\n").starts_with("node: unreadable"));
}

#[test]
fn a_policy_may_be_without_boost() {
    let tree = Tree::new().file(&format!("{CPU}/cpufreq/boost"), "1\n");
    let tree = policy(policy(tree, 0, "0\n", &[("boost", "1\n")]), 1, "1\n", &[("boost", "0\n")]);
    assert_eq!(tree.lines("cpu.boost"), ["cpus:0: true", "cpus:1: false"]);
    assert!(tree.read("cpu.boost").iter().all(|reading| reading.facts.text("by") == Ok("cpufreq")));
    let tree = tree.file(&format!("{CPU}/cpufreq/boost"), "0\n");
    assert_eq!(tree.lines("cpu.boost"), ["node: false"]);
}

fn smt(active: &str, control: &str) -> Tree {
    Tree::new().files(&format!("{CPU}/smt"), &[("active", active), ("control", control)])
}

#[test]
fn hardware_threads_are_on_off_or_not_there() {
    let line = |active: &str, control: &str| smt(active, control).line("cpu.smt");
    assert_eq!(line("1\n", "on\n"), "node: true");
    assert_eq!(line("0\n", "off\n"), "node: false");
    assert_eq!(
        line("0\n", "forceoff\n"),
        "node: false (disabled until the next boot, by the kernel command line or the firmware)"
    );
    assert_eq!(
        line("0\n", "notsupported\n"),
        "node: false (not supported by the CPU, or disabled in the firmware)"
    );
    assert_eq!(line("0\n", "on\n"), "node: false (enabled, but the second threads are offline)");
    assert_eq!(line("1\n", "4\n"), "node: true (4 threads a core are in use)");
    assert_eq!(
        smt("1\n", "on\n").command("cpu.smt", "false").expect("a way"),
        format!("echo off > {CPU}/smt/control")
    );
}

#[test]
fn hardware_threads_behind_a_hypervisor_are_not_known() {
    let line = smt("0\n", "notsupported\n").virtual_machine().line("cpu.smt");
    assert_eq!(line, "node: absent: a virtual machine does not see the hardware threads of its host");
    assert_eq!(smt("1\n", "on\n").virtual_machine().line("cpu.smt"), "node: true");
}

#[test]
fn hardware_threads_that_contradict_themselves_are_not_believed() {
    assert!(smt("1\n", "off\n").line("cpu.smt").contains("contradict"));
    assert!(smt("1\n", "perhaps\n").line("cpu.smt").contains("holds \"perhaps\""));
    assert!(smt("2\n", "on\n").line("cpu.smt").contains("holds \"2\", expected 0 or 1"));
    assert!(Tree::new().line("cpu.smt").starts_with("node: absent: "));
    let old = Tree::new().file(&format!("{CPU}/smt/active"), "1\n");
    assert_eq!(old.line("cpu.smt"), "node: true");
}

#[test]
fn the_deepest_state_that_is_enabled_counts() {
    assert_eq!(idle().line("cpu.cstates"), "node: 133 us (C6)");
    let tree = state(idle(), 0, 2, "C6\n", "133\n", "1\n");
    assert_eq!(tree.lines("cpu.cstates"), ["cpus:0: 2 us (C1)", "cpus:1: 133 us (C6)"]);
    assert_eq!(tree.command("cpu.cstates", "10 us").as_deref(), Some("cpupower idle-set -D 10"));
}

#[test]
fn what_a_cpu_was_told_to_tolerate_keeps_it_from_deep_states() {
    let told = |text: &str| {
        let tolerate =
            |tree: Tree, cpu: u32| tree.file(&format!("{CPU}/cpu{cpu}/power/pm_qos_resume_latency_us"), text);
        tolerate(tolerate(idle(), 0), 1).line("cpu.cstates")
    };
    assert_eq!(told("0\n"), "node: 133 us (C6)");
    assert_eq!(told("10\n"), "node: 2 us (C1)");
    assert_eq!(told("n/a\n"), "node: 0 ns (POLL)");
    assert!(told("soon\n").contains("holds \"soon\""));
}

#[test]
fn idle_states_that_are_gone_or_garbage_are_told() {
    assert!(Tree::new().line("cpu.cstates").starts_with("node: absent: no CPU has idle states in "));
    let tree = Tree::new().file(&format!("{CPU}/online"), "0\n").virtual_machine();
    assert!(tree.line("cpu.cstates").ends_with("in a virtual machine the host may control idle states"));
    for (latency, disable) in [("", "0\n"), ("133\n", ""), ("-1\n", "0\n"), ("deep\n", "0\n")] {
        let tree = state(state(idle(), 0, 2, "C6\n", latency, disable), 1, 2, "C6\n", latency, disable);
        let line = tree.line("cpu.cstates");
        assert!(line.starts_with("node: unreadable: ") && line.contains("state2/"), "{line}");
    }
    let all_off = (0..3).fold(idle(), |tree, number| state(tree, 0, number, "C\n", "1\n", "1\n"));
    assert!(all_off.lines("cpu.cstates")[0].contains("at least one enabled state"));
    assert!(idle().file(&format!("{CPU}/online"), "all\n").line("cpu.cstates").contains("a list of CPUs"));
}

#[test]
fn cpus_that_are_offline_have_no_say() {
    let tree = state(idle().file(&format!("{CPU}/online"), "0\n"), 1, 2, "C6\n", "999\n", "0\n");
    assert_eq!(tree.line("cpu.cstates"), "node: 133 us (C6)");
}

#[test]
fn the_idle_driver_is_a_word() {
    let driver =
        |text: &str| Tree::new().file(&format!("{CPU}/cpuidle/current_driver"), text).line("cpu.idle_driver");
    assert_eq!(driver("intel_idle\n"), "node: intel_idle");
    assert!(driver("\n").starts_with("node: unreadable: "));
    assert!(Tree::new().line("cpu.idle_driver").starts_with("node: absent: "));
}

#[test]
fn the_latency_that_programs_ask_for_comes_as_four_bytes() {
    let device = |bytes: &[u8]| Tree::new().file("/dev/cpu_dma_latency", bytes).line("cpu.dma_latency");
    assert_eq!(device(&2_000_000_000_i32.to_ne_bytes()), "node: unlimited (no program requests a limit)");
    assert_eq!(device(&3_i32.to_ne_bytes()), "node: 3 us");
    assert_eq!(device(&0_i32.to_ne_bytes()), "node: 0 ns");
    for wrong in [&(-1_i32).to_ne_bytes()[..], b"", b"12", b"12345"] {
        assert!(device(wrong).starts_with("node: unreadable: /dev/cpu_dma_latency holds"), "{wrong:?}");
    }
    assert!(Tree::new().line("cpu.dma_latency").starts_with("node: absent: "));
    let tree = Tree::new().file("/dev/cpu_dma_latency", 3_i32.to_ne_bytes());
    assert_eq!(
        tree.command("cpu.dma_latency", "10 us").as_deref(),
        Some("exec 3> /dev/cpu_dma_latency; printf 0x%08x 10 >&3")
    );
}

//! Changes of what has a value for each queue, interrupt, state or GPU, and of what is set by a call: set, read back from
//! a host that is looked at again, and restored to the byte after a kill at every step.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rustix::io::Errno;
use seatrial_model::machine::{
    Bond, CpuThread, Gpu, GpuState, Known, Machine, Nic, NicKind, PciDevice, Queueing,
};
use seatrial_model::setting::{ChangeOutcome, ChangeState, SettingChange, SettingsAnswer, SettingsOrder};
use seatrial_settings::{KernelFiles, carry_out};
use seatrial_sys::root::SysRoot;

use crate::change::{Kernel, relative, restore, survives, wanted};
use crate::tree::Tree;

const ID: &str = "20261128-120000-bcdf";
const CPUS: &str = "/sys/devices/system/cpu";
const NIC: &str = "/sys/class/net/eth0";
const BOND: &str = "/sys/class/net/bond0/bonding";
const GPU: &str = "/gpu/0000:3b:00.0";

fn host() -> Tree {
    let states = |tree: Tree, cpu: u32| {
        [("POLL", 0, 0), ("C1", 2, 0), ("C6", 133, 0), ("C10", 600, 1)].iter().enumerate().fold(
            tree,
            |tree, (state, (name, latency, disable))| {
                let folder = format!("{CPUS}/cpu{cpu}/cpuidle/state{state}");
                let number = |number: u32| format!("{number}\n");
                tree.file(&format!("{folder}/name"), format!("{name}\n"))
                    .file(&format!("{folder}/latency"), number(*latency))
                    .file(&format!("{folder}/disable"), number(*disable))
            },
        )
    };
    let tree = states(states(Tree::new(), 0), 1).file(&format!("{CPUS}/online"), "0-1\n");
    let tree = (0..2).fold(tree, |tree, queue| {
        tree.file(&format!("{NIC}/queues/rx-{queue}/rps_cpus"), "00000000\n")
            .file(&format!("{NIC}/queues/tx-{queue}/xps_cpus"), "00000003\n")
    });
    let tree = ["40", "41"].iter().fold(tree, |tree, number| {
        tree.file(&format!("{NIC}/device/msi_irqs/{number}"), "msix\n")
            .file(&format!("/proc/irq/{number}/smp_affinity_list"), "0\n")
    });
    tree.file("/proc/sys/kernel/hostname", "n1\n")
        .file("/qdisc/eth0", "default\n")
        .file("/ethtool/eth0/fec", "16 16 0\n")
        .file(&format!("{BOND}/mode"), "balance-rr 0\n")
        .file(&format!("{BOND}/xmit_hash_policy"), "layer2 0\n")
        .file(&format!("{NIC}/tx_queue_len"), "1000\n")
        .file(&format!("{NIC}/mode"), "datagram\n")
        .files(
            GPU,
            &[
                ("persistence", "0\n"),
                ("compute_mode", "default\n"),
                ("power_limit", "700\n"),
                ("application_clock", "1980\n"),
            ],
        )
        .file("/etc/udev/rules.d/10-site.rules", "")
        .file("/etc/tmpfiles.d/site.conf", "")
}

/// The host as an inventory tells of it.
fn look(root: &SysRoot) -> Machine {
    let text = |path: String| root.text(path).expect("a file");
    let qdisc = text("/qdisc/eth0".to_owned());
    let kind = if qdisc == "default" { "mq".to_owned() } else { qdisc };
    let irqs = ["40", "41"].map(|number| text(format!("/proc/irq/{number}/smp_affinity_list")));
    let eth0 = Nic {
        name: "eth0".to_owned(),
        kind: NicKind::Physical,
        queueing: Known::Known(vec![Queueing { kind, root: true, ..Queueing::default() }]),
        ipoib_mode: Some(Known::Known(text(format!("{NIC}/mode")))),
        irq_cpus: Known::Known(irqs.iter().map(|cpus| cpus.parse().expect("a CPU")).collect()),
        pci: Known::Known(PciDevice { numa_node: Known::Known(1), ..PciDevice::default() }),
        ..Nic::default()
    };
    let word = |name: &str| {
        let text = text(format!("{BOND}/{name}"));
        Known::Known(text.split(' ').next().expect("a word").to_owned())
    };
    let bond = Bond { mode: word("mode"), hash_policy: word("xmit_hash_policy"), ..Bond::default() };
    let bond0 = Nic { name: "bond0".to_owned(), kind: NicKind::Bond, bond: Some(bond), ..Nic::default() };
    let gpu = |name: &str| text(format!("{GPU}/{name}"));
    let watts: f64 = gpu("power_limit").parse().expect("a number");
    let gpu = Gpu {
        persistence: Known::Known(gpu("persistence") == "1"),
        compute_mode: Known::Known(gpu("compute_mode")),
        state: GpuState {
            power_limit_milliwatts: Known::Known((watts * 1000.0) as u32),
            application_clock_mhz: Known::Known(gpu("application_clock").parse().expect("a number")),
            ..GpuState::default()
        },
        pci: PciDevice { address: "0000:3b:00.0".to_owned(), ..PciDevice::default() },
        ..Gpu::default()
    };
    let mut machine = Machine {
        nics: Known::Known(vec![eth0, bond0]),
        gpus: Known::Known(vec![gpu]),
        ..Machine::default()
    };
    let thread = |id| CpuThread { id, node: Some(id), ..CpuThread::default() };
    machine.cpu.threads = (0..2).map(thread).collect();
    machine
}

fn all() -> Vec<SettingChange> {
    wanted(&[
        ("cpu.cstates", "node", "10 us"),
        ("nic.irq_local", "nic:eth0", "true"),
        ("nic.rps", "nic:eth0", "0-1"),
        ("nic.xps", "nic:eth0", "spread"),
        ("nic.qdisc", "nic:eth0", "fq"),
        ("nic.txqueuelen", "nic:eth0", "10000"),
        ("nic.ipoib_mode", "nic:eth0", "connected"),
        ("nic.fec", "nic:eth0", "rs"),
        ("nic.bond_mode", "nic:bond0", "802.3ad"),
        ("nic.bond_hash_policy", "nic:bond0", "layer3+4"),
        ("gpu.persistence", "gpu:0", "true"),
        ("gpu.compute_mode", "gpu:0", "exclusive"),
        ("gpu.power_limit", "gpu:0", "500"),
        ("gpu.application_clock", "gpu:0", "1200"),
    ])
}

fn apply(kernel: &Kernel, tree: &Tree, changes: &[SettingChange], persist: bool) -> SettingsAnswer {
    let order =
        SettingsOrder::Apply { id: ID.to_owned(), changes: changes.to_vec(), restore_after: None, persist };
    carry_out(kernel, &|| look(&tree.root()), &order)
}

fn text(tree: &Tree, path: &str) -> String {
    tree.root().text(path).expect("a file")
}

fn as_before(tree: &Tree, how: &str) {
    let files: BTreeMap<PathBuf, Vec<u8>> = relative(tree);
    assert_eq!(files, relative(&host()), "{how}");
}

#[test]
fn each_is_set_where_it_stands_and_read_back_and_restored() {
    let tree = host();
    let answer = apply(&Kernel::of(&tree), &tree, &all(), false);
    let bad: Vec<&ChangeOutcome> =
        answer.outcomes.iter().filter(|outcome| outcome.state != ChangeState::Done).collect();
    assert!(bad.is_empty() && answer.refused.is_none(), "{answer:#?}");
    // The states with an exit latency above 10 us are disabled; the one that was stays so.
    let after = answer.outcomes.iter().find(|outcome| outcome.setting == "cpu.cstates").expect("told");
    assert_eq!((after.before.as_str(), after.after.as_str()), ("133 us", "2 us"));
    for cpu in 0..2 {
        let states = |state| text(&tree, &format!("{CPUS}/cpu{cpu}/cpuidle/state{state}/disable"));
        assert_eq!([0, 1, 2, 3].map(states), ["0", "0", "1", "1"]);
    }
    for (path, wanted) in [
        ("/proc/irq/40/smp_affinity_list", "1"),
        ("/proc/irq/41/smp_affinity_list", "1"),
        ("/sys/class/net/eth0/queues/rx-1/rps_cpus", "00000003"),
        ("/sys/class/net/eth0/queues/tx-0/xps_cpus", "00000001"),
        ("/sys/class/net/eth0/queues/tx-1/xps_cpus", "00000002"),
        ("/qdisc/eth0", "fq"),
        ("/ethtool/eth0/fec", "8 8 0"),
        ("/sys/class/net/bond0/bonding/mode", "802.3ad 4"),
        ("/sys/class/net/bond0/bonding/xmit_hash_policy", "layer3+4 1"),
        ("/gpu/0000:3b:00.0/persistence", "1"),
        ("/gpu/0000:3b:00.0/compute_mode", "exclusive"),
        ("/gpu/0000:3b:00.0/power_limit", "500"),
        ("/gpu/0000:3b:00.0/application_clock", "1200"),
    ] {
        assert_eq!(text(&tree, path), wanted, "{path}");
    }
    let again = apply(&Kernel::of(&tree), &tree, &all(), false);
    assert!(again.refused.is_some_and(|why| why.contains(ID)), "a journal is never written over");
    let answer = restore(&Kernel::of(&tree), &[ID], false);
    assert!(answer.outcomes.iter().all(|outcome| outcome.state == ChangeState::Done), "{answer:#?}");
    as_before(&tree, "restored");
}

#[test]
fn a_kill_after_any_step_can_be_taken_back() {
    for steps in 1.. {
        let tree = host();
        let kernel = Kernel::of(&tree).killed_after(steps);
        let survived = survives(|| apply(&kernel, &tree, &all(), true));
        restore(&Kernel::of(&tree), &[ID], false);
        as_before(&tree, &format!("killed after step {steps}"));
        if survived {
            assert!(steps > 50, "only {steps} steps were seen");
            return;
        }
    }
}

#[test]
fn at_boot_each_has_its_program_and_what_none_can_set_is_told() {
    let tree = host();
    let answer = apply(&Kernel::of(&tree), &tree, &all(), true);
    let rules = text(&tree, &format!("/etc/udev/rules.d/95-seatrial-{ID}.rules"));
    let line = |end: &str| format!(r#"ACTION=="add|move", SUBSYSTEM=="net", KERNEL=="eth0", {end}"#);
    for end in [
        r#"ATTR{queues/rx-0/rps_cpus}="00000003""#,
        r#"ATTR{queues/tx-1/xps_cpus}="00000002""#,
        r#"RUN+="/usr/bin/env tc qdisc replace dev eth0 root fq""#,
        r#"ATTR{tx_queue_len}="10000""#,
        r#"RUN+="/usr/bin/env ethtool --set-fec eth0 encoding rs""#,
    ] {
        assert!(rules.lines().any(|known| known == line(end)), "{end} in {rules}");
    }
    let states = text(&tree, "/etc/tmpfiles.d/00-seatrial-79738871-879999-bcdf.conf");
    let disabled = format!("w {CPUS}/cpu1/cpuidle/state2/disable - - - - 1");
    assert!(states.lines().any(|line| line == disabled), "{states}");
    let not: Vec<&ChangeOutcome> =
        answer.outcomes.iter().filter(|outcome| outcome.state == ChangeState::Failed).collect();
    assert_eq!(not.len(), 6, "two interrupts and four values of the GPU: {not:#?}");
    let persistence = not.iter().find(|outcome| outcome.place.ends_with("persistence")).expect("told");
    let wanted = "no file of boot can set it: run `nvidia-smi -i 0 -pm 1` after each boot";
    assert_eq!(persistence.why, wanted);
    restore(&Kernel::of(&tree), &[ID], false);
    as_before(&tree, "persisted");
}

#[test]
fn what_makes_no_sense_here_is_refused_before_anything_is_written() {
    let tree = host();
    for (setting, subject, value, why) in [
        ("nic.rps", "nic:eth0", "many", "'many' is neither none, spread nor a list as 0-3,8"),
        ("nic.fec", "nic:eth0", "auto", "'auto' is none of off, rs, baser and llrs"),
        ("nic.rps", "nic:eth7", "none", "no such subject"),
        ("gpu.persistence", "gpu:4", "true", "no such subject"),
    ] {
        let answer = apply(&Kernel::of(&tree), &tree, &wanted(&[(setting, subject, value)]), false);
        assert!(answer.outcomes[0].why.contains(why), "{answer:#?}");
        as_before(&tree, setting);
    }
}

/// A kernel whose driver starts again when the length of its queue changes, with its own mode.
struct Restarting(SysRoot);

impl KernelFiles for Restarting {
    fn root(&self) -> &SysRoot {
        &self.0
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Errno> {
        if path.ends_with("tx_queue_len") {
            self.0.write(format!("{NIC}/mode"), "datagram\n")?;
        }
        self.0.write(path, text)
    }
}

#[test]
fn a_value_that_another_change_takes_back_is_told() {
    let tree = host();
    let changes =
        wanted(&[("nic.ipoib_mode", "nic:eth0", "connected"), ("nic.txqueuelen", "nic:eth0", "10000")]);
    let order = SettingsOrder::Apply { id: ID.to_owned(), changes, restore_after: None, persist: false };
    let answer = carry_out(&Restarting(tree.root()), &|| look(&tree.root()), &order);
    let states: Vec<ChangeState> = answer.outcomes.iter().map(|outcome| outcome.state).collect();
    assert_eq!(states, [ChangeState::Failed, ChangeState::Done]);
    assert!(answer.outcomes[0].why.starts_with("the system took it, but holds datagram"), "{answer:#?}");
    restore(&Kernel::of(&tree), &[ID], false);
    as_before(&tree, "restored");
}

#[test]
fn queues_are_told_in_a_word_or_as_a_list() {
    let told = |masks: [&str; 2]| {
        let tree = host()
            .file(&format!("{NIC}/queues/rx-0/rps_cpus"), masks[0])
            .file(&format!("{NIC}/queues/rx-1/rps_cpus"), masks[1]);
        let Known::Known(mut nics) = look(&tree.root()).nics else { panic!("they are known") };
        nics.retain(|nic| nic.name == "eth0");
        tree.machine(|machine| machine.nics = Known::Known(nics)).line("nic.rps")
    };
    assert_eq!(told(["0\n", "0\n"]), "nic:eth0: none");
    assert_eq!(told(["f\n", "f\n"]), "nic:eth0: 0-3");
    assert_eq!(told(["5\n", "a\n"]), "nic:eth0: spread");
    assert_eq!(told(["3\n", "6\n"]), "nic:eth0: mixed");
    assert_eq!(told(["3\n", "0\n"]), "nic:eth0: mixed");
    assert!(told(["3\n", "all\n"]).contains("expected a mask of CPUs"));
}

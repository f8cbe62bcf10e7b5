//! Changes of settings and their restoration, on a kernel of files that refuses, rounds and couples values, with the end
//! of the process after every step.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use seatrial_model::machine::{Known, Machine, Nic, NicKind};
use seatrial_model::setting::{
    ChangeOutcome, ChangeState, SettingAbout, SettingChange, SettingsAnswer, SettingsOrder,
};
use seatrial_model::{Subject, Value};
use seatrial_settings::{KernelFiles, carry_out, journal_exists};
use seatrial_sys::root::SysRoot;

use crate::tree::Tree;

const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const HUGE_PAGES: &str = "/proc/sys/vm/nr_hugepages";
const SWAPPINESS: &str = "/proc/sys/vm/swappiness";
const TCP_RMEM: &str = "/proc/sys/net/ipv4/tcp_rmem";
const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const MTU: &str = "/sys/class/net/eth0/mtu";
const RINGS: &str = "/ethtool/eth0/rings";
const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";

/// More huge pages are not there.
const FREE_HUGE_PAGES: u64 = 100;

const ID: &str = "20261127-235959-bcdf";
const LATER: &str = "20261128-000000-bcdf";

/// A host with a setting of each kind.
fn host() -> Tree {
    let policy = |tree: Tree, number: u32| {
        tree.files(
            &format!("{CPUFREQ}/policy{number}"),
            &[
                ("scaling_governor", "powersave\n"),
                ("energy_performance_preference", "balance_power\n"),
                ("affected_cpus", &format!("{number}\n")),
            ],
        )
    };
    let tree = policy(policy(Tree::new(), 0), 10);
    tree.file(THP, "always [madvise] never\n")
        .file(HUGE_PAGES, "0\n")
        .file(SWAPPINESS, "60\n")
        .file(TCP_RMEM, "4096\t131072\t6291456\n")
        .file(NO_TURBO, "1\n")
        .file(MTU, "1500\n")
        .file(RINGS, "8192 0 0 8192 1024 0 0 512\n")
        .file("/ethtool/eth0/gro", "1\n")
        .file("/proc/sys/kernel/hostname", "n1\n")
        .file("/etc/sysctl.d/10-site.conf", "vm.swappiness = 60\n")
        .file("/etc/udev/rules.d/10-site.rules", "")
        .file("/etc/tmpfiles.d/site.conf", "")
        .machine(|machine| {
            let nic = Nic { name: "eth0".to_owned(), kind: NicKind::Physical, ..Nic::default() };
            machine.nics = Known::Known(vec![nic]);
        })
}

/// The kernel of a tree of files.
pub(crate) struct Kernel {
    root: SysRoot,
    refused: RefCell<BTreeMap<&'static str, Errno>>,
    /// Steps until the process ends.
    steps: Cell<usize>,
    /// Whether the last step was a line of the journal.
    was_line: Cell<bool>,
    in_write: Option<Box<dyn Fn()>>,
}

#[derive(Debug, PartialEq)]
struct Killed;

impl Kernel {
    pub(crate) fn of(tree: &Tree) -> Self {
        Self {
            root: tree.root(),
            refused: RefCell::default(),
            steps: Cell::new(usize::MAX),
            was_line: Cell::new(false),
            in_write: None,
        }
    }

    fn refusing(self, path: &'static str, errno: Errno) -> Self {
        self.refused.borrow_mut().insert(path, errno);
        self
    }

    pub(crate) fn killed_after(self, steps: usize) -> Self {
        self.steps.set(steps);
        self
    }

    fn count(&self, is_line: bool) {
        self.was_line.set(is_line);
        self.steps.set(self.steps.get() - 1);
        if self.steps.get() == 0 {
            resume_unwind(Box::new(Killed));
        }
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.root.locate(path), format!("{text}\n")).expect("written");
    }
}

impl KernelFiles for Kernel {
    fn root(&self) -> &SysRoot {
        &self.root
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Errno> {
        if let Some(in_write) = &self.in_write {
            in_write();
        }
        if let Some(errno) = self.refused.borrow().get(path) {
            return Err(*errno);
        }
        let word = text.trim_end();
        let governor = |path: &str| path.replace("energy_performance_preference", "scaling_governor");
        match path {
            THP => {
                let words = ["always", "madvise", "never"];
                let form = |known: &str| if known == word { format!("[{known}]") } else { known.to_owned() };
                self.put(path, &words.map(form).join(" "));
            }
            HUGE_PAGES => {
                let pages: u64 = word.parse().map_err(|_| Errno::INVAL)?;
                self.put(path, &pages.min(FREE_HUGE_PAGES).to_string());
            }
            TCP_RMEM => self.put(path, &word.split_whitespace().collect::<Vec<_>>().join("\t")),
            _ if path.ends_with("energy_performance_preference")
                && word != "performance"
                && self.root.text(governor(path)).as_deref() == Ok("performance") =>
            {
                return Err(Errno::BUSY);
            }
            // Both ends agree at once.
            _ if path.ends_with("/fec") => self.put(path, &format!("{word} {word} 0")),
            _ if path.starts_with("/ethtool/") => KernelFiles::write(&self.root, path, text)?,
            _ => self.put(path, word),
        }
        self.count(false);
        Ok(())
    }

    fn create(&self, path: &str, text: &str) -> io::Result<()> {
        KernelFiles::create(&self.root, path, text)?;
        self.count(false);
        Ok(())
    }

    fn step(&self) {
        self.count(true);
    }
}

pub(crate) fn wanted(all: &[(&str, &str, &str)]) -> Vec<SettingChange> {
    let change = |(setting, subject, wanted): &(&str, &str, &str)| {
        let registry = seatrial_settings::registry();
        let about = registry.find(setting).expect("a setting").about();
        let values = about.split(wanted).into_iter().map(|part| about.parse(part).expect("a value"));
        let wanted = SettingAbout::join(&values.collect::<Vec<Value>>());
        let Ok(subject) = subject.parse::<Subject>();
        SettingChange { setting: (*setting).to_owned(), subject, wanted }
    };
    all.iter().map(change).collect()
}

/// A change of each kind; the huge pages are more than there are.
fn all() -> Vec<SettingChange> {
    wanted(&[
        ("cpu.governor", "node", "performance"),
        ("cpu.energy_performance_preference", "node", "performance"),
        ("cpu.boost", "node", "true"),
        ("memory.transparent_huge_pages", "node", "never"),
        ("memory.huge_pages", "node", "1024"),
        ("memory.swappiness", "node", "10"),
        ("net.ipv4.tcp_rmem", "node", "4 KiB, 64 KiB, 16 MiB"),
        ("nic.mtu", "nic:eth0", "9000"),
        ("nic.rx_ring", "nic:eth0", "4096"),
        ("nic.gro", "nic:eth0", "false"),
    ])
}

fn apply(kernel: &Kernel, tree: &Tree, id: &str, changes: &[SettingChange]) -> SettingsAnswer {
    ordered(kernel, tree, id, changes, false)
}

/// Applies what is to hold after a boot too.
fn persist(kernel: &Kernel, tree: &Tree, changes: &[SettingChange]) -> SettingsAnswer {
    ordered(kernel, tree, ID, changes, true)
}

fn ordered(
    kernel: &Kernel,
    tree: &Tree,
    id: &str,
    changes: &[SettingChange],
    persist: bool,
) -> SettingsAnswer {
    let order =
        SettingsOrder::Apply { id: id.to_owned(), changes: changes.to_vec(), restore_after: None, persist };
    tree.with_machine(|machine| carry_out(kernel, &|| machine.clone(), &order))
}

pub(crate) fn restore(kernel: &Kernel, ids: &[&str], force: bool) -> SettingsAnswer {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    carry_out(kernel, &Machine::default, &SettingsOrder::Restore { ids, force })
}

/// Whether `work` came to its end before the process did.
pub(crate) fn survives(work: impl FnOnce() -> SettingsAnswer) -> bool {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(_) => true,
        Err(end) if end.is::<Killed>() => false,
        Err(panic) => resume_unwind(panic),
    }
}

/// The files of the kernel with their bytes.
fn snapshot(tree: &Tree) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders =
        ["/sys", "/proc", "/ethtool", "/etc", "/qdisc", "/gpu"].map(|path| tree.root().locate(path)).to_vec();
    folders.retain(|folder| folder.exists());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("read") {
            let path = entry.expect("read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), fs::read(&path).expect("read"));
            }
        }
    }
    files
}

pub(crate) fn relative(tree: &Tree) -> BTreeMap<PathBuf, Vec<u8>> {
    let root = tree.root().locate("/");
    let below = |path: &Path| path.strip_prefix(&root).expect("below").to_owned();
    snapshot(tree).into_iter().map(|(path, bytes)| (below(&path), bytes)).collect()
}

#[track_caller]
fn is_restored(tree: &Tree, how: &str) {
    assert_eq!(relative(tree), relative(&host()), "{how}");
    assert!(!journal_exists(&tree.root(), ID), "{how}");
    let again = restore(&Kernel::of(tree), &[ID], false);
    assert_eq!(again, SettingsAnswer::default(), "{how}");
}

fn journal(tree: &Tree) -> PathBuf {
    tree.root().locate(format!("/var/lib/seatrial/settings/n1/{ID}.jsonl"))
}

fn states(outcomes: &[ChangeOutcome]) -> Vec<(&str, ChangeState)> {
    outcomes.iter().map(|outcome| (outcome.setting.as_str(), outcome.state)).collect()
}

#[test]
fn all_is_set_and_restored_to_the_byte() {
    let tree = host();
    let answer = apply(&Kernel::of(&tree), &tree, ID, &all());
    assert_eq!(answer.refused, None);
    let bad: Vec<_> = answer.outcomes.iter().filter(|outcome| !outcome.state.is_good()).collect();
    // The kernel has fewer huge pages than were wanted, and holds what it has.
    assert_eq!(bad.len(), 1, "{bad:#?}");
    assert_eq!((bad[0].setting.as_str(), bad[0].after.as_str()), ("memory.huge_pages", "100"));
    assert!(
        bad[0].why.starts_with("the system took it, but holds 100: The kernel reserves"),
        "{}",
        bad[0].why
    );
    assert_eq!(tree.line("cpu.governor"), "node: performance");
    assert_eq!(tree.line("cpu.boost"), "node: true");
    assert_eq!(tree.line("memory.transparent_huge_pages"), "node: never");
    assert_eq!(tree.line("net.ipv4.tcp_rmem"), "node: 4 KiB, 64 KiB, 16 MiB");
    assert_eq!(tree.root().text(MTU).as_deref(), Ok("9000"));
    assert_eq!(
        (tree.line("nic.rx_ring"), tree.line("nic.gro")),
        ("nic:eth0: 4096".to_owned(), "nic:eth0: false".to_owned())
    );
    assert_eq!(answer.journals, [ID]);
    let answer = restore(&Kernel::of(&tree), &[ID], false);
    assert!(answer.outcomes.iter().all(|outcome| outcome.state == ChangeState::Done), "{answer:#?}");
    assert_eq!(answer.outcomes.len(), 12, "the governor and the preference are of two policies");
    is_restored(&tree, "all");
}

#[test]
fn what_was_set_is_set_again_at_boot_until_it_is_restored() {
    let tree = host();
    let answer = persist(&Kernel::of(&tree), &tree, &all());
    let files: Vec<_> = answer.outcomes.iter().filter(|outcome| outcome.setting == "at boot").collect();
    let told: Vec<_> = files.iter().map(|file| (file.place.as_str(), file.after.as_str())).collect();
    let (sysctl, udev, tmpfiles) = (
        format!("/etc/sysctl.d/95-seatrial-{ID}.conf"),
        format!("/etc/udev/rules.d/95-seatrial-{ID}.rules"),
        "/etc/tmpfiles.d/00-seatrial-79738872-764040-bcdf.conf".to_owned(),
    );
    assert_eq!(told, [(sysctl.as_str(), "2 values"), (&udev, "3 values"), (&tmpfiles, "4 values")]);
    let text = tree.root().text(&sysctl).expect("a file");
    assert!(text.starts_with(&format!(
        "# Written by `seatrial settings apply --persist`; `seatrial settings restore {ID}` removes it.\n"
    )));
    // The huge pages did not take.
    assert!(text.ends_with("\nvm.swappiness = 10\nnet.ipv4.tcp_rmem = 4096 65536 16777216"), "{text}");
    let restored = restore(&Kernel::of(&tree), &[ID], false);
    assert!(restored.outcomes.iter().all(|outcome| outcome.state == ChangeState::Done), "{restored:#?}");
    is_restored(&tree, "persisted");
}

#[test]
fn a_file_of_boot_that_somebody_has_changed_is_left_unless_forced() {
    let tree = host();
    persist(&Kernel::of(&tree), &tree, &wanted(&[("memory.swappiness", "node", "10")]));
    let file = tree.root().locate(format!("/etc/sysctl.d/95-seatrial-{ID}.conf"));
    fs::write(&file, "vm.swappiness = 20\n").expect("written");
    let answer = restore(&Kernel::of(&tree), &[ID], false);
    let wanted = [("at boot", ChangeState::Left), ("memory.swappiness", ChangeState::Done)];
    assert_eq!(BTreeMap::from_iter(states(&answer.outcomes)), BTreeMap::from(wanted));
    restore(&Kernel::of(&tree), &[ID], true);
    is_restored(&tree, "forced");
}

#[test]
fn without_a_program_that_sets_values_at_boot_they_hold_until_then_and_it_is_told() {
    let tree = host();
    fs::remove_dir_all(tree.root().locate("/etc/udev")).expect("removed");
    let answer = persist(&Kernel::of(&tree), &tree, &wanted(&[("nic.mtu", "nic:eth0", "9000")]));
    assert_eq!(states(&answer.outcomes), [("nic.mtu", ChangeState::Done), ("at boot", ChangeState::Failed)]);
    let why = &answer.outcomes[1].why;
    assert_eq!(why, "/etc/udev/rules.d does not exist here, so nothing would read it at boot");
}

#[test]
fn a_kill_after_any_step_of_apply_can_be_taken_back() {
    for steps in 1.. {
        let tree = host();
        let kernel = Kernel::of(&tree).killed_after(steps);
        let survived = survives(|| persist(&kernel, &tree, &all()));
        restore(&Kernel::of(&tree), &[ID], false);
        is_restored(&tree, &format!("killed after step {steps}"));
        if survived {
            assert!(steps > 40, "only {steps} steps were seen");
            return;
        }
    }
}

#[test]
fn a_line_that_was_torn_by_the_end_can_be_taken_back() {
    let mut torn = 0;
    for steps in 1.. {
        let tree = host();
        let kernel = Kernel::of(&tree).killed_after(steps);
        if survives(|| persist(&kernel, &tree, &all())) {
            assert!(torn > 20, "only {torn} lines were torn");
            return;
        }
        let text = fs::read_to_string(journal(&tree)).expect("a journal");
        if !kernel.was_line.get() {
            continue;
        }
        torn += 1;
        let last = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
        fs::write(journal(&tree), &text[..last + (text.len() - last) / 2]).expect("cut");
        restore(&Kernel::of(&tree), &[ID], false);
        is_restored(&tree, &format!("torn after step {steps}"));
    }
}

#[test]
fn a_kill_after_any_step_of_restore_is_gone_on_with() {
    for steps in 1.. {
        let tree = host();
        persist(&Kernel::of(&tree), &tree, &all());
        let kernel = Kernel::of(&tree).killed_after(steps);
        let survived = survives(|| restore(&kernel, &[ID], false));
        restore(&Kernel::of(&tree), &[ID], false);
        is_restored(&tree, &format!("killed after step {steps}"));
        if survived {
            assert!(steps > 20, "only {steps} steps were seen");
            return;
        }
    }
}

#[test]
fn kills_of_apply_and_then_of_restore_are_gone_on_with() {
    let few = &all()[4..6];
    for first in 1.. {
        let mut survived = false;
        for second in 1.. {
            let tree = host();
            let kernel = Kernel::of(&tree).killed_after(first);
            survived = survives(|| apply(&kernel, &tree, ID, few));
            let kernel = Kernel::of(&tree).killed_after(second);
            let whole = survives(|| restore(&kernel, &[ID], false));
            restore(&Kernel::of(&tree), &[ID], false);
            is_restored(&tree, &format!("killed after {first} and {second}"));
            if whole {
                break;
            }
        }
        if survived {
            return;
        }
    }
}

#[test]
fn what_the_system_refuses_is_told_with_cause_and_remedy_and_the_rest_is_set() {
    for (errno, remedy) in [
        (Errno::PERM, "it needs root; in a container apply it on the host"),
        (Errno::ACCESS, "it needs root"),
        (Errno::ROFS, "mounted read-only here"),
        (Errno::INVAL, "cgroups of version 1 have their own value"),
    ] {
        let tree = host();
        let answer = apply(&Kernel::of(&tree).refusing(SWAPPINESS, errno), &tree, ID, &all());
        let failed: BTreeSet<&str> = states(&answer.outcomes)
            .into_iter()
            .filter(|(_, state)| *state == ChangeState::Failed)
            .map(|(setting, _)| setting)
            .collect();
        assert_eq!(failed, BTreeSet::from(["memory.huge_pages", "memory.swappiness"]), "{errno}");
        let told = answer.outcomes.iter().find(|outcome| outcome.setting == "memory.swappiness");
        let why = &told.expect("told").why;
        assert!(
            why.starts_with("/proc/sys/vm/swappiness does not take '10'") && why.contains(remedy),
            "{why}"
        );
        // What was never written is not taken back, even while it is refused.
        let answer = restore(&Kernel::of(&tree).refusing(SWAPPINESS, errno), &[ID], false);
        assert!(answer.outcomes.iter().all(|outcome| outcome.state == ChangeState::Done), "{answer:#?}");
        is_restored(&tree, &errno.to_string());
    }
}

#[test]
fn what_does_not_go_back_keeps_its_journal_until_it_does() {
    let tree = host();
    apply(&Kernel::of(&tree), &tree, ID, &all());
    let answer = restore(&Kernel::of(&tree).refusing(SWAPPINESS, Errno::ROFS), &[ID], false);
    let failed: Vec<_> = answer.outcomes.iter().filter(|outcome| !outcome.state.is_good()).collect();
    assert_eq!(states(&answer.outcomes).len(), 12);
    assert_eq!((failed.len(), failed[0].state), (1, ChangeState::Failed));
    assert!(failed[0].why.contains("does not take '60'"), "{}", failed[0].why);
    assert_eq!(answer.journals, [ID]);
    let answer = restore(&Kernel::of(&tree), &[ID], false);
    assert_eq!(states(&answer.outcomes), [("memory.swappiness", ChangeState::Done)]);
    is_restored(&tree, "the second time");
}

#[test]
fn a_value_of_somebody_else_is_left_unless_forced() {
    let tree = host();
    apply(&Kernel::of(&tree), &tree, ID, &all());
    let kernel = Kernel::of(&tree);
    kernel.put(SWAPPINESS, "30");
    let answer = restore(&kernel, &[ID], false);
    let left: Vec<_> = answer.outcomes.iter().filter(|outcome| outcome.state == ChangeState::Left).collect();
    assert_eq!((left.len(), left[0].place.as_str(), left[0].after.as_str()), (1, SWAPPINESS, "30"));
    assert!(left[0].why.starts_with("it was set to '30' since"), "{}", left[0].why);
    assert_eq!(
        (tree.line("memory.swappiness").as_str(), &answer.journals),
        ("node: 30", &vec![ID.to_owned()])
    );
    // The others are not touched again, whatever they are now.
    kernel.put(MTU, "9000");
    let answer = restore(&kernel, &[ID], true);
    assert_eq!(states(&answer.outcomes), [("memory.swappiness", ChangeState::Done)]);
    assert_eq!(tree.root().text(MTU).as_deref(), Ok("9000"));
    kernel.put(MTU, "1500");
    is_restored(&tree, "forced");
}

#[test]
fn a_later_change_is_taken_back_before_an_earlier_one() {
    let tree = host();
    let kernel = Kernel::of(&tree);
    apply(&kernel, &tree, ID, &wanted(&[("memory.swappiness", "node", "10")]));
    apply(&kernel, &tree, LATER, &wanted(&[("memory.swappiness", "node", "1")]));
    let early = restore(&kernel, &[ID], false);
    assert_eq!(states(&early.outcomes), [("memory.swappiness", ChangeState::Left)]);
    assert_eq!(early.journals, [ID, LATER]);
    let both = restore(&kernel, &[ID, LATER], false);
    assert_eq!(both.outcomes.len(), 2);
    is_restored(&tree, "both");
}

#[test]
fn what_is_as_wanted_already_is_not_written_and_leaves_no_journal() {
    let tree = host();
    let kernel = Kernel::of(&tree).refusing(SWAPPINESS, Errno::IO).refusing(THP, Errno::IO);
    let same = wanted(&[
        ("memory.swappiness", "node", "60"),
        ("memory.transparent_huge_pages", "node", "madvise"),
        ("net.ipv4.tcp_rmem", "node", "4096 131072 6291456"),
    ]);
    let answer = apply(&kernel, &tree, ID, &same);
    assert!(answer.outcomes.iter().all(|outcome| outcome.state == ChangeState::Unchanged), "{answer:#?}");
    assert!(answer.journals.is_empty());
    is_restored(&tree, "nothing");
}

#[test]
fn without_a_journal_nothing_is_changed() {
    let tree = host().file("/var/lib/seatrial", "a file in the place of the folder");
    let answer = apply(&Kernel::of(&tree), &tree, ID, &all());
    assert!(answer.refused.expect("refused").contains("/var/lib/seatrial"), "with the path");
    assert!(answer.outcomes.is_empty());
    assert_eq!(relative(&tree), relative(&host()));
}

#[test]
fn two_at_once_are_refused() {
    let tree = host();
    let second = std::rc::Rc::new(RefCell::new(None));
    let mut kernel = Kernel::of(&tree);
    let (root, noted) = (tree.root(), second.clone());
    kernel.in_write = Some(Box::new(move || {
        let order = SettingsOrder::Restore { ids: vec![ID.to_owned()], force: true };
        *noted.borrow_mut() = carry_out(&root, &Machine::default, &order).refused;
    }));
    apply(&kernel, &tree, ID, &wanted(&[("memory.swappiness", "node", "10")]));
    let why = second.borrow().clone().expect("refused");
    assert!(why.contains("another `seatrial settings`"), "{why}");
    assert_eq!(tree.line("memory.swappiness"), "node: 10");
}

#[test]
fn a_device_that_is_gone_has_nothing_to_restore() {
    let tree = host();
    apply(&Kernel::of(&tree), &tree, ID, &wanted(&[("nic.mtu", "nic:eth0", "9000")]));
    fs::remove_file(tree.root().locate(MTU)).expect("removed");
    let answer = restore(&Kernel::of(&tree), &[ID], false);
    assert_eq!(states(&answer.outcomes), [("nic.mtu", ChangeState::Unchanged)]);
    assert!(answer.outcomes[0].why.contains("is gone"), "{answer:#?}");
    assert!(answer.journals.is_empty());
}

#[test]
fn a_subject_that_the_node_lacks_and_a_setting_without_a_file_are_refused() {
    let tree = host();
    let changes = wanted(&[("nic.mtu", "nic:eth7", "9000"), ("net.rmem_consistent", "node", "true")]);
    let answer = apply(&Kernel::of(&tree), &tree, ID, &changes);
    assert!(answer.outcomes[0].why.contains("no such subject"), "{answer:#?}");
    assert!(answer.outcomes[1].why.contains("a person has to type"), "{answer:#?}");
    is_restored(&tree, "nothing");
}

#[test]
fn a_damaged_journal_keeps_no_other_from_being_restored() {
    for damaged in [ID, LATER] {
        let tree = host();
        apply(&Kernel::of(&tree), &tree, ID, &wanted(&[("memory.swappiness", "node", "1")]));
        apply(&Kernel::of(&tree), &tree, LATER, &wanted(&[("memory.huge_pages", "node", "64")]));
        let file = journal(&tree).with_file_name(format!("{damaged}.jsonl"));
        let text = fs::read_to_string(&file).expect("a journal");
        fs::write(&file, text.replacen("announced", "announcd", 1)).expect("damaged");
        let answer = restore(&Kernel::of(&tree), &[ID, LATER], false);
        assert!(answer.refused.is_some_and(|why| why.contains("is damaged")), "{damaged}");
        let other = if damaged == ID { "memory.huge_pages" } else { "memory.swappiness" };
        assert_eq!(states(&answer.outcomes), [(other, ChangeState::Done)]);
        assert_eq!(answer.journals, [damaged]);
    }
}

#[test]
fn a_damaged_journal_is_refused_and_stays() {
    let tree = host();
    apply(&Kernel::of(&tree), &tree, ID, &all());
    let text = fs::read_to_string(journal(&tree)).expect("a journal");
    fs::write(journal(&tree), text.replacen("announced", "announcd", 1)).expect("damaged");
    let answer = restore(&Kernel::of(&tree), &[ID], false);
    assert!(answer.refused.expect("refused").contains("is damaged in line 2"), "with the line");
    assert!(journal_exists(&tree.root(), ID));
    let later = text.replacen("\"schema\":2", "\"schema\":9", 1);
    fs::write(journal(&tree), later).expect("written");
    let why = restore(&Kernel::of(&tree), &[ID], false).refused.expect("refused");
    assert!(why.contains("restore with that version"), "{why}");
}

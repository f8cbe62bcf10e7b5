//! `memory.transparent_huge_pages` and `memory.huge_pages`: large pages that come by themselves, and reserved ones.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::found::{on_node, present};
use crate::sysctl::{COUNT, ROW, Sysctl, by_sysctl};

const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

pub struct TransparentHugePages;

// admin-guide/mm/transhuge.rst.
const TRANSPARENT: SettingAbout = SettingAbout {
    id: "memory.transparent_huge_pages",
    title: "large pages that the kernel gives by itself",
    doc: "With `always` every large allocation gets pages of 2 MiB, where there are any, and with `madvise` only \
          programs that ask. Fewer pages miss the TLB less: memory latency over large arrays and random access gain \
          much, streams a little. Programs that do not ask run otherwise on two hosts that differ in this.",
    kind: Kind::Choice(&["always", "madvise", "never"]),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: ENABLED,
    apply: &[ApplyCommand::always("echo {value} > /sys/kernel/mm/transparent_hugepage/enabled")],
    privilege: Privilege::Root,
    traps: "Holds for memory that is allocated from now on. Lost at the next boot; transparent_hugepage= on the \
            command line of the kernel keeps it.",
};

impl Setting for TransparentHugePages {
    fn about(&self) -> &'static SettingAbout {
        &TRANSPARENT
    }

    fn read(&self, root: &SysRoot, _: &Machine) -> Vec<SettingReading> {
        on_node(&TRANSPARENT, present(root, enabled(root)))
    }
}

/// The one word in brackets: `always [madvise] never`.
fn enabled(root: &SysRoot) -> Result<Value, ReadError> {
    let text = root.text(ENABLED)?;
    let mut chosen = text
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('[')?.strip_suffix(']'))
        .map(str::to_owned);
    match (chosen.next(), chosen.next()) {
        (Some(word), None) if !word.is_empty() => Ok(Value::Text(word)),
        _ => Err(ReadError::garbage(ENABLED, &text, "words, one of them in brackets")),
    }
}

pub static HUGE_PAGES: Sysctl = Sysctl(&SettingAbout {
    id: "memory.huge_pages",
    title: "reserved large pages of the usual size",
    doc: "Pages set aside for programs that ask for them (MAP_HUGETLB): databases, packet frameworks, some MPI \
          libraries, and benchmarks that are told to. Without a reservation such a request fails; what is \
          reserved nobody else can use.",
    kind: COUNT,
    unit: "pages",
    source: "/proc/sys/vm/nr_hugepages",
    apply: by_sysctl!("vm.nr_hugepages"),
    traps: "The kernel gives as many as it finds in one piece, which on a host that has run for long may be fewer: \
            read it back. Lost at the next boot unless a file in /etc/sysctl.d says it too.",
    ..ROW
});

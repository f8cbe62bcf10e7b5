//! `memory.transparent_huge_pages` and `memory.huge_pages`: transparent and reserved huge pages.

use seatrial_model::machine::Machine;
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::found::{on_node, present};
use crate::sysctl::{COUNT, ROW, Sysctl};

const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

pub struct TransparentHugePages;

// admin-guide/mm/transhuge.rst.
const TRANSPARENT: SettingAbout = SettingAbout {
    id: "memory.transparent_huge_pages",
    title: "transparent huge pages (THP)",
    doc: "With `always` every large allocation gets pages of 2 MiB, where available; with `madvise` only \
          programs that ask for them. Huge pages cause fewer TLB misses: memory latency over large arrays \
          and random access gain much, streams a little. Programs that do not ask perform differently on two \
          hosts that differ in this.",
    kind: Kind::Choice(&["always", "madvise", "never"]),
    unit: "",
    fields: &[],
    unlimited: None,
    subject: "node",
    facts: &[],
    source: ENABLED,
    apply: &[ApplyCommand::SOURCE],
    privilege: Privilege::Root,
    remedy: "",
    traps: "Holds for memory that is allocated from now on. Lost at the next boot unless \
            transparent_hugepage= on the kernel command line sets it.",
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
    title: "huge pages of the default size (hugetlb)",
    doc: "Pages reserved for programs that ask for them (MAP_HUGETLB): databases, packet frameworks, some \
          MPI libraries, and benchmarks with that option. Without a reservation the request fails; reserved \
          pages cannot be used for anything else.",
    kind: COUNT,
    unit: "pages",
    source: "/proc/sys/vm/nr_hugepages",
    traps: "The kernel reserves as many as it finds contiguous memory for, which may be fewer on a host that \
            has run for long: read the value back. Lost at the next boot unless a file in /etc/sysctl.d sets \
            it.",
    ..ROW
});

//! Mappings on the running kernel: pages, place and proof.
#![expect(clippy::print_stdout, reason = "says what was skipped")]

use seatrial_sys::memory::{MapError, MapRequest, Mapping, Pages, Place, PolicyError, RegionError};
use seatrial_sys::root::SysRoot;

const MIB: usize = 1 << 20;

const fn request(bytes: usize, pages: &'static [Pages]) -> MapRequest<'static> {
    MapRequest { bytes, cap_bytes: 256 * MIB, pages, place: Place::Local }
}

fn map(request: &MapRequest<'_>) -> Mapping {
    Mapping::map(request).expect("mapped")
}

#[test]
fn base_pages_are_resident_placed_and_never_huge() {
    let mapping = map(&request(8 * MIB, &[Pages::Base]));
    let residency = mapping.residency().expect("smaps");
    assert_eq!((residency.resident_bytes, residency.huge_bytes), (8 << 20, 0));
    let placement = mapping.placement(None).expect("move_pages");
    assert_eq!((placement.absent, placement.refused), (0, 0));
    assert_eq!((placement.asked(), placement.total), (2048, 2048));
}

#[test]
fn a_sample_is_asked_about_when_the_whole_is_too_much() {
    let mapping = map(&request(8 * MIB + 1, &[Pages::Base]));
    let placement = mapping.placement(Some(100)).expect("move_pages");
    assert_eq!(placement.total, 2049);
    assert!((50..=100).contains(&placement.asked()), "{placement:?}");
}

#[test]
fn transparent_pages_are_huge_where_the_system_has_them() {
    let mode = SysRoot::live().text("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let has_them = !mode.is_empty() && !mode.contains("[never]");
    // With fragmented memory there may be no whole huge page; not for ever.
    for tries in 1.. {
        let mapping = map(&request(64 * MIB, &[Pages::Transparent]));
        let residency = mapping.residency().expect("smaps");
        assert_eq!(residency.resident_bytes, 64 << 20);
        if (residency.huge_bytes > 0) == has_them {
            return;
        }
        assert!(has_them && tries < 300, "{mode}: {residency:?}");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

#[test]
fn explicit_pages_come_from_the_pool_or_are_refused_with_the_reason() {
    let free = SysRoot::live().value::<u64>("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
    let mapping = map(&request(3 * MIB, &[Pages::Explicit2M, Pages::Base]));
    if free.is_ok_and(|free| free >= 2) {
        assert_eq!((mapping.pages(), mapping.refused()), (Pages::Explicit2M, &[][..]));
        assert_eq!(mapping.residency().expect("smaps").huge_bytes, 4 << 20);
    } else {
        assert_eq!(mapping.pages(), Pages::Base);
        let refused = mapping.refused()[0];
        assert_eq!(refused.pages, Pages::Explicit2M);
        assert!(matches!(refused.why, RegionError::Map { bytes, .. } if bytes == 4 * MIB), "{}", refused.why);
    }
}

#[test]
fn rounding_up_to_whole_pages_may_not_pass_the_cap() {
    let small = MapRequest { cap_bytes: MIB, ..request(MIB, &Pages::LARGEST_FIRST) };
    let mapping = map(&small);
    assert_eq!(mapping.pages(), Pages::Base);
    let rounded = |why: &RegionError| matches!(why, RegionError::Rounding { .. });
    assert!(mapping.refused().len() == 3 && mapping.refused().iter().all(|refusal| rounded(&refusal.why)));
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_mapped() {
    assert_eq!(Mapping::map(&request(0, &[Pages::Base])).err(), Some(MapError::Empty));
    let huge = Mapping::map(&request(1 << 50, &[Pages::Base])).err();
    assert_eq!(huge, Some(MapError::TooLarge { bytes: 1 << 50, cap: 256 * MIB }));
    let uncapped =
        MapRequest { cap_bytes: usize::MAX, ..request(1 << 60, &[Pages::Transparent, Pages::Base]) };
    let error = Mapping::map(&uncapped).expect_err("no machine has an EiB");
    assert!(matches!(&error, MapError::Refused { refused, .. } if refused.len() == 2), "{error}");
    assert!(error.to_string().contains("transparent: mmap of"), "{error}");
    let none = Mapping::map(&request(MIB, &[])).err();
    assert_eq!(none, Some(MapError::Refused { bytes: MIB, refused: Vec::new() }));
}

#[test]
fn memory_is_bound_to_a_node_and_lies_there() {
    let node = SysRoot::live().numbered("/sys/devices/system/node", "node").unwrap_or_default();
    let Some(&node) = node.first() else {
        assert!(std::env::var("CI").is_err(), "a kernel without NUMA");
        return println!("skipped: a kernel without NUMA");
    };
    let mapping = map(&MapRequest { place: Place::Node(node), ..request(4 * MIB, &[Pages::Base]) });
    let placement = mapping.placement(None).expect("move_pages");
    assert_eq!(placement.share(node), 1.0);
}

#[test]
fn a_node_that_does_not_exist_is_a_typed_error() {
    for node in [63, 1023, 60_000] {
        let nowhere = MapRequest { place: Place::Node(node), ..request(MIB, &[Pages::Base]) };
        let error = Mapping::map(&nowhere).expect_err("no such node");
        assert_eq!(error, MapError::Policy(PolicyError::NoSuchNode { call: "mbind", node }));
    }
}

#[test]
fn the_memory_is_zeroed_aligned_writable_and_goes_to_other_threads() {
    let mut mapping = map(&request(MIB + 5, &[Pages::Base]));
    assert_eq!(mapping.address() % (2 * MIB), 0);
    assert_eq!((mapping.as_slice::<u64>().len(), mapping.as_slice::<u8>().len()), (MIB / 8, MIB + 5));
    assert!(mapping.as_slice::<u8>().iter().all(|&byte| byte == 0));
    mapping.as_mut_slice::<f64>().fill(1.5);
    let sum = std::thread::spawn(move || mapping.as_slice::<f64>().iter().sum::<f64>());
    assert_eq!(sum.join().expect("joined"), 1.5 * (MIB / 8) as f64);
}

#[test]
fn neighbours_are_accounted_apart() {
    let mappings: Vec<Mapping> = (1..6).map(|n| map(&request(n * MIB, &[Pages::Base]))).collect();
    for (n, mapping) in (1u64..).zip(&mappings) {
        assert_eq!(mapping.residency().expect("smaps").resident_bytes, n << 20);
    }
}

/// A leak would leave two or more mappings each time; the kernel's limit is 65,530.
#[test]
fn everything_is_given_back() {
    for _ in 0..40_000 {
        map(&request(1, &[Pages::Base]));
    }
}

//! Plans: which disks become cases.

use seatrial_model::machine::{Disk, DiskBus, FileSystem, Known, Medium};
use seatrial_model::{Cause, Limit, Value};

use super::{disk, machine, planned, site};
use crate::raw::BENCHMARK;

#[test]
fn every_disk_is_a_case_of_its_own_and_what_is_no_disk_is_not() {
    let buses = [
        ("sda", DiskBus::Sata),
        ("nvme0n1", DiskBus::Nvme),
        ("vda", DiskBus::Virtio),
        ("md0", DiskBus::Md),
        ("dm-0", DiskBus::Dm),
        ("loop0", DiskBus::Loop),
        ("zram0", DiskBus::Memory),
        ("sr0", DiskBus::Other),
    ];
    let mut disks: Vec<Disk> = buses.iter().map(|(name, bus)| disk(name, *bus)).collect();
    disks[0].wwn = Known::Known("naa.5000c500a1b2c3d4".to_owned());
    disks[7].removable = Known::Known(true);
    disks.push(Disk { size_bytes: Known::Known(0), ..disk("sdz", DiskBus::Usb) });
    let cases = planned(&site(disks), &[]).expect("a plan");
    let subjects: Vec<_> = cases.iter().map(|case| case.subject.as_str()).collect();
    assert_eq!(subjects, ["disk:sda", "disk:nvme0n1", "disk:vda", "disk:md0", "disk:dm-0"]);
    assert_eq!(cases[0].key.as_deref(), Some("wwn:naa.5000c500a1b2c3d4"));
    assert_eq!((cases[0].facts.text("kind"), cases[0].facts.text("bus")), (Ok("disk"), Ok("sata")));
}

#[test]
fn a_named_disk_is_read_even_if_it_is_none_and_one_that_is_not_there_is_told() {
    let site = site(vec![disk("sda", DiskBus::Sata), disk("loop0", DiskBus::Loop)]);
    let cases = planned(&site, &[("disk", "loop0")]).expect("a plan");
    assert_eq!(cases[0].subject.as_str(), "disk:loop0");
    let reason = planned(&site, &[("disk", "sdb")]).expect_err("none");
    assert_eq!(reason.cause, Cause::Missing);
    assert!(reason.text.ends_with("its disks: sda, loop0"), "{reason}");
}

#[test]
fn all_at_once_is_one_case_over_the_disks_that_are_not_made_of_others() {
    let three = vec![disk("sda", DiskBus::Sata), disk("sdb", DiskBus::Sata), disk("md0", DiskBus::Md)];
    let cases = planned(&site(three), &[("together", "true")]).expect("a plan");
    assert_eq!((cases.len(), cases[0].planned.text("disks")), (1, Ok("sda sdb")));
    assert_eq!((cases[0].subject.as_str(), cases[0].places[0].bindings.len()), ("node", 2));
    let one = planned(&site(vec![disk("sda", DiskBus::Sata)]), &[("together", "true")]);
    assert_eq!(one.expect_err("one").cause, Cause::Inapplicable);
    let named = planned(&site(vec![disk("sda", DiskBus::Sata)]), &[("together", "true"), ("disk", "sda")]);
    assert_eq!(named.expect_err("both").cause, Cause::Contradiction);
}

#[test]
fn how_full_the_file_systems_of_a_disk_are_together_is_a_fact_of_it() {
    let fs = |mount: &str, used: u64, available: u64| FileSystem {
        mount: mount.to_owned(),
        medium: Medium::Disk,
        used_bytes: Known::Known(used),
        available_bytes: Known::Known(available),
        ..FileSystem::default()
    };
    let fill = |systems: Vec<FileSystem>| {
        let mounts = ["/boot", "/data"].map(str::to_owned).to_vec();
        let mut machine = machine(vec![Disk { mounts, ..disk("sda", DiskBus::Sata) }]);
        machine.file_systems = Known::Known(systems);
        let site = seatrial_model::Site { nodes: vec![seatrial_model::SiteNode::new("n1", machine)] };
        planned(&site, &[]).expect("a plan")[0].facts.get("fill_percent").cloned()
    };
    let boot = || fs("/boot", 90, 10);
    let all = vec![boot(), fs("/data", 110, 190), fs("/other", 9, 0)];
    assert_eq!(fill(all), Some(Value::Number(50.0)));
    assert_eq!(fill(vec![boot(), FileSystem { used_bytes: Known::unknown("denied"), ..boot() }]), None);
    assert_eq!(fill(Vec::new()), None);
}

#[test]
fn the_link_of_the_disk_is_its_limit() {
    let sata = Disk { link_gbit_s: Known::Known(6.0), ..disk("sda", DiskBus::Sata) };
    let site = site(vec![sata, disk("sdb", DiskBus::Sata)]);
    let case = planned(&site, &[("disk", "sda")]).expect("a plan").remove(0);
    let limits = BENCHMARK.limits(&case, &site);
    let Limit::Chain(bounds) = &limits["throughput"] else { panic!("{limits:?}") };
    assert_eq!(bounds[0].value.to_string(), "600 MB/s");
    let all = planned(&site, &[("together", "true")]).expect("a plan").remove(0);
    assert!(matches!(BENCHMARK.limits(&all, &site)["throughput"], Limit::Unknown { .. }));
}

#[test]
fn a_disk_is_read_from_the_node_of_its_controller() {
    let on = |node| {
        let pci = seatrial_model::machine::PciDevice { numa_node: Known::Known(node), ..Default::default() };
        Disk { pci: Known::Known(pci), ..disk("sda", DiskBus::Sata) }
    };
    for node in [0, 1] {
        let cases = planned(&site(vec![on(node)]), &[]).expect("a plan");
        assert_eq!(cases[0].places[0].bindings[0].node, node);
    }
}

#[test]
fn random_reads_have_their_own_size_and_number_and_are_not_of_all_disks_at_once() {
    let two = site(vec![disk("sda", DiskBus::Sata), disk("sdb", DiskBus::Sata)]);
    let case = planned(&two, &[("pattern", "random")]).expect("a plan").remove(0);
    assert_eq!(case.planned.bytes("block").expect("chosen").map(seatrial_model::Bytes::get), Some(4096));
    assert_eq!(crate::raw::config::depth(&case.params), 32);
    let both = planned(&two, &[("pattern", "random"), ("together", "true")]);
    assert_eq!(both.expect_err("both").cause, Cause::Contradiction);
    let sata = Disk { link_gbit_s: Known::Known(6.0), ..disk("sda", DiskBus::Sata) };
    let one = site(vec![sata]);
    let case = planned(&one, &[("pattern", "random")]).expect("a plan").remove(0);
    let limits = BENCHMARK.limits(&case, &one);
    let Limit::Chain(bounds) = &limits["iops"] else { panic!("{limits:?}") };
    assert!((bounds[0].value.value() - 600e6 / 4096.0).abs() < 1.0, "{bounds:?}");
}

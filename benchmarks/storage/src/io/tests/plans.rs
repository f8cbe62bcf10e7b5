//! Plans from an invented inventory.

use seatrial_model::machine::{
    Disk, DiskBus, DiskThrottle, FileSystem, Known, Machine, Medium, Nic, NicKind,
};
use seatrial_model::{Cause, Limit, Reason, Site, SiteNode};

use super::rig::{machine, params};
use crate::file::BENCHMARK;

fn disk(name: &str, mounts: &[&str]) -> Disk {
    Disk {
        name: name.to_owned(),
        bus: DiskBus::Sata,
        link_gbit_s: Known::Known(6.0),
        rotational: Known::Known(true),
        mounts: mounts.iter().map(|mount| (*mount).to_owned()).collect(),
        ..Disk::default()
    }
}

fn file_system(mount: &str, disk: &str, available: u64) -> FileSystem {
    FileSystem {
        mount: mount.to_owned(),
        source: format!("/dev/{disk}1"),
        kind: "ext4".to_owned(),
        medium: Medium::Disk,
        disks: vec![disk.to_owned()],
        size_bytes: Known::Known(available * 2),
        used_bytes: Known::Known(available),
        available_bytes: Known::Known(available),
        ..FileSystem::default()
    }
}

/// Two disks with file systems, two of an array with one, a server, a read-only medium and a loop device.
fn site() -> Site {
    let server = FileSystem {
        mount: "/home".to_owned(),
        source: "head:/home".to_owned(),
        kind: "nfs4".to_owned(),
        medium: Medium::Network,
        ..FileSystem::default()
    };
    let medium = FileSystem { read_only: true, ..file_system("/mnt", "sdc", 1 << 40) };
    let member = |name| Disk { member_of: Some("md0".to_owned()), ..disk(name, &[]) };
    let members = ["sdd", "sde"].map(str::to_owned).to_vec();
    let array = FileSystem { disks: members, ..file_system("/array", "md0", 100 << 30) };
    let machine = Machine {
        disks: Known::Known(vec![
            Disk { bus: DiskBus::Md, ..disk("md0", &["/array"]) },
            disk("sda", &["/", "/boot"]),
            disk("sdb", &["/data 1"]),
            disk("sdc", &["/mnt"]),
            member("sdd"),
            member("sde"),
            Disk { bus: DiskBus::Loop, ..disk("loop0", &["/image"]) },
        ]),
        file_systems: Known::Known(vec![
            file_system("/", "sda", 100 << 30),
            file_system("/boot", "sda", 1 << 30),
            file_system("/data 1", "sdb", 512 << 20),
            server,
            medium,
            array,
            file_system("/image", "loop0", 1 << 40),
        ]),
        ..machine()
    };
    Site { nodes: vec![SiteNode::new("n1", machine)] }
}

fn planned(changed: &[(&str, &str)]) -> Result<Vec<seatrial_model::Case>, Reason> {
    BENCHMARK.plan(&params(changed), &site())
}

#[test]
fn a_directory_is_named_by_its_file_system_and_limited_by_its_disk() {
    let case = planned(&[("directory", "/data 1/x"), ("size", "1 MiB"), ("block", "4 KiB")])
        .expect("a plan")
        .remove(0);
    assert_eq!(case.subject.as_str(), "fs:/data 1");
    assert_eq!(case.facts.text("kind"), Ok("fs"));
    assert_eq!((case.planned.text("disks"), case.planned.text("source")), (Ok("sdb"), Ok("/dev/sdb1")));
    let limits = BENCHMARK.limits(&case, &site());
    let Limit::Chain(bounds) = &limits["throughput"] else { panic!("{limits:?}") };
    assert!(bounds.iter().any(|bound| bound.value.to_string() == "600 MB/s"), "{bounds:?}");
    let Limit::Chain(bounds) = &limits["iops"] else { panic!("{limits:?}") };
    assert!(bounds.iter().any(|bound| (bound.value.value() - 600e6 / 4096.0).abs() < 1.0), "{bounds:?}");
    // A path that only starts with the same letters is another directory.
    let case = planned(&[("directory", "/data 10")]).expect("a plan").remove(0);
    assert_eq!(case.subject.as_str(), "fs:/");
}

#[test]
fn every_disk_has_a_case_in_its_largest_file_system_and_a_member_of_an_array_none() {
    let cases = planned(&[("directory", "disks"), ("size", "1 MiB"), ("block", "4 KiB")]).expect("a plan");
    let told: Vec<_> =
        cases.iter().map(|case| (case.subject.as_str(), case.planned.text("directory"))).collect();
    let expected = [("disk:md0", Ok("/array")), ("disk:sda", Ok("/")), ("disk:sdb", Ok("/data 1"))];
    assert_eq!(told, expected);
    assert_eq!(cases[1].facts.flag("rotational"), Ok(true));
    assert_eq!(cases[1].facts.get("fill_percent"), Some(&seatrial_model::Value::Number(50.0)));
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let reason = |changed: &[(&str, &str)]| planned(changed).expect_err("refused");
    let full = reason(&[("directory", "/data 1")]);
    assert_eq!(full.cause, Cause::NoSpace);
    assert!(full.text.contains("1 GiB; /data 1 has 512 MiB free"), "{full}");
    assert_eq!(reason(&[("directory", "/mnt")]).cause, Cause::Denied);
    assert_eq!(reason(&[("directory", "data")]).cause, Cause::Contradiction);
    assert_eq!(reason(&[("reads", "50")]).cause, Cause::Contradiction);
    for operation in ["read", "mixed"] {
        let reason = reason(&[("overwrite", "true"), ("operation", operation)]);
        assert_eq!(reason.cause, Cause::Contradiction);
        assert!(
            reason.text.contains(&format!("operation={operation} the files are always filled")),
            "{reason}"
        );
    }
    assert_eq!(reason(&[("engine", "sync"), ("depth", "2")]).cause, Cause::Contradiction);
    assert_eq!(reason(&[("engine", "polled"), ("access", "buffered")]).cause, Cause::Contradiction);
    assert_eq!(reason(&[("size", "1 MiB"), ("threads", "2")]).cause, Cause::Contradiction);
    for other in [("access", "buffered"), ("work", "once")] {
        assert_eq!(reason(&[("steady", "true"), other]).cause, Cause::Contradiction);
    }
}

#[test]
fn what_has_no_limit_says_why() {
    let why = |changed: &[(&str, &str)]| {
        let case = planned(changed).expect("a plan").remove(0);
        match BENCHMARK.limits(&case, &site()).remove("throughput") {
            Some(Limit::Unknown { reason }) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert!(why(&[("directory", "/home/x")]).contains("the server address of head:/home is not known"));
    assert!(why(&[]).contains("set the parameter directory to a path"));
    assert!(why(&[("directory", "/tmp"), ("access", "buffered")]).contains("page cache"));
}

#[test]
fn threads_beyond_the_cores_share_them_and_slow_storage_gets_its_time() {
    let case = planned(&[("threads", "80"), ("work", "once"), ("directory", "/")]).expect("a plan").remove(0);
    assert_eq!(case.places[0].bindings.len(), 80);
    assert!(case.budget.measure.as_secs() > 50.0, "1 GiB at 20 MB/s");
    assert!(case.budget.prepare.as_secs() > 80.0);
}

#[test]
fn filling_files_before_they_are_overwritten_is_time_of_its_own() {
    let overhead = |overwrite: &str| {
        let changed = [("operation", "write"), ("overwrite", overwrite), ("directory", "/")];
        planned(&changed).expect("a plan").remove(0).budget.overhead.as_secs()
    };
    // 1 GiB at 500 MB/s.
    assert!((overhead("true") - overhead("false") - 2.147).abs() < 0.01);
}

#[test]
fn a_server_is_limited_by_the_interface_in_its_network() {
    let nic = |name: &str, network: &str, mbit: u64| Nic {
        name: name.to_owned(),
        kind: NicKind::Physical,
        speed_mbit_s: Known::Known(mbit),
        mtu: Known::Known(1500),
        networks: Known::Known(vec![network.to_owned()]),
        ..Nic::default()
    };
    let limit = |nics: Vec<Nic>, changed: &[(&str, &str)], options: &[&str]| {
        let mut site = site();
        let machine = &mut site.nodes[0].machine;
        machine.nics = Known::Known(nics);
        let Known::Known(systems) = &mut machine.file_systems else { panic!("composed") };
        let server = systems.iter_mut().find(|one| one.mount == "/home").expect("composed");
        server.server = Some("10.1.0.9".to_owned());
        server.options = options.iter().map(|option| (*option).to_owned()).collect();
        let all = [&[("directory", "/home/x")], changed].concat();
        let case = BENCHMARK.plan(&params(&all), &site).expect("a plan").remove(0);
        BENCHMARK.limits(&case, &site)
    };
    let two = || vec![nic("eth0", "192.168.0.0/24", 1_000), nic("eth1", "10.1.0.0/16", 10_000)];
    let limits = limit(two(), &[], &[]);
    let Limit::Chain(bounds) = &limits["throughput"] else { panic!("{limits:?}") };
    // 1448 of the 1538 bytes of a frame on the wire, with IPv4 and TCP timestamps.
    assert!((bounds[0].value.value() - 1250.0 * 1448.0 / 1538.0).abs() < 0.01, "{bounds:?}");
    assert!(bounds[0].provenance.starts_with("nic ") && bounds[0].formula.starts_with("eth1 to 10.1.0.9"));
    let why = |limits: seatrial_model::Limits| match &limits["throughput"] {
        Limit::Unknown { reason } => reason.clone(),
        other => panic!("{other:?}"),
    };
    assert!(why(limit(two(), &[], &["proto=rdma"])).contains("over RDMA"));
    assert!(why(limit(two()[..1].to_vec(), &[], &[])).contains("is in no network"));
    assert!(why(limit(two(), &[("operation", "mixed")], &[])).contains("both directions"));
    let mixed = limit(two(), &[("operation", "mixed")], &[]);
    assert!(matches!(&mixed["read"], Limit::Chain(bounds) if bounds.len() == 1), "{mixed:?}");
}

#[test]
fn what_a_control_group_lets_through_is_a_limit() {
    let mut site = site();
    let Known::Known(disks) = &mut site.nodes[0].machine.disks else { panic!("composed") };
    disks[2].throttle = Some(DiskThrottle { read_bytes: Some(50_000_000), ..DiskThrottle::default() });
    let all = [("directory", "/data 1"), ("size", "1 MiB"), ("block", "4 KiB")];
    let case = BENCHMARK.plan(&params(&all), &site).expect("a plan").remove(0);
    let limits = BENCHMARK.limits(&case, &site);
    let Limit::Chain(bounds) = &limits["throughput"] else { panic!("{limits:?}") };
    let told: Vec<_> = bounds.iter().map(|one| (one.value.to_string(), one.provenance.as_str())).collect();
    assert_eq!(told, [("600 MB/s".to_owned(), "disk link"), ("50 MB/s".to_owned(), "control group")]);
}

#[test]
fn what_is_written_follows_from_the_parameters() {
    let mib = 1 << 20;
    let of = |changed: &[(&str, &str)]| {
        let fixed = [("directory", "/data 1/x"), ("size", "64 MiB"), ("time", "500 ms"), ("trials", "4")];
        let case = planned(&[&fixed[..], changed].concat()).expect("a plan").remove(0);
        let written = case.writes;
        (written.files.get() / mib, written.total.get() / mib, written.rewriting.get() / 1_000_000)
    };
    assert_eq!(of(&[]), (64, 64, 0), "the first trial fills what all trials read");
    assert_eq!(of(&[("size", "8 MiB"), ("threads", "2")]), (8, 8, 0));
    assert_eq!(of(&[("operation", "write")]), (64, 0, 2000));
    assert_eq!(of(&[("operation", "write"), ("overwrite", "true")]), (64, 256, 2000));
    assert_eq!(of(&[("operation", "write"), ("work", "once")]), (64, 256, 0));
    assert_eq!(of(&[("operation", "mixed")]), (64, 256, 2000));
}

#[test]
fn time_that_only_slow_storage_needs_is_not_estimated() {
    let estimate = |changed: &[(&str, &str)]| {
        let fixed = [("directory", "/data 1/x"), ("size", "64 MiB"), ("time", "500 ms"), ("trials", "1")];
        planned(&[&fixed[..], changed].concat()).expect("a plan").remove(0).estimate()
    };
    let direct = estimate(&[("operation", "write")]);
    let buffered = estimate(&[("operation", "write"), ("access", "buffered")]);
    assert!(buffered > direct && buffered < direct.plus(direct), "{direct} {buffered}");
    let once = estimate(&[("operation", "write"), ("work", "once")]);
    assert!(once < buffered, "once: as long as it takes, not for the measuring time: {once} {buffered}");
}

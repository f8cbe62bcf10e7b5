//! Rates of real shaper classes in a network namespace.
//!
//! Needs root, `unshare`, `ip` and `tc`; without them the test fails in CI and is skipped elsewhere.
#![expect(clippy::print_stdout, reason = "says what was skipped")]

use std::fs::File;
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use seatrial_sys::root::SysRoot;
use seatrial_sys::shaping::{Shaping, shapings};

/// A namespace with an interface `v1`, held by a sleeping process, and removed with it.
struct Space(Child);

impl Drop for Space {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Space {
    fn new() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("it needs root".to_owned());
        }
        let mut holder = Command::new("unshare");
        holder.args(["--net", "sleep", "300"]).stdin(Stdio::null()).stdout(Stdio::null());
        let space = Self(holder.spawn().map_err(|error| format!("unshare: {error}"))?);
        let own = std::fs::read_link("/proc/self/ns/net").map_err(|error| error.to_string())?;
        let until = Instant::now() + Duration::from_secs(60);
        while std::fs::read_link(space.path()).is_ok_and(|theirs| theirs == own) {
            if Instant::now() > until {
                return Err("no namespace was made".to_owned());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        space.run("ip link add v1 type veth peer name v2")?;
        Ok(space)
    }

    fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.0.id())
    }

    fn run(&self, line: &str) -> Result<(), String> {
        let id = self.0.id().to_string();
        let mut command = Command::new("nsenter");
        let done =
            command.args(["-t", &id, "-n", "sh", "-c", line]).output().map_err(|error| error.to_string())?;
        let complaint = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        if done.status.success() { Ok(()) } else { Err(format!("{line}: {complaint}")) }
    }

    fn shaping(&self) -> Option<Shaping> {
        let there = File::open(self.path()).expect("the namespace");
        let read = || {
            move_into_link_name_space(there.as_fd(), Some(LinkNameSpaceType::Network)).expect("entered");
            shapings(&SysRoot::live()).expect("told").remove("v1")
        };
        std::thread::scope(|scope| scope.spawn(read).join().expect("joined"))
    }
}

#[test]
fn a_tree_of_classes_is_read_as_the_kernel_has_it() {
    let space = match Space::new() {
        Ok(space) => space,
        Err(why) => {
            assert!(std::env::var("CI").is_err(), "{why}");
            return println!("skipped: no namespace: {why}");
        }
    };
    let tc = |line: &str| space.run(&format!("tc {line}")).expect("taken");
    assert_eq!(space.shaping(), None);
    tc("qdisc add dev v1 root handle 1: htb default 10");
    assert_eq!(space.shaping(), None, "the class for what nobody sorts is not there, and all goes by");
    tc("class add dev v1 parent 1: classid 1:1 htb rate 200gbit");
    tc("class add dev v1 parent 1:1 classid 1:10 htb rate 100mbit ceil 80gbit");
    let shapes = |mbit: u64| {
        Some(Shaping {
            kind: "htb".to_owned(),
            bytes_per_second: Some(mbit * 125_000),
            flow_bytes_per_second: None,
        })
    };
    // Rates above 32 bits of bytes per second.
    assert_eq!(space.shaping(), shapes(80_000));
    tc("class change dev v1 parent 1: classid 1:1 htb rate 300mbit ceil 300mbit");
    assert_eq!(space.shaping(), shapes(300), "the class above holds it");
    tc("class add dev v1 parent 1:1 classid 1:20 htb rate 10mbit ceil 50mbit");
    assert_eq!(space.shaping(), shapes(300));
    tc("class change dev v1 parent 1:1 classid 1:10 htb rate 10mbit ceil 100mbit");
    assert_eq!(space.shaping(), shapes(100));
    tc("filter add dev v1 parent 1: protocol ip u32 match ip dst 10.0.0.0/8 flowid 1:20");
    assert_eq!(space.shaping(), shapes(150), "both leaves together");
}

//! Two network namespaces with a link between them. They end with the processes that hold them, whatever happens to
//! the test.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

pub struct Space {
    holder: Child,
}

pub struct Net {
    pub four: bool,
    pub six: bool,
    pub mtu: u32,
}

pub struct Pair {
    pub first: Space,
    pub second: Space,
}

impl Drop for Space {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

impl Space {
    fn new() -> Self {
        let mut command = Command::new("unshare");
        command.args(["--net", "sleep", "1800"]).stdin(Stdio::null()).stdout(Stdio::null());
        let holder = command.spawn().expect("unshare starts");
        let space = Self { holder };
        let own = std::fs::read_link("/proc/self/ns/net").expect("told");
        let until = Instant::now() + Duration::from_secs(60);
        while std::fs::read_link(space.path()).is_ok_and(|theirs| theirs == own) {
            assert!(Instant::now() < until, "no namespace was made");
            std::thread::sleep(Duration::from_millis(2));
        }
        space
    }

    fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.holder.id())
    }

    /// Moves the calling thread there; threads that it starts are there too.
    pub fn enter(&self) {
        let there = File::open(self.path()).expect("the namespace");
        move_into_link_name_space(rustix::fd::AsFd::as_fd(&there), Some(LinkNameSpaceType::Network))
            .expect("entered");
    }

    pub fn run(&self, command: &str) -> String {
        let id = self.holder.id().to_string();
        let done = Command::new("nsenter").args(["-t", &id, "-n", "sh", "-c", command]).output();
        let done = done.expect("nsenter starts");
        assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Drops datagrams that arrive at this end by a rule of nft(8), and counts them.
    pub fn drop_datagrams(&self, rule: &str) {
        let table = "add table inet t; add chain inet t c { type filter hook input priority 0; }; add counter inet t gone";
        self.run(&format!("nft '{table}; add rule inet t c meta l4proto udp {rule} counter name gone drop'"));
    }

    pub fn dropped(&self) -> u64 {
        let told = self.run("nft list counter inet t gone");
        let mut words = told.split_whitespace().skip_while(|word| *word != "packets");
        words.nth(1).and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("{told}"))
    }
}

impl Pair {
    /// Two namespaces with a link; `None` without the privilege or the tools.
    pub fn new(net: &Net) -> Option<Self> {
        let missing = ["unshare", "nsenter", "ip", "nft", "tc"].into_iter().find(|tool| {
            Command::new("sh")
                .args(["-c", &format!("command -v {tool}")])
                .stdout(Stdio::null())
                .status()
                .is_ok_and(|it| !it.success())
        });
        if let Some(tool) = missing {
            return skip(&format!("{tool} is not there"));
        }
        if !rustix::process::geteuid().is_root() {
            return skip("namespaces need root");
        }
        let (first, second) = (Space::new(), Space::new());
        first.run(&format!(
            "ip link set lo up && ip link add v1 mtu {} type veth peer name v2 mtu {} netns {}",
            net.mtu,
            net.mtu,
            second.holder.id()
        ));
        for (space, name, number) in [(&first, "v1", 1), (&second, "v2", 2)] {
            if net.four {
                space.run(&format!("ip addr add 10.99.0.{number}/24 dev {name}"));
            }
            if net.six {
                space.run(&format!("ip -6 addr add fd99::{number}/64 dev {name} nodad"));
            }
            space.run(&format!("ip link set {name} up"));
        }
        let pair = Self { first, second };
        // A link is up a moment after the command.
        let until = Instant::now() + Duration::from_secs(60);
        while !pair.second.run("cat /proc/net/dev >/dev/null; ip -br link show v2").contains("UP") {
            assert!(Instant::now() < until, "the link does not come up");
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(pair)
    }
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn skip<T>(why: &str) -> Option<T> {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
    println!("skipped: {why}");
    None
}

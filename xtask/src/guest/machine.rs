//! The command line of QEMU for one guest.

use std::path::{Path, PathBuf};

use super::RunArgs;
use super::disk::{self, Disks};
use super::kernel::Kernel;
use super::nic::Nics;

/// CPUs of a NUMA node. Two, so that placement has something to choose from; each is a thread of the emulator.
const CPUS: u32 = 2;

/// Memory of a NUMA node, in MiB.
const MEMORY: u32 = 1024;

/// Numbers of PCI buses that a NUMA node has for itself; those of the first node begin at 0.
const BUSES: u32 = 16;

/// The emulator gives every processor the same counter, but does not say so, and the kernel would read its clock from the
/// HPET: a system call each time, and one lock of the emulator for all processors (tsc_init and unsynchronized_tsc of Linux).
const CLOCK: &str = "tsc=reliable";

/// On a busy host the timer of a guest may miss the few ticks in which the kernel looks for it, and the kernel panics with "IO-APIC +
/// timer doesn't work" (check_timer of Linux; guests that know that they are guests leave the check out).
const TIMER: &str = "no_timer_check";

/// What differs from guest to guest.
#[derive(Debug)]
pub struct Guest<'a> {
    /// From 1.
    pub number: u32,
    pub of: u32,
    pub numa: u32,
    pub nics: &'a Nics,
    /// Whether it denies to be one.
    pub bare: bool,
    pub disks: &'a Disks,
    /// The files behind the disks.
    pub files: Vec<PathBuf>,
    /// The folder that host and guests share.
    pub session: &'a Path,
    /// A folder of the host that the guests write to at its own path.
    pub writable: Option<&'a Path>,
    /// Where the kernel's messages go.
    pub console: PathBuf,
}

impl Guest<'_> {
    /// The first guest runs the job.
    fn runs_job(&self) -> bool {
        self.number == 1
    }

    /// The modules that its devices need, besides those of the first files.
    pub fn drivers(args: &RunArgs) -> Vec<&'static str> {
        let mut drivers: Vec<&str> = args.disks.0.iter().map(|kind| kind.driver()).collect();
        if args.disks.0.iter().any(|kind| kind.driver() != "nvme") {
            drivers.push("sd_mod");
        }
        drivers.sort_unstable();
        drivers.dedup();
        // Cards get their names in the order in which their drivers come.
        let mut of_cards: Vec<&str> = args.nics.0.iter().map(|nic| nic.driver()).collect();
        of_cards.dedup();
        if !of_cards.is_empty() {
            // soft-RoCE asks for crc32 by a name that no dependency of modules tells.
            of_cards.extend(["crc32_generic", "ib_uverbs", "rdma_ucm", "rdma_rxe"]);
        }
        drivers.extend(of_cards);
        drivers
    }

    pub fn arguments(&self, kernel: &Kernel) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut push = |option: &str, value: String| words.extend([option.to_owned(), value]);
        push("-accel", "tcg,thread=multi".into());
        push("-machine", "q35".into());
        push("-cpu", if self.bare { "max,-hypervisor" } else { "max" }.into());
        if self.bare {
            push("-smbios", "type=1,manufacturer=Seatrial,product=Bare".into());
        }
        push("-smp", format!("{},sockets={},cores={CPUS}", self.numa * CPUS, self.numa));
        push("-m", format!("{}M", self.numa * MEMORY));
        for node in 0..self.numa {
            push("-object", format!("memory-backend-ram,size={MEMORY}M,id=m{node}"));
            let (first, last) = (node * CPUS, node * CPUS + CPUS - 1);
            push("-numa", format!("node,nodeid={node},cpus={first}-{last},memdev=m{node}"));
        }
        push("-kernel", kernel.image.display().to_string());
        push("-initrd", kernel.initramfs.display().to_string());
        push(
            "-append",
            format!("console=ttyS0 panic=-1 quiet net.ifnames=0 {CLOCK} {TIMER} guest={}", self.number),
        );
        push("-display", "none".into());
        push("-monitor", "none".into());
        push("-serial", format!("file:{}", self.console.display()));
        // The root of files may hold several file systems, whose inode numbers would clash.
        let shared = "security_model=none,multidevs=remap";
        push("-virtfs", format!("local,path=/,mount_tag=host,readonly=on,{shared}"));
        let writable = self.writable.map(|folder| ("writable", folder));
        for (tag, folder) in [("session", self.session)].into_iter().chain(writable) {
            push("-virtfs", format!("local,path={},mount_tag={tag},{shared}", folder.display()));
        }
        if self.runs_job() {
            push("-device", "virtio-serial-pci".into());
            for (name, descriptor) in [("out", 1), ("err", 2)] {
                push("-chardev", format!("file,id={name},path=/dev/fd/{descriptor},append=on"));
                push("-device", format!("virtserialport,chardev={name},name={name}"));
            }
        }
        for (nic, model) in (0..).zip(&self.nics.0) {
            push("-netdev", self.wire(nic));
            let address = format!("52:54:00:78:{nic:02x}:{:02x}", self.number);
            push("-device", format!("{},netdev=n{nic},mac={address}", model.device()));
        }
        words.extend(["-nodefaults", "-no-reboot", "-no-user-config"].map(str::to_owned));
        words.extend(disk::arguments(self.disks, &self.files));
        // A root complex of its own on every node but the first, as each socket has one, and behind its port a device that
        // does nothing: the firmware tells the kernel which node they are next to. They come last, since QEMU would plug
        // what comes behind them in there.
        for node in 1..self.numa {
            // The bus behind the port gets the next number.
            let bus = node * BUSES - 1;
            for device in [
                format!("pxb-pcie,id=root{node},bus=pcie.0,bus_nr={bus},numa_node={node}"),
                format!("pcie-root-port,id=port{node},bus=root{node},chassis={node}"),
                format!("pci-testdev,bus=port{node}"),
            ] {
                words.extend(["-device".to_owned(), device]);
            }
        }
        words
    }

    /// What card `nic` is plugged into: the same card of the other guest, or with a single guest its neighbour. Where there
    /// is none the socket at the other end is missing, and frames are lost as on a cable that nobody has plugged in.
    fn wire(&self, nic: u32) -> String {
        let (number, other) = if self.of == 1 { (self.number, nic ^ 1) } else { (3 - self.number, nic) };
        let path = |nic: u32, number: u32| self.session.join(format!("wire-{nic}-{number}"));
        format!(
            "dgram,id=n{nic},local.type=unix,local.path={},remote.type=unix,remote.path={}",
            path(nic, self.number).display(),
            path(other, number).display()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Kernel {
        Kernel { image: "k".into(), initramfs: "i".into(), folder: "f".into() }
    }

    static NO_DISKS: Disks = Disks(Vec::new());

    fn words(number: u32, of: u32) -> String {
        let (session, nics) = (Path::new("/s"), "virtio,e1000e".parse().unwrap());
        let (files, console) = (Vec::new(), "c".into());
        let guest = Guest {
            number,
            of,
            numa: 2,
            nics: &nics,
            bare: false,
            disks: &NO_DISKS,
            files,
            session,
            writable: Some(Path::new("/w")),
            console,
        };
        guest.arguments(&kernel()).join(" ")
    }

    #[test]
    fn wires_of_two_guests_end_at_each_other() {
        let (first, second) = (words(1, 2), words(2, 2));
        assert!(first.contains("local.path=/s/wire-1-1,remote.type=unix,remote.path=/s/wire-1-2"), "{first}");
        assert!(
            second.contains("local.path=/s/wire-1-2,remote.type=unix,remote.path=/s/wire-1-1"),
            "{second}"
        );
    }

    #[test]
    fn cards_of_a_single_guest_end_at_their_neighbours() {
        let words = words(1, 1);
        assert!(words.contains("local.path=/s/wire-0-1,remote.type=unix,remote.path=/s/wire-1-1"), "{words}");
        assert!(words.contains("local.path=/s/wire-1-1,remote.type=unix,remote.path=/s/wire-0-1"), "{words}");
    }

    #[test]
    fn each_numa_node_has_cpus_and_memory_of_its_own_and_all_but_the_first_a_device() {
        let words = words(1, 1);
        assert!(words.contains("-smp 4,sockets=2,cores=2"), "{words}");
        assert!(words.contains("node,nodeid=1,cpus=2-3,memdev=m1"), "{words}");
        assert!(words.contains("bus_nr=15,numa_node=1 -device pcie-root-port,id=port1,bus=root1"), "{words}");
        assert!(!words.contains("root0"), "{words}");
    }

    #[test]
    fn cards_are_of_their_kinds_and_get_their_drivers_in_that_order() {
        let words = words(1, 1);
        assert!(
            words.contains("duplex=full,netdev=n0,") && words.contains("-device e1000e,netdev=n1,"),
            "{words}"
        );
        let args = RunArgs {
            guests: 1,
            numa: 1,
            disks: "scsi:1".parse().unwrap(),
            nics: "virtio,e1000e:2".parse().unwrap(),
            bare: false,
            writable: None,
            limit: 1,
            command: Vec::new(),
        };
        let drivers = Guest::drivers(&args);
        assert_eq!(drivers[..4], ["sd_mod", "virtio_scsi", "virtio_net", "e1000e"]);
    }

    #[test]
    fn only_the_first_guest_has_the_standard_streams() {
        assert!(words(1, 2).contains("path=/dev/fd/2"));
        assert!(!words(2, 2).contains("/dev/fd"));
    }
}

//! Host settings that affect measurements: what they are, why they matter, and how to change them.
//!
//! Reads them and changes nothing, unless [`carry_out`] is called. One file per setting or group of similar settings, listed in `settings!` below. Requirements come
//! from profiles.

mod change;
mod counted;
mod devices;
mod found;
mod gpus;
mod group;
mod registry;
mod setting;
mod sysctl;

pub use change::{KernelFiles, boot_folder, carry_out, journal_exists, keep_program};
pub use registry::Registry;
pub use setting::Setting;
pub use state::clock_offset::clock_offset;

use std::collections::HashSet;

use seatrial_model::machine::Machine;
use seatrial_model::setting::SettingReading;
use seatrial_sys::root::SysRoot;

/// Declares the modules of the families and lists their settings.
macro_rules! settings {
    ($($(#[$doc:meta])* $family:ident { $($file:ident: $($setting:ident),+;)+ })+) => {
        $($(#[$doc])* mod $family {
            $(pub mod $file;)+
        })+

        static SETTINGS: &[&dyn Setting] = &[$($($(&$family::$file::$setting,)+)+)+];
    };
}

// Files and their settings, in the order of lists.
settings! {
    cpu {
        governor: Governor;
        energy_preference: EnergyPreference;
        boost: Boost;
        smt: Smt;
        idle: CStates, IdleDriver;
        dma_latency: DmaLatency;
    }
    memory {
        huge_pages: TransparentHugePages, HUGE_PAGES;
        vm: NUMA_BALANCING, SWAPPINESS, ZONE_RECLAIM;
    }
    net {
        core: RMEM_MAX, RMEM_DEFAULT, WMEM_MAX, WMEM_DEFAULT, NETDEV_MAX_BACKLOG, DEFAULT_QDISC;
        consistent: RMEM_CONSISTENT, WMEM_CONSISTENT, RCVBUF_AT_LEAST_SNDBUF;
        ipv4: UDP_MEM, TCP_RMEM, TCP_WMEM, TCP_CONGESTION_CONTROL, TCP_TIMESTAMPS, TCP_SACK, TCP_WINDOW_SCALING;
        mptcp: ENABLED;
    }
    nic {
        interface: MTU, TXQUEUELEN;
        irq: IrqLocal;
        queues: RPS, XPS;
        inventory: QDISC, IPOIB_MODE, BOND_MODE, BOND_HASH_POLICY, BOND_MIIMON;
        ethtool: RX_RING, TX_RING, RX_USECS, TX_USECS, ADAPTIVE_RX, CHANNELS, RX_PAUSE, TX_PAUSE, TSO, GSO, GRO, LRO, RX_CHECKSUM, TX_CHECKSUM, FEC;
    }
    disk {
        queue: READ_AHEAD, SCHEDULER;
    }
    rdma {
        port: PORT_STATE, PORT_RATE, MTU, RELAXED_ORDERING, FIRMWARE;
    }
    gpu {
        device: DRIVER, VBIOS, INFOROM, PERSISTENCE, COMPUTE_MODE, MIG, ECC, POWER_LIMIT, APPLICATION_CLOCK, NVLINKS;
    }
    process_limits {
        process: RTPRIO, MEMLOCK;
    }
    kernel {
        sched: RT_RUNTIME;
        clock: ClockSource;
    }
    state {
        errors: MEMORY_CORRECTED, MEMORY_UNCORRECTED, PCIE_CORRECTABLE, PCIE_NONFATAL, PCIE_FATAL, THERMAL_THROTTLING;
        kernel: MACHINE_CHECK, KERNEL_OOPS, BAD_PAGE, KERNEL_WARNING, SOFT_LOCKUP;
        clock: SYNCHRONISED, LARGEST_ERROR;
        clock_offset: ClockOffset;
        file_system: SPACE_USED, INODES_USED, READ_ONLY, ERRORS;
        fstab: FstabMounted;
        nvme: NVME_WARNING, NVME_SPARE, NVME_USED, NVME_MEDIA_ERRORS;
        nic: CARRIER_LOSSES, RX_ERRORS, RX_CRC_ERRORS, RX_MISSED, TX_ERRORS;
        optics: OPTICS_ALARM, OPTICS_RECEIVED, OPTICS_SENT;
        lldp: LldpNeighbour;
        bond: BondMembersUp;
        rdma: LINK_DOWNED, LINK_RECOVERED, SYMBOL_ERRORS, RECEIVE_ERRORS;
        gpu: GPU_CORRECTED, GPU_UNCORRECTED, GPU_ROWS_REMAPPED, GPU_REMAP_PENDING, GPU_REMAP_FAILED, GPU_PAGES_RETIRED, GPU_NVLINK_ERRORS;
        xid: GpuXids;
    }
    /// What runs below all programs.
    software {
        version: KERNEL_RELEASE, MICROCODE, BIOS;
        firmware: NicFirmware, DiskFirmware;
        command_line: CommandLine;
        mitigations: Mitigations;
    }
    tuning {
        tuned: TunedProfile;
        irqbalance: IrqBalance;
    }
}

pub fn registry() -> Registry {
    Registry { settings: SETTINGS }
}

/// Reads every setting of the host `machine` below `root`, in the order of lists. An unreadable setting has a reason.
pub fn read_all(root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
    SETTINGS.iter().flat_map(|setting| setting.read(root, machine)).collect()
}

/// Reads again what counted errors in the readings `before`. Those of GPUs are in the inventory, and are watched by the
/// benchmarks that use them.
pub fn read_counters(root: &SysRoot, machine: &Machine, before: &[SettingReading]) -> Vec<SettingReading> {
    let counts = |reading: &SettingReading| reading.counted.is_some() && reading.subject.kind() != "gpu";
    let counted: HashSet<&str> =
        before.iter().filter(|reading| counts(reading)).map(|reading| reading.setting.as_str()).collect();
    let again = SETTINGS.iter().filter(|setting| counted.contains(setting.about().id));
    again.flat_map(|setting| setting.read(root, machine)).filter(counts).collect()
}

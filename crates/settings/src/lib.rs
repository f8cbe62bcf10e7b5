//! Settings of the host that measurements depend on: what they are, why they matter, how to change them by hand.
//!
//! Nothing is changed here. One file a setting, or one a group of settings that are read alike; the block `settings!`
//! below is the only other place to touch. What is wanted of a setting comes from profiles, never from here.

mod devices;
mod found;
mod group;
mod registry;
mod setting;
mod sysctl;

pub use registry::Registry;
pub use setting::Setting;

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

// A file and the settings in it, in the order of lists.
settings! {
    /// Processors.
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
        consistent: RMEM_CONSISTENT, WMEM_CONSISTENT;
        ipv4: UDP_MEM, TCP_RMEM, TCP_WMEM, TCP_CONGESTION_CONTROL, TCP_TIMESTAMPS, TCP_SACK, TCP_WINDOW_SCALING;
        mptcp: ENABLED;
    }
    /// Network interfaces.
    nic {
        interface: MTU, TXQUEUELEN;
        inventory: QDISC, IRQ_LOCAL, IPOIB_MODE, BOND_MODE, BOND_HASH_POLICY, BOND_MIIMON;
        ethtool: RX_RING, TX_RING, RX_USECS, TX_USECS, ADAPTIVE_RX, CHANNELS, RX_PAUSE, TX_PAUSE, TSO, GSO, GRO, LRO, RX_CHECKSUM, TX_CHECKSUM;
    }
    /// RDMA adapters.
    rdma {
        port: PORT_STATE, PORT_RATE, MTU, RELAXED_ORDERING, FIRMWARE;
    }
    /// What the system leaves to a program.
    limits {
        process: RTPRIO, MEMLOCK;
    }
    /// The scheduler and the clock.
    kernel {
        sched: RT_RUNTIME;
        clock: ClockSource;
    }
    /// Who else changes settings.
    tuning {
        tuned: TunedProfile;
        irqbalance: IrqBalance;
    }
}

pub fn registry() -> Registry {
    Registry { settings: SETTINGS }
}

/// Reads every setting of the host below `root`, which is `machine`; in the order of lists. What cannot be read is
/// there with its reason.
pub fn read_all(root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
    SETTINGS.iter().flat_map(|setting| setting.read(root, machine)).collect()
}

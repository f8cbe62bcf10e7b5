//! Settings of network drivers by ethtool: rings, coalescing, pause, channels, offloads. A path `/ethtool/NAME/NUMBER`
//! is no file, but a number of the driver: see [`Ethtool::set_number`].

use seatrial_model::machine::{Machine, Nic};
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingFile, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::ethtool::{Ethtool, Offload};
use seatrial_sys::root::{ReadError, SysRoot};

use crate::Setting;
use crate::devices::{self, Device, Found};
use crate::found::micros;

pub struct EthtoolSetting {
    about: &'static SettingAbout,
    ask: fn(&Ethtool<'_>) -> Result<Value, ReadError>,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "nic.rx_ring",
    title: "RX ring size",
    doc: "Number of receive descriptors, in which packets wait until the kernel takes them. A burst longer \
          than the ring is dropped by the NIC and counted as rx_missed or rx_no_buffer: at 10 Gbit/s, 512 \
          packets of 1500 B are 0.6 ms, and a core may be busy for longer. UDP loses data, TCP retransmits.",
    kind: Kind::Count(1, 1 << 20),
    unit: "packets",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: Nic::FACTS,
    source: "ethtool -g NAME",
    apply: &[ApplyCommand {
        file: "/ethtool/{name}/rx_ring",
        ..ApplyCommand::always("ethtool -G {name} rx {value}")
    }],
    privilege: Privilege::NetAdmin,
    remedy: "",
    traps: "Most drivers take the link down for a moment. Very long rings can slow down a single stream, \
            since its data no longer stays in the cache. Lost at the next boot.",
};

const SWITCH: &[(&str, &str)] = &[("true", "on"), ("false", "off")];

pub static RX_RING: EthtoolSetting = EthtoolSetting {
    about: &ABOUT,
    ask: |driver| driver.rings().map(|rings| Value::Count(rings.receive.into())),
};

pub static TX_RING: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.tx_ring",
        title: "TX ring size",
        doc: "Number of transmit descriptors between the kernel's queue and the NIC. When the ring is full, \
              packets wait in the queueing discipline above, which can schedule them.",
        apply: &[ApplyCommand {
            file: "/ethtool/{name}/tx_ring",
            ..ApplyCommand::always("ethtool -G {name} tx {value}")
        }],
        ..ABOUT
    },
    ask: |driver| driver.rings().map(|rings| Value::Count(rings.send.into())),
};

pub static RX_USECS: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.rx_usecs",
        title: "RX interrupt coalescing (rx-usecs)",
        doc: "Delay of the receive interrupt. Each interrupt costs a core some microseconds, so at 10 Gbit/s \
              and more they must be coalesced; but every single message waits this long, and a request with \
              its response twice. Low for latency, 10 to 100 us for streams.",
        kind: Kind::Time(seatrial_model::Nanos(0), seatrial_model::Nanos::secs(1)),
        unit: "",
        source: "ethtool -c NAME",
        apply: &[ApplyCommand {
            file: "/ethtool/{name}/rx_usecs",
            ..ApplyCommand::always("ethtool -C {name} adaptive-rx off rx-usecs {value}")
        }],
        traps: "Has no effect while nic.adaptive_rx is on. Lost at the next boot.",
        ..ABOUT
    },
    ask: |driver| driver.coalescing().map(|found| time(found.receive_usecs)),
};

pub static TX_USECS: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.tx_usecs",
        title: "TX interrupt coalescing (tx-usecs)",
        doc: "Delay of the interrupt after packets were sent, which frees their memory and lets the next \
              ones through. A long delay with a small socket buffer blocks the sender.",
        kind: Kind::Time(seatrial_model::Nanos(0), seatrial_model::Nanos::secs(1)),
        unit: "",
        source: "ethtool -c NAME",
        apply: &[ApplyCommand {
            file: "/ethtool/{name}/tx_usecs",
            ..ApplyCommand::always("ethtool -C {name} adaptive-tx off tx-usecs {value}")
        }],
        traps: "Has no effect while the NIC chooses the delay (adaptive-tx). Lost at the next boot.",
        ..ABOUT
    },
    ask: |driver| driver.coalescing().map(|found| time(found.send_usecs)),
};

pub static ADAPTIVE_RX: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.adaptive_rx",
        title: "adaptive RX coalescing (adaptive-rx)",
        doc: "The driver adapts the receive interrupt delay to recent traffic. It suits many loads \
              moderately, and makes latency vary from one minute to the next.",
        kind: Kind::Flag,
        unit: "",
        source: "ethtool -c NAME",
        apply: &[ApplyCommand {
            words: SWITCH,
            file: "/ethtool/{name}/adaptive_rx",
            ..ApplyCommand::always("ethtool -C {name} adaptive-rx {value}")
        }],
        traps: "Lost at the next boot.",
        ..ABOUT
    },
    ask: |driver| driver.coalescing().map(|found| Value::Flag(found.receive_adaptive)),
};

pub static CHANNELS: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.channels",
        title: "combined channels (queues) of a NIC",
        doc: "Each queue has its own interrupt, and connections are spread over the queues: with one queue, \
              one core does all the work. With more queues than cores on the NIC's NUMA node, remote cores \
              do a part of it.",
        unit: "queues",
        source: "ethtool -l NAME",
        apply: &[ApplyCommand {
            file: "/ethtool/{name}/channels",
            ..ApplyCommand::always("ethtool -L {name} combined {value}")
        }],
        traps: "Most drivers take the link down for a moment, and interrupts get new numbers. Lost at the \
                next boot.",
        ..ABOUT
    },
    ask: |driver| driver.channels().map(|channels| Value::Count(channels.combined.into())),
};

const PAUSE: SettingAbout = SettingAbout {
    id: "nic.rx_pause",
    title: "RX pause frames (flow control)",
    doc: "Ethernet flow control (IEEE 802.3x): a switch with a full buffer asks the NIC to pause instead of \
          dropping packets. RoCE and storage over UDP need a lossless network; on a network of many hosts, \
          one slow receiver then stops others that only share the switch.",
    kind: Kind::Flag,
    unit: "",
    source: "ethtool -a NAME",
    apply: &[ApplyCommand {
        words: SWITCH,
        file: "/ethtool/{name}/rx_pause",
        ..ApplyCommand::always("ethtool -A {name} rx {value}")
    }],
    traps: "The switch port must have the same setting. Priority flow control (802.1Qbb) is a separate \
            setting. Lost at the next boot.",
    ..ABOUT
};

pub static RX_PAUSE: EthtoolSetting =
    EthtoolSetting { about: &PAUSE, ask: |driver| driver.pause().map(|pause| Value::Flag(pause.receive)) };

pub static TX_PAUSE: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.tx_pause",
        title: "TX pause frames (flow control)",
        doc: "The NIC asks the switch to pause when its ring is full, instead of dropping packets. See \
              nic.rx_pause.",
        apply: &[ApplyCommand {
            words: SWITCH,
            file: "/ethtool/{name}/tx_pause",
            ..ApplyCommand::always("ethtool -A {name} tx {value}")
        }],
        ..PAUSE
    },
    ask: |driver| driver.pause().map(|pause| Value::Flag(pause.send)),
};

const OFFLOAD: SettingAbout = SettingAbout {
    id: "nic.tso",
    title: "TCP segmentation offload (TSO)",
    doc: "The NIC splits data into packets, and the kernel handles pieces of 64 KiB instead of 1.5 kB: \
          without TSO, a core reaches only some Gbit/s.",
    kind: Kind::Flag,
    unit: "",
    source: "ethtool -k NAME",
    apply: &[ApplyCommand {
        words: SWITCH,
        file: "/ethtool/{name}/tso",
        ..ApplyCommand::always("ethtool -K {name} tso {value}")
    }],
    traps: "Often turned off because of a broken driver, and forgotten after the driver was fixed. Lost at \
            the next boot.",
    ..ABOUT
};

pub static TSO: EthtoolSetting =
    EthtoolSetting { about: &OFFLOAD, ask: |driver| flag(driver, Offload::TcpSegmentation) };

pub static GSO: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.gso",
        title: "generic segmentation offload (GSO)",
        doc: "Like nic.tso in software, for NICs without TSO and for UDP: many packets pass the network \
              stack as one.",
        apply: &[ApplyCommand {
            words: SWITCH,
            file: "/ethtool/{name}/gso",
            ..ApplyCommand::always("ethtool -K {name} gso {value}")
        }],
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::GenericSegmentation),
};

pub static GRO: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.gro",
        title: "generic receive offload (GRO)",
        doc: "The kernel merges received packets of one connection, which pass the network stack as one: at \
              10 Gbit/s and more, the receiver's core cannot keep up without it.",
        apply: &[ApplyCommand {
            words: SWITCH,
            file: "/ethtool/{name}/gro",
            ..ApplyCommand::always("ethtool -K {name} gro {value}")
        }],
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::GenericReceive),
};

pub static LRO: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.lro",
        title: "large receive offload (LRO)",
        doc: "Like nic.gro, but done by the NIC, and without the information that is needed to forward the \
              packets.",
        apply: &[ApplyCommand {
            words: SWITCH,
            file: "/ethtool/{name}/lro",
            ..ApplyCommand::always("ethtool -K {name} lro {value}")
        }],
        traps: "Must be off on routers and bridges: merged packets cannot be forwarded. Lost at the next \
                boot.",
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::LargeReceive),
};

pub static RX_CHECKSUM: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.rx_checksum",
        title: "RX checksum offload (rx-checksumming)",
        doc: "The NIC verifies checksums of received packets. Without it a core reads every byte once more, \
              and packets cannot be merged (nic.gro).",
        apply: &[ApplyCommand {
            words: SWITCH,
            file: "/ethtool/{name}/rx_checksum",
            ..ApplyCommand::always("ethtool -K {name} rx {value}")
        }],
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::ReceiveChecksum),
};

pub static TX_CHECKSUM: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.tx_checksum",
        title: "TX checksum offload (tx-checksumming)",
        doc: "The NIC computes checksums of sent packets. Without it a core reads every byte once more, and \
              nic.tso is off as well.",
        apply: &[ApplyCommand {
            words: SWITCH,
            file: "/ethtool/{name}/tx_checksum",
            ..ApplyCommand::always("ethtool -K {name} tx {value}")
        }],
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::SendChecksum),
};

pub static FEC: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.fec",
        title: "forward error correction (FEC)",
        doc: "Links of 25 Gbit/s and more correct wrong bits by redundant ones; rs corrects more than baser and adds 100 to \
              250 ns. Both ends must use the same, or the link stays down; without it a long cable loses packets.",
        kind: Kind::Text,
        unit: "",
        source: "ethtool --show-fec NAME",
        apply: &[ApplyCommand {
            file: "/ethtool/{name}/fec",
            ..ApplyCommand::always("ethtool --set-fec {name} encoding {value}")
        }],
        traps: "Takes the link down for a moment, and for good where the switch uses another one. Lost at the next boot.",
        ..ABOUT
    },
    ask: |driver| driver.fec().map(|words| Value::Text(words.join("+"))),
};

fn time(usecs: u32) -> Value {
    micros(usecs.into()).unwrap_or_else(|| Value::from("unknown"))
}

fn flag(driver: &Ethtool<'_>, offload: Offload) -> Result<Value, ReadError> {
    driver.offload(offload).map(Value::Flag)
}

impl Setting for EthtoolSetting {
    fn about(&self) -> &'static SettingAbout {
        self.about
    }

    fn read(&self, root: &SysRoot, machine: &Machine) -> Vec<SettingReading> {
        devices::readings(self.about, &machine.nics, "there is no network card", |nic| {
            nic.kind.is_device().then(|| Device::nic(nic, self.of(nic, root)))
        })
    }

    fn files(
        &self,
        _: &SysRoot,
        _: &Machine,
        _: &SettingReading,
        file: SettingFile,
    ) -> Result<Vec<SettingFile>, String> {
        if self.about.id != FEC.about.id {
            return Ok(vec![file]);
        }
        let number = Ethtool::fec_number(&file.text)
            .ok_or_else(|| format!("'{}' is none of off, rs, baser and llrs", file.text))?;
        Ok(vec![SettingFile { text: number.to_string(), ..file }])
    }
}

impl EthtoolSetting {
    fn of(&self, nic: &Nic, root: &SysRoot) -> Found {
        match (self.ask)(&Ethtool::of(root, &nic.name)) {
            Ok(value) => Found::value(value),
            Err(ReadError::Missing { .. }) => Found::absent(&format!(
                "the driver does not support `{}`",
                self.about.source.replace("NAME", &nic.name)
            )),
            Err(error) => Found::unreadable(&error.to_string()),
        }
    }
}

//! What the driver of a card tells through ethtool: rings, interrupt moderation, flow control, queues, offloads.

use seatrial_model::machine::{Machine, Nic};
use seatrial_model::setting::{ApplyCommand, Privilege, SettingAbout, SettingReading};
use seatrial_model::{Kind, Value};
use seatrial_sys::ethtool::{Ethtool, Offload};
use seatrial_sys::root::{ReadError, SysRoot};

use super::interface::FACTS;
use crate::Setting;
use crate::devices::{self, Device, Found};
use crate::found::micros;

/// A setting that the driver is asked for through ethtool.
pub struct EthtoolSetting {
    about: &'static SettingAbout,
    ask: fn(&Ethtool<'_>) -> Result<Value, ReadError>,
}

const ABOUT: SettingAbout = SettingAbout {
    id: "nic.rx_ring",
    title: "received packets that a card can hold",
    doc: "Descriptors of the ring that received packets wait in until the kernel takes them. A burst that is longer than \
          the ring is dropped by the card and shows as rx_missed or rx_no_buffer: at 10 Gbit/s 512 packets of 1500 B are \
          0.6 ms, less than a core may be busy with something else. UDP streams lose, TCP sends again.",
    kind: Kind::Count(1, 1 << 20),
    unit: "packets",
    fields: &[],
    unlimited: None,
    subject: "nic",
    facts: FACTS,
    source: "ethtool -g NAME",
    apply: &[ApplyCommand::always("ethtool -G {name} rx {value}")],
    privilege: Privilege::NetAdmin,
    traps: "Most drivers take the link down for a moment. Very long rings can make a single stream slower, as its data \
            no longer stays in the cache. Lost at the next boot.",
};

const SWITCH: &[(&str, &str)] = &[("true", "on"), ("false", "off")];

pub static RX_RING: EthtoolSetting = EthtoolSetting {
    about: &ABOUT,
    ask: |driver| driver.rings().map(|rings| Value::Count(rings.receive.into())),
};

pub static TX_RING: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.tx_ring",
        title: "packets to send that a card can hold",
        doc: "Descriptors of the ring between the kernel's queue and the card. A full one makes packets wait in the \
              queueing discipline above it, which knows better what to do with them.",
        apply: &[ApplyCommand::always("ethtool -G {name} tx {value}")],
        ..ABOUT
    },
    ask: |driver| driver.rings().map(|rings| Value::Count(rings.send.into())),
};

pub static RX_USECS: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.rx_usecs",
        title: "interrupt delay of received packets",
        doc: "Interrupt moderation. Each interrupt costs a core some microseconds, so that at 10 Gbit/s and more they must \
              be bundled; every message that arrives alone waits this long for nothing, and a request and its response \
              wait twice. Low for latency, 10 to 100 us for streams.",
        kind: Kind::Time(seatrial_model::Nanos(0), seatrial_model::Nanos::secs(1)),
        unit: "",
        source: "ethtool -c NAME",
        apply: &[ApplyCommand::always("ethtool -C {name} adaptive-rx off rx-usecs {value}")],
        traps: "Has no effect while nic.adaptive_rx is on. Lost at the next boot.",
        ..ABOUT
    },
    ask: |driver| driver.coalescing().map(|found| time(found.receive_usecs)),
};

pub static TX_USECS: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.tx_usecs",
        title: "interrupt delay of sent packets",
        doc: "The memory of sent packets is given back, and the next ones are let through, when the card tells that it is \
              done. A long time with a small socket buffer holds up the sender.",
        kind: Kind::Time(seatrial_model::Nanos(0), seatrial_model::Nanos::secs(1)),
        unit: "",
        source: "ethtool -c NAME",
        apply: &[ApplyCommand::always("ethtool -C {name} adaptive-tx off tx-usecs {value}")],
        traps: "Has no effect while the card chooses by itself (adaptive-tx). Lost at the next boot.",
        ..ABOUT
    },
    ask: |driver| driver.coalescing().map(|found| time(found.send_usecs)),
};

pub static ADAPTIVE_RX: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.adaptive_rx",
        title: "a card chooses the interrupt delay itself",
        doc: "Suits many loads a little, and makes latency differ from one minute to the next: it follows the traffic of \
              the moment before.",
        kind: Kind::Flag,
        unit: "",
        source: "ethtool -c NAME",
        apply: &[ApplyCommand { by: "", command: "ethtool -C {name} adaptive-rx {value}", words: SWITCH }],
        traps: "Lost at the next boot.",
        ..ABOUT
    },
    ask: |driver| driver.coalescing().map(|found| Value::Flag(found.receive_adaptive)),
};

pub static CHANNELS: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.channels",
        title: "queues of a card",
        doc: "Each queue has an interrupt of its own, and connections are spread over the queues: with one, one core does \
              the work of all of them. More queues than cores of the card's NUMA node bring the work to far cores.",
        unit: "queues",
        source: "ethtool -l NAME",
        apply: &[ApplyCommand::always("ethtool -L {name} combined {value}")],
        traps: "Most drivers take the link down for a moment, and interrupts get new numbers. Lost at the next boot.",
        ..ABOUT
    },
    ask: |driver| driver.channels().map(|channels| Value::Count(channels.combined.into())),
};

const PAUSE: SettingAbout = SettingAbout {
    id: "nic.rx_pause",
    title: "a card honours pause frames",
    doc: "Ethernet's flow control (IEEE 802.3x): the switch, when its buffer is full, asks the card to stop for a moment \
          instead of dropping. RoCE and storage over UDP rely on no loss; on a network of many hosts one slow receiver \
          then stops others that only share the switch with it.",
    kind: Kind::Flag,
    unit: "",
    source: "ethtool -a NAME",
    apply: &[ApplyCommand { by: "", command: "ethtool -A {name} rx {value}", words: SWITCH }],
    traps: "The switch port must be set alike. Priority flow control (802.1Qbb) is another thing. Lost at the next boot.",
    ..ABOUT
};

pub static RX_PAUSE: EthtoolSetting =
    EthtoolSetting { about: &PAUSE, ask: |driver| driver.pause().map(|pause| Value::Flag(pause.receive)) };

pub static TX_PAUSE: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.tx_pause",
        title: "a card sends pause frames",
        doc: "The card asks the switch to stop for a moment when its ring is full, instead of dropping. See nic.rx_pause.",
        apply: &[ApplyCommand { by: "", command: "ethtool -A {name} tx {value}", words: SWITCH }],
        ..PAUSE
    },
    ask: |driver| driver.pause().map(|pause| Value::Flag(pause.send)),
};

const OFFLOAD: SettingAbout = SettingAbout {
    id: "nic.tso",
    title: "a card cuts TCP's data into packets",
    doc: "With it the kernel handles pieces of 64 KiB instead of packets of 1.5 kB: without it a core reaches some \
          Gbit/s and is full.",
    kind: Kind::Flag,
    unit: "",
    source: "ethtool -k NAME",
    apply: &[ApplyCommand { by: "", command: "ethtool -K {name} tso {value}", words: SWITCH }],
    traps: "Off is a common cure for a broken driver that outlives the driver. Lost at the next boot.",
    ..ABOUT
};

pub static TSO: EthtoolSetting =
    EthtoolSetting { about: &OFFLOAD, ask: |driver| flag(driver, Offload::TcpSegmentation) };

pub static GSO: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.gso",
        title: "the kernel cuts data into packets late",
        doc: "What nic.tso is for cards that cannot: one pass through the stack for many packets, of UDP too.",
        apply: &[ApplyCommand { by: "", command: "ethtool -K {name} gso {value}", words: SWITCH }],
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::GenericSegmentation),
};

pub static GRO: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.gro",
        title: "the kernel joins received packets",
        doc: "Packets of one connection that come together pass the stack as one: at 10 Gbit/s and more the receiver's \
              core cannot keep up without it.",
        apply: &[ApplyCommand { by: "", command: "ethtool -K {name} gro {value}", words: SWITCH }],
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::GenericReceive),
};

pub static LRO: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.lro",
        title: "a card joins received packets",
        doc: "As nic.gro, by the card instead of the kernel, and without keeping what is needed to send them on.",
        apply: &[ApplyCommand { by: "", command: "ethtool -K {name} lro {value}", words: SWITCH }],
        traps: "Must be off on routers and bridges: packets that were joined this way cannot be sent on. Lost at the \
                next boot.",
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::LargeReceive),
};

pub static RX_CHECKSUM: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.rx_checksum",
        title: "a card checks received checksums",
        doc: "Otherwise a core reads every byte once more, and packets cannot be joined (nic.gro).",
        apply: &[ApplyCommand { by: "", command: "ethtool -K {name} rx {value}", words: SWITCH }],
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::ReceiveChecksum),
};

pub static TX_CHECKSUM: EthtoolSetting = EthtoolSetting {
    about: &SettingAbout {
        id: "nic.tx_checksum",
        title: "a card computes the checksums it sends",
        doc: "Otherwise a core reads every byte once more before it is sent, and nic.tso is off as well.",
        apply: &[ApplyCommand { by: "", command: "ethtool -K {name} tx {value}", words: SWITCH }],
        ..OFFLOAD
    },
    ask: |driver| flag(driver, Offload::SendChecksum),
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
}

impl EthtoolSetting {
    fn of(&self, nic: &Nic, root: &SysRoot) -> Found {
        match (self.ask)(&Ethtool::of(root, &nic.name)) {
            Ok(value) => Found::value(value),
            Err(ReadError::Missing { .. }) => Found::absent(&format!(
                "the driver does not answer `{}`",
                self.about.source.replace("NAME", &nic.name)
            )),
            Err(error) => Found::unreadable(&error.to_string()),
        }
    }
}

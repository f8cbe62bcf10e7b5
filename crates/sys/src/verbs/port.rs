//! Port attributes.

use std::fmt;

use super::VerbsError;
use super::abi::PortAttr;

/// Logical state of a port (InfiniBand Architecture Specification, volume 1, "PortInfo").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortState {
    NoChange,
    Down,
    /// Link up; no subnet manager has configured the port yet.
    Init,
    /// Configured, not yet enabled for data.
    Armed,
    Active,
    /// Data can pass, but the link is about to fail.
    ActiveDefer,
    Other(u32),
}

impl PortState {
    const fn of(code: u32) -> Self {
        match code {
            0 => Self::NoChange,
            1 => Self::Down,
            2 => Self::Init,
            3 => Self::Armed,
            4 => Self::Active,
            5 => Self::ActiveDefer,
            other => Self::Other(other),
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::NoChange => "NOP",
            Self::Down => "DOWN",
            Self::Init => "INIT",
            Self::Armed => "ARMED",
            Self::Active => "ACTIVE",
            Self::ActiveDefer => "ACTIVE_DEFER",
            Self::Other(_) => "in a state that is not known",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkLayer {
    /// Peers are found by LID.
    InfiniBand,
    /// RoCE, iWARP: peers are found by GID.
    Ethernet,
    /// Unspecified; InfiniBand on old devices.
    Unspecified,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mtu {
    B256,
    B512,
    /// RoCE's MTU on an Ethernet MTU of 1500.
    B1024,
    B2048,
    B4096,
}

impl Mtu {
    pub const ALL: [Self; 5] = [Self::B256, Self::B512, Self::B1024, Self::B2048, Self::B4096];

    pub const fn bytes(self) -> u32 {
        128 << self.code()
    }

    pub fn of_bytes(bytes: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|mtu| mtu.bytes() == bytes)
    }

    pub(super) const fn code(self) -> u32 {
        self as u32 + 1
    }

    /// From `enum ibv_mtu`; 256 bytes, which every port supports, for an unknown number.
    fn of(code: u32) -> Self {
        Self::ALL.into_iter().find(|mtu| mtu.code() == code).unwrap_or(Self::B256)
    }
}

impl fmt::Display for Mtu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.bytes())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortAbout {
    pub state: PortState,
    pub link_layer: LinkLayer,
    /// 0 on Ethernet, and until a subnet manager has configured the port.
    pub lid: u16,
    pub sm_lid: u16,
    pub max_mtu: Mtu,
    pub active_mtu: Mtu,
    pub gids: u32,
    pub pkeys: u16,
    pub max_message_bytes: u32,
}

impl From<&PortAttr> for PortAbout {
    fn from(attr: &PortAttr) -> Self {
        Self {
            state: PortState::of(attr.state),
            link_layer: match attr.link_layer {
                1 => LinkLayer::InfiniBand,
                2 => LinkLayer::Ethernet,
                _ => LinkLayer::Unspecified,
            },
            lid: attr.lid,
            sm_lid: attr.sm_lid,
            max_mtu: Mtu::of(attr.max_mtu),
            active_mtu: Mtu::of(attr.active_mtu),
            gids: u32::try_from(attr.gid_tbl_len).unwrap_or(0),
            pkeys: attr.pkey_tbl_len,
            max_message_bytes: attr.max_msg_sz,
        }
    }
}

impl PortAbout {
    /// [`VerbsError::PortDown`] unless data can pass.
    pub fn require_active(&self, device: &str, port: u8) -> Result<(), VerbsError> {
        match self.state {
            PortState::Active | PortState::ActiveDefer => Ok(()),
            state => Err(VerbsError::PortDown { device: device.to_owned(), port, state: state.name() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::abi::Plain;
    use super::*;

    #[test]
    fn sizes_of_packets_are_those_of_the_header() {
        let codes: Vec<(u32, u32)> = Mtu::ALL.into_iter().map(|mtu| (mtu.code(), mtu.bytes())).collect();
        assert_eq!(codes, [(1, 256), (2, 512), (3, 1024), (4, 2048), (5, 4096)]);
        assert_eq!((Mtu::of_bytes(2048), Mtu::of_bytes(1500)), (Some(Mtu::B2048), None));
        assert!(Mtu::B1024 < Mtu::B4096);
    }

    #[test]
    fn a_port_that_is_down_is_refused_in_words() {
        let mut attr = PortAttr::zeroed();
        (attr.state, attr.link_layer, attr.active_mtu) = (1, 2, 3);
        let down = PortAbout::from(&attr);
        assert_eq!((down.link_layer, down.active_mtu), (LinkLayer::Ethernet, Mtu::B1024));
        let error = down.require_active("mlx5_0", 1).expect_err("down");
        assert!(error.to_string().starts_with("port 1 of mlx5_0 is DOWN, not ACTIVE"), "{error}");
        attr.state = 4;
        assert_eq!(PortAbout::from(&attr).require_active("mlx5_0", 1), Ok(()));
    }
}

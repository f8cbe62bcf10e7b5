//! RDMA verbs: InfiniBand, RoCE and iWARP adapters, through libibverbs, which is loaded at run time.
//!
//! Building needs no rdma-core. A [`RdmaDevice`] has [`ProtectionDomain`]s, which have memory ([`MemoryRegion`]) and
//! [`QueuePair`]s; [`CompletionQueue`]s report finished work, which is posted as [`SendList`] and [`ReceiveList`].
//! Each object keeps those that it depends on, so that they are destroyed in the right order. Every wait has a
//! deadline. [`choose`] selects the GIDs.

mod abi;
mod completion;
mod device;
mod error;
mod gid;
mod group;
mod kernel;
mod memory;
mod pair;
mod path;
mod port;
mod queue;
mod table;
#[cfg(test)]
mod tests;
mod wait;
mod work;

pub use completion::{Status, WcOpcode, WorkCompletion};
pub use device::{AsyncEvent, Atomics, DeviceAbout, DeviceEntry, RdmaDevice, Verbs};
pub use error::{VerbsError, VerbsFault};
pub use gid::{Gid, GidChoice, GidEntry, GidKind, GidTable, NoGidText, choose};
pub use group::{GROUP_QP, Membership};
pub use kernel::PostError;
pub use memory::{Access, AddressHandle, MemoryRegion, ProtectionDomain, Remote};
pub use pair::{GRH_BYTES, Init, QueuePair, QueuePairSpec, State, Transport, VerbKind};
pub use path::{Connection, Global, Path, Retry};
pub use port::{LinkLayer, Mtu, PortAbout, PortState};
pub use queue::{CompletionChannel, CompletionQueue};
pub use work::{ReceiveList, ReceiveWork, SendList, UdTarget, Verb, Work};

//! RDMA verbs: InfiniBand, RoCE and iWARP adapters, through libibverbs, which is looked for at run time.
//!
//! Nothing of rdma-core is needed to build. From a [`RdmaDevice`] come a [`ProtectionDomain`], memory in it
//! ([`MemoryRegion`]), queues that tell of finished work ([`CompletionQueue`]) and [`QueuePair`]s; work is posted as
//! lists ([`SendList`], [`ReceiveList`]). Each keeps what it stands on, so that everything is given back in the right
//! order. Nothing waits without a deadline. Which address of a port to take is in [`choose`].

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

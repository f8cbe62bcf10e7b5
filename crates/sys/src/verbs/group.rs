//! Multicast groups of datagram queue pairs.
#![expect(unsafe_code, reason = "calls functions of the library")]

use std::fmt;
use std::sync::Arc;

use super::error::answer;
use super::{Gid, QueuePair, Transport, VerbsError};
use crate::Errno;

/// The queue pair number of multicast datagrams (InfiniBand Architecture Specification, volume 1, "Multicast").
pub const GROUP_QP: u32 = 0xff_ffff;

pub struct Membership {
    qp: Arc<QueuePair>,
    group: Gid,
    lid: u16,
}

impl fmt::Debug for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Membership({:?} in {})", self.qp, self.group)
    }
}

impl QueuePair {
    /// Attaches to a group at this device: datagrams only. The fabric is not notified. On InfiniBand the subnet
    /// manager must have created the group, with the MLID `lid`; on Ethernet `lid` has no meaning, and switches and
    /// the kernel need an IGMP join of the IP group too.
    ///
    /// # Errors
    /// When the queue pair is not for datagrams, the address is no multicast GID, or the device lacks multicast.
    pub fn join(self: &Arc<Self>, group: Gid, lid: u16) -> Result<Membership, VerbsError> {
        if self.transport() != Transport::Ud {
            return Err(VerbsError::Config { why: "only datagrams go to groups".to_owned() });
        }
        let (device, address) = (self.pd.device(), group.halves());
        // SAFETY: the queue pair is alive, and the address lives through the call.
        let code = unsafe { (device.table().ibv_attach_mcast)(self.raw.as_ptr(), &raw const address, lid) };
        match answer("ibv_attach_mcast", code, || format!("{self:?} to {group}")) {
            Ok(()) => Ok(Membership { qp: self.clone(), group, lid }),
            Err(VerbsError::Refused { errno: Errno::OPNOTSUPP | Errno::NOSYS, .. }) => {
                Err(VerbsError::Lacks { device: device.name().to_owned(), feature: "multicast".to_owned() })
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let address = self.group.halves();
        // A queue pair that is in a group still is not destroyed (ibv_destroy_qp(3)). SAFETY: as in `join`.
        unsafe {
            (self.qp.pd.device().table().ibv_detach_mcast)(self.qp.raw.as_ptr(), &raw const address, self.lid)
        };
    }
}

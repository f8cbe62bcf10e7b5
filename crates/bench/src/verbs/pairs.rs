//! Queue pairs as granted by the device.

use std::sync::Arc;

use seatrial_model::{Bytes, Cause, Reason};
use seatrial_sys::Errno;
use seatrial_sys::verbs::{Access, Init, ProtectionDomain, QueuePair, QueuePairSpec, VerbKind, VerbsError};

use super::queue::Queue;
use super::{RdmaConfig, preparing};

/// What datagrams of a case carry so that others are not taken for them.
pub const QKEY: u32 = 0x1357_2468;

/// Inline sizes to try by default, largest first.
const INLINES: [u32; 5] = [220, 128, 64, 32, 0];

/// A queue pair whose ends are told on these queues, ready to be connected.
pub fn queue_pair(
    config: &RdmaConfig,
    pd: &Arc<ProtectionDomain>,
    send: &Queue,
    receive: &Queue,
) -> Result<Arc<QueuePair>, Reason> {
    let label = config.label();
    let make = |inline_bytes: u32| {
        // One more than are under way, for the message that ends a group, and as many again for those that prove the
        // arrival of each.
        let each = if config.fence && config.method.verb == VerbKind::Write { 2 } else { 1 };
        let spec = QueuePairSpec {
            transport: config.transport,
            send_depth: ((config.depth + 1) * each) as u32,
            receive_depth: config.receives as u32,
            inline_bytes,
        };
        QueuePair::new(pd, &send.cq, &receive.cq, &spec)
    };
    let made = match config.inline {
        Some(bytes) => {
            let asked = bytes as u32;
            make(asked).map_err(|error| match (&error, granted(asked, &make)) {
                (VerbsError::Refused { errno: Errno::INVAL, .. }, Some(most)) => {
                    too_much(&label, asked, most)
                }
                _ => preparing(&label, "making a queue pair")(error),
            })
        }
        None => {
            let mut tried = INLINES.into_iter().map(make).skip_while(|made| {
                made.as_ref().is_err_and(|error| !matches!(error, VerbsError::MemoryLock { .. }))
            });
            tried.next().unwrap_or_else(|| make(0)).map_err(preparing(&label, "making a queue pair"))
        }
    };
    let qp = made?;
    let init = Init {
        port: config.port,
        pkey_index: config.pkey_index,
        qkey: QKEY,
        access: Access { relaxed_ordering: false, ..Access::ALL },
    };
    qp.init(&init).map_err(preparing(&label, "preparing a queue pair"))?;
    Ok(qp)
}

/// The largest inline size below `asked` with which a queue pair can be made; `None` where another value is refused.
/// Devices reveal their limit only by refusing more.
fn granted<T>(asked: u32, make: &impl Fn(u32) -> Result<T, VerbsError>) -> Option<u32> {
    make(0).ok().filter(|_| asked > 0)?;
    let (mut granted, mut refused) = (0, asked);
    while refused - granted > 1 {
        let middle = granted + (refused - granted) / 2;
        if make(middle).is_ok() {
            granted = middle;
        } else {
            refused = middle;
        }
    }
    Some(granted)
}

fn too_much(label: &str, asked: u32, most: u32) -> Reason {
    let (asked, most) = (Bytes(asked.into()), Bytes(most.into()));
    let text = format!(
        "{label}: inline={asked}: the device takes {most} at most into a request of such a queue pair"
    );
    Reason::new(Cause::Inapplicable, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_inline_data_is_found_by_asking() {
        let refused =
            || VerbsError::Refused { call: "ibv_create_qp", what: "a test".to_owned(), errno: Errno::INVAL };
        let up_to = |most: u32| move |bytes: u32| if bytes <= most { Ok(()) } else { Err(refused()) };
        assert_eq!(granted(4096, &up_to(400)), Some(400));
        assert_eq!(granted(4096, &up_to(0)), Some(0));
        assert_eq!(granted(401, &up_to(400)), Some(400));
        assert_eq!(granted(4096, &|_| Err::<(), _>(refused())), None, "it is not the inline data");
        assert_eq!(granted(0, &up_to(0)), None);
    }
}

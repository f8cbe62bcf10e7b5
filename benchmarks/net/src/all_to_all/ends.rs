//! The two sides of a part: a thread that sends on several flows, and one that receives from several.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use seatrial_bench::all_to_all::Transfer;
use seatrial_model::{Cause, Integrity, Reason};
use seatrial_sys::clock::now_ns;

use super::flows::Flows;
use super::kernel::{self, LoopEnd};
use crate::byte_stream::closing;
use crate::byte_stream::pattern::Check;

pub enum Side {
    Sends { flows: Flows, source: Arc<Vec<u8>>, message: usize },
    Receives { flows: Flows, check: Check, slice_ns: u64 },
}

impl Side {
    /// Moves data until an order follows the one of number `order`.
    pub fn lap(&mut self, orders: &AtomicU32, order: u32) -> Result<Transfer, Reason> {
        let start_ns = now_ns();
        let mut lap = Transfer::default();
        let (flows, left) = match self {
            Self::Sends { flows, source, message } => {
                let left = kernel::send(flows, source, *message, orders, order);
                (flows, left)
            }
            Self::Receives { flows, check, slice_ns } => {
                let before = flows.totals.clone();
                let left = kernel::receive(flows, check, *slice_ns, &mut lap.slices, orders, order);
                lap.flows = flows.totals.iter().zip(before).map(|(total, before)| total - before).collect();
                (flows, left)
            }
        };
        lap.window_ns = now_ns() - start_ns;
        match left {
            LoopEnd::Ordered => Ok(lap),
            LoopEnd::Ended(flow) => {
                let text = format!("{}: the peer closed the connection", flows.name(flow));
                Err(Reason::new(Cause::PartnerLost, text))
            }
            LoopEnd::Failed(flow, error) => {
                Err(Reason::new(Cause::IoError, format!("{}: {error}", flows.name(flow))))
            }
        }
    }

    /// Compares what was sent with what came, flow by flow, each within `turn`.
    pub fn end(&mut self, turn: Duration) -> Result<Vec<Integrity>, Reason> {
        match self {
            Self::Sends { flows, .. } => flows
                .ends()?
                .map(|(name, stream, total)| closing::send_end(&name, stream, total, true, turn))
                .collect(),
            Self::Receives { flows, check, .. } => {
                for (name, stream, total) in flows.ends()? {
                    closing::receive_end(&name, stream, total, check, true)?;
                }
                Ok(vec![check.integrity()])
            }
        }
    }
}

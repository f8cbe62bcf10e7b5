//! Results of `net.udp_stream` for datagrams that were dropped, duplicated, delayed or damaged on purpose, compared
//! with counts at the fault. Rates are low, so that a busy machine changes no count.

mod faults;
mod relay;
mod relayed;
mod rig;
mod searched;
mod shaped;
mod space;

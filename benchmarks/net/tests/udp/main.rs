//! What `net.udp_stream` says of datagrams that were dropped, copied, delayed or damaged on purpose, against what was
//! counted where it was done. Rates are low, so that a machine that is busy with other things changes no count.

mod faults;
mod relay;
mod relayed;
mod rig;
mod searched;
mod shaped;
mod space;

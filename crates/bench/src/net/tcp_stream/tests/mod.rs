//! Both ends in this process, over real sockets, and the reduction of made-up samples.

mod faults;
mod figures;
mod flows;
mod limiting;
mod plans;
mod rig;

//! The trials that run in the guest.

mod devices;
mod failures;
mod groups;
mod transfers;

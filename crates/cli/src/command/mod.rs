//! One file per command.

pub mod check;
pub mod clean;
pub mod compare;
pub mod copy;
pub mod export;
pub mod gate;
pub mod history;
pub mod inventory;
pub mod list;
pub mod profile;
pub mod report;
pub mod run;
pub mod settings;
pub mod supervise;
pub mod verify;

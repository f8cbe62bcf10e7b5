//! One file a command.

pub mod check;
pub mod compare;
pub mod history;
pub mod inventory;
pub mod list;
pub mod report;
pub mod run;
pub mod settings;
pub mod supervise;

//! One file a command.

pub mod check;
pub mod compare;
pub mod history;
pub mod list;
pub mod report;
pub mod run;
pub mod supervise;

//! Settings of the host: what they are, what they were found to be, and what an audit prints.
//!
//! Only data and lookups live here; `seatrial-settings` reads, `seatrial-analysis` judges.

mod about;
mod document;
mod reading;

pub use about::{ApplyCommand, Privilege, SettingAbout, UNLIMITED};
pub use document::{AuditedSetting, SettingsDocument, Wanted, schema};
pub use reading::{Present, SettingReading};

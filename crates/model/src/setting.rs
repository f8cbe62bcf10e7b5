//! Host settings: definitions, readings and the document of an audit. `seatrial-settings` reads them,
//! `seatrial-analysis` judges them.

mod about;
mod block;
mod change;
mod document;
mod reading;

pub use about::{ApplyCommand, Privilege, SettingAbout, SettingFile, UNLIMITED};
pub use block::{NodeChange, SettingBlock};
pub use change::{ChangeOutcome, ChangeState, SettingChange, SettingsAnswer, SettingsOrder};
pub use document::{AuditedSetting, SettingsDocument, Wanted, schema};
pub use reading::{Present, SettingReading};

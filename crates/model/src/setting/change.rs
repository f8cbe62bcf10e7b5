//! Changes of settings on a node: what is ordered, and what came of it.

use serde::{Deserialize, Serialize};

use crate::param::Value;
use crate::subject::Subject;
use crate::units::Nanos;

/// A value that a setting is to have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SettingChange {
    /// Id of the setting, such as `nic.mtu`.
    pub setting: String,
    /// Subject of the setting: `node`, `nic:eth0`.
    pub subject: Subject,
    /// The value, as in a reading.
    pub wanted: Value,
}

/// What a node is asked to do with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsOrder {
    /// Make these changes, with a journal of this id.
    Apply {
        /// Id of the journal.
        id: String,
        /// The changes, in their order.
        changes: Vec<SettingChange>,
        /// Time after which the node takes them back by itself, if it should.
        restore_after: Option<Nanos>,
        /// Whether files of the node are to set the values again at boot.
        persist: bool,
    },
    /// Name the journals of changes that were not taken back.
    List,
    /// Take back the changes of these journals.
    Restore {
        /// Ids of journals; the node begins with the newest.
        ids: Vec<String>,
        /// Also where somebody else has changed a value since.
        force: bool,
    },
}

/// What a node did with its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SettingsAnswer {
    /// One entry for each value that was to be written, in the order of the work.
    pub outcomes: Vec<ChangeOutcome>,
    /// Journals with changes that are still to be taken back, the oldest first.
    pub journals: Vec<String>,
    /// Why the order was not carried out, or not to its end.
    pub refused: Option<String>,
    /// What takes the changes back when their time is over.
    pub timer: Option<String>,
}

/// What came of one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeOutcome {
    /// Id of the setting.
    pub setting: String,
    /// What it was changed for or where: a subject, or the file of a value that is taken back.
    pub place: String,
    /// The value before; empty where it is unknown.
    pub before: String,
    /// The value afterwards; empty where it is unknown.
    pub after: String,
    /// Whether the value is the one that was wanted.
    pub state: ChangeState,
    /// Why it is not, and what can be done; empty where there is nothing to say.
    pub why: String,
}

/// Whether a value is the one that was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeState {
    /// It is, since it was written.
    Done,
    /// It was before already, or the file is gone: nothing was written.
    Unchanged,
    /// It was left alone, since somebody else has changed it.
    Left,
    /// It is not: the system refused it, or holds another value.
    Failed,
}

impl ChangeState {
    /// Whether the value is as it should be.
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Done | Self::Unchanged)
    }

    /// The state in a word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unchanged => "unchanged",
            Self::Left => "left",
            Self::Failed => "failed",
        }
    }
}

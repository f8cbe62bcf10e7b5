//! Changes of settings that can be taken back: each value goes to a journal on the node before it is changed.
//!
//! Only an order changes anything; readings never do.

mod apply;
mod boot;
mod durable;
mod files;
mod journal;
mod restore;

use seatrial_model::machine::Machine;
use seatrial_model::setting::{SettingsAnswer, SettingsOrder};

pub use boot::boot_folder;
pub use files::KernelFiles;
pub use journal::{journal_exists, keep_program};

/// Does what `order` says on the host that `look` reads.
pub fn carry_out(
    files: &dyn KernelFiles,
    look: &dyn Fn() -> Machine,
    order: &SettingsOrder,
) -> SettingsAnswer {
    let done = match order {
        SettingsOrder::Apply { id, changes, persist, .. } => apply::apply(files, look, id, changes, *persist),
        SettingsOrder::List => journal::ids(files.root())
            .map(|journals| SettingsAnswer { journals, ..SettingsAnswer::default() }),
        SettingsOrder::Restore { ids, force } => restore::restore(files, ids, *force),
    };
    done.unwrap_or_else(|why| SettingsAnswer { refused: Some(why), ..SettingsAnswer::default() })
}

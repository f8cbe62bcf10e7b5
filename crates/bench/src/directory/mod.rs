//! What benchmarks share that make files in a directory: which directory, its file system, a folder that is removed at the
//! end or recognised as a leftover, the causes of errors, and a check whether the directory still answers.

mod error;
mod file_system;
mod folder;
mod limit;
mod liveness;
mod open;
mod planned;
mod room;

pub use error::{When, error, failed, refused};
pub use file_system::{disk_fill_percent, file_system_of, mounted_read_only, on_disk, require_usable};
pub use folder::{Folder, Leftovers, leftovers};
pub use limit::limit_of_directory;
pub use liveness::{check, check_directories};
pub use open::{Place, named, opened, place};
pub use planned::{case_in, in_memory, require_known_room};
pub use room::{require_room, reserved};

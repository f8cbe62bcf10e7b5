//! Evidence of how a file system laid files out on the device.

use std::os::fd::AsFd;

use rustix::fs::fstat;
use seatrial_sys::Errno;
use seatrial_sys::storage::extents;
use serde_json::{Value, json};

/// Extents of all `files`, and the bytes of a mean one. Many small extents cost a hard disk a seek each.
pub fn evidence<'a>(files: impl IntoIterator<Item = &'a (impl AsFd + 'a)>) -> Value {
    let mut total = (0_u64, 0_u64);
    for file in files {
        let told = extents(file).and_then(|count| Ok((count, fstat(file)?.st_size.unsigned_abs())));
        match told {
            Ok((count, bytes)) => total = (total.0 + u64::from(count), total.1 + bytes),
            Err(Errno::OPNOTSUPP | Errno::NOTTY) => {
                return json!({ "unknown": "the file system does not tell (FIEMAP)" });
            }
            Err(errno) => return json!({ "unknown": errno.to_string() }),
        }
    }
    json!({ "count": total.0, "mean_bytes": total.1 / total.0.max(1) })
}

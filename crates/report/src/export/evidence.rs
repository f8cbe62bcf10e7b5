//! Evidence: the sealed run folder, so that others can judge the run again with `seatrial verify`.

use std::io::{self, Write};

use seatrial_store::EvidenceError;

use super::{About, Export, Material};

/// The whole run in one file.
pub struct Evidence;

impl Export for Evidence {
    fn about(&self) -> &'static About {
        &About {
            flag: "evidence",
            value: "FILE.tar.gz",
            help: "The whole run with its samples and checksums of every file, for `seatrial verify`",
            bare: false,
        }
    }

    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
        match seatrial_store::export(run.folder, out) {
            Ok(_) => Ok(()),
            Err(EvidenceError::Out(error)) => Err(error),
            Err(other) => Err(io::Error::other(other)),
        }
    }
}

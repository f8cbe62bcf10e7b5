//! CSV: the record in long form.

use std::io::{self, Write};

use super::{About, Export, Material};

pub struct Csv;

impl Export for Csv {
    fn about(&self) -> &'static About {
        &About {
            flag: "csv",
            value: "FILE",
            help: "CSV, one line per metric of a case or place of a series, as `report -o csv` prints it",
            bare: false,
        }
    }

    fn write(&self, run: &Material<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
        crate::csv::write(run.document, out)
    }
}

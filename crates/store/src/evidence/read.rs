//! Reads evidence files of anybody: everything is checked against the manifest before use, nothing is written, and
//! one file at a time is in memory.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use tar::Header;

use super::form::{BLOCK, END, difference, padding, preamble};
use super::manifest::{MOST_BYTES, Manifest, NAME, Refused};
use super::seal::{Summed, sha256};
use super::unpack::{Packing, Unpacker};
use super::{EvidenceError, Fault};

/// Result of reading an evidence file.
#[derive(Debug, Default)]
pub struct Looked {
    pub manifest: Option<Manifest>,
    /// What is wrong, in order. After a fault of the format, nothing more can be checked.
    pub faults: Vec<Fault>,
    /// Version of the format, when this build does not know it.
    pub newer: Option<u32>,
}

/// Checks the evidence file at `path`. As long as nothing is wrong, `each` gets every file whose contents match the
/// manifest, in the order of names.
///
/// # Errors
/// I/O errors only; what is wrong with the file is in [`Looked::faults`].
pub fn look(path: &Path, each: &mut dyn FnMut(&str, Vec<u8>)) -> Result<Looked, EvidenceError> {
    let failed = |source| EvidenceError::io("reading", path, source);
    let mut looked = Looked::default();
    let mut file = File::open(path).map_err(failed)?;
    let whole = file.metadata().map_err(failed)?.len();
    let mut first = Vec::new();
    file.by_ref().take(4).read_to_end(&mut first).map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let packing = Packing::of(&first);
    let seal = packing.seal_bytes() as u64;
    let body = whole.saturating_sub(seal);
    let (sum, read) = sum_of(&mut file, body).map_err(failed)?;
    let mut end = Vec::new();
    file.by_ref().take(seal + 1).read_to_end(&mut end).map_err(failed)?;
    if read < body || !packing.is_seal(&end) {
        let text =
            "there is no checksum at its end: the file was truncated, or is not an evidence file of Seatrial";
        looked.faults.push(Fault::whole(text));
    } else if end != packing.seal(&sum) {
        looked
            .faults
            .push(Fault::whole("its checksum does not match: the file was changed after it was exported"));
    }
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let found = Unpacker::new(packing, file.take(body))
        .map_err(|error| unreadable(NAME, &error))
        .and_then(|inner| Archive { inner }.look(body, &mut looked, each));
    if let Err(refused) = found {
        match refused {
            Refused::Fault(fault) => looked.faults.push(fault),
            Refused::Newer(schema) => looked.newer = Some(schema),
        }
    }
    Ok(looked)
}

/// Checksum of the first `bytes` bytes, and their number.
fn sum_of(file: &mut File, bytes: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut summed = Summed::new(BufReader::with_capacity(1 << 16, file.by_ref().take(bytes)));
    io::copy(&mut summed, &mut io::sink())?;
    let read = summed.bytes;
    Ok((summed.finish().0, read))
}

struct Archive {
    inner: Unpacker,
}

impl Archive {
    fn look(
        &mut self,
        compressed: u64,
        looked: &mut Looked,
        each: &mut dyn FnMut(&str, Vec<u8>),
    ) -> Result<(), Refused> {
        let manifest = self.manifest(compressed)?;
        looked.manifest = Some(manifest.clone());
        for listed in &manifest.files {
            let file = listed.path.as_str();
            self.preamble(&manifest.run, file, listed.bytes)?;
            let contents = self.contents(file, listed.bytes)?;
            let found = sha256(&contents);
            if found != listed.sha256 {
                let text = format!(
                    "its contents were changed: their SHA-256 is {found}, the manifest says {}",
                    listed.sha256
                );
                looked.faults.push(Fault::of(file, text));
            } else if looked.faults.is_empty() {
                each(file, contents);
            }
        }
        self.end()
    }

    /// The manifest, the only file whose header is not known in advance.
    fn manifest(&mut self, compressed: u64) -> Result<Manifest, Refused> {
        let mut first = [0; BLOCK];
        self.fill(&mut first, NAME)?;
        let header = Header::from_byte_slice(&first);
        let is_manifest = header.entry_type().is_file()
            && header.path_bytes().rsplit(|byte| *byte == b'/').next() == Some(NAME.as_bytes());
        if !is_manifest {
            return Err(fault(NAME, difference(&first, NAME, 0)));
        }
        let bytes = header.size().map_err(|error| fault(NAME, format!("its header was changed: {error}")))?;
        if bytes > MOST_BYTES {
            return Err(fault(NAME, format!("it has {bytes} B; no manifest is so large")));
        }
        let text = self.contents(NAME, bytes)?;
        let manifest = Manifest::read(&text, compressed)?;
        let name = format!("{}/{NAME}", manifest.run);
        match preamble(&name, bytes) {
            Ok(wanted) if wanted == first => Ok(manifest),
            _ => Err(fault(NAME, difference(&first, &name, bytes))),
        }
    }

    fn preamble(&mut self, run: &str, file: &str, bytes: u64) -> Result<(), Refused> {
        let name = format!("{run}/{file}");
        let wanted = preamble(&name, bytes).map_err(|error| fault(file, error.to_string()))?;
        let mut found = vec![0; wanted.len()];
        self.fill(&mut found, file)?;
        if found == wanted { Ok(()) } else { Err(fault(file, difference(&found, &name, bytes))) }
    }

    fn contents(&mut self, file: &str, bytes: u64) -> Result<Vec<u8>, Refused> {
        let mut contents = Vec::new();
        let read = self.inner.by_ref().take(bytes).read_to_end(&mut contents);
        read.map_err(|error| unreadable(file, &error))?;
        if (contents.len() as u64) < bytes {
            return Err(unreadable(file, &io::ErrorKind::UnexpectedEof.into()));
        }
        let mut zeros = vec![0; padding(bytes)];
        self.fill(&mut zeros, file)?;
        if zeros.iter().any(|byte| *byte != 0) {
            return Err(fault(file, "there is data after its end".to_owned()));
        }
        Ok(contents)
    }

    fn end(&mut self) -> Result<(), Refused> {
        let mut last = [0; END];
        self.inner
            .read_exact(&mut last)
            .map_err(|error| whole(format!("the end of the archive: {error}")))?;
        if last.iter().any(|byte| *byte != 0) {
            let header = Header::from_byte_slice(&last[..BLOCK]);
            let name = String::from_utf8_lossy(&header.path_bytes()).escape_default().to_string();
            return Err(whole(format!("'{name}' comes after the last file of the manifest")));
        }
        let mut more = [0];
        match self.inner.read(&mut more) {
            Ok(0) => {}
            Ok(_) => return Err(whole("there is data after the end of the archive".to_owned())),
            Err(error) => return Err(whole(format!("the end of the archive: {error}"))),
        }
        if self.inner.is_at_end() {
            Ok(())
        } else {
            Err(whole("there is data between the archive and its checksum".to_owned()))
        }
    }

    fn fill(&mut self, bytes: &mut [u8], file: &str) -> Result<(), Refused> {
        self.inner.read_exact(bytes).map_err(|error| unreadable(file, &error))
    }
}

fn fault(file: &str, text: String) -> Refused {
    Refused::Fault(Fault::of(file, text))
}

fn whole(text: String) -> Refused {
    Refused::Fault(Fault::whole(text))
}

fn unreadable(file: &str, error: &io::Error) -> Refused {
    fault(file, format!("decompression fails from here on: {error}"))
}

//! Our constants against the headers of the libraries.

use std::ffi::CStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use seatrial_sys::mpi::{Abi, constants};

use crate::libraries::{intel_headers, mpich_wheel, skipped};

/// The folders with a file `name` that a pattern of one `*` names.
fn folders(before: &str, after: &str, name: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(before).into_iter().flatten().flatten();
    all.map(|entry| entry.path().join(after)).filter(|folder| folder.join(name).is_file()).collect()
}

#[test]
fn constants_are_those_of_the_headers() {
    let mut headers: Vec<(Abi, PathBuf, &str, &str)> = Vec::new();
    let debian = folders("/usr/include", "mpich", "mpi.h");
    headers.extend(debian.into_iter().map(|folder| (Abi::Mpich, folder, "mpi.h", "MPICH")));
    let open = folders("/usr/lib", "openmpi/include", "mpi.h");
    headers.extend(open.into_iter().map(|folder| (Abi::OpenMpi, folder, "mpi.h", "Open MPI")));
    for (prefix, version) in [(mpich_wheel(), "MPICH"), (intel_headers(), "Intel(R) MPI Library")] {
        let Some(folder) = prefix.map(|prefix| prefix.join("include")) else { continue };
        headers.push((Abi::Mpich, folder.clone(), "mpi.h", version));
        headers.push((Abi::Standard, folder, "mpi_abi.h", version));
    }
    if headers.len() < 6 {
        skipped(&format!("needs libopenmpi-dev, libmpich-dev, MPICH and Intel MPI of PyPI, has {headers:?}"));
    }
    for (abi, folder, header, version) in headers {
        compare(constants(abi, version), &folder, header);
    }
}

/// A program prints the value of each constant, or the text of its macro where it is the address of an object.
fn compare(ours: Vec<(&str, Result<i64, &CStr>)>, folder: &Path, header: &str) {
    let mut program = format!(
        "#include <stdio.h>\n#include <stdint.h>\n#include \"{header}\"\n#define TEXT(x) #x\n#define VALUE(x) TEXT(x)\n\
         int main(void) {{\n"
    );
    for (name, value) in &ours {
        match value {
            Ok(_) => writeln!(program, "printf(\"%lld\\n\", (long long)(intptr_t){name});").expect("written"),
            Err(_) => writeln!(program, "puts(VALUE({name}));").expect("written"),
        }
    }
    program.push_str("return 0; }\n");
    let dir = tempfile::tempdir().expect("a folder");
    let (source, binary) = (dir.path().join("constants.c"), dir.path().join("constants"));
    std::fs::write(&source, program).expect("written");
    let built = Command::new("cc")
        .arg("-I")
        .arg(folder)
        .arg(&source)
        .arg("-o")
        .arg(&binary)
        .output()
        .expect("cc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let told = String::from_utf8(Command::new(&binary).output().expect("started").stdout).expect("text");
    assert_eq!(told.lines().count(), ours.len(), "{told}");
    for ((name, value), theirs) in ours.iter().zip(told.lines()) {
        match value {
            Ok(number) => assert_eq!(theirs.parse(), Ok(*number), "{name} of {}", folder.display()),
            Err(object) => {
                let object = object.to_str().expect("a name");
                assert!(theirs.contains(object), "{name} of {} is {theirs}", folder.display());
            }
        }
    }
}

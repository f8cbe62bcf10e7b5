//! Our constants against the headers of the libraries.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use seatrial_sys::mpi::{Abi, constants};

use crate::libraries::{mpich_wheel, skipped};

/// The folders with a file `name` that a pattern of one `*` names.
fn folders(before: &str, after: &str, name: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(before).into_iter().flatten().flatten();
    all.map(|entry| entry.path().join(after)).filter(|folder| folder.join(name).is_file()).collect()
}

#[test]
fn constants_are_those_of_the_headers() {
    let mut headers: Vec<(Abi, PathBuf, &str)> = Vec::new();
    headers.extend(folders("/usr/include", "mpich", "mpi.h").into_iter().map(|it| (Abi::Mpich, it, "mpi.h")));
    let open = folders("/usr/lib", "openmpi/include", "mpi.h");
    headers.extend(open.into_iter().map(|it| (Abi::OpenMpi, it, "mpi.h")));
    if let Some(prefix) = mpich_wheel() {
        headers.push((Abi::Mpich, prefix.join("include"), "mpi.h"));
        headers.push((Abi::Standard, prefix.join("include"), "mpi_abi.h"));
    }
    if headers.len() < 4 {
        skipped(&format!("needs libopenmpi-dev, libmpich-dev and MPICH of PyPI, has {headers:?}"));
    }
    for (abi, folder, header) in headers {
        compare(abi, &folder, header);
    }
}

/// A program prints the value of each constant, or the text of its macro where it is the address of an object.
fn compare(abi: Abi, folder: &Path, header: &str) {
    let ours = constants(abi);
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

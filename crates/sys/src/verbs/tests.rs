//! Our structures against the installed header of the library.
#![expect(clippy::print_stdout, reason = "a skipped test says so")]

use std::fmt::Write;
use std::process::Command;

use super::abi::{LAYOUTS, OPEN_ENDED};

const HEADER: &str = "/usr/include/infiniband/verbs.h";

/// Fields newer than the oldest supported library; a header may lack them.
const LATER: &[&str] = &["active_speed_ex"];

#[test]
fn structures_lie_as_the_header_has_them() {
    let compiler = ["cc", "gcc"].into_iter().find(|cc| Command::new(cc).arg("--version").output().is_ok());
    let (Some(compiler), true) = (compiler, std::path::Path::new(HEADER).exists()) else {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "needs a C compiler and {HEADER} (libibverbs-dev)"
        );
        println!("skipped: no C compiler, or no {HEADER}");
        return;
    };
    let text = std::fs::read_to_string(HEADER).expect("the header");
    let is_there = |field: &str| !LATER.contains(&field) || text.contains(field);
    let mut program = String::from(
        "#include <stdio.h>\n#include <stddef.h>\n#include <infiniband/verbs.h>\nint main(void) {\n",
    );
    for (name, _, fields) in LAYOUTS {
        writeln!(program, "printf(\"%zu\\n\", sizeof({name}));").expect("written");
        for (field, _) in fields.iter().filter(|(field, _)| is_there(field)) {
            writeln!(program, "printf(\"%zu\\n\", offsetof({name}, {field}));").expect("written");
        }
    }
    program.push_str("return 0; }\n");
    let dir = tempfile::tempdir().expect("a folder");
    let (source, binary) = (dir.path().join("layout.c"), dir.path().join("layout"));
    std::fs::write(&source, program).expect("written");
    let built = Command::new(compiler).arg(&source).arg("-o").arg(&binary).output().expect("started");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let told = Command::new(&binary).output().expect("started").stdout;
    let told = String::from_utf8(told).expect("text");
    let mut told = told.lines().map(|line| line.parse::<usize>().expect("a number"));
    for (name, size, fields) in LAYOUTS {
        let theirs = told.next().expect("a size");
        let is_longer = OPEN_ENDED.contains(name) && theirs > *size;
        let is_older = fields.iter().any(|(field, _)| !is_there(field)) && theirs < *size;
        assert!(theirs == *size || is_longer || is_older, "{name}: {theirs} bytes, ours has {size}");
        for (field, offset) in fields.iter().filter(|(field, _)| is_there(field)) {
            assert_eq!(told.next(), Some(*offset), "{field} of {name}");
        }
    }
}

//! Compiles the fake driver; each test gets its own copy, since the linker identifies libraries by file, so that each
//! copy has its own devices and time.

use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Fake {
    folder: tempfile::TempDir,
}

impl Fake {
    /// A fake with the configuration `words`: see the table in `lib.rs`.
    pub fn new(words: &str) -> Self {
        Self::lacking("", words)
    }

    /// A fake compiled without the function `symbol`.
    pub fn lacking(symbol: &str, words: &str) -> Self {
        let library = compiled(symbol);
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["libcuda.so.1", "libnvidia-ml.so.1"] {
            std::fs::copy(&library, folder.path().join(name)).expect("copied");
            std::fs::write(folder.path().join(format!("{name}.conf")), words).expect("written");
        }
        Self { folder }
    }

    /// The library for both names. With its directory in `LD_LIBRARY_PATH` a program finds both.
    pub fn library(&self) -> PathBuf {
        self.folder.path().join("libcuda.so.1")
    }
}

/// The compiled library: once for each state of its source.
fn compiled(lacking: &str) -> PathBuf {
    // From wherever in the workspace the test is.
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let source = above.find_map(|folder| {
        let source = folder.join("crates/sys/tests/fake_gpu");
        source.is_dir().then_some(source)
    });
    let source = source.expect("the source");
    let mut newest = std::time::SystemTime::UNIX_EPOCH;
    for entry in std::fs::read_dir(&source).expect("the source") {
        let changed =
            entry.and_then(|entry| entry.metadata()).and_then(|data| data.modified()).expect("a time");
        newest = newest.max(changed);
    }
    let stamp = newest.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos();
    let program = std::env::current_exe().expect("the path of this test");
    let here = program.parent().expect("a folder");
    let library = here.join(format!("fake-gpu-{lacking}-{stamp}.so"));
    if library.exists() {
        return library;
    }
    // Several tests may compile at once: each makes its own file, and the last rename wins.
    let made = here.join(format!(
        "fake-gpu-{lacking}-{stamp}-{}-{:?}.tmp",
        std::process::id(),
        std::thread::current().id()
    ));
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compile = Command::new(rustc);
    compile.args([
        "--edition",
        "2024",
        "--crate-type",
        "cdylib",
        "--crate-name",
        "fake_gpu",
        "-C",
        "opt-level=2",
    ]);
    if !lacking.is_empty() {
        compile.arg("--cfg").arg(format!("without=\"{lacking}\""));
    }
    compile.arg("--check-cfg").arg("cfg(without, values(any()))");
    let output = compile.arg("-o").arg(&made).arg(source.join("lib.rs")).output().expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&made, &library).expect("renamed");
    library
}

//! Compiles the fake library; each test gets its own copy, since the linker identifies libraries by file, so that
//! each copy has its own devices and memory.

use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Fake {
    folder: tempfile::TempDir,
}

impl Fake {
    /// A fake with the configuration `words`: see the table in `lib.rs`.
    pub fn new(words: &str) -> Self {
        let library = compiled();
        let folder = tempfile::tempdir().expect("a folder");
        let copy = folder.path().join("libibverbs.so.1");
        std::fs::copy(&library, &copy).expect("copied");
        std::fs::write(copy.with_extension("1.conf"), words).expect("written");
        Self { folder }
    }

    pub fn library(&self) -> PathBuf {
        self.folder.path().join("libibverbs.so.1")
    }

    /// The counter of this name, as written when a device was last closed.
    pub fn told(&self, name: &str) -> u64 {
        let text = std::fs::read_to_string(self.library().with_extension("1.told")).expect("closed");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.map_or(0, |count| count.parse().expect("a number"))
    }
}

/// The compiled library: once for each state of its sources.
fn compiled() -> PathBuf {
    // From wherever in the workspace the test is.
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let sys = above.find_map(|folder| Some(folder.join("crates/sys")).filter(|sys| sys.is_dir()));
    let sys = sys.expect("the crate");
    let source = sys.join("tests/fake_verbs/lib.rs");
    let sources = [source.clone(), sys.join("tests/fake_verbs/world.rs"), sys.join("src/verbs/abi.rs")];
    let changed = |path: &Path| {
        let time = std::fs::metadata(path).and_then(|data| data.modified()).expect("a time");
        time.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos()
    };
    let stamp = sources.iter().map(|source| changed(source)).max().expect("some");
    let program = std::env::current_exe().expect("the path of this test");
    let here = program.parent().expect("a folder");
    let library = here.join(format!("fake-verbs-{stamp}.so"));
    if library.exists() {
        return library;
    }
    // Several tests may compile at once: each makes its own file, and the last rename wins.
    let own = format!("fake-verbs-{stamp}-{}-{:?}.tmp", std::process::id(), std::thread::current().id());
    let made = here.join(own);
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compile = Command::new(rustc);
    compile.args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "fake_verbs"]);
    compile.args(["-C", "opt-level=1", "-o"]).arg(&made).arg(&source);
    let output = compile.output().expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&made, &library).expect("renamed");
    library
}

//! The machine code of the `mem.bandwidth` loops has exactly the loads and stores of its kernel, in the width of its
//! instruction set.
//!
//! Needs `objdump` (package `binutils`); without it the test fails in CI and is skipped elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

#[derive(Clone, Debug)]
struct Instruction {
    address: u64,
    mnemonic: String,
    operands: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    stores: bool,
    nontemporal: bool,
    bytes: usize,
    place: String,
}

/// Expected loads and stores of a loop, by the end of its path: instruction set, prefetch (not for `write`), kernel
/// and store.
struct Wanted {
    loaded: usize,
    stored: usize,
    nontemporal: bool,
}

impl Wanted {
    fn of(function: &str) -> Self {
        let name = function.rsplit("::").next().expect("a name");
        let (loaded, stored) = match name.split('_').next().expect("a kernel") {
            "read" => (512, 0),
            "write" => (0, 256),
            "copy" | "scale" => (256, 256),
            "add" | "triad" => (512, 256),
            other => panic!("no kernel is called {other}"),
        };
        Self { loaded, stored, nontemporal: name.ends_with("_nt") }
    }
}

#[cfg(target_arch = "x86_64")]
mod arch {
    use super::{Access, Instruction};

    pub const PATH: &str = "::kernel::x86::kernel::";
    pub const ISAS: &[&str] = &["sse2", "avx2", "avx512"];
    pub const BRANCH: &str = "jne";
    pub const FENCE: &str = "sfence";
    /// Three instruction sets, each with two loops that write and nine that load with each of three prefetches.
    pub const LOOPS: usize = 3 * (2 + 3 * 9);

    pub fn width(function: &str) -> usize {
        match function.split("::").next() {
            Some("sse2") => 16,
            Some("avx2") => 32,
            Some("avx512") => 64,
            _ => panic!("{function} names no instruction set"),
        }
    }

    pub fn access(instruction: &Instruction) -> Option<Access> {
        let widths = [("XMMWORD PTR", 16), ("YMMWORD PTR", 32), ("ZMMWORD PTR", 64)];
        let (keyword, bytes) =
            widths.into_iter().find(|(keyword, _)| instruction.operands.contains(keyword))?;
        let (before, after) = instruction.operands.split_once(keyword)?;
        let place = after.split(']').next()?.trim().to_owned();
        let nontemporal = matches!(instruction.mnemonic.as_str(), "movntpd" | "vmovntpd");
        Some(Access { stores: before.is_empty(), nontemporal, bytes, place })
    }

    pub fn prefetch(function: &str) -> Option<&'static str> {
        match function.split("::").nth(1) {
            Some("nta") => Some("prefetchnta"),
            Some("l2") => Some("prefetcht1"),
            _ => None,
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use super::{Access, Instruction};

    pub const PATH: &str = "::kernel::arm::kernel::";
    pub const ISAS: &[&str] = &["neon"];
    pub const BRANCH: &str = "b.ne";
    pub const FENCE: &str = "dmb";
    pub const LOOPS: usize = 2 + 9;

    /// Pairs of 16-byte registers.
    pub fn width(_: &str) -> usize {
        32
    }

    pub fn access(instruction: &Instruction) -> Option<Access> {
        let (registers, place) = instruction.operands.split_once(", [")?;
        let vectors = registers.split(", ").filter(|register| register.starts_with('q')).count();
        let (stores, nontemporal) = match instruction.mnemonic.as_str() {
            "ldp" => (false, false),
            "stp" => (true, false),
            "stnp" => (true, true),
            _ => return None,
        };
        (vectors == 2).then(|| Access { stores, nontemporal, bytes: 32, place: place.to_owned() })
    }

    pub fn prefetch(_: &str) -> Option<&'static str> {
        None
    }
}

fn disassembly() -> Option<String> {
    // References every loop, so that the linker keeps them all.
    std::hint::black_box(seatrial_mem::BENCHMARKS);
    let mut objdump = Command::new("objdump");
    objdump.args(["--disassemble", "--demangle", "--no-show-raw-insn"]);
    if cfg!(target_arch = "x86_64") {
        objdump.arg("--disassembler-options=intel");
    }
    match objdump.arg(std::env::current_exe().expect("the path of this test")).output() {
        Ok(output) => {
            assert!(output.status.success(), "objdump failed: {}", String::from_utf8_lossy(&output.stderr));
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("cannot run objdump: {error}; install binutils")
        }
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "says why nothing was tested")]
            {
                eprintln!("skipped: cannot run objdump: {error}; install binutils");
            }
            None
        }
    }
}

/// The functions of the loops by the end of their path, such as `avx512::nta::copy_nt`.
fn functions(disassembly: &str) -> BTreeMap<String, Vec<Instruction>> {
    let mut functions: BTreeMap<String, Vec<Instruction>> = BTreeMap::new();
    let mut current = None;
    for line in disassembly.lines() {
        if let Some((_, symbol)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            // A symbol may end with its hash.
            let path =
                symbol.split_once(arch::PATH).map(|(_, path)| path.split("::h").next().unwrap_or(path));
            current = path.filter(|path| is_loop(path)).map(str::to_owned);
        } else if let (Some(path), Some(instruction)) = (&current, instruction(line)) {
            functions.entry(path.clone()).or_default().push(instruction);
        }
    }
    functions
}

fn is_loop(path: &str) -> bool {
    path.split_once("::").is_some_and(|(isa, rest)| arch::ISAS.contains(&isa) && !rest.ends_with("find"))
}

fn instruction(line: &str) -> Option<Instruction> {
    let (address, text) = line.split_once(":\t")?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    let (mnemonic, operands) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    Some(Instruction { address, mnemonic: mnemonic.to_owned(), operands: operands.trim().to_owned() })
}

/// The instructions of the function's only loop with its branch, and the index of its end.
fn the_loop(function: &[Instruction]) -> (&[Instruction], usize) {
    let mut loops = function.iter().enumerate().filter_map(|(end, branch)| {
        let target = u64::from_str_radix(branch.operands.split(' ').next()?, 16).ok()?;
        let start = function.iter().position(|instruction| instruction.address == target)?;
        (branch.mnemonic == arch::BRANCH && start <= end).then_some((&function[start..=end], end))
    });
    let only = loops.next().expect("a loop");
    assert!(loops.next().is_none(), "more than one loop");
    only
}

#[test]
fn loops_hold_exactly_the_loads_and_stores_that_they_are_named_for() {
    let Some(text) = disassembly() else { return };
    let functions = functions(&text);
    assert_eq!(functions.len(), arch::LOOPS, "found: {:?}", functions.keys());
    for (path, function) in &functions {
        let wanted = Wanted::of(path);
        let (body, _) = the_loop(function);
        let accesses: Vec<Access> = body.iter().filter_map(arch::access).collect();
        assert!(accesses.iter().all(|access| access.bytes == arch::width(path)), "{path}: {accesses:?}");
        let bytes = |stores| -> usize {
            accesses.iter().filter(|access| access.stores == stores).map(|access| access.bytes).sum()
        };
        assert_eq!(
            (bytes(false), bytes(true)),
            (wanted.loaded, wanted.stored),
            "bytes loaded and stored by {path}"
        );
        let places: BTreeSet<&Access> = accesses.iter().collect();
        assert_eq!(places.len(), accesses.len(), "{path} touches a place twice");
        assert!(
            body.iter().all(|instruction| !instruction.mnemonic.contains("call")),
            "{path} calls in its loop"
        );
    }
}

#[test]
fn stores_are_non_temporal_where_the_name_says_so_and_nowhere_else() {
    let Some(text) = disassembly() else { return };
    for (path, function) in &functions(&text) {
        let nontemporal = Wanted::of(path).nontemporal;
        let (body, end) = the_loop(function);
        let mut stores = body.iter().filter_map(arch::access).filter(|access| access.stores);
        assert!(stores.all(|store| store.nontemporal == nontemporal), "the stores of {path}");
        let fences = |part: &[Instruction]| part.iter().filter(|one| one.mnemonic == arch::FENCE).count();
        let (all, after) = (fences(function), fences(&function[end..]));
        assert_eq!(
            (all, after),
            (usize::from(nontemporal), usize::from(nontemporal)),
            "the fences of {path}"
        );
    }
}

#[test]
fn loops_prefetch_every_line_that_they_load_or_none() {
    let Some(text) = disassembly() else { return };
    for (path, function) in &functions(&text) {
        let (body, _) = the_loop(function);
        let found: Vec<&str> = body
            .iter()
            .map(|one| one.mnemonic.as_str())
            .filter(|mnemonic| mnemonic.starts_with("prefetch"))
            .collect();
        let wanted = arch::prefetch(path).map_or(Vec::new(), |hint| vec![hint; Wanted::of(path).loaded / 64]);
        assert_eq!(found, wanted, "{path}");
    }
}

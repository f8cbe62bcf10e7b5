//! The shape of the code: within a crate no files use one another in a circle, no two public types share a name, and no
//! benchmark uses another.
//!
//! A file uses another when a path in it begins with `crate` or `super` and leads there. What a folder's `mod.rs` makes
//! public counts as the folder's own, so that files below it may use it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};
use xtask::workspace::{self, CRATE_FOLDERS};

/// The path of a module within its crate; the root has none.
type Module = Vec<String>;

/// The files of a crate, by module, without those of its tests.
struct Crate(BTreeMap<Module, syn::File>);

impl Crate {
    /// The files below the folder `source`, but for what is declared for tests.
    fn read(source: &Path) -> Self {
        let mut files = BTreeMap::new();
        read_folder(source, &[], &mut files);
        let of_tests: Vec<Module> =
            files.iter().flat_map(|(module, file)| declared_for_tests(module, file)).collect();
        files.retain(|module, _| !of_tests.iter().any(|test| module.starts_with(test)));
        Self(files)
    }

    /// The modules that have a public type of a name, by the name. Nested modules and macros are not looked into.
    fn public_types(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut types: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (module, file) in &self.0 {
            for item in &file.items {
                let (visibility, name) = match item {
                    Item::Struct(item) => (&item.vis, &item.ident),
                    Item::Enum(item) => (&item.vis, &item.ident),
                    Item::Trait(item) => (&item.vis, &item.ident),
                    Item::Type(item) => (&item.vis, &item.ident),
                    Item::Union(item) => (&item.vis, &item.ident),
                    _ => continue,
                };
                if matches!(visibility, Visibility::Public(_)) {
                    types.entry(name.to_string()).or_default().insert(module.join("::"));
                }
            }
        }
        types
    }

    /// Which files each file uses.
    fn uses(&self) -> BTreeMap<&Module, BTreeSet<&Module>> {
        let of_file = |(module, file): (&Module, &syn::File)| {
            let mut paths = Paths::default();
            paths.visit_file(file);
            paths
                .found
                .iter()
                .filter_map(|path| self.file_of(module, path))
                .filter(|used| *used != module)
                .collect()
        };
        self.0.iter().map(|entry| (self.0.get_key_value(entry.0).expect("there").0, of_file(entry))).collect()
    }

    /// The file to which a path in `module` leads.
    fn file_of(&self, module: &Module, path: &[String]) -> Option<&Module> {
        let mut at = if path.first()? == "crate" { Vec::new() } else { module.clone() };
        for segment in path {
            match segment.as_str() {
                "crate" => {}
                "super" => drop(at.pop()),
                name => at.push(name.to_owned()),
            }
        }
        let known = (1..=at.len()).rev().find_map(|length| self.0.get_key_value(&at[..length]))?;
        Some(known.0)
    }
}

fn read_folder(folder: &Path, above: &[String], files: &mut BTreeMap<Module, syn::File>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let own = [above, std::slice::from_ref(&name)].concat();
        if path.is_dir() {
            read_folder(&path, &own, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("text");
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            files.insert(if ["mod", "lib", "main"].contains(&&*name) { above.to_vec() } else { own }, file);
        }
    }
}

/// The modules that a file declares for tests only.
fn declared_for_tests(module: &Module, file: &syn::File) -> Vec<Module> {
    let modules = file.items.iter().filter_map(|item| match item {
        Item::Mod(found) if is_of_tests(&found.attrs) => Some(found.ident.to_string()),
        _ => None,
    });
    modules.map(|name| [module.as_slice(), &[name]].concat()).collect()
}

fn is_of_tests(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    };
    attributes.iter().any(is_test)
}

/// Every path that begins with `crate` or `super` and leads out of the file.
#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
    /// How many modules within the file stand around what is visited.
    depth: usize,
}

impl Paths {
    fn note(&mut self, path: Vec<String>) {
        let supers = path.iter().take_while(|segment| *segment == "super").count();
        if supers > self.depth {
            self.found.push(path[self.depth..].to_vec());
        } else if path.first().is_some_and(|first| first == "crate") {
            self.found.push(path);
        }
    }

    fn note_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.note_tree(&with(&path.ident), &path.tree),
            UseTree::Name(name) => self.note(with(&name.ident)),
            UseTree::Rename(name) => self.note(with(&name.ident)),
            UseTree::Glob(_) => self.note(before.to_vec()),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.note_tree(before, item)),
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_of_tests(&item.attrs) {
            self.depth += 1;
            visit::visit_item_mod(self, item);
            self.depth -= 1;
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.note_tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.note(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }
}

/// The folders of the crates in a folder of the workspace.
fn crates(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(workspace::root().join(folder)).expect("crates");
    entries.map(|entry| entry.expect("a crate").path()).collect()
}

/// What is left when every file is taken away that uses none of the others, or that none of them uses.
fn circles(mut uses: BTreeMap<&Module, BTreeSet<&Module>>) -> Vec<String> {
    loop {
        let used: BTreeSet<&Module> = uses.values().flatten().copied().collect();
        let before = uses.len();
        uses.retain(|module, others| !others.is_empty() && used.contains(module));
        let left: BTreeSet<&Module> = uses.keys().copied().collect();
        uses.values_mut().for_each(|others| others.retain(|other| left.contains(other)));
        if uses.len() == before {
            let line = |(module, others): (&&Module, &BTreeSet<&Module>)| {
                let others: Vec<String> = others.iter().map(|other| other.join("::")).collect();
                format!("{} uses {}", module.join("::"), others.join(", "))
            };
            return uses.iter().map(line).collect();
        }
    }
}

#[test]
fn no_files_of_a_crate_use_one_another_in_a_circle() {
    let mut found = Vec::new();
    let mut files = 0;
    for folder in CRATE_FOLDERS.into_iter().flat_map(crates) {
        let read = Crate::read(&folder.join("src"));
        files += read.0.len();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        found.extend(circles(read.uses()).into_iter().map(|line| format!("{name}: {line}")));
    }
    assert!(files > 500, "only {files} files were read");
    assert!(found.is_empty(), "files use one another in circles:\n{}", found.join("\n"));
}

#[test]
fn no_two_public_types_of_a_crate_share_a_name() {
    let mut found = Vec::new();
    let mut types = 0;
    for folder in CRATE_FOLDERS.into_iter().flat_map(crates) {
        let of_crate = Crate::read(&folder.join("src")).public_types();
        types += of_crate.len();
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let shared = of_crate.into_iter().filter(|(_, modules)| modules.len() > 1);
        found.extend(shared.map(|(shared, modules)| format!("{name}: {shared} of {modules:?}")));
    }
    assert!(types > 500, "only {types} types were read");
    assert!(found.is_empty(), "types share a name:\n{}", found.join("\n"));
}

#[test]
fn no_benchmark_uses_another_benchmark() {
    let mut seen = 0;
    for folder in crates("benchmarks") {
        let read = Crate::read(&folder.join("src"));
        let is_benchmark = |name: &str| folder.join("src").join(name).join("doc.md").is_file();
        for (module, used) in read.uses() {
            let Some(own) = module.first().filter(|name| is_benchmark(name)) else { continue };
            seen += 1;
            for other in used.iter().filter_map(|used| used.first()).filter(|name| is_benchmark(name)) {
                assert!(other == own, "{}: {} uses {other}", folder.display(), module.join("::"));
            }
        }
    }
    assert!(seen > 100, "only {seen} files were read");
}

#[test]
fn a_circle_is_found_and_a_chain_is_none() {
    let file = |text: &str| syn::parse_file(text).expect("Rust");
    let module = |name: &str| vec![name.to_owned()];
    let of = |a: &str, b: &str, c: &str| {
        let files = [("a", a), ("b", b), ("c", c)].map(|(name, text)| (module(name), file(text)));
        circles(Crate(BTreeMap::from(files)).uses())
    };
    assert_eq!(of("use super::b::X;", "fn f() { crate::c::g(); }", ""), [""; 0]);
    assert_eq!(of("use super::{c, b::X};", "fn f() { crate::a::g(); }", ""), ["a uses b", "b uses a"]);
    assert_eq!(of("use super::b::X;", "#[cfg(test)] mod tests { use crate::a; }", ""), [""; 0]);
}

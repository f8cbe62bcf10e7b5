//! Profiles that extend others, and their merged entries.

use std::fs;
use std::path::Path;

use crate::common::{CATALOG, SHIPPED, TODAY, read};
use insta::assert_snapshot;
use seatrial_profile::{Diagnostics, Loaded, Source, load};
use tempfile::TempDir;

const BASE: &str = r#"
title = "base"
[[test]]
id = "memory"
use = "mem.bandwidth"
params = { kernel = ["read", "copy"] }
[[test]]
id = "echo"
use = "net.echo"
[[criterion]]
test = "memory"
metric = "bandwidth"
where = { kernel = "read" }
at_least = "10 GB/s"
[[criterion]]
id = "quick"
test = "echo"
metric = "latency"
of = "p99"
at_most = "5 us"
"#;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        fs::write(path, text).expect("a file in it");
    }
    folder
}

fn open(folder: &Path, name: &str) -> Result<Loaded, Diagnostics> {
    load(&Source::File(folder.join(name)), SHIPPED, &CATALOG, TODAY)
}

fn complaint(folder: &TempDir, name: &str) -> String {
    let shown = open(folder.path(), name).expect_err("it was taken").render(false);
    shown.replace(&folder.path().display().to_string(), "FOLDER")
}

#[test]
fn a_later_entry_replaces_the_whole_earlier_one_and_keeps_its_place() {
    let child = r#"
        extends = ["site/base.toml"]
        [[criterion]]
        test = "memory"
        metric = "bandwidth"
        where = { kernel = "read" }
        at_least = "20 GB/s"
        [[criterion]]
        id = "quick"
        test = "echo"
        metric = "latency"
        at_most = "9 us"
        [[criterion]]
        test = "echo"
        metric = "loss"
        equals = "0 %"
    "#;
    let folder = folder(&[("site/base.toml", BASE), ("child.toml", child)]);
    let profile = open(folder.path(), "child.toml").expect("it loads").profile;
    let shown: Vec<String> =
        profile.criteria.iter().map(|it| format!("{}: {} {}", it.id, it.of, it.bounds)).collect();
    assert_eq!(
        shown,
        [
            "memory.bandwidth[kernel=read]: median at least 20 GB/s",
            "quick: median at most 9 us",
            "echo.loss: median exactly 0 %",
        ]
    );
    assert_eq!((profile.id.as_str(), profile.extends.as_slice()), ("child", &["base".to_owned()][..]));
    assert_eq!((profile.tests.len(), profile.title.as_str()), (2, ""));
}

#[test]
fn a_profile_that_two_others_extend_undoes_neither() {
    let left = "extends = [\"base.toml\"]\n[[criterion]]\nid = \"quick\"\ntest = \"echo\"\nmetric = \"latency\"\nat_most = \"1 us\"";
    let top = "extends = [\"left.toml\", \"right.toml\"]";
    let right = "extends = [\"./base.toml\"]";
    let files = [("base.toml", BASE), ("left.toml", left), ("right.toml", right), ("top.toml", top)];
    let profile = open(folder(&files).path(), "top.toml").expect("it loads").profile;
    assert_eq!(profile.extends, ["right", "left", "base"]);
    assert_eq!(profile.criteria[1].bounds.to_string(), "at most 1 us");
}

#[test]
fn a_circle_shows_its_chain() {
    let files = [
        ("a.toml", "extends = [\"b.toml\"]"),
        ("b.toml", "extends = [\"c.toml\"]"),
        ("c.toml", "extends = [\"./b.toml\"]"),
        ("self.toml", "extends = [\"self.toml\"]"),
    ];
    let folder = folder(&files);
    assert_snapshot!(complaint(&folder, "a.toml"));
    assert_snapshot!("a_circle_of_one", complaint(&folder, "self.toml"));
}

#[test]
fn a_missing_profile_is_shown_where_it_is_named() {
    let files = [(
        "a.toml",
        "extends = [\"hots\", \"no-such.toml\"]\n[[criterion]]\ntest = \"x\"\nmetric = \"y\"\nat_least = 1",
    )];
    assert_snapshot!(complaint(&folder(&files), "a.toml"));
}

#[test]
fn an_error_in_an_extended_file_is_shown_there() {
    let files =
        [("a.toml", "extends = [\"b.toml\"]"), ("b.toml", "[[test]]\nid = \"x\"\nuse = \"net.ecko\"")];
    assert_snapshot!(complaint(&folder(&files), "a.toml"));
}

#[test]
fn a_text_without_a_folder_extends_shipped_profiles_only() {
    assert_snapshot!(read("extends = [\"b.toml\"]").expect_err("it was taken").render(false));
}

#[test]
fn a_chain_without_end_is_cut() {
    let names: Vec<(String, String)> = (0..40)
        .map(|number| (format!("{number}.toml"), format!("extends = [\"{}.toml\"]", number + 1)))
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let shown = complaint(&folder(&files), "0.toml");
    assert!(shown.contains("more than 32 profiles extend one another"), "{shown}");
}

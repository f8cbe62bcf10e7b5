//! Profiles that are too large, too deep or not text.

use std::fs;

use crate::common::{CATALOG, SHIPPED, TODAY, complaint};
use insta::assert_snapshot;
use seatrial_profile::{Diagnostics, LARGEST, Source, load};

/// The messages about a file with `bytes`, without the folder's name.
fn file_complaint(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("p.toml");
    fs::write(&path, bytes).expect("a file in it");
    let error = load(&Source::File(path), SHIPPED, &CATALOG, TODAY).expect_err("the file was taken");
    error.render(false).replace(&folder.path().display().to_string(), "FOLDER")
}

#[test]
fn brackets_braces_and_dots_by_the_hundred_thousand_are_refused() {
    let texts = [
        "[".repeat(200_000),
        format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("a = {}", "{a=".repeat(70_000)),
        format!("a{} = 1", ".a".repeat(100_000)),
        ("a.".repeat(70) + "a={").repeat(950),
    ];
    let shown: Vec<String> = texts.iter().map(|text| complaint(text)).collect();
    assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn a_file_of_ten_megabytes_is_refused() {
    assert_snapshot!(file_complaint(&vec![b'#'; 10 << 20]));
}

#[test]
fn the_largest_file_is_read() {
    let mut text = b"[[test]]\nid = \"e\"\nuse = \"net.echo\"\n#".to_vec();
    text.resize(LARGEST as usize, b'#');
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("large.toml");
    fs::write(&path, text).expect("a file in it");
    let loaded = load(&Source::File(path), SHIPPED, &CATALOG, TODAY).expect("it is not too large");
    assert_eq!(loaded.profile.id, "large");
}

#[test]
fn what_is_no_utf8_is_refused_with_the_place() {
    assert_snapshot!(file_complaint(b"title = \"a\"\ndescription = \"\xff\"\n"));
}

#[test]
fn a_folder_and_a_missing_file_are_refused_with_the_systems_answer() {
    let missing = |name: &str| -> Diagnostics {
        let source = Source::named(name);
        load(&source, SHIPPED, &CATALOG, TODAY).expect_err("it was taken")
    };
    let shown = [missing("./no-such.toml"), missing("/"), missing("hosts"), missing("nothing-like-it")];
    assert_snapshot!(shown.map(|error| error.render(false)).join("\n\n"));
}

#[test]
fn a_hundred_thousand_errors_are_cut_short() {
    let text: String = (0..100_000).map(|number| format!("key{number} = 1\n")).collect();
    let shown = complaint(&text);
    assert!(shown.ends_with("... and 99980 more"), "{}", &shown[shown.len() - 100..]);
    assert!(shown.lines().count() < 200);
}

#[test]
fn names_as_long_as_the_profile_are_cut_and_compared_with_nothing() {
    let name = "x".repeat(400_000);
    let shown = complaint(&format!(
        "[[test]]\nid = \"{name}\"\nuse = \"net.echo\"\n\
         [[criterion]]\ntest = \"{name}y\"\nmetric = \"loss\"\nat_most = \"0 %\"\n"
    ));
    assert!(shown.contains("there is no test 'xxxx") && shown.len() < 2000, "{}", shown.len());
}

//! Tables of the source document: lists, matrices, and messages about cells that nothing measures.

use crate::common::{complaint, read};
use insta::assert_snapshot;
use seatrial_model::profile::{
    FlowClass, SourceCell, SourceResult, SourceSelection, SourceTable, SourceValue,
};
use seatrial_model::{Quantity, Unit};

const TESTS: &str = r#"
[[test]]
id = "memory"
use = "mem.bandwidth"
params = { kernel = ["read", "copy"], array = ["1 MiB", "1 GiB"] }
[[test]]
id = "echo"
use = "net.echo"
pattern = "ring"
"#;

fn tables(text: &str) -> Vec<SourceTable> {
    let loaded = read(&format!("{TESTS}{text}"));
    loaded.unwrap_or_else(|found| panic!("{}", found.render(false))).profile.source_tables
}

fn selection(cell: Option<&SourceCell>) -> &SourceSelection {
    match cell.map(|cell| &cell.result) {
        Some(SourceResult::Selection(selection)) => selection,
        other => panic!("{other:?}"),
    }
}

fn quantity(value: f64, unit: Unit) -> SourceValue {
    SourceValue::Quantity(Quantity::new(value, unit).expect("a number"))
}

#[test]
fn each_row_of_a_list_names_its_result() {
    let tables = tables(
        r#"
[[table]]
id = "page"
title = "what the page has"
source = "the page, part 2"
test = "memory"
unit = "GB/s"
factor = 1.024
rows = [
    { name = "copy", metric = "bandwidth", where = { kernel = "copy" }, value = 12 },
    { name = "1 MiB", metric = "by_size", at = { size = "1 MiB" }, value = "900 MB/s", of = "max" },
    { name = "latency", test = "echo", metric = "latency", value = "3.1 us", factor = 2, on = { up = true } },
    { name = "by scp", not_measured = "scp is not measured", value = "7.2 Gbit/s" },
]
"#,
    );
    let [table] = tables.as_slice() else { panic!("{tables:?}") };
    assert_eq!((table.corner.as_str(), table.columns.as_slice()), ("", &[String::new()][..]));
    let [copy, size, latency, scp] = table.rows.as_slice() else { panic!("{table:?}") };
    let of = |row: &seatrial_model::profile::SourceRow| row.cells[0].clone().expect("a cell");
    assert_eq!((of(copy).value, of(copy).factor), (quantity(12.0, Unit::GigabytesPerSecond), 1.024));
    assert_eq!(selection(copy.cells[0].as_ref()).cases.to_string(), "kernel=copy");
    assert_eq!(of(size).value, quantity(900.0, Unit::MegabytesPerSecond));
    assert_eq!(selection(size.cells[0].as_ref()).at.to_string(), "size=1 MiB");
    assert_eq!(selection(size.cells[0].as_ref()).of.to_string(), "max");
    assert_eq!((of(latency).value, of(latency).factor), (quantity(3.1, Unit::Microsecond), 2.0));
    assert_eq!(selection(latency.cells[0].as_ref()).on.to_string(), "up=true");
    assert_eq!(of(scp).result, SourceResult::NotMeasured("scp is not measured".to_owned()));
}

#[test]
fn a_matrix_has_a_parameter_a_coordinate_or_a_step_on_each_axis() {
    let tables = tables(
        r#"
[[table]]
id = "matrix"
title = "by kernel and array"
source = "the page"
test = "memory"
metric = "bandwidth"
unit = "GB/s"
rows = { kernel = ["read", "copy"] }
columns = { array = ["1 MiB", "1 GiB"] }
values = [[1, "FAIL"], ["", 4]]
[[table]]
id = "sizes"
title = "by size"
source = "the page"
test = "memory"
metric = "by_size"
rows = { size = ["1 KiB", "1 MiB"] }
values = ["1 GB/s", "2 GB/s"]
[[table]]
id = "steps"
title = "by flows"
source = "the page"
test = "echo"
metric = "latency"
rows = { step = [1, 2] }
columns = [{ name = "total", unit = "us" }, { name = "full", class = "full" }]
values = [[1, 1], [2, 0]]
"#,
    );
    let [matrix, sizes, steps] = tables.as_slice() else { panic!("{tables:?}") };
    assert_eq!(matrix.corner, "kernel ↓  array →");
    assert_eq!(matrix.columns, ["1 MiB", "1 GiB"]);
    assert_eq!(selection(matrix.rows[0].cells[0].as_ref()).cases.to_string(), "array=1 MiB,kernel=read");
    let fail = matrix.rows[0].cells[1].as_ref().expect("a cell");
    assert_eq!(fail.value, SourceValue::Word("FAIL".to_owned()));
    assert_eq!(matrix.rows[1].cells[0], None, "a blank");
    assert_eq!(sizes.corner, "size");
    assert_eq!(selection(sizes.rows[1].cells[0].as_ref()).at.to_string(), "size=1 MiB");
    let [total, full] = steps.rows[1].cells.as_slice() else { panic!("{steps:?}") };
    assert_eq!((selection(total.as_ref()).step, selection(total.as_ref()).class), (Some(2), None));
    assert_eq!(selection(full.as_ref()).class, Some(FlowClass::Full));
    assert_eq!(full.as_ref().map(|cell| &cell.value), Some(&quantity(0.0, Unit::Count)));
}

#[test]
fn a_table_of_the_profile_replaces_the_one_of_the_same_id_that_it_extends() {
    let list = |title: &str| {
        format!(
            "[[table]]\nid = \"t\"\ntitle = \"{title}\"\nsource = \"s\"\ntest = \"memory\"\nmetric = \"bandwidth\"\n\
             rows = [{{ name = \"r\", value = \"1 GB/s\" }}]\n"
        )
    };
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: String| {
        std::fs::write(folder.path().join(name), text).expect("a file");
        folder.path().join(name)
    };
    put("base.toml", format!("{TESTS}{}", list("old")));
    let file = put("site.toml", format!("extends = [\"base.toml\"]\n{}", list("new")));
    let source = seatrial_profile::Source::File(file);
    let loaded = seatrial_profile::load(
        &source,
        crate::common::SHIPPED,
        &crate::common::CATALOG,
        crate::common::TODAY,
    );
    let tables = loaded.unwrap_or_else(|found| panic!("{}", found.render(false))).profile.source_tables;
    assert_eq!(tables.iter().map(|table| table.title.as_str()).collect::<Vec<_>>(), ["new"]);
}

#[test]
fn cells_that_name_no_result_are_shown() {
    let table = "[[table]]\nid = \"t\"\ntitle = \"t\"\nsource = \"s\"\n";
    let list = |row: &str| format!("{TESTS}{table}rows = [{{ name = \"r\", {row} }}]\n");
    let texts = [
        list("value = 1"),
        list("test = \"memroy\", metric = \"bandwidth\", value = \"1 GB/s\""),
        list("test = \"memory\", metric = \"bandwith\", value = \"1 GB/s\""),
        list("test = \"memory\", metric = \"bandwidth\", where = { kernel = \"write\" }, value = \"1 GB/s\""),
        list("test = \"memory\", metric = \"by_size\", at = { siez = 1 }, value = \"1 GB/s\""),
        list("test = \"memory\", metric = \"bandwidth\", value = 1"),
        list("test = \"memory\", metric = \"bandwidth\", value = \"1 Gbps\""),
        list("test = \"memory\", metric = \"bandwidth\", value = \"3 us\""),
        list("test = \"memory\", metric = \"bandwidth\""),
        list("test = \"memory\", metric = \"bandwidth\", step = 1, value = \"1 GB/s\""),
        list("test = \"echo\", metric = \"latency\", class = \"ful\", value = 1"),
        list("test = \"echo\", metric = \"latency\", class = \"full\", value = 1"),
        list("test = \"echo\", metric = \"latency\", step = 1, of = \"p99\", value = \"1 us\""),
        list("test = \"echo\", metric = \"latency\", roles = [\"head\"], value = \"1 us\""),
        list("test = \"echo\", metric = \"latency\", unit = \"uss\", factor = 0, value = 1"),
    ];
    assert_snapshot!(texts.map(|text| complaint(&text)).join("\n"));
}

#[test]
fn a_matrix_of_another_size_or_with_unknown_axes_is_refused() {
    let table = |rest: &str| {
        format!(
            "{TESTS}[[table]]\nid = \"t\"\ntitle = \"t\"\nsource = \"s\"\ntest = \"memory\"\nmetric = \"bandwidth\"\n\
             unit = \"GB/s\"\n{rest}\n"
        )
    };
    let texts = [
        "rows = { kernel = [\"read\", \"copy\"] }\ncolumns = { array = [\"1 MiB\"] }\nvalues = [[1], [2, 3]]",
        "rows = { kernel = [\"read\", \"copy\"] }\nvalues = [1]",
        "rows = { kernel = [\"read\", \"copy\"] }",
        "rows = { kernle = [\"read\", \"copy\"] }\nvalues = [1, 2]",
        "rows = { kernel = [\"read\"], array = [\"1 MiB\"] }\nvalues = [1]",
        "values = [1]",
    ];
    assert_snapshot!(texts.map(|text| complaint(&table(text))).join("\n"));
}

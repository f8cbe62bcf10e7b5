//! Exports, read by the programs that consume them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use seatrial_report::export::{About, EXPORTS};

use crate::rig::{Home, Script, is_installed, shares_of_the_limit, skipped};

/// A run of three nodes: one criterion met, one missed, one without number.
fn judged() -> Home {
    let home = Home::new();
    let profile = home.file(
        "site.toml",
        crate::rig::profile(&[
            ("copy", "at_least = \"50 GB/s\""),
            ("triad", "at_least = \"90 GB/s\""),
            ("read", "at_least = { percent_of = \"limit\", value = 50 }"),
        ]),
    );
    let script = Script::measuring(60.0).nodes(3).without_limit();
    home.seatrial("check").word(profile).script(&script).run().exits(1);
    home
}

#[test]
fn every_export_has_its_flag_and_its_help() {
    let help = Home::new().seatrial("export --help").run().exits(0);
    for export in EXPORTS {
        assert!(help.out.contains(&format!("--{}", export.about().flag)), "{}", help.out);
        assert!(help.out.contains(export.about().value), "{}", help.out);
    }
}

#[test]
fn several_exports_are_written_at_once_and_leave_nothing_beside_them() {
    let home = judged();
    let out = home.folder().join("out");
    std::fs::create_dir(&out).expect("made");
    let mut call = home.seatrial("export last");
    for About { flag, bare, .. } in EXPORTS.iter().map(|export| export.about()) {
        let file = out.join(flag);
        // A value of a flag that works without one is after `=`.
        call = match bare {
            true => call.word(format!("--{flag}={}", file.display())),
            false => call.word(format!("--{flag}")).word(file),
        };
    }
    let ended = call.run().exits(0);
    assert_eq!(ended.out, "");
    let mut names: Vec<String> = std::fs::read_dir(&out)
        .expect("read")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    let mut flags: Vec<String> = EXPORTS.iter().map(|export| export.about().flag.to_owned()).collect();
    flags.sort();
    assert_eq!(names, flags);
    for name in names {
        assert!(std::fs::metadata(out.join(&name)).expect("there").len() > 0, "{name} is empty");
    }
}

#[test]
fn standard_output_takes_one_export_and_prints_nothing_else() {
    let home = judged();
    let csv = home.seatrial("export --csv -").run().exits(0);
    assert_eq!(csv.out, home.seatrial("report -o csv").run().exits(0).out);
    home.seatrial("export --csv - --junit -").run().exits(2).says("cannot both go to standard output");
    home.seatrial("export").run().exits(2).says("--junit");
    home.seatrial("export nosuch --csv -").run().exits(2).says("no run 'nosuch'");
    let wrong = home.seatrial("export --csv /nonexistent/a.csv").run().exits(2);
    wrong.says("--csv /nonexistent/a.csv: No such file or directory");
}

#[test]
fn nagios_gets_its_line_and_the_exit_codes_of_its_plugins() {
    let line = |home: &Home| home.seatrial("export --nagios").run();
    let critical = line(&judged()).exits(2);
    assert_eq!(critical.out.lines().count(), 1, "{}", critical.out);
    assert!(critical.out.starts_with("SEATRIAL CRITICAL - 6 of 9 criteria"), "{}", critical.out);
    assert!(critical.out.contains("=60;;90:;;"), "{}", critical.out);
    let home = Home::new();
    let shares = home.file("shares.toml", shares_of_the_limit());
    home.seatrial("check").word(&shares).script(&Script::measuring(60.0)).run().exits(0);
    assert!(line(&home).exits(0).out.starts_with("SEATRIAL OK - "));
    home.seatrial("check").word(&shares).script(&Script::measuring(60.0).without_limit()).run().exits(3);
    assert!(line(&home).exits(3).out.starts_with("SEATRIAL UNKNOWN - "));
    home.seatrial("run mem.bandwidth").script(&Script::measuring(60.0)).run().exits(0);
    assert_eq!(line(&home).exits(3).out, "SEATRIAL UNKNOWN - nothing was judged\n");
    // A plugin that fails is not a critical service.
    let lost = home.seatrial("export --nagios 20200101-000000-bcdf").run().exits(3);
    assert!(lost.out.starts_with("SEATRIAL UNKNOWN - ") && lost.out.lines().count() == 1, "{}", lost.out);
    // Written to a file, it is an ordinary export, and 0 says that it was written.
    let file = home.folder().join("line");
    home.seatrial("export").word(format!("--nagios={}", file.display())).run().exits(0);
}

#[test]
fn a_check_that_was_not_judged_is_nowhere_taken_for_one_that_passed() {
    let home = Home::new();
    let shares = home.file("shares.toml", shares_of_the_limit());
    home.seatrial("check").word(shares).script(&Script::measuring(60.0)).run().exits(0);
    // As of a run that was killed before its end.
    std::fs::remove_file(home.run().join("verdicts.json")).expect("removed");
    let junit = home.seatrial("export --junit -").run().exits(0).out;
    assert!(junit.contains("errors=\"1\"") && junit.contains("no criterion was judged"), "{junit}");
    let prometheus = home.seatrial("export --prometheus -").run().exits(0).out;
    assert!(prometheus.contains("\nseatrial_run_verdict 3\n"), "{prometheus}");
}

#[test]
fn bencher_gets_what_its_schema_asks_for() {
    // The schema that bencher.dev publishes as bmf.json.
    let schema = serde_json::json!({
        "type": "object",
        "patternProperties": { ".+": { "type": "object", "patternProperties": { ".+": {
            "type": "object",
            "properties": {
                "value": { "type": "number" }, "lower_value": { "type": "number" }, "upper_value": { "type": "number" }
            },
            "required": ["value"],
            "additionalProperties": false
        } } } }
    });
    let out = judged().seatrial("export --bencher -").run().exits(0).out;
    let document: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert!(jsonschema::is_valid(&schema, &document), "{out}");
    let cases = document.as_object().expect("an object");
    assert_eq!(cases.len(), 9, "{out}");
    for measures in cases.values() {
        assert_eq!(measures["bandwidth (GB/s)"]["value"], 60.0, "{out}");
    }
}

const CONSUMERS: &[&str] =
    &["junitparser==5.0.3", "prometheus-client==0.26.0", "duckdb==2.0.0", "pandas==3.1.1", "pyarrow==26.0.1"];

/// A folder with the consumers; `None` where they cannot be installed.
fn consumers() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        if !is_installed("pip3") || !is_installed("python3") {
            return None;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
        let done = folder.join("done");
        if std::fs::read_to_string(&done).is_ok_and(|have| have == CONSUMERS.join(" ")) {
            return Some(folder);
        }
        // A partial earlier attempt must not count.
        let _ = std::fs::remove_dir_all(&folder);
        let mut pip = Command::new("pip3");
        pip.args([
            "install",
            "--quiet",
            "--no-input",
            "--no-compile",
            "--disable-pip-version-check",
            "--target",
        ])
        .arg(&folder);
        let installed = pip.args(CONSUMERS).stdin(Stdio::null()).output();
        match installed {
            Ok(ended) if ended.status.success() => {
                std::fs::write(done, CONSUMERS.join(" ")).expect("written");
                Some(folder)
            }
            other => {
                skipped(&format!("pip3 cannot install {}: {other:?}", CONSUMERS.join(", ")));
                None
            }
        }
    });
    folder.as_deref()
}

#[track_caller]
fn python(program: &str, files: &[&Path]) -> Option<String> {
    let folder = consumers()?;
    let mut command = Command::new("python3");
    command.args(["-c", program]).args(files).env("PYTHONPATH", folder).stdin(Stdio::null());
    let ended = command.output().expect("python3 runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    Some(String::from_utf8(ended.stdout).expect("text"))
}

#[test]
fn junit_is_read_by_a_reader_of_junit() {
    let home = judged();
    let file = home.folder().join("junit.xml");
    home.seatrial("export --junit").word(&file).run().exits(0);
    let program = "
import sys
from junitparser.xunit2 import JUnitXml
xml = JUnitXml.fromfile(sys.argv[1])
for suite in xml:
    print('suite', suite.name, suite.tests, suite.failures, suite.errors, suite.skipped)
    for case in suite:
        kinds = ' '.join(type(result).__name__ for result in case.result) or 'passed'
        properties = {property.name: property.value for property in case.properties()}
        print(case.classname, case.name.split(':')[0], kinds, properties.get('measured'), properties['bound'])
";
    let Some(read) = python(program, &[&file]) else { return };
    let of_node = |node: &str| {
        format!(
            "suite {node} 3 1 1 0\nmemory copy passed 60 GB/s at least 50 GB/s\nmemory triad Failure 60 GB/s at least 90 \
             GB/s\nmemory read Error 60 GB/s at least 50 % of the limit\n"
        )
    };
    let mut lines: Vec<&str> = read.lines().collect();
    let mut expected: Vec<String> = Vec::new();
    for node in ["n1", "n2", "n3"] {
        expected.extend(of_node(node).lines().map(str::to_owned));
    }
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected, "{read}");
}

#[test]
fn prometheus_reads_its_text() {
    let home = judged();
    let file = home.folder().join("seatrial.prom");
    home.seatrial("export --prometheus").word(&file).run().exits(0);
    let text = std::fs::read_to_string(&file).expect("read");
    assert!(!text.contains(&home.id()), "the id of a run would make new time series with every run");
    let program = "
import sys
from prometheus_client.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    assert family.type == 'gauge' and family.documentation, family
    labels = {tuple(sorted(sample.labels)) for sample in family.samples}
    assert len(labels) == 1, (family.name, labels)
    for sample in family.samples:
        assert sample.timestamp is None
        if sample.name in ('seatrial_criterion_verdict', 'seatrial_mem_bandwidth_bandwidth_bytes_per_second'):
            name = sample.labels.get('criterion') or sample.labels['param_kernel']
            print(sample.name, sample.labels['node'], name, int(sample.value))
";
    let Some(read) = python(program, &[&file]) else { return };
    for line in [
        "seatrial_criterion_verdict n2 copy 1",
        "seatrial_criterion_verdict n2 triad 4",
        "seatrial_criterion_verdict n3 read 3",
        "seatrial_mem_bandwidth_bandwidth_bytes_per_second n1 copy 60000000000",
    ] {
        assert!(read.lines().any(|found| found == line), "no '{line}' in\n{read}");
    }
}

#[test]
fn parquet_is_opened_by_duckdb_and_by_pandas() {
    let home = judged();
    let crash = serde_json::json!({ "crashes": { "phase": "measure", "signal": 11 } });
    let script = Script::measuring(60.0).fault("*kernel=copy*", crash);
    let run =
        home.seatrial("run mem.bandwidth -p kernel=copy,triad -p store=nt -o json").script(&script).run();
    let document = run.exits(1).document();
    let file = home.folder().join("run.parquet");
    home.seatrial("export --parquet").word(&file).run().exits(0);
    // Counted from the record: a row per sample, per row of a series, and per case without numbers.
    let samples: usize = document
        .results
        .iter()
        .flat_map(|case| case.metrics.values())
        .flat_map(|metric| metric.samples.iter().flatten())
        .map(Vec::len)
        .sum();
    let places: usize =
        document.results.iter().flat_map(|case| case.series.values()).map(|series| series.rows.len()).sum();
    let program = "
import sys, duckdb, pandas
name = sys.argv[1]
for kind, count, low, high in duckdb.sql(
        f\"select kind, count(*), min(value), max(value) from '{name}' where name = 'bandwidth' or kind is null \"
        f\"group by kind order by kind nulls first\").fetchall():
    print(kind, low, high)
kinds = duckdb.sql(f\"select kind, count(*) from '{name}' group by kind order by kind nulls first\").fetchall()
table = pandas.read_parquet(name)
assert len(table) == sum(count for kind, count in kinds)
assert str(table['started'].dtype).startswith('datetime64') and str(table['started'].dt.tz) == 'UTC', table.dtypes
assert table['value'].dtype == 'float64' and table['run'].nunique() == 1
failed = table[table['kind'].isna()]
assert list(failed['outcome']) == ['failed'] and list(failed['cause']) == ['crash'], failed
assert failed['value'].isna().all() and 'SIGSEGV' in failed['reason'].iloc[0]
print(*(count for kind, count in kinds))
";
    let Some(read) = python(program, &[&file]) else { return };
    let expected = format!("None None None\nsample 60.0 60.0\n1 {places} {samples}\n");
    assert_eq!(read, expected);
}

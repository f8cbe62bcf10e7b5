//! From TOML to entries: checks the shape of every table, and resolves no names.

mod bounds;
mod choice;
mod criterion;
mod demand;
mod pairs;
mod source_table;
mod test;

use toml::de::DeTable;

use self::criterion::criterion;
use self::demand::{limit, price, roles, setting, waiver};
use self::source_table::source_table;
use self::test::test;
use crate::Diagnostics;
use crate::depth::too_deep;
use crate::diagnostic::Position;
use crate::layer::Layer;
use crate::merge::refuse_twins;
use crate::table::Table;

/// Syntax errors shown per file: later ones are mostly consequences.
const MOST_SYNTAX_ERRORS: usize = 3;

/// Reads text number `file`; errors go to `found`, and the layer holds the readable entries.
pub(crate) fn read(file: usize, stem: &str, text: &str, found: &mut Diagnostics) -> Option<Layer> {
    if let Some(at) = too_deep(text) {
        let at = Position { file, start: at, end: at + 1 };
        found.error(at, "the text nests too deep to be a profile").label("one level too many");
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(MOST_SYNTAX_ERRORS) {
        let span = error.span().unwrap_or(0..0);
        let at = Position { file, start: span.start, end: span.end };
        let (what, wanted) = error.message().split_once(", expected ").unwrap_or((error.message(), ""));
        let diagnostic = found.error(at, format!("this is not TOML: {what}"));
        if !wanted.is_empty() {
            diagnostic.label(format!("expected {wanted}"));
        }
    }
    if !errors.is_empty() {
        return None;
    }
    let whole = Position { file, start: 0, end: 0 };
    let errors_before = found.count();
    let layer = layer(Table::new("a profile", whole, table.get_ref()), stem, found);
    if layer.is_empty() && found.count() == errors_before {
        let advice = "a profile has at least one [[test]], one [[setting]], or `extends`";
        found.error(whole, "the profile asks for nothing").help(advice);
    }
    Some(layer)
}

fn layer(mut table: Table<'_>, stem: &str, found: &mut Diagnostics) -> Layer {
    let id = table.text("id", found).map_or_else(|| stem.to_owned(), |id| id.value);
    let title = table.text("title", found).map_or_else(String::new, |title| title.value);
    let description = table.text("description", found).map_or_else(String::new, |text| text.value);
    let time_budget = table.take("time_budget").and_then(|cell| {
        let time = cell.scalar(found)?;
        let parsed = time.value.to_string().parse();
        parsed.map_err(|error| found.error(time.at, format!("'time_budget': {error}"))).ok()
    });
    let extends = table.texts("extends", found);
    let mut is_whole = true;
    let tests = entries(&mut table, "test", test, &mut is_whole, found);
    let criteria = entries(&mut table, "criterion", criterion, &mut is_whole, found);
    let settings = entries(&mut table, "setting", setting, &mut is_whole, found);
    let roles = roles(&mut table, &mut is_whole, found);
    let waivers = entries(&mut table, "waiver", waiver, &mut is_whole, found);
    let limits = entries(&mut table, "limit", limit, &mut is_whole, found);
    let prices = entries(&mut table, "price", price, &mut is_whole, found);
    let source_tables = entries(&mut table, "table", source_table, &mut is_whole, found);
    table.finish(found);

    refuse_twins(&tests, "tests", "give each test an `id` of its own", found);
    refuse_twins(&criteria, "criteria", "give each an `id`, or use `within`", found);
    refuse_twins(
        &settings,
        "settings",
        "put all its bounds into one [[setting]], or tell them apart by `on` or `roles`",
        found,
    );
    refuse_twins(&waivers, "waivers", "one waiver per criterion and node set", found);
    refuse_twins(&limits, "limits", "one limit per test, metric and `where`", found);
    refuse_twins(&prices, "prices", "one price per `on`", found);
    refuse_twins(&source_tables, "tables", "give each table an `id` of its own", found);
    Layer {
        is_whole,
        id,
        title,
        description,
        time_budget,
        extends,
        tests,
        criteria,
        settings,
        roles,
        waivers,
        limits,
        prices,
        source_tables,
    }
}

/// The entries of `[[key]]`; clears `is_whole` when one of them could not be read.
fn entries<'t, T>(
    table: &mut Table<'t>,
    key: &'static str,
    read: fn(Table<'t>, &mut Diagnostics) -> Option<T>,
    is_whole: &mut bool,
    found: &mut Diagnostics,
) -> Vec<T> {
    let errors_before = found.count();
    let tables = table.tables(key, found);
    let wanted = tables.len();
    *is_whole &= found.count() == errors_before;
    let entries: Vec<T> = tables.into_iter().filter_map(|table| read(table, found)).collect();
    *is_whole &= entries.len() == wanted;
    entries
}

impl Layer {
    fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.settings.is_empty() && self.extends.is_empty()
    }
}

//! The page in a real browser.

use std::path::PathBuf;

use seatrial_report::html::PageContext;
use tempfile::TempDir;

use super::chromium::{Chromium, skip};
use super::{axe, compared, fixture, page_in, page_of, pictures, scripted};

struct Saved {
    path: PathBuf,
    _folder: TempDir,
}

fn saved(page: &str) -> Saved {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.html");
    std::fs::write(&path, page).expect("a file");
    Saved { path, _folder: folder }
}

fn pages() -> [(&'static str, String); 11] {
    [
        ("host", page_of(&fixture::host())),
        ("fleet", page_of(&fixture::fleet())),
        ("pairs", page_of(&scripted::pairs(8))),
        ("sweep", page_of(&scripted::sweep())),
        ("ncsa", page_of(&scripted::ncsa("Tungsten"))),
        ("numa", page_of(&fixture::matrix())),
        ("latencies", page_of(&scripted::latencies())),
        ("hostile", page_of(&scripted::hostile())),
        ("stopped", page_of(&fixture::mixed())),
        ("compared", compared::page()),
        ("hostile compared", compared::hostile()),
    ]
}

#[test]
fn nothing_is_on_the_console_and_no_request_leaves_the_file() {
    let Some(mut browser) = Chromium::start() else { return };
    for (name, page) in pages() {
        let page = saved(&page);
        browser.open(&page.path, 1280);
        let title = browser.value("document.title");
        assert!(title.as_str().is_some_and(|title| title.ends_with(" · Seatrial")), "{name}: {title}");
        // Hovers over all elements with tooltips, and follows every link.
        let visited = browser.value(
            "(() => { for (const at of document.querySelectorAll('g.pt, [data-d]')) at.dispatchEvent(new \
             PointerEvent('pointerover', { bubbles: true })); let links = 0; for (const link of \
             document.querySelectorAll('a[href^=\"#\"]')) { link.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true })); links += 1; } return links; })()",
        );
        assert!(visited.as_u64() > Some(3), "{name}: {visited}");
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{name}");
        assert_eq!(browser.requests(), Vec::<String>::new(), "{name}");
        assert_ne!(browser.value("document.title"), "hit", "{name}");
    }
}

/// The number of visible rows in the table of nodes.
const SEEN: &str =
    "Array.from(document.querySelectorAll('#nodes tbody tr')).filter((row) => row.checkVisibility()).length";

#[test]
fn filters_hide_what_is_not_wanted_and_give_it_back() {
    let Some(mut browser) = Chromium::start() else { return };
    let roles =
        seatrial_model::profile::Role { nodes: "n[01-05]".parse().expect("a set of nodes"), expect: None };
    let mut profile = seatrial_model::profile::Profile::default();
    profile.roles.insert("head".to_owned(), roles);
    let context = PageContext { profile: Some(&profile), ..PageContext::default() };
    let page = saved(&page_in(&fixture::fleet(), &context));
    browser.open(&page.path, 1280);
    assert_eq!(browser.value(SEEN), 20);
    let set = |browser: &mut Chromium, change: &str| {
        browser.value(&format!(
            "(() => {{ const form = document.getElementById('filter'); const of = form.elements; {change}; \
             form.dispatchEvent(new Event('input')); }})()"
        ));
        browser.value(SEEN)
    };
    assert_eq!(set(&mut browser, "of.node.value = 'n13'"), 1);
    assert_eq!(set(&mut browser, "of.node.value = 'n01, n02'"), 2);
    assert_eq!(set(&mut browser, "of.node.value = ''; of.role.value = 'head'"), 5);
    assert_eq!(set(&mut browser, "of.role.value = ''"), 20);
    let only_fails = "for (const box of document.querySelectorAll('input[name=verdict]')) box.checked = box.value === 'fail'";
    assert_eq!(set(&mut browser, only_fails), 1);
    assert!(
        browser.value("document.querySelector('#filter output').textContent").to_string().contains(" of ")
    );
    browser.value(
        "document.querySelector('#filter button').click(), new Promise((done) => setTimeout(done, 50))",
    );
    assert_eq!(browser.value(SEEN), 20);
}

/// The texts of the visible rows of the table of differences.
const TOLD: &str = "Array.from(document.querySelectorAll('#compared-1 table:has(.gain) tbody tr')).filter((row) => \
                    row.checkVisibility()).map((row) => row.cells[2].textContent.trim().slice(2).replace(/ .[0-9].$/, '')).join()";

#[test]
fn the_differences_of_a_comparison_are_filtered_by_node_and_by_what_they_are_called() {
    let Some(mut browser) = Chromium::start() else { return };
    let page = saved(&compared::page());
    browser.open(&page.path, 1280);
    let all = "worse,cannot tell,same,same,better,not comparable,not comparable";
    assert_eq!(browser.value(TOLD), all);
    let set = |browser: &mut Chromium, change: &str| {
        browser.value(&format!(
            "(() => {{ const form = document.getElementById('filter'); const boxes = form.elements.verdict; {change}; \
             form.dispatchEvent(new Event('input')); }})()"
        ));
        browser.value(TOLD)
    };
    assert_eq!(set(&mut browser, "form.elements.node.value = 'n1'"), "worse,same,better,not comparable");
    let only_worse = "for (const box of boxes) box.checked = box.value === 'fail'";
    assert_eq!(set(&mut browser, only_worse), "worse");
    assert_eq!(
        set(&mut browser, "form.elements.node.value = ''; for (const box of boxes) box.checked = true"),
        all
    );
}

/// Positions of the pictures of differences and of their axis: left and right ends of each, then whether a row's
/// words are above its picture, then the width of the page.
const DRAWN: &str = "(() => { const ends = (at) => { const box = at.getBoundingClientRect(); return [box.left, box.right]; }; \
                     const all = Array.from(document.querySelectorAll('#compared-1 .gain')); \
                     const above = (at) => { const head = at.closest('tr').cells[0]; return head.getBoundingClientRect().bottom \
                     <= at.getBoundingClientRect().top; }; \
                     return { ends: all.map(ends), above: all.slice(1).every(above), width: document.documentElement.scrollWidth \
                     }; })()";

#[test]
fn the_drawn_differences_are_seen_on_a_phone_without_scrolling_sideways() {
    let Some(mut browser) = Chromium::start() else { return };
    let page = saved(&compared::page());
    browser.open(&page.path, 390);
    let drawn = browser.value(DRAWN);
    assert!(drawn["width"].as_u64().is_some_and(|width| width <= 390), "the page is wider than the screen");
    assert_eq!(drawn["above"], true);
    let ends = drawn["ends"].as_array().expect("pictures");
    assert_eq!(ends.len(), 6, "the axis and five differences");
    // A picture has a meaning only on its axis.
    assert!(ends.iter().all(|picture| *picture == ends[0]), "{ends:?}");
    let (left, right) = (ends[0][0].as_f64().expect("a place"), ends[0][1].as_f64().expect("a place"));
    assert!(left >= 0.0 && right <= 390.0 && right - left > 300.0, "{left} to {right}");
    let said = browser.value(
        "Array.from(document.querySelector('#compared-1 table:has(.gain) tbody tr').cells).map((cell) => \
         getComputedStyle(cell, '::before').content + cell.textContent.trim()).join(' ')",
    );
    // Cells name their columns.
    for word in ["\"change \"-40%", "\"before \"218.9", "\"after \"131.9"] {
        assert!(said.as_str().is_some_and(|said| said.contains(word)), "{word}: {said}");
    }
    browser.open(&page.path, 1280);
    let wide = browser.value(DRAWN);
    assert_eq!(wide["above"], false, "a table where there is room for one");
}

/// The width of the page beyond the window, with all folds open; the boxes that scroll by themselves; and some of the
/// elements that reach beyond the window.
const BEYOND: &str = "(() => { for (const fold of document.querySelectorAll('details')) fold.open = true; \
                      const wide = Array.from(document.querySelectorAll('.scroll')).filter((box) => box.scrollWidth > \
                      box.clientWidth + 1).map((box) => box.getAttribute('aria-label')); \
                      const over = Array.from(document.querySelectorAll('body *')).filter((at) => \
                      at.getBoundingClientRect().right > innerWidth + 1).slice(-3).map((at) => at.outerHTML.slice(0, 200)); \
                      return { width: document.documentElement.scrollWidth - innerWidth, wide, over }; })()";

#[test]
fn no_page_of_a_run_scrolls_sideways() {
    let Some(mut browser) = Chromium::start() else { return };
    for (name, document) in pictures::records() {
        let page = saved(&page_of(&document));
        for width in [1280, 400] {
            browser.open(&page.path, width);
            let beyond = browser.value(BEYOND);
            assert!(
                beyond["width"].as_i64().is_some_and(|pixels| pixels <= 0),
                "{name} at {width}: {beyond}"
            );
            assert_eq!(beyond["wide"], serde_json::json!([]), "{name} at {width}");
        }
    }
    // Of the others a wide matrix may scroll in its box.
    for (name, page) in pages() {
        let page = saved(&page);
        for width in [1280, 400] {
            browser.open(&page.path, width);
            let beyond = browser.value(BEYOND);
            assert!(
                beyond["width"].as_i64().is_some_and(|pixels| pixels <= 0),
                "{name} at {width}: {beyond}"
            );
        }
    }
}

/// Per case with one figure: whether its facts are beside the figure.
const BESIDE: &str = "Array.from(document.querySelectorAll('.case')).filter((one) => one.querySelectorAll('figure').length === \
                      1).map((one) => { const box = (of) => one.querySelector(of).getBoundingClientRect(); const [figure, facts] = \
                      [box('figure'), box(':scope > .facts')]; return facts.left >= figure.right && facts.top < figure.bottom; })";

#[test]
fn paper_is_not_left_white_beside_and_under_figures() {
    let Some(mut browser) = Chromium::start() else { return };
    let page = saved(&page_of(&fixture::host()));
    browser.open(&page.path, 1280);
    browser.as_printed();
    let beside = browser.value(BESIDE);
    let beside = beside.as_array().expect("cases");
    assert!(beside.len() > 3 && beside.iter().all(|is| *is == true), "{beside:?}");
    let (sheets, content) = browser.sheets();
    // Blocks that are not split leave at most a tenth of a sheet empty.
    assert!(sheets as f64 <= (1.1 * content).ceil(), "{sheets} sheets for {content:.2}");
}

/// The background colour.
const PAPER: &str = "getComputedStyle(document.body).backgroundColor";

#[test]
fn the_theme_follows_the_system_until_the_switch_says_otherwise() {
    let Some(mut browser) = Chromium::start() else { return };
    for page in [page_of(&fixture::host()), compared::page()] {
        let page = saved(&page);
        let mut found = Vec::new();
        for scheme in ["light", "dark"] {
            browser.prefer(scheme);
            browser.open(&page.path, 1280);
            for choice in ["", "light", "dark"] {
                browser.value(&format!(
                    "(() => {{ const theme = document.querySelector('[name=theme]'); theme.value = '{choice}'; \
                     theme.dispatchEvent(new Event('change')); }})()"
                ));
                let paper = browser.value(PAPER);
                // Plots take their colours from the same variables.
                let dot =
                    browser.value("getComputedStyle(document.querySelector('g.pt path[fill^=var]')).fill");
                found.push((paper, dot));
            }
        }
        let [light, dark] = [&found[1], &found[2]];
        assert_ne!(light.0, dark.0);
        assert_ne!(light.1, dark.1);
        let expected = [light, light, dark, dark, light, dark];
        assert_eq!(found.iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn arrows_walk_over_a_matrix_and_enter_leads_to_the_case() {
    let Some(mut browser) = Chromium::start() else { return };
    let page = saved(&page_of(&scripted::pairs(5)));
    browser.open(&page.path, 1280);
    browser.value("document.querySelector('table.heat td[data-d]').focus()");
    let detail = "document.querySelector('.detail').textContent";
    assert!(browser.value(detail).to_string().contains("n1 → n2: 47.0 Gbit/s"), "{}", browser.value(detail));
    let press = |browser: &mut Chromium, key: &str| {
        browser.value(&format!(
            "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
        ));
    };
    press(&mut browser, "ArrowRight");
    assert!(browser.value(detail).to_string().contains("n1 → n3: "), "{}", browser.value(detail));
    press(&mut browser, "ArrowDown");
    assert!(browser.value(detail).to_string().contains("n2 → n3: "), "{}", browser.value(detail));
    press(&mut browser, "Enter");
    let open = browser.value(
        "new Promise((done) => setTimeout(() => done(document.querySelector(location.hash).open), 100))",
    );
    assert_eq!(open, true);
}

#[test]
fn an_accessibility_checker_finds_nothing() {
    let Some(mut browser) = Chromium::start() else { return };
    let script = match axe::script() {
        Ok(script) => script,
        Err(why) => return skip(&why).unwrap_or_default(),
    };
    for (name, page) in pages() {
        let page = saved(&page);
        for (scheme, width) in [("light", 1280), ("dark", 390)] {
            browser.prefer(scheme);
            browser.open(&page.path, width);
            browser.value("for (const fold of document.querySelectorAll('details')) fold.open = true");
            browser.value(&format!("{script}; 0"));
            let found = browser.value(
                "axe.run().then((found) => found.violations.map((one) => `${one.id}: ${one.help}: ` + \
                 one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary).join('; ')))",
            );
            assert_eq!(found, serde_json::json!([]), "{name} {scheme} {width}");
        }
    }
}

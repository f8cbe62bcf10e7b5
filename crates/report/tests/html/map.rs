//! The map of a machine and the heat map of a fleet.

use quick_xml::Reader;
use quick_xml::events::Event;
use seatrial_model::record::Document;
use seatrial_report::html::PageContext;
use seatrial_report::map_file;

use super::{fixture, machines, page_in};

/// The texts of an SVG file, which must be well-formed.
fn texts(svg: &str) -> Vec<String> {
    let mut reader = Reader::from_str(svg);
    let mut texts = Vec::new();
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Eof => return texts,
            Event::Text(text) => texts.push(text.decode().expect("text").into_owned()),
            _ => {}
        }
    }
}

fn page(name: &str, document: &Document) -> String {
    let nodes = machines::nodes(name, document);
    page_in(document, &PageContext { nodes: &nodes, ..PageContext::default() })
}

#[test]
fn a_map_without_a_run_has_every_part_once_and_refers_to_nothing_outside() {
    let nodes = machines::nodes("two-gpus", &fixture::two_gpus());
    let mut file = Vec::new();
    map_file(&nodes, &mut file).expect("memory takes all");
    let svg = String::from_utf8(file).expect("text");
    let texts = texts(&svg);
    for part in ["Socket 0", "NUMA node 1", "GPU 0", "GPU 1", "eth0", "mlx5_0/1", "/scratch"] {
        assert_eq!(texts.iter().filter(|text| *text == part).count(), 1, "{part} in {texts:#?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("nvme0n1 …") && text.ends_with("(12)")), "{texts:#?}");
    assert!(texts.iter().any(|text| text.contains("12 NVLinks to GPU 1")), "{texts:#?}");
    let outside = svg.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http") && !outside.contains("url(") && !outside.contains("var("), "{outside}");
}

#[test]
fn the_map_of_a_run_has_numbers_that_lead_to_their_cases() {
    let page = page("two-gpus", &fixture::two_gpus());
    let map = &page[page.find("<section id=\"map\"").expect("a map")
        ..page.find("<section id=\"act\"").expect("actions")];
    // Once in each of two widths, and once in the list.
    for number in ["27.7 GB/s", "55.4 GB/s"] {
        assert!(map.matches(number).count() >= 3, "{number}: {map}");
    }
    let link = map.split("href=\"#").nth(1).and_then(|rest| rest.split('"').next()).expect("a link");
    assert!(page.contains(&format!("id=\"{link}\"")), "{link}");
}

#[test]
fn the_nodes_of_a_fleet_stand_worst_first_and_bad_cells_say_why() {
    let page = page("fleet", &fixture::fleet_with_three_bad_nodes());
    let fleet = &page[page.find("<section id=\"fleet\"").expect("a fleet")
        ..page.find("<section id=\"map\"").expect("a map")];
    let at = |text: &str| fleet.find(text).unwrap_or_else(|| panic!("no {text} in {fleet}"));
    assert!(at(">n13<") < at(">n41<") && at(">n41<") < at(">n57<"));
    assert!(fleet.contains("<title>n13: memory mem.bandwidth"), "{fleet}");
    assert!(!fleet.contains(">n02<"), "of nodes that pass only every tenth is named");
}

#[test]
fn one_node_has_no_heat_map() {
    assert!(!page("laptop", &fixture::host()).contains("id=\"fleet\""));
}

/// Bytes for the parts of a node that passes.
const BYTES_A_NODE: usize = 60;

#[test]
fn a_thousand_nodes_that_pass_cost_a_path_and_not_an_element_each() {
    let mut document = fixture::fleet_with_three_bad_nodes();
    let sound = document.results.iter().find(|case| case.nodes == ["n02"]).expect("a case").clone();
    document.results.retain(|case| case.case == sound.case);
    document.verdicts.clear();
    document.findings.clear();
    document.run.nodes = (0..1000).map(|number| format!("n{number:04}")).collect();
    document.results = document
        .run
        .nodes
        .iter()
        .map(|node| {
            let mut case = sound.clone();
            case.case = format!("mem.bandwidth@{node}/node").parse().expect("an id");
            case.nodes = vec![node.clone()];
            case
        })
        .collect();
    let page = page_in(&document, &PageContext::default());
    let fleet = &page[page.find("<section id=\"fleet\"").expect("a fleet")
        ..page.find("<section id=\"act\"").expect("actions")];
    assert!(fleet.len() < 1000 * BYTES_A_NODE, "{} bytes", fleet.len());
    assert!(fleet.contains(">n0000<") && fleet.contains(">n0990<"));
}

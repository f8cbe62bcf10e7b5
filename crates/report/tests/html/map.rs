//! The map of a machine and the heat map of a fleet.

use quick_xml::Reader;
use quick_xml::events::Event;
use seatrial_model::machine::Known;
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

/// The list of a map as text: the part after `start`, up to the next part of its kind.
fn listed<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let list = &page[page.find(" as a list</summary>").expect("a list")..];
    let from =
        list.find(&format!("<strong>{start}</strong>")).unwrap_or_else(|| panic!("no {start} in {list}"));
    let rest = &list[from..];
    &rest[..rest.find(end).unwrap_or(rest.len())]
}

#[test]
fn links_between_gpus_have_the_bandwidth_of_their_direction() {
    let page = page("two-gpus", &fixture::two_gpus());
    for (gpu, told) in
        [("GPU 0", ["write 268 GB/s", "read 262 GB/s"]), ("GPU 1", ["write 269 GB/s", "read 262 GB/s"])]
    {
        let link = listed(&page, gpu, "<strong>eth0");
        let link = &link[link.find("NVLinks to GPU").expect("the link")..];
        for text in told {
            assert!(link.contains(&format!("gpu.peer_copy {text}")), "{gpu}: no {text} in {link}");
        }
    }
}

#[test]
fn devices_below_a_shared_pcie_switch_stand_in_its_box() {
    let page = page("two-gpus", &fixture::two_gpus());
    let switch = listed(&page, "PCIe switch 0000:3f:00.0", "<strong>Socket 1");
    assert!(switch.contains("PCIe 5.0 x16 to the processor"), "{switch}");
    assert!(
        switch.contains(">GPU 0<") && switch.contains(">mlx5_0/1<") && !switch.contains(">eth0<"),
        "{switch}"
    );
}

#[test]
fn results_of_processors_stand_at_their_socket() {
    let mut document = fixture::host();
    let mut clock = fixture::measured("n1", "copy", "nt", 4.1, &fixture::limit(5.0));
    clock.case = "cpu.clock@n1/node".parse().expect("an id");
    clock.bench = "cpu.clock".to_owned();
    document.results.push(clock);
    let page = page("laptop", &document);
    let socket = listed(&page, "Socket 0", "<strong>NUMA node 0");
    assert!(socket.contains("cpu.clock 4.10 GB/s"), "{socket}");
}

#[test]
fn every_kind_of_machine_has_a_map_and_those_that_fail_come_first() {
    let document = fixture::fleet_with_three_bad_nodes();
    let mut nodes = machines::nodes("fleet", &document);
    // Kinds of seven nodes, by their memory; the bad ones are of the last kinds.
    for (at, node) in nodes.iter_mut().enumerate() {
        node.machine.memory.total_bytes = Known::Known((64 - at as u64 / 7) << 30);
    }
    let page = page_in(&document, &PageContext { nodes: &nodes, ..PageContext::default() });
    let map = &page[page.find("<section id=\"map\"").expect("a map")
        ..page.find("<section id=\"act\"").expect("actions")];
    let titles: Vec<&str> = map.split("aria-label=\"Map of ").skip(1).step_by(2).collect();
    assert_eq!(titles.len(), 9);
    assert!(titles[0].starts_with("n[08-14];") && titles[1].starts_with("n[36-42];"), "{:?}", &titles[..2]);
    assert_eq!(map.matches("<summary>Map of ").count(), 5, "the others are folded");
}

#[test]
fn a_part_that_is_bad_on_few_of_many_nodes_looks_sound_with_a_band() {
    let page = page("fleet", &fixture::fleet_with_three_bad_nodes());
    let map = &page[page.find("<section id=\"map\"").expect("a map")
        ..page.find("<section id=\"act\"").expect("actions")];
    assert!(map.contains("class=\"box pass\"") && map.contains("class=\"band fail\""), "{map}");
    assert_eq!(map.matches("class=\"box fail\"").count(), 1, "in the legend only: {map}");
    assert!(map.contains("mem.bandwidth copy 131 GB/s on n13, 43% of 307 GB/s, fail; 2 of 63 fail"), "{map}");
    assert!(!page_in(&fixture::host(), &PageContext::default()).contains("class=\"band"));
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

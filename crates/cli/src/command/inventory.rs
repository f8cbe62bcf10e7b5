//! `seatrial inventory`.

use std::io;
use std::path::Path;

use seatrial_inventory::part_limits;
use seatrial_model::machine::{Machine, Serials};
use seatrial_report::export::put;
use seatrial_report::inventory::{self, Node};
use seatrial_report::map_file;
use serde_json::json;

use crate::args::{InventoryArgs, TableOrJson};
use crate::error::CliError;
use crate::exit::Exit;
use crate::{fleet, output};

const SCHEMA: u32 = 1;

pub fn run(args: &InventoryArgs) -> Result<Exit, CliError> {
    let fleet = fleet::launch(&args.nodes, args.script.as_deref())?;
    let node = |hello: &seatrial_cluster::Hello| Node {
        name: hello.node.clone(),
        limits: part_limits(&hello.machine),
        machine: Machine { serials: Serials::default(), ..hello.machine.clone() },
    };
    let nodes: Vec<Node> = fleet.agents().iter().map(node).collect();
    let missing: Vec<(String, String)> =
        fleet.missing().iter().map(|missing| (missing.node.clone(), missing.why.to_string())).collect();
    drop(fleet);
    if let Some(file) = &args.map {
        write_map(&nodes, file)?;
    }
    let text = if args.output.output == TableOrJson::Json {
        let missing: Vec<_> =
            missing.iter().map(|(node, why)| json!({ "node": node, "reason": why })).collect();
        format!("{:#}\n", json!({ "schema": SCHEMA, "nodes": nodes, "missing": missing }))
    } else {
        inventory::render(&nodes, output::text_style(args.output.color))
    };
    output::print(&text)?;
    if args.output.output == TableOrJson::Table {
        missing.iter().for_each(|(node, why)| output::warn(&format!("{node} could not be reached: {why}")));
    }
    Ok(if missing.is_empty() { Exit::MET } else { Exit::INCOMPLETE })
}

fn write_map(nodes: &[Node], file: &Path) -> Result<(), CliError> {
    put(file, |out| map_file(nodes, out))
        .map_err(|error| io::Error::new(error.kind(), format!("--map {}: {error}", file.display())).into())
}

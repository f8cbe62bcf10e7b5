//! The maps of machines as one SVG file.

use std::io::{self, Write};

use super::colors::standing_alone;
use super::svg::{elements, safe};
use crate::inventory::{Node, kinds};
use crate::view::map::{MapBox, map};
use crate::words::set_of;

const WIDTH: f64 = 1180.0;

const MARGIN: f64 = 12.0;

/// Longest name of a set of nodes.
pub const LONGEST_SET: usize = 100;

/// Writes the map of each kind of machine of `nodes`, below each other, as SVG.
pub fn map_file(nodes: &[Node], out: &mut dyn Write) -> io::Result<()> {
    let maps: Vec<MapBox> =
        kinds(nodes).iter().map(|(node, names)| map(node, &set_of(names, LONGEST_SET), None)).collect();
    let (mut drawn, mut y) = (String::new(), 0.0);
    for map in &maps {
        let (elements, height) = elements(map, y, WIDTH, false, &|_| String::new());
        drawn += &elements;
        y += height + MARGIN;
    }
    let names: Vec<&str> = maps.iter().map(|map| map.name.as_str()).collect();
    let (width, height) = (WIDTH + 2.0 * MARGIN, y + MARGIN);
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"map\" width=\"{width}\" height=\"{height:.0}\" \
         viewBox=\"-{MARGIN} -{MARGIN} {width} {height:.0}\" role=\"img\" aria-labelledby=\"title desc\">\n\
         <title id=\"title\">Map of {}</title>\n<desc id=\"desc\">{}</desc>\n<style>{}</style>\n\
         <rect class=\"paper\" x=\"-{MARGIN}\" y=\"-{MARGIN}\" width=\"{width}\" height=\"{height:.0}\"/>\n{drawn}</svg>\n",
        safe(&names.join(", ")),
        safe(&maps.iter().map(MapBox::outline).collect::<Vec<_>>().join("\n")),
        standing_alone(),
    )
}

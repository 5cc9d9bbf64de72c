//! The graph in the language of Graphviz, for those who want to draw it themselves.

use std::fmt::Write;

use super::model::{Graph, Way};
use crate::units::{bytes, three_digits};

/// Names stand in quotes, in which a quote or a backslash has one before it.
fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

fn colour_of(way: Way) -> &'static str {
    match way {
        Way::Alone => "gray60",
        Way::Free => "forestgreen",
        Way::View => "dodgerblue3",
        Way::Copied => "darkorange",
        Way::Broken => "red",
    }
}

/// Describes it.
pub fn dot(graph: &Graph) -> String {
    let mut to = String::from("digraph sinew {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n");
    // To a text nothing fails to be written.
    for (at, node) in graph.nodes.iter().enumerate() {
        let _ = writeln!(to, "  n{at} [shape=box, style=rounded, label={}];", quoted(&node.name));
    }
    for (at, topic) in graph.topics.iter().enumerate() {
        let shape = if topic.is_service { "hexagon" } else { "ellipse" };
        let rate = format!("{} Hz, {}/s", three_digits(topic.hz()), bytes(topic.bytes_per_second()));
        let _ = writeln!(
            to,
            "  t{at} [shape={shape}, label={}, tooltip={}, xlabel=\"{rate}\"];",
            quoted(&topic.name),
            quoted(&topic.type_name)
        );
        for publisher in &topic.publishers {
            let _ = writeln!(to, "  n{} -> t{at};", publisher.node);
        }
        for subscriber in &topic.subscribers {
            let style = if subscriber.way() == Way::Broken { ", style=dashed" } else { "" };
            let why: Vec<&str> = subscriber.pairs.iter().map(|pair| pair.why.as_str()).filter(|why| !why.is_empty()).collect();
            let (colour, why) = (colour_of(subscriber.way()), quoted(&why.join("; ")));
            let _ = writeln!(to, "  t{at} -> n{} [color={colour}{style}, tooltip={why}];", subscriber.node);
        }
    }
    to.push_str("}\n");
    to
}

#[cfg(test)]
mod tests {
    use super::super::model::tests::graph;
    use super::*;

    #[test]
    fn nodes_topics_and_links_are_described() {
        let told = dot(&graph(&["camera > camera/image > !viewer", "> goal > viewer"]));
        for part in
            ["n0 [shape=box, style=rounded, label=\"camera\"];", "n0 -> t0;", "t0 -> n1 [color=red, style=dashed", "xlabel=\"0 Hz, 0 B/s\""]
        {
            assert!(told.contains(part), "{part}: {told}");
        }
    }

    #[test]
    fn a_name_does_not_end_its_quotes() {
        assert_eq!(quoted("a\"\\\n"), "\"a\\\"\\\\\u{fffd}\"");
    }
}

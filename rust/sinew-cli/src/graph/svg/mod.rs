//! The graph as a picture: SVG that needs nothing else, for light and dark pages.

mod legend;
mod text;

use crate::output::counted;
use std::fmt::Write;

use super::layout::{Curve, Layout, Place, Size, layout};
use super::model::{Graph, Node, Subscriber, Topic, Way};
use crate::failure::{Done, Failure};
use crate::units::{bytes, nanoseconds, three_digits};
use text::{escaped, shortened, width};

/// More boxes and bends nobody can read, and they take seconds to be put in order.
const MOST: usize = 20_000;
const LETTERS: usize = 44;
const PAGE: f64 = 24.0;
/// How far a line goes on below its box.
const UNDER: f64 = 6.0;
const STYLE: &str = include_str!("style.css");
const NAME_SIZE: f64 = 13.0;
const RATE_SIZE: f64 = 11.0;

/// Draws it.
pub fn svg(graph: &Graph) -> Done<String> {
    let links = graph.links();
    let nodes =
        graph.nodes.iter().map(|node| Size { width: width(&shortened(&node.name, LETTERS), NAME_SIZE) * 1.06 + 28.0, height: 38.0 });
    let topics = graph.topics.iter().map(|topic| {
        let name = width(&shortened(&topic.name, LETTERS), NAME_SIZE);
        Size { width: name.max(width(&rate_of(topic), RATE_SIZE)) + 32.0, height: 38.0 }
    });
    let sizes: Vec<Size> = nodes.chain(topics).collect();
    let drawn = layout(&sizes, &links, graph.nodes.len(), MOST).ok_or_else(|| {
        let (nodes, topics) = (graph.nodes.len(), graph.topics.len());
        Failure::Failed(format!("nobody could read a picture of {nodes} nodes and {topics} topics: choose some with --filter TEXT"))
    })?;
    let mut page = Page { to: String::new(), marks: String::new(), x: PAGE, y: PAGE };
    page.links(graph, &drawn);
    for (node, place) in graph.nodes.iter().zip(&drawn.boxes) {
        page.node(node, place);
    }
    for (topic, place) in graph.topics.iter().zip(&drawn.boxes[graph.nodes.len()..]) {
        page.topic(topic, place);
    }
    let legend = legend::legend(graph, drawn.width);
    let (wide, high) = (drawn.width.max(legend.width) + 2.0 * PAGE, drawn.height + legend.height + 3.0 * PAGE);
    let title = format!("{} and {}", counted(graph.nodes.len() as u64, "node"), counted(graph.topics.len() as u64, "topic"));
    let mut whole = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" viewBox=\"0 0 {wide:.0} {high:.0}\" role=\"img\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"10\"/>\n",
        wide - 1.0,
        high - 1.0
    );
    whole.push_str(&page.to);
    whole.push_str(&page.marks);
    let _ = writeln!(whole, "<g transform=\"translate({PAGE:.1} {:.1})\">\n{}</g>\n</svg>", drawn.height + 2.0 * PAGE, legend.drawn);
    Ok(whole)
}

/// "30.0 Hz, 187 MB/s".
fn rate_of(topic: &Topic) -> String {
    let hz = topic.hz();
    if topic.publishers.is_empty() {
        return (if topic.is_service { "nobody calls" } else { "nobody publishes" }).to_owned();
    }
    let rate = if hz == 0.0 { "silent".to_owned() } else { format!("{} Hz", three_digits(hz)) };
    let bytes_per_second = topic.bytes_per_second();
    if bytes_per_second > 0.0 { format!("{rate} · {}/s", bytes(bytes_per_second)) } else { rate }
}

/// By decades of bytes a second.
fn thickness(bytes_per_second: f64) -> f64 {
    1.3 + 0.75 * (1.0 + bytes_per_second / 1e4).log10()
}

fn class_of(way: Way) -> &'static str {
    match way {
        Way::Alone => "alone",
        Way::Free => "free",
        Way::View => "view",
        Way::Copied => "copied",
        Way::Broken => "broken",
    }
}

/// What is drawn goes onto it.
struct Page {
    to: String,
    /// That nothing may hide.
    marks: String,
    x: f64,
    y: f64,
}

impl Page {
    /// To a text nothing fails to be written.
    fn put(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = self.to.write_fmt(line);
        self.to.push('\n');
    }

    /// Those that are broken last, so that nothing hides them.
    fn links(&mut self, graph: &Graph, drawn: &Layout) {
        let mut curves = drawn.curves.iter();
        let mut of_subscribers = Vec::new();
        for topic in &graph.topics {
            for publisher in &topic.publishers {
                let Some(curve) = curves.next() else { continue };
                let told = format!("{} publishes {}", graph.nodes[publisher.node].name, topic.name);
                let told = format!("{told}: {} Hz, {}/s", three_digits(publisher.hz), bytes(publisher.bytes_per_second));
                self.link(curve, "published", thickness(publisher.bytes_per_second), &told);
            }
            of_subscribers.extend(topic.subscribers.iter().filter_map(|subscriber| Some((topic, subscriber, curves.next()?))));
        }
        of_subscribers.sort_by_key(|(_, subscriber, _)| subscriber.way());
        for (topic, subscriber, curve) in of_subscribers {
            let way = subscriber.way();
            let told = told_of(graph, topic, subscriber);
            let flows = if way == Way::Broken { 0.0 } else { topic.bytes_per_second() };
            self.link(curve, class_of(way), thickness(flows), &told);
            if way == Way::Broken {
                self.cross(curve, &told);
            } else if subscriber.lost() > 0 {
                self.lost(curve, subscriber.lost());
            }
        }
    }

    fn link(&mut self, curve: &Curve, class: &str, thick: f64, told: &str) {
        let head = 5.0 + thick;
        let (dx, dy) = (self.x, self.y);
        let at = |(x, y): (f64, f64)| (x + dx, y + dy);
        let mut levels: Vec<[(f64, f64); 2]> = curve.levels.iter().map(|[left, right]| [at(*left), at(*right)]).collect();
        let (Some(first), Some(last)) = (levels.first().copied(), levels.last().copied()) else { return };
        // The line ends within its head, and begins below its box, which may be round.
        let (tip, toward) = if curve.goes_back { (first[0], 1.0) } else { (last[1], -1.0) };
        let end = (tip.0 + toward * head * 0.8, tip.1);
        let count = levels.len();
        if curve.goes_back {
            (levels[0][0], levels[count - 1][1].0) = (end, last[1].0 + UNDER);
        } else {
            (levels[count - 1][1], levels[0][0].0) = (end, first[0].0 - UNDER);
        }
        let mut path = format!("M{:.1} {:.1}", levels[0][0].0, levels[0][0].1);
        for (at, [left, right]) in levels.iter().enumerate() {
            if at > 0 {
                let before = levels[at - 1][1];
                let middle = (before.0 + left.0) / 2.0;
                let _ = write!(path, "C{middle:.1} {:.1} {middle:.1} {:.1} {:.1} {:.1}", before.1, left.1, left.0, left.1);
            }
            let _ = write!(path, "H{:.1}", right.0);
        }
        self.put(format_args!("<g><title>{}</title>", escaped(told)));
        self.put(format_args!("<path class=\"link {class}\" stroke-width=\"{thick:.1}\" d=\"{path}\"/>"));
        let (base, half) = (tip.0 + toward * head * 1.5, head * 0.6);
        let (x, y) = tip;
        self.put(format_args!("<path class=\"head {class}\" d=\"M{x:.1} {y:.1}L{base:.1} {:.1}V{:.1}Z\"/>", y - half, y + half));
        self.put(format_args!("</g>"));
    }

    /// In the middle of a link on which nothing comes.
    fn cross(&mut self, curve: &Curve, told: &str) {
        let gaps = curve.levels.len() - 1;
        let ([_, from], [to, _]) = (curve.levels[(gaps - 1) / 2], curve.levels[(gaps - 1) / 2 + 1]);
        let (x, y) = ((from.0 + to.0) / 2.0 + self.x, (from.1 + to.1) / 2.0 + self.y);
        let _ = writeln!(
            self.marks,
            "<g transform=\"translate({x:.1} {y:.1})\"><title>{}</title><circle class=\"cross\" r=\"8\"/>\
             <path class=\"stroke\" d=\"M-3.2 -3.2L3.2 3.2M-3.2 3.2L3.2 -3.2\"/></g>",
            escaped(told)
        );
    }

    /// Where it ends.
    fn lost(&mut self, curve: &Curve, count: u64) {
        let (Some(first), Some(last)) = (curve.levels.first(), curve.levels.last()) else { return };
        let (tip, anchor, away) = if curve.goes_back { (first[0], "start", 16.0) } else { (last[1], "end", -16.0) };
        let (x, y) = (tip.0 + self.x + away, tip.1 + self.y + 4.0);
        let _ = writeln!(self.marks, "<text class=\"lost\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{count} lost</text>");
    }

    fn node(&mut self, node: &Node, place: &Place) {
        let mut told = node.name.clone();
        if let Some(pid) = node.pid {
            let _ = write!(told, "\nprocess {pid}, user {}", node.uid);
        }
        if !node.container.is_empty() {
            let _ = write!(told, "\nin {}", node.container);
        }
        let (x, y, middle) = (place.x + self.x, place.y + self.y, place.x + self.x + place.width / 2.0);
        self.put(format_args!("<g><title>{}</title>", escaped(&told)));
        let (wide, high) = (place.width, place.height);
        self.put(format_args!("<rect class=\"node\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" rx=\"7\"/>"));
        let name = escaped(&shortened(&node.name, LETTERS));
        let line = y + high / 2.0 + 4.5;
        self.put(format_args!("<text class=\"name node-name\" x=\"{middle:.1}\" y=\"{line:.1}\">{name}</text></g>"));
    }

    fn topic(&mut self, topic: &Topic, place: &Place) {
        let (x, y, middle) = (place.x + self.x, place.y + self.y, place.x + self.x + place.width / 2.0);
        let (wide, high) = (place.width, place.height);
        let is_idle = topic.publishers.is_empty() || topic.subscribers.is_empty();
        let idle = if is_idle { " idle" } else { "" };
        let nobody = match (topic.subscribers.is_empty(), topic.is_service) {
            (false, _) => "",
            (true, false) => "\nnobody subscribes",
            (true, true) => "\nnobody provides it",
        };
        self.put(format_args!("<g><title>{}{nobody}</title>", escaped(&format!("{}\n{}", topic.name, topic.type_name))));
        if topic.is_service {
            let (tip, right, bottom) = (14.0, x + wide, y + high);
            let (left_bend, right_bend, level) = (x + tip, right - tip, y + high / 2.0);
            self.put(format_args!(
                "<path class=\"service{idle}\" d=\"M{x:.1} {level:.1}L{left_bend:.1} {y:.1}H{right_bend:.1}L{right:.1} {level:.1}L{right_bend:.1} {bottom:.1}H{left_bend:.1}Z\"/>"
            ));
        } else {
            let round = high / 2.0;
            self.put(format_args!(
                "<rect class=\"topic{idle}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" rx=\"{round:.1}\"/>"
            ));
        }
        let name = escaped(&shortened(&topic.name, LETTERS));
        self.put(format_args!("<text class=\"name\" x=\"{middle:.1}\" y=\"{:.1}\">{name}</text>", y + 16.5));
        self.put(format_args!("<text class=\"rate\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text></g>", y + 30.0, escaped(&rate_of(topic))));
    }
}

/// What a subscriber's link says when one points at it.
fn told_of(graph: &Graph, topic: &Topic, subscriber: &Subscriber) -> String {
    let mut told = format!("{} to {}", topic.name, graph.nodes[subscriber.node].name);
    if subscriber.pairs.is_empty() {
        told.push_str("\nnobody publishes");
    }
    for pair in &subscriber.pairs {
        let way = pair.delivery.map_or_else(|| "not connected".to_owned(), |delivery| delivery.to_string());
        let _ = write!(told, "\nfrom {}: {way}", graph.nodes[pair.from].name);
        if pair.delivery.is_some() {
            let _ = write!(told, ", {} Hz, {} lost, {} held", three_digits(pair.hz), pair.lost, pair.held);
        }
        if let (Some(half), Some(most)) = (pair.p50_ns, pair.p99_ns) {
            let _ = write!(told, ", half within {}, 99 % within {}", nanoseconds(half as f64), nanoseconds(most as f64));
        }
        if !pair.why.is_empty() {
            let _ = write!(told, "\n{}", pair.why);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::model::tests::graph;
    use super::*;

    #[test]
    fn everything_is_in_the_picture() {
        let drawn = svg(&graph(&["camera > camera/image > viewer !logger", "> camera/info > viewer", "viewer > clicks > "])).unwrap();
        for part in ["camera", "viewer", "logger", "camera/image", "30.0 Hz · 30.0 MB/s", "nobody publishes", "nobody subscribes"] {
            assert!(drawn.contains(part), "{part}: {drawn}");
        }
        assert!(drawn.contains("class=\"link broken\"") && drawn.contains("the publisher offers &lt;best_effort&gt;"), "{drawn}");
        assert!(drawn.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn a_domain_of_nobody_is_a_page_with_nothing_on_it() {
        assert!(svg(&Graph::default()).unwrap().contains("0 nodes and 0 topics"));
    }

    #[test]
    fn what_strangers_call_themselves_is_no_part_of_the_picture() {
        let mut named = graph(&["camera > camera/image > viewer"]);
        named.nodes[0].name = "</text><script>alert(1)</script>".to_owned();
        named.topics[0].type_name = "a\"/><script>".to_owned();
        named.nodes[0].container = "]]><!--".to_owned();
        let drawn = svg(&named).unwrap();
        let parsed = roxmltree::Document::parse(&drawn).unwrap();
        let elements: BTreeSet<&str> = parsed.descendants().map(|node| node.tag_name().name()).filter(|name| !name.is_empty()).collect();
        assert_eq!(elements, BTreeSet::from(["g", "path", "rect", "style", "svg", "text", "title"]));
    }

    #[test]
    fn a_crowd_is_not_drawn_and_told_how_to_become_one_that_is() {
        let nodes = (0..=MOST).map(|at| Node { name: at.to_string(), ..Node::default() }).collect();
        let crowd = Graph { nodes, ..Graph::default() };
        let Err(Failure::Failed(why)) = svg(&crowd) else { panic!() };
        assert!(why.contains("--filter"), "{why}");
    }
}

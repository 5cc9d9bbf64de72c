//! The graph on a terminal: for each node, in the order in which messages go, what it publishes to whom.

use std::collections::BTreeMap;
use std::io::Write;

use anstyle::Style;

use super::layout::layers::layers;
use super::model::{Graph, Subscriber, Topic, Way};
use crate::failure::Done;
use crate::output::{BAD, FAINT, GOOD, NAME, TITLE, WARN, shown};
use crate::units::{bytes, three_digits};

/// Longer names push what stands behind them to the right.
const WIDEST: usize = 56;

/// A line, but for those of nodes alone.
struct Line {
    tree: &'static str,
    branch: &'static str,
    name: String,
    style: Style,
    says: Vec<(String, Style)>,
}

impl Line {
    fn width(&self) -> usize {
        [self.tree, self.branch, &self.name].iter().map(|part| part.chars().count()).sum()
    }

    fn write(&self, out: &mut impl Write, width: usize) -> Done {
        let padding = " ".repeat(if self.says.is_empty() { 0 } else { width.saturating_sub(self.width()) });
        let style = self.style;
        write!(out, "{FAINT}{}{}{FAINT:#}{style}{}{style:#}{padding}", self.tree, self.branch, self.name)?;
        for (text, style) in &self.says {
            write!(out, "  {style}{text}{style:#}")?;
        }
        Ok(writeln!(out)?)
    }
}

/// Who publishes, and what, with whom it goes to.
struct Tree {
    title: String,
    style: Style,
    lines: Vec<Line>,
}

/// Prints it.
pub fn write(graph: &Graph, out: &mut impl Write) -> Done {
    let trees = trees(graph);
    let lines = trees.iter().flat_map(|tree| &tree.lines);
    let width = lines.clone().map(Line::width).filter(|width| *width <= WIDEST).max().unwrap_or(0);
    for (at, tree) in trees.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let style = tree.style;
        writeln!(out, "{style}{}{style:#}", tree.title)?;
        tree.lines.iter().try_for_each(|line| line.write(out, width))?;
    }
    let mut rest = said(graph).into_iter().peekable();
    if rest.peek().is_some() && !trees.is_empty() {
        writeln!(out)?;
    }
    rest.try_for_each(|(what, names)| Ok(writeln!(out, "{FAINT}{what}:{FAINT:#} {names}")?))
}

/// Nodes that publish, from where messages come to where they go, and last the topics that nobody publishes.
fn trees(graph: &Graph) -> Vec<Tree> {
    let columns = layers(graph.nodes.len() + graph.topics.len(), &graph.links(), graph.nodes.len()).layer;
    let mut of_nodes: BTreeMap<(usize, usize), Vec<&Topic>> = BTreeMap::new();
    let mut of_nobody = Vec::new();
    for topic in &graph.topics {
        for publisher in &topic.publishers {
            of_nodes.entry((columns[publisher.node], publisher.node)).or_default().push(topic);
        }
        if topic.publishers.is_empty() {
            of_nobody.push(topic);
        }
    }
    let tree_of = |((_, node), topics): ((usize, usize), Vec<&Topic>)| Tree {
        title: shown(&graph.nodes[node].name),
        style: TITLE,
        lines: lines_of(graph, Some(node), &topics),
    };
    let mut trees: Vec<Tree> = of_nodes.into_iter().map(tree_of).collect();
    if !of_nobody.is_empty() {
        trees.push(Tree { title: "published by nobody".to_owned(), style: WARN, lines: lines_of(graph, None, &of_nobody) });
    }
    trees
}

fn lines_of(graph: &Graph, node: Option<usize>, topics: &[&Topic]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (at, topic) in topics.iter().enumerate() {
        let is_last = at + 1 == topics.len();
        let mut says = Vec::new();
        if let Some(publisher) = topic.publishers.iter().find(|publisher| Some(publisher.node) == node) {
            let rate = if publisher.hz > 0.0 { format!("{} Hz", three_digits(publisher.hz)) } else { "silent".to_owned() };
            says.push((format!("{rate:>9}"), Style::new()));
            if publisher.bytes_per_second > 0.0 {
                says.push((format!("{:>10}", format!("{}/s", bytes(publisher.bytes_per_second))), Style::new()));
            }
        }
        if topic.is_service {
            says.push(("service".to_owned(), FAINT));
        }
        if topic.subscribers.is_empty() {
            says.push(((if topic.is_service { "nobody provides it" } else { "nobody subscribes" }).to_owned(), WARN));
        }
        let branch = if is_last { "└─ " } else { "├─ " };
        lines.push(Line { tree: "", branch, name: shown(&topic.name), style: NAME, says });
        let tree = if is_last { "   " } else { "│  " };
        for (at, subscriber) in topic.subscribers.iter().enumerate() {
            let (says, is_broken) = of_subscriber(subscriber, node);
            let branch = match (at + 1 == topic.subscribers.len(), is_broken) {
                (true, false) => "└─→ ",
                (false, false) => "├─→ ",
                (true, true) => "└─× ",
                (false, true) => "├─× ",
            };
            let name = shown(&graph.nodes[subscriber.node].name);
            lines.push(Line { tree, branch, name, style: Style::new(), says });
        }
    }
    lines
}

/// What is said of what it receives of a node, and whether that is nothing.
fn of_subscriber(subscriber: &Subscriber, node: Option<usize>) -> (Vec<(String, Style)>, bool) {
    let pairs = || subscriber.pairs.iter().filter(|pair| Some(pair.from) == node);
    let Some(worst) = pairs().max_by_key(|pair| Way::of(pair.delivery)) else {
        return (vec![("waits".to_owned(), FAINT)], false);
    };
    let way = Way::of(worst.delivery);
    let Some(delivery) = worst.delivery else { return (vec![(format!("not connected: {}", shown(&worst.why)), BAD)], true) };
    let mut says = vec![(delivery.to_string(), if way == Way::Free { GOOD } else { WARN })];
    let (lost, held): (u64, u64) = pairs().fold((0, 0), |(lost, held), pair| (lost + pair.lost, held + pair.held));
    if lost > 0 {
        says.push((format!("{lost} lost"), BAD));
    }
    if held > 0 {
        says.push((format!("holds {held}"), FAINT));
    }
    (says, false)
}

/// Of nodes that publish nothing.
fn said(graph: &Graph) -> Vec<(&'static str, String)> {
    let mut publishes = vec![false; graph.nodes.len()];
    let mut subscribes = publishes.clone();
    graph.topics.iter().flat_map(|topic| &topic.publishers).for_each(|publisher| publishes[publisher.node] = true);
    graph.topics.iter().flat_map(|topic| &topic.subscribers).for_each(|subscriber| subscribes[subscriber.node] = true);
    let names = |wanted: bool| {
        let nodes = graph.nodes.iter().enumerate().filter(|(at, _)| !publishes[*at] && subscribes[*at] == wanted);
        nodes.map(|(_, node)| shown(&node.name)).collect::<Vec<_>>().join(", ")
    };
    [("only receive", names(true)), ("on no topic", names(false))].into_iter().filter(|(_, names)| !names.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::model::tests::graph;
    use super::*;

    fn text(graph: &Graph) -> String {
        let mut written = Vec::new();
        write(graph, &mut anstream::StripStream::new(&mut written)).unwrap();
        String::from_utf8(written).unwrap()
    }

    #[test]
    fn nodes_stand_in_the_order_in_which_messages_go() {
        let mut drawn =
            graph(&["zoom > camera/image > detector viewer", "detector > boxes > !viewer", "> goal > detector", "viewer detector > log >"]);
        drawn.topics[0].subscribers[1].pairs[0].lost = 3;
        drawn.topics[0].subscribers[1].pairs[0].held = 2;
        let expected = "\
zoom
└─ camera/image    30.0 Hz   30.0 MB/s
   ├─→ detector  view
   └─→ viewer    view  3 lost  holds 2

detector
├─ boxes           30.0 Hz   30.0 MB/s
│  └─× viewer    not connected: reliability: the publisher offers <best_effort>
└─ log             30.0 Hz   30.0 MB/s  nobody subscribes

viewer
└─ log             30.0 Hz   30.0 MB/s  nobody subscribes

published by nobody
└─ goal
   └─→ detector  waits
";
        assert_eq!(text(&drawn), expected);
    }

    #[test]
    fn nodes_that_publish_nothing_are_named() {
        let mut drawn = graph(&["camera > image > viewer logger"]);
        drawn.nodes.push(super::super::model::Node { name: "idle\u{1b}[2J".to_owned(), ..Default::default() });
        assert!(text(&drawn).ends_with("\nonly receive: logger, viewer\non no topic: idle\u{fffd}[2J\n"));
        assert_eq!(text(&Graph::default()), "");
    }
}

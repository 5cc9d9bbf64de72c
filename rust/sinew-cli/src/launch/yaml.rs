//! YAML as a launch file means it: every value is a text, as it is written there, with its place. So `1.10` stays `1.10`, and `no` stays `no`.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, StrInput};

use crate::launch::findings::{Findings, Place};

/// As many values at most, also by aliases of aliases.
const MOST: usize = 10_000;
/// As many levels at most.
const DEEPEST: usize = 16;

/// A value.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it begins.
    pub at: Place,
    /// What it is.
    pub what: What,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum What {
    /// `~`, `null`, or nothing at all.
    Nothing,
    /// A text.
    Text(String),
    /// Several.
    List(Vec<Node>),
    /// Several with names, each of them once.
    Map(Vec<(Key, Node)>),
}

/// A name.
#[derive(Clone, Debug)]
pub struct Key {
    /// Where it stands.
    pub at: Place,
    /// What it is.
    pub name: String,
}

/// The one document of a text. Nothing where that is none, which is found then.
pub fn read(text: &str, findings: &mut Findings) -> Option<Node> {
    let mut reader = Reader { parser: Parser::new_from_str(text), anchors: HashMap::new(), values: 0, findings };
    match reader.document() {
        Ok(node) => Some(node),
        Err((at, text)) => {
            findings.add(at, text);
            None
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: HashMap<usize, Node>,
    values: usize,
    findings: &'a mut Findings,
}

type Outcome<T> = Result<T, (Place, String)>;

impl<'a> Reader<'a> {
    fn next(&mut self) -> Outcome<(Event<'a>, Place)> {
        let broken = |why: &ScanError| (place(why.marker()), format!("this is no YAML: {}", why.info()));
        match self.parser.next_event() {
            Some(Ok((event, Span { start, .. }))) => Ok((event, place(&start))),
            Some(Err(why)) => Err(broken(&why)),
            None => Ok((Event::StreamEnd, Place { line: 1, column: 1 })),
        }
    }

    fn document(&mut self) -> Outcome<Node> {
        let mut document = None;
        loop {
            match self.next()? {
                (Event::StreamEnd, at) => return Ok(document.unwrap_or(Node { at, what: What::Nothing })),
                (Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing, _) => {}
                (_, at) if document.is_some() => return Err((at, "a launch file is one document: this is another one".to_owned())),
                (event, at) => document = Some(self.node(event, at, 0)?),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, at: Place, depth: usize) -> Outcome<Node> {
        self.values += 1;
        if depth > DEEPEST || self.values > MOST {
            return Err((at, format!("more than {MOST} values or {DEEPEST} levels are no launch file")));
        }
        if let Event::Scalar(_, _, _, Some(tag)) | Event::SequenceStart(_, Some(tag)) | Event::MappingStart(_, Some(tag)) = &event
            && !tag.is_yaml_core_schema()
        {
            return Err((at, format!("the tag {}{} means nothing in a launch file", tag.handle, tag.suffix)));
        }
        let (anchor, what) = match event {
            Event::Scalar(text, ScalarStyle::Plain, anchor, _) if matches!(&*text, "" | "~" | "null") => (anchor, What::Nothing),
            Event::Scalar(text, _, anchor, _) => (anchor, What::Text(text.into_owned())),
            Event::SequenceStart(anchor, _) => (anchor, What::List(self.list(depth)?)),
            Event::MappingStart(anchor, _) => (anchor, What::Map(self.map(depth)?)),
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned().ok_or_else(|| (at, "this alias is part of what it stands for".to_owned()))?;
                self.values += node.values();
                return Ok(node);
            }
            other => unreachable!("no value begins with {other:?}"),
        };
        let node = Node { at, what };
        // 0 is no anchor.
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Outcome<Vec<Node>> {
        let mut list = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(list),
                (event, at) => list.push(self.node(event, at, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Outcome<Vec<(Key, Node)>> {
        let mut map: Vec<(Key, Node)> = Vec::new();
        loop {
            let (event, at) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(map);
            }
            let What::Text(name) = self.node(event, at, depth + 1)?.what else { return Err((at, "a name is a text".to_owned())) };
            let (event, begin) = self.next()?;
            let node = self.node(event, begin, depth + 1)?;
            match map.iter().find(|(key, _)| key.name == name) {
                Some((first, _)) => self.findings.add(at, format!("'{name}' is there twice, first in line {}", first.at.line)),
                None => map.push((Key { at, name }, node)),
            }
        }
    }
}

impl Node {
    /// How many values it consists of.
    fn values(&self) -> usize {
        match &self.what {
            What::Nothing | What::Text(_) => 1,
            What::List(list) => 1 + list.iter().map(Node::values).sum::<usize>(),
            What::Map(map) => 1 + map.iter().map(|(_, node)| node.values()).sum::<usize>(),
        }
    }
}

fn place(marker: &Marker) -> Place {
    Place { line: marker.line(), column: marker.col() + 1 }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn found(text: &str) -> String {
        let mut findings = Findings::new(Path::new("f"));
        read(text, &mut findings);
        format!("{:?}", findings.refuse())
    }

    fn texts(node: &Node) -> Vec<String> {
        match &node.what {
            What::Nothing => vec!["-".to_owned()],
            What::Text(text) => vec![text.clone()],
            What::List(list) => list.iter().flat_map(texts).collect(),
            What::Map(map) => map.iter().flat_map(|(key, node)| [vec![key.name.clone()], texts(node)].concat()).collect(),
        }
    }

    fn read_well(text: &str) -> Vec<String> {
        let mut findings = Findings::new(Path::new("f"));
        let node = read(text, &mut findings).expect("it is YAML");
        findings.refuse().expect("nothing is wrong");
        texts(&node)
    }

    #[test]
    fn values_are_texts_as_they_are_written() {
        assert_eq!(
            read_well("a: 1.10 # x\nb: [no, 0x10, 'null', null]\nc:\nd: {e: \"\"}"),
            ["a", "1.10", "b", "no", "0x10", "null", "-", "c", "-", "d", "e", ""]
        );
        assert_eq!(read_well("a: &x [1, 2]\nb: *x\n"), ["a", "1", "2", "b", "1", "2"]);
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        assert!(found("a: 1\nb: 2\na: 3\n").contains("f:3:1: 'a' is there twice, first in line 1"));
        assert!(found("a: [1\nb: 2").contains("this is no YAML: "));
        assert!(found("a: 1\n---\nb: 2").contains("f:3:1: a launch file is one document"));
        assert!(found("[a]: 1").contains("a name is a text"));
        assert!(found("a: !include b").contains("f:1:4: the tag !include means nothing in a launch file"));
        assert!(found(&"[".repeat(40)).contains("no launch file"));
        let laughs = (1..9).fold("a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned(), |text, n| {
            text + &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "))
        });
        assert!(found(&laughs).contains("more than 10000 values"));
    }
}

//! What a launch file says, as it stands there: no value is put in yet, and nothing is looked for.

use crate::launch::findings::{Findings, Place, meant};
use crate::launch::yaml::{Key, Node, What};

/// What the launcher's own lines of the log are called.
pub const OWN_NAME: &str = "launch";

/// A launch file.
#[derive(Default)]
pub struct File {
    /// Of every process.
    pub domain: Option<Value>,
    /// What can be given on the command line.
    pub arguments: Vec<Argument>,
    /// Of every process.
    pub environment: Vec<(String, Value)>,
    /// In the order in which they are started.
    pub processes: Vec<Process>,
}

/// A text, in which something may be to be put in.
pub struct Value {
    /// Where it stands.
    pub at: Place,
    /// As it stands there.
    pub text: String,
}

/// What can be given on the command line.
pub struct Argument {
    /// Where it stands.
    pub at: Place,
    /// Its name.
    pub name: String,
    /// None: it must be given.
    pub default: Option<Value>,
}

/// A process.
pub struct Process {
    /// Where it stands.
    pub at: Place,
    /// Its name in the log.
    pub name: String,
    /// What is run.
    pub command: Command,
    /// Where.
    pub directory: Option<Value>,
    /// Of this one only.
    pub environment: Vec<(String, Value)>,
    /// Whether it is started again.
    pub restart: Option<Value>,
    /// Whether it is started at all.
    pub condition: Option<Value>,
    /// Whether all are stopped when it has ended.
    pub required: Option<Value>,
}

/// A program and its arguments.
pub enum Command {
    /// To be split into words.
    Text(Value),
    /// Each of them a word. There is one at least.
    List(Vec<Value>),
}

impl File {
    /// What the document of a file says.
    pub fn of(document: Node, findings: &mut Findings) -> File {
        let at = document.at;
        let mut section = Section::new("the file", document, &["domain", "arguments", "environment", "processes"], findings);
        let file = File {
            domain: section.value("domain", findings),
            arguments: named(section.take("arguments"), "arguments", findings)
                .into_iter()
                .filter_map(|(key, node)| Argument::of(key, node, findings))
                .collect(),
            environment: variables(section.take("environment"), findings),
            processes: named(section.take("processes"), "processes", findings)
                .into_iter()
                .filter_map(|(key, node)| Process::of(key, node, findings))
                .collect(),
        };
        if !section.has_processes {
            findings.add(at, "a launch file has `processes:`, with a name and a command each: `sinew launch --help` shows one");
        }
        file
    }
}

impl Argument {
    fn of(key: Key, node: Node, findings: &mut Findings) -> Option<Argument> {
        let default = match node.what {
            What::Nothing => None,
            _ => Some(value(&format!("argument '{}'", key.name), node, findings)?),
        };
        Some(Argument { at: key.at, name: key.name, default })
    }
}

impl Process {
    fn of(key: Key, node: Node, findings: &mut Findings) -> Option<Process> {
        let Key { at, name } = key;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        if name.is_empty() || !name.chars().all(is_name) {
            findings.add(at, format!("'{}' is no name of a process: letters, digits, _, -, . and / are", crate::output::shown(&name)));
        } else if name == OWN_NAME {
            findings.add(at, format!("a process cannot be called {OWN_NAME}, which the launcher's own lines of the log are called"));
        }
        let keys = ["command", "directory", "environment", "restart", "if", "required"];
        let mut section = Section::new(&format!("process '{name}'"), node, &keys, findings);
        let command = section.take("command");
        if command.is_none() && section.is_map {
            findings.add(at, format!("process '{name}' has no command: what is to be started?"));
        }
        Some(Process {
            at,
            directory: section.value("directory", findings),
            environment: variables(section.take("environment"), findings),
            restart: section.value("restart", findings),
            condition: section.value("if", findings),
            required: section.value("required", findings),
            command: Command::of(&format!("the command of process '{name}'"), command?, findings)?,
            name,
        })
    }
}

impl Command {
    fn of(what: &str, node: Node, findings: &mut Findings) -> Option<Command> {
        let at = node.at;
        match node.what {
            What::List(list) => {
                let words: Vec<_> = list.into_iter().filter_map(|node| value(what, node, findings)).collect();
                if words.is_empty() {
                    findings.add(at, format!("{what} is empty"));
                }
                (!words.is_empty()).then_some(Command::List(words))
            }
            _ => value(what, node, findings).map(Command::Text),
        }
    }
}

/// Values with names that are known.
struct Section {
    what: String,
    map: Vec<(Key, Node)>,
    is_map: bool,
    has_processes: bool,
}

impl Section {
    /// Of others than these names it is said that they are unknown.
    fn new(what: &str, node: Node, known: &[&str], findings: &mut Findings) -> Section {
        let (at, is_map) = (node.at, matches!(node.what, What::Map(_)));
        let map = if let What::Map(map) = node.what { map } else { Vec::new() };
        if !is_map {
            findings.add(at, format!("{what} is to say what it has, a `name: value` a line: {}", known.join(", ")));
        }
        for (key, _) in map.iter().filter(|(key, _)| !known.contains(&key.name.as_str())) {
            findings
                .add(key.at, format!("{what} has no '{}': {}", crate::output::shown(&key.name), meant(&key.name, known.iter().copied())));
        }
        let has_processes = !is_map || map.iter().any(|(key, node)| key.name == "processes" && !matches!(node.what, What::Nothing));
        Section { what: what.to_owned(), map, is_map, has_processes }
    }

    fn take(&mut self, name: &str) -> Option<Node> {
        let at = self.map.iter().position(|(key, _)| key.name == name)?;
        Some(self.map.swap_remove(at).1)
    }

    fn value(&mut self, name: &str, findings: &mut Findings) -> Option<Value> {
        let node = self.take(name)?;
        value(&format!("'{name}' of {}", self.what), node, findings)
    }
}

/// Values with names that the file chooses. Nothing at all is none of them.
fn named(node: Option<Node>, what: &str, findings: &mut Findings) -> Vec<(Key, Node)> {
    match node {
        None | Some(Node { what: What::Nothing, .. }) => Vec::new(),
        Some(Node { what: What::Map(map), .. }) => map,
        Some(Node { at, .. }) => {
            findings.add(at, format!("`{what}:` is to have a `name: value` a line"));
            Vec::new()
        }
    }
}

fn variables(node: Option<Node>, findings: &mut Findings) -> Vec<(String, Value)> {
    let mut variables = Vec::new();
    for (Key { at, name }, node) in named(node, "environment", findings) {
        if name.is_empty() || name.contains(['=', '\0']) {
            findings.add(at, format!("'{}' is no name of a variable", crate::output::shown(&name)));
        } else if let Some(value) = value(&format!("variable '{name}'"), node, findings) {
            variables.push((name, value));
        }
    }
    variables
}

/// A text; anything else is said to be none.
fn value(what: &str, node: Node, findings: &mut Findings) -> Option<Value> {
    let at = node.at;
    let is = match node.what {
        What::Text(text) => return Some(Value { at, text }),
        What::Nothing => "nothing; \"\" is a text that is empty",
        What::List(_) => "a list",
        What::Map(_) => "several values with names",
    };
    findings.add(at, format!("{what} is to be a text, and is {is}"));
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::launch::yaml;

    fn read(text: &str) -> (File, String) {
        let mut findings = Findings::new(Path::new("f"));
        let document = yaml::read(text, &mut findings).expect("it is YAML");
        let file = File::of(document, &mut findings);
        (file, findings.refuse().map_or_else(|why| format!("{why:?}"), |()| String::new()))
    }

    #[test]
    fn everything_that_a_file_can_say_is_read() {
        let (file, found) = read(
            "domain: robot\narguments: {speed: 0.50, map: }\nenvironment: {A: b}\nprocesses:\n  one: {command: run it}\n  two:\n    command: [run, it]\n    directory: there\n    environment: {C: 1}\n    restart: never\n    if: false\n    required: true\n",
        );
        assert_eq!(found, "");
        assert_eq!(file.domain.unwrap().text, "robot");
        let arguments: Vec<_> =
            file.arguments.iter().map(|each| (each.name.as_str(), each.default.as_ref().map(|value| value.text.as_str()))).collect();
        assert_eq!(arguments, [("speed", Some("0.50")), ("map", None)]);
        let names: Vec<_> = file.processes.iter().map(|process| process.name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(matches!(&file.processes[0].command, Command::Text(value) if value.text == "run it"));
        assert!(matches!(&file.processes[1].command, Command::List(words) if words.len() == 2));
        assert_eq!(file.processes[1].environment[0].1.text, "1");
    }

    #[test]
    fn the_manual_shows_one() {
        let text =
            crate::commands::launch::MANUAL.lines().skip_while(|line| !line.starts_with("  domain:")).take_while(|line| !line.is_empty());
        let (file, found) = read(&text.collect::<Vec<_>>().join("\n"));
        assert_eq!((file.processes.len(), found.as_str()), (4, ""));
    }

    #[test]
    fn all_that_is_wrong_is_found_at_once() {
        let (_, found) = read(
            "domian: robot\nprocesses:\n  launch: {command: a}\n  'a b': {command: []}\n  c: {comand: a}\n  d: text\n  e: {command: a, directory: , restart: [never]}\nenvironment: {A=B: c, D: }\n",
        );
        for text in [
            "f:1:1: the file has no 'domian': did you mean 'domain'?",
            "f:3:3: a process cannot be called launch",
            "f:4:3: 'a b' is no name of a process",
            "f:4:20: the command of process 'a b' is empty",
            "f:5:3: process 'c' has no command",
            "f:5:7: process 'c' has no 'comand': did you mean 'command'?",
            "f:6:6: process 'd' is to say what it has",
            "'directory' of process 'e' is to be a text, and is nothing",
            "'restart' of process 'e' is to be a text, and is a list",
            "'A=B' is no name of a variable",
            "variable 'D' is to be a text, and is nothing",
        ] {
            assert!(found.contains(text), "{text}\n{found}");
        }
        assert!(read("").1.contains("a launch file has `processes:`") || read("").1.contains("the file is to say what it has"));
        assert!(read("processes:\n").1.contains("a launch file has `processes:`"));
    }
}

//! Calls and answers of XML-RPC, as far as ROS 1 uses it. Pure. What is read comes from strangers.

use roxmltree::{Document, Node, ParsingOptions};

use crate::peers::printable;

/// Elements and texts of a document.
const MOST_NODES: u32 = 1 << 16;
/// Lists in lists.
const DEEPEST: usize = 16;

/// An argument or an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Int(i32),
    /// True or false.
    Bool(bool),
    /// A text.
    Text(String),
    /// Values one behind the other.
    List(Vec<Value>),
    /// What nobody asks for here: structures, dates, floating-point numbers.
    Other,
}

impl Value {
    /// If it is a text.
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// If it is a list.
    pub fn list(&self) -> Option<&[Value]> {
        if let Value::List(values) = self { Some(values) } else { None }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub method: String,
    /// In their order.
    pub arguments: Vec<Value>,
}

const BEGIN: &str = "<?xml version=\"1.0\"?>\n";

impl Call {
    /// As a document.
    pub fn write(&self) -> String {
        let mut text = format!("{BEGIN}<methodCall><methodName>{}</methodName><params>", escaped(&self.method));
        for argument in &self.arguments {
            text += "<param>";
            write(argument, &mut text);
            text += "</param>";
        }
        text + "</params></methodCall>\n"
    }

    /// Else why it is none, as half a sentence.
    pub fn read(text: &str) -> Result<Call, String> {
        let document = parse(text)?;
        let root = named(document.root_element(), "methodCall")?;
        let method = text_of(child(root, "methodName")?);
        // Who has no arguments may say nothing of them.
        let arguments = child(root, "params").map_or(Ok(Vec::new()), parameters)?;
        Ok(Call { method, arguments })
    }
}

/// As a document.
pub fn write_answer(value: &Value) -> String {
    let mut text = format!("{BEGIN}<methodResponse><params><param>");
    write(value, &mut text);
    text + "</param></params></methodResponse>\n"
}

/// That there is no answer, as a document.
pub fn write_fault(why: &str) -> String {
    let why = escaped(why);
    format!(
        "{BEGIN}<methodResponse><fault><value><struct><member><name>faultCode</name><value><int>-1</int></value></member>\
         <member><name>faultString</name><value><string>{why}</string></value></member></struct></value></fault></methodResponse>\n"
    )
}

/// The answer; else why there is none, as half a sentence.
pub fn read_answer(text: &str) -> Result<Value, String> {
    let document = parse(text)?;
    let root = named(document.root_element(), "methodResponse")?;
    if let Ok(fault) = child(root, "fault") {
        let is_reason =
            |node: &Node<'_, '_>| node.has_tag_name("member") && child(*node, "name").is_ok_and(|name| text_of(name) == "faultString");
        let reason = fault.descendants().find(is_reason).and_then(|member| value(child(member, "value").ok()?, 0).ok());
        return Err(format!("it fails: {}", printable(reason.as_ref().and_then(Value::text).unwrap_or("for no reason"))));
    }
    let values = parameters(child(root, "params")?)?;
    values.into_iter().next().ok_or_else(|| "its answer has no value".to_owned())
}

fn parse(text: &str) -> Result<Document<'_>, String> {
    if has_attributes(text) {
        return Err("an element has attributes, of which XML-RPC knows none".to_owned());
    }
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|why| format!("what was sent is no XML: {why}"))
}

/// Of which the parser compares each with each, for hours where there are many. In a tag, and in a value, there is no `<`, so that no comment hides a tag from this: it may take for one what stands in a comment, or in CDATA, neither of which anybody sends.
fn has_attributes(text: &str) -> bool {
    let tags = text.split('<').skip(1).filter(|behind| !behind.starts_with(['?', '!', '/']));
    tags.map(|behind| behind.split_once('>').map_or(behind, |(tag, _)| tag)).any(|tag| tag.contains('='))
}

fn named<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Result<Node<'a, 'i>, String> {
    if node.has_tag_name(name) {
        Ok(node)
    } else {
        Err(format!("where <{name}> is expected stands <{}>", printable(node.tag_name().name())))
    }
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Result<Node<'a, 'i>, String> {
    node.children().find(|child| child.has_tag_name(name)).ok_or_else(|| format!("<{}> has no <{name}>", printable(node.tag_name().name())))
}

fn text_of(node: Node<'_, '_>) -> String {
    node.children().filter(Node::is_text).filter_map(|text| text.text()).collect()
}

fn parameters(node: Node<'_, '_>) -> Result<Vec<Value>, String> {
    node.children().filter(|child| child.has_tag_name("param")).map(|child_of| value(child(child_of, "value")?, 0)).collect()
}

fn value(node: Node<'_, '_>, depth: usize) -> Result<Value, String> {
    // What has no type is a text.
    let Some(typed) = node.first_element_child() else { return Ok(Value::Text(text_of(node))) };
    let text = text_of(typed);
    match typed.tag_name().name() {
        "string" => Ok(Value::Text(text)),
        "int" | "i4" => text.trim().parse().map(Value::Int).map_err(|_| format!("'{}' is no whole number of 32 bits", printable(&text))),
        "boolean" => match text.trim() {
            "0" => Ok(Value::Bool(false)),
            "1" => Ok(Value::Bool(true)),
            _ => Err(format!("'{}' is neither true nor false", printable(&text))),
        },
        "array" if depth < DEEPEST => {
            let values = child(typed, "data")?.children().filter(|child| child.has_tag_name("value"));
            values.map(|inner| value(inner, depth + 1)).collect::<Result<_, _>>().map(Value::List)
        }
        "array" => Err(format!("lists are nested more than {DEEPEST} deep")),
        _ => Ok(Value::Other),
    }
}

fn write(value: &Value, to: &mut String) {
    *to += "<value>";
    match value {
        Value::Int(number) => *to += &format!("<int>{number}</int>"),
        Value::Bool(is_true) => *to += if *is_true { "<boolean>1</boolean>" } else { "<boolean>0</boolean>" },
        Value::Text(text) => *to += &format!("<string>{}</string>", escaped(text)),
        Value::List(values) => {
            *to += "<array><data>";
            values.iter().for_each(|value| write(value, to));
            *to += "</data></array>";
        }
        Value::Other => *to += "<nil/>",
    }
    *to += "</value>";
}

/// XML has no words for control characters.
fn escaped(text: &str) -> String {
    printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn calls_are_read_as_other_programs_write_them() {
        // Python, and roscpp.
        for (text, expected) in [
            (
                "<?xml version='1.0'?>\n<methodCall>\n<methodName>requestTopic</methodName>\n<params>\n<param>\n<value><string>/n</string></value>\n</param>\n<param>\n<value><array><data>\n<value><array><data>\n<value><string>TCPROS</string></value>\n</data></array></value>\n</data></array></value>\n</param>\n</params>\n</methodCall>\n",
                vec!["/n".into(), Value::List(vec![Value::List(vec!["TCPROS".into()])])],
            ),
            (
                "<?xml version=\"1.0\"?>\r\n<methodCall><methodName>requestTopic</methodName>\r\n<params><param><value>a &amp; b</value></param><param><value><i4>-7</i4></value></param><param><value><boolean>1</boolean></value></param><param><value><double>1.5</double></value></param></params></methodCall>\r\n",
                vec!["a & b".into(), Value::Int(-7), Value::Bool(true), Value::Other],
            ),
            ("<methodCall><methodName>requestTopic</methodName></methodCall>", vec![]),
            (
                "<methodCall><!-- a > b --><methodName>requestTopic</methodName><params><param><value>a=1 > b=\"2\" &lt;c d='3'&gt;</value></param></params></methodCall>",
                vec!["a=1 > b=\"2\" <c d='3'>".into()],
            ),
        ] {
            assert_eq!(Call::read(text), Ok(Call { method: "requestTopic".to_owned(), arguments: expected }));
        }
    }

    #[test]
    fn an_answer_is_read_and_a_fault_is_told() {
        let value = Value::List(vec![Value::Int(1), "".into(), Value::List(vec![])]);
        assert_eq!(read_answer(&write_answer(&value)), Ok(value));
        assert_eq!(read_answer(&write_fault("no <such> method\u{1}")), Err("it fails: no <such> method\u{fffd}".to_owned()));
    }

    #[test]
    fn what_is_no_call_is_refused() {
        let deep = format!("{}{}", "<value><array><data>".repeat(40), "</data></array></value>".repeat(40));
        let call = |inside: &str| format!("<methodCall><methodName>a</methodName><params><param>{inside}</param></params></methodCall>");
        for (text, why) in [
            (String::new(), "what was sent is no XML"),
            ("<a/>".to_owned(), "where <methodCall> is expected stands <a>"),
            ("<methodCall/>".to_owned(), "<methodCall> has no <methodName>"),
            (call(""), "<param> has no <value>"),
            (call("<value><int>x</int></value>"), "'x' is no whole number"),
            (call("<value><boolean>2</boolean></value>"), "'2' is neither true nor false"),
            (call("<value><array/></value>"), "<array> has no <data>"),
            (call(&deep), "lists are nested more than 16 deep"),
            (call(&"<value/>".repeat(70_000)), "what was sent is no XML"),
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><methodCall/>".to_owned(), "what was sent is no XML"),
        ] {
            let error = Call::read(&text).expect_err("it is none");
            assert!(error.starts_with(why), "{error}");
        }
    }

    #[test]
    fn what_has_attributes_is_refused_before_they_are_compared() {
        let many = |before: &str, count: usize| (0..count).map(|number| format!(" {before}a{number}=\"u\"")).collect::<String>();
        let (spaces, attributes) = (many("xmlns:", 20_000), many("", 50_000));
        let nested = "<b xmlns:z=\"u\"/>".repeat(1000);
        for root in ["methodCall", "methodResponse"] {
            for text in [
                format!("<{root}{spaces}>{nested}</{root}>"),
                format!("<?xml version=\"?><!--\"?><{root}{spaces}>{nested}</{root}>"),
                format!("<{root}><a{attributes}/></{root}>"),
                format!("<{root}><a b=\">\"{attributes}/></{root}>"),
                format!("<{root}\n{attributes}"),
            ] {
                let errors = [Call::read(&text).map(drop), read_answer(&text).map(drop)];
                assert_eq!(errors, [(); 2].map(|()| Err("an element has attributes, of which XML-RPC knows none".to_owned())));
            }
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i32>().prop_map(Value::Int),
            any::<bool>().prop_map(Value::Bool),
            "[ -~ä\n]{0,9}".prop_map(|text| Value::Text(printable(&text)))
        ];
        leaf.prop_recursive(4, 20, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Value::List))
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        #[test]
        fn what_is_written_is_read(arguments in prop::collection::vec(any_value(), 0..4)) {
            let call = Call { method: "method".to_owned(), arguments };
            prop_assert_eq!(Call::read(&call.write()), Ok(call));
        }

        #[test]
        fn no_text_crashes_the_reader(text in prop_oneof![any::<String>(), "(<(/)?(methodCall|methodName|params|param|value|array|data|int|string|fault)>|a|&amp;|1){0,20}"]) {
            let _ = (Call::read(&text), read_answer(&text));
        }
    }
}

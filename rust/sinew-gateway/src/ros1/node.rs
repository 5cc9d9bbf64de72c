//! What the bridge answers to masters and nodes of ROS 1, as every node there does. Whoever reaches it may ask.

use super::ends::Ends;
use super::master::{Role, uris};
use super::names::Own;
use super::uri::Uri;
use super::xml::{Call, Value};

/// Who the bridge is in ROS 1.
#[derive(Clone, Debug)]
pub struct Address {
    /// Its name, and those of its like.
    pub own: Own,
    /// Where it can be asked.
    pub at: Uri,
    /// Where messages can be had.
    pub port: u16,
    /// Whom it has told that.
    pub master: Uri,
}

/// A status, as numbers of ROS 1.
const DONE: i32 = 1;
const FAILED: i32 = 0;
/// The protocol of messages.
const TCPROS: &str = "TCPROS";

/// The answer; none: there is no such method.
pub fn answer(call: &Call, address: &Address, ends: &Ends) -> Option<Value> {
    let argument = |at: usize| call.arguments.get(at);
    let topic = || argument(1).and_then(Value::text).unwrap_or_default();
    Some(match call.method.as_str() {
        "requestTopic" => request(topic(), argument(2), address, ends),
        "publisherUpdate" => {
            if let (Some(followed), Some(publishers)) = (ends.followed(topic()), argument(2)) {
                followed.updated(uris(publishers));
            }
            done(Value::Int(0))
        }
        "paramUpdate" => done(Value::Int(0)),
        "getPid" => done(Value::Int(std::process::id().cast_signed())),
        "getMasterUri" => done(Value::Text(address.master.to_string())),
        "getPublications" => done(topics(ends, Role::Publisher)),
        "getSubscriptions" => done(topics(ends, Role::Subscriber)),
        "getBusInfo" => done(Value::List(Vec::new())),
        "getBusStats" => done(Value::List(vec![Value::List(Vec::new()); 3])),
        "shutdown" => status(FAILED, "a bridge ends where it was started", Value::Int(0)),
        _ => return None,
    })
}

fn request(topic: &str, protocols: Option<&Value>, address: &Address, ends: &Ends) -> Value {
    let mut known = protocols.and_then(Value::list).unwrap_or_default().iter().filter_map(|protocol| protocol.list()?.first()?.text());
    if ends.offered(topic).is_none() {
        return status(FAILED, "it does not publish this topic", Value::Int(0));
    }
    if !known.any(|name| name == TCPROS) {
        return status(FAILED, "it speaks TCPROS alone", Value::Int(0));
    }
    done(Value::List(vec![TCPROS.into(), address.at.host.as_str().into(), Value::Int(i32::from(address.port))]))
}

fn topics(ends: &Ends, role: Role) -> Value {
    let pair = |(topic, ty): (String, String)| Value::List(vec![Value::Text(topic), Value::Text(ty)]);
    Value::List(ends.topics(role).into_iter().map(pair).collect())
}

fn done(value: Value) -> Value {
    status(DONE, "", value)
}

fn status(status: i32, text: &str, value: Value) -> Value {
    Value::List(vec![Value::Int(status), text.into(), value])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, arguments: Vec<Value>) -> Option<Value> {
        let uri = |port| Uri { host: "robot".to_owned(), port };
        let address = Address { own: Own::new("a", [1; 4]), at: uri(1), port: 2, master: uri(11311) };
        answer(&Call { method: method.to_owned(), arguments }, &address, &Ends::default())
    }

    #[test]
    fn what_every_node_answers_the_bridge_answers() {
        assert_eq!(ask("getMasterUri", vec!["/n".into()]), Some(done("http://robot:11311/".into())));
        assert_eq!(ask("getPublications", vec!["/n".into()]), Some(done(Value::List(vec![]))));
        assert_eq!(ask("paramUpdate", vec!["/n".into(), "/p".into(), Value::Other]), Some(done(Value::Int(0))));
        assert_eq!(ask("format_disk", vec![]), None);
    }

    #[test]
    fn what_is_not_published_cannot_be_had_and_nobody_ends_the_bridge() {
        let protocols = Value::List(vec![Value::List(vec![TCPROS.into()])]);
        let refused = Some(status(FAILED, "it does not publish this topic", Value::Int(0)));
        assert_eq!(ask("requestTopic", vec!["/n".into(), "/t".into(), protocols]), refused);
        assert_eq!(ask("shutdown", vec!["/n".into()]), Some(status(FAILED, "a bridge ends where it was started", Value::Int(0))));
    }

    #[test]
    fn arguments_that_are_none_hurt_nobody() {
        for method in ["requestTopic", "publisherUpdate", "getPid", "shutdown"] {
            for arguments in [vec![], vec![Value::Int(1); 3], vec![Value::List(vec![Value::Other]); 9]] {
                assert!(ask(method, arguments).is_some(), "{method}");
            }
        }
    }
}

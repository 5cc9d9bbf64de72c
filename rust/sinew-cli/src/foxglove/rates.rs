//! The parameters of clients: `/camera/image.max_rate`.

use std::collections::{BTreeMap, BTreeSet};

use foxglove::websocket::{Parameter, ParameterType, ParameterValue};

/// How many messages a second of each publisher clients get, topic by topic.
#[derive(Debug)]
pub struct Rates {
    default: f64,
    /// Those that there are.
    topics: BTreeSet<String>,
    /// What clients have set; it stays when a topic comes back.
    set: BTreeMap<String, f64>,
    /// Of topics whose rate was set, and nobody was told.
    untold: BTreeSet<String>,
}

/// Whether it says how many messages a second there may be; 0: all.
pub fn is_rate(rate: f64) -> bool {
    rate.is_finite() && rate >= 0.0
}

const SUFFIX: &str = ".max_rate";

fn topic_of(parameter: &str) -> Option<&str> {
    parameter.strip_prefix('/')?.strip_suffix(SUFFIX)
}

impl Rates {
    /// This one for all topics.
    pub fn new(default: f64) -> Rates {
        Rates { default, topics: BTreeSet::new(), set: BTreeMap::new(), untold: BTreeSet::new() }
    }

    /// It is there from now on.
    pub fn add(&mut self, topic: &str) {
        self.topics.insert(topic.to_owned());
    }

    /// It is gone.
    pub fn remove(&mut self, topic: &str) {
        self.topics.remove(topic);
    }

    /// Of a topic.
    pub fn of(&self, topic: &str) -> f64 {
        self.set.get(topic).copied().unwrap_or(self.default)
    }

    /// The parameters of these names; all where none is named.
    pub fn parameters(&self, names: &[String]) -> Vec<Parameter> {
        if names.is_empty() {
            return self.topics.iter().map(|topic| self.parameter(topic)).collect();
        }
        // Each once, however often it is named.
        let topics: BTreeSet<&str> = names.iter().filter_map(|name| topic_of(name)).collect();
        topics.into_iter().filter(|topic| self.topics.contains(*topic)).map(|topic| self.parameter(topic)).collect()
    }

    /// Sets one as a client says it; without a value, back to the default. Fails with a sentence for the client.
    pub fn set(&mut self, asked: &Parameter) -> Result<(), &'static str> {
        let topic = topic_of(&asked.name).filter(|topic| self.topics.contains(*topic));
        let topic = topic.ok_or("there is no such parameter: /TOPIC.max_rate is there for each topic")?;
        let rate = match asked.value {
            None => None,
            Some(ParameterValue::Integer(rate)) => Some(rate as f64),
            Some(ParameterValue::Float64(rate)) => Some(rate),
            Some(_) => Some(f64::NAN),
        };
        if !rate.is_none_or(is_rate) {
            return Err("a max_rate is how many messages a second there may be: a number, 0 for all of them");
        }
        match rate {
            Some(rate) => self.set.insert(topic.to_owned(), rate),
            None => self.set.remove(topic),
        };
        self.untold.insert(topic.to_owned());
        Ok(())
    }

    /// Those that were set since it was last asked.
    pub fn take_untold(&mut self) -> Vec<Parameter> {
        let untold = std::mem::take(&mut self.untold);
        untold.iter().map(|topic| self.parameter(topic)).collect()
    }

    fn parameter(&self, topic: &str) -> Parameter {
        Parameter {
            name: format!("/{topic}{SUFFIX}"),
            r#type: Some(ParameterType::Float64),
            value: Some(ParameterValue::Float64(self.of(topic))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str, value: Option<ParameterValue>) -> Parameter {
        Parameter { name: name.to_owned(), r#type: None, value }
    }

    #[test]
    fn a_rate_that_was_set_holds_for_its_topic_also_when_that_comes_back() {
        let mut rates = Rates::new(30.0);
        rates.add("camera/image");
        rates.add("scan");
        assert_eq!(rates.parameters(&[]).len(), 2);
        rates.set(&asked("/camera/image.max_rate", Some(ParameterValue::Integer(5)))).unwrap();
        assert_eq!((rates.of("camera/image"), rates.of("scan")), (5.0, 30.0));
        let told = rates.take_untold();
        assert_eq!(told, rates.parameters(&["/camera/image.max_rate".to_owned(), "/camera/image.max_rate".to_owned()]));
        assert!(rates.take_untold().is_empty());

        rates.remove("camera/image");
        assert!(rates.set(&asked("/camera/image.max_rate", None)).is_err(), "it is gone");
        rates.add("camera/image");
        assert_eq!(rates.of("camera/image"), 5.0);
        rates.set(&asked("/camera/image.max_rate", None)).unwrap();
        assert_eq!(rates.of("camera/image"), 30.0);
    }

    #[test]
    fn what_is_no_rate_is_not_set() {
        let mut rates = Rates::new(0.0);
        rates.add("scan");
        let none = [f64::NAN, f64::INFINITY, -1.0].map(ParameterValue::Float64);
        for value in none.into_iter().chain([ParameterValue::Bool(true), ParameterValue::String("5".to_owned())]) {
            assert!(rates.set(&asked("/scan.max_rate", Some(value))).is_err());
        }
        for name in ["scan.max_rate", "/scan", "/scans.max_rate", "/.max_rate", ""] {
            assert!(rates.set(&asked(name, Some(ParameterValue::Integer(1)))).is_err(), "{name}");
        }
        assert_eq!(rates.of("scan"), 0.0);
        assert!(rates.take_untold().is_empty());
    }
}

//! How regularly messages are published. Counters cannot tell that: somebody has to subscribe, and note when each message was published.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use sinew::raw::{Frame, Subscriber, SubscriberOptions};
use sinew::{ErrorKind, Ghost, Node, Qos};

use crate::domain::View;
use crate::failure::Done;

/// Times between messages that were published one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Periods {
    pub min_ns: u64,
    pub max_ns: u64,
    pub mean_ns: f64,
    pub stddev_ns: f64,
}

/// Those of some topics, from now on.
pub struct Listener<'a> {
    node: &'a Node,
    heard: HashMap<String, Heard>,
}

struct Heard {
    subscriber: Subscriber,
    noted: Arc<Mutex<Vec<Noted>>>,
    /// The one before all that are noted.
    last: Option<i64>,
}

/// When a message was published.
#[derive(Clone, Copy)]
struct Noted {
    at_ns: i64,
    /// Some before it were lost.
    is_behind_gap: bool,
}

impl<'a> Listener<'a> {
    /// To no topic yet.
    pub fn new(node: &'a Node) -> Listener<'a> {
        Listener { node, heard: HashMap::new() }
    }

    /// Subscribes to those of these topics that have come, or come again. As an observer: no topic counts it.
    pub fn follow<'t>(&mut self, view: &View, topics: impl Iterator<Item = &'t str>) -> Done {
        self.heard.retain(|_, heard| !heard.subscriber.statistics().detached);
        for name in topics {
            let Some(topic) = view.state.topic(name).filter(|_| !self.heard.contains_key(name)) else { continue };
            let noted = Arc::new(Mutex::new(Vec::new()));
            let filled = Arc::clone(&noted);
            let note = move |frame: Frame| {
                let info = frame.info();
                let noted = Noted { at_ns: info.source_time_ns, is_behind_gap: info.missed > 0 };
                filled.lock().unwrap_or_else(PoisonError::into_inner).push(noted);
            };
            let qos = Qos { keep_all: true, ..Qos::default() };
            let options = SubscriberOptions { ghost: Ghost::Observer, ..SubscriberOptions::default() };
            match Subscriber::with_callback(self.node, name, &topic.signature, &qos, options, note) {
                Ok(subscriber) => drop(self.heard.insert(name.to_owned(), Heard { subscriber, noted, last: None })),
                // It has gone meanwhile.
                Err(why) if why.kind() == ErrorKind::Unavailable => {}
                Err(why) => return Err(why.into()),
            }
        }
        Ok(())
    }

    /// Those since it was asked before. None: there were none.
    pub fn take(&mut self, topic: &str) -> Option<Periods> {
        let heard = self.heard.get_mut(topic)?;
        let noted = std::mem::take(&mut *heard.noted.lock().unwrap_or_else(PoisonError::into_inner));
        periods_of(noted, &mut heard.last)
    }
}

fn periods_of(mut noted: Vec<Noted>, last: &mut Option<i64>) -> Option<Periods> {
    // Each publisher's come in their order, those of several as they are taken.
    noted.sort_by_key(|noted| noted.at_ns);
    let mut periods = Vec::with_capacity(noted.len());
    for Noted { at_ns, is_behind_gap } in noted {
        if let Some(last) = last.filter(|_| !is_behind_gap) {
            periods.push(u64::try_from(at_ns - last).unwrap_or(0));
        }
        *last = Some(at_ns);
    }
    let (min_ns, max_ns) = (*periods.iter().min()?, *periods.iter().max()?);
    let mean_ns = periods.iter().sum::<u64>() as f64 / periods.len() as f64;
    let variance = periods.iter().map(|period| (*period as f64 - mean_ns).powi(2)).sum::<f64>() / periods.len() as f64;
    Some(Periods { min_ns, max_ns, mean_ns, stddev_ns: variance.sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(times: &[i64]) -> Vec<Noted> {
        times.iter().map(|at_ns| Noted { at_ns: *at_ns, is_behind_gap: false }).collect()
    }

    #[test]
    fn periods_are_those_between_messages_in_the_order_of_their_times() {
        let mut last = None;
        assert_eq!(periods_of(noted(&[100]), &mut last), None, "one has none");
        let told = Periods { min_ns: 10, max_ns: 30, mean_ns: 20.0, stddev_ns: 10.0 };
        assert_eq!(periods_of(noted(&[140, 110]), &mut last), Some(told), "the first goes on from before");
        assert_eq!(periods_of(noted(&[]), &mut last), None);
    }

    #[test]
    fn what_was_lost_between_two_is_no_period() {
        let mut noted = noted(&[100, 200, 700, 800]);
        noted[2].is_behind_gap = true;
        let told = Periods { min_ns: 100, max_ns: 100, mean_ns: 100.0, stddev_ns: 0.0 };
        assert_eq!(periods_of(noted, &mut None), Some(told));
    }
}

//! Texts with numbers, of which none is to be missing, and none to come twice.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sinew::raw::{Frame, Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

use super::texts::{STRING, text};
use super::until;

/// The topic.
pub const TOPIC: &str = "chatter";

/// Who says them here.
pub fn talker(node: &Node, qos: &Qos) -> Publisher {
    Publisher::new(node, TOPIC, STRING, qos, PublisherOptions::default()).expect("it may publish")
}

/// So many a listener keeps that is to miss nothing: it loses what comes beyond these before its thread runs, as all do who keep the newest alone.
pub const MANY: u32 = 256;

/// Each of them, one after the other, and not all at once.
pub fn each(numbers: Range<u32>, mut say: impl FnMut(&str)) {
    for number in numbers {
        say(&number.to_string());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Says them.
pub fn say(publisher: &Publisher, numbers: Range<u32>) {
    each(numbers, |number| publisher.publish(&[&text(number)]).expect("it is published"));
}

/// Likewise, and is told the last one after every 50, to wait until these have come: so no more of them wait anywhere than are kept, however busy the machine is.
pub fn each_in_parts(numbers: Range<u32>, mut say: impl FnMut(&str), mut come: impl FnMut(u32)) {
    const PART: u32 = 50;
    for first in numbers.clone().step_by(PART as usize) {
        let part = first..numbers.end.min(first + PART);
        each(part.clone(), &mut say);
        if part.len() == PART as usize {
            come(part.end - 1);
        }
    }
}

/// Says them so.
pub fn say_in_parts(publisher: &Publisher, numbers: Range<u32>, come: impl FnMut(u32)) {
    each_in_parts(numbers, |number| publisher.publish(&[&text(number)]).expect("it is published"), come);
}

/// Says them while others come and go who could say something, too.
pub fn say_among_others(publisher: &Publisher, numbers: Range<u32>, node: &Node, qos: &Qos) {
    among_others(node, qos, || say(publisher, numbers));
}

/// Does it while they do.
pub fn among_others(node: &Node, qos: &Qos, says: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(says);
        for _ in 0..5 {
            let other = talker(node, qos);
            std::thread::sleep(Duration::from_millis(150));
            drop(other);
            std::thread::sleep(Duration::from_millis(150));
        }
    });
}

/// The messages of these.
pub fn texts(numbers: Range<u32>) -> Vec<Vec<u8>> {
    numbers.map(|number| text(&number.to_string())).collect()
}

/// Who hears them here.
pub struct Listener {
    numbers: Arc<Mutex<Vec<u32>>>,
    pub subscriber: Subscriber,
}

impl Listener {
    pub fn new(node: &Node, qos: &Qos) -> Listener {
        Listener::taking(Duration::ZERO, node, qos)
    }

    /// So long for each.
    pub fn taking(pause: Duration, node: &Node, qos: &Qos) -> Listener {
        let numbers = Arc::<Mutex<Vec<u32>>>::default();
        let to = Arc::clone(&numbers);
        let hear = move |frame: Frame| {
            std::thread::sleep(pause);
            to.lock().expect("nobody panics with it").push(number(&frame.to_vec()));
        };
        let subscriber = Subscriber::with_callback(node, TOPIC, STRING, qos, SubscriberOptions::default(), hear).expect("it may subscribe");
        Listener { numbers, subscriber }
    }

    /// So far.
    pub fn heard(&self) -> Vec<u32> {
        self.numbers.lock().expect("nobody panics with it").clone()
    }

    /// Waits for the last of them.
    pub fn hears(&self, last: u32) {
        until("it is heard", || self.heard().contains(&last));
    }

    /// Until something arrives: the first number, which is said any number of times.
    pub fn begins(&self, mut say: impl FnMut(&str)) {
        until("it arrives", || {
            say("0");
            !self.heard().is_empty()
        });
    }

    /// Has heard just these, in their order, of those that do not stand before them.
    pub fn has_heard(&self, numbers: Range<u32>) {
        self.hears(numbers.end - 1);
        let heard: Vec<u32> = self.heard().into_iter().filter(|number| *number >= numbers.start).collect();
        let missing: Vec<u32> = numbers.clone().filter(|number| !heard.contains(number)).collect();
        assert_eq!(
            (heard.len(), missing),
            (numbers.len(), vec![]),
            "something is missing, or came twice: {:?}",
            self.subscriber.statistics()
        );
        assert!(heard.is_sorted(), "{heard:?}");
    }
}

fn number(stream: &[u8]) -> u32 {
    let data = stream.get(8..).and_then(|data| data.split(|byte| *byte == 0).next()).unwrap_or_default();
    std::str::from_utf8(data).ok().and_then(|data| data.parse().ok()).expect("it is a number")
}

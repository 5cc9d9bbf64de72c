//! Publishes and subscribes as a busy robot does, for `bench/command.py`: `load publish --topics 500 --hz 100 --size 64`, `load subscribe --topics 500`.
//!
//! Each prints a line as soon as all that it publishes on or subscribes to is there, and connected, and goes on until it is killed.

use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::{Args, Parser};
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};

const IMAGE: &str = "robot/Image{stamp_ns:uint64;data:uint8[];}";
/// Of an image: encapsulation, time, number of bytes.
const HEAD: usize = 4 + 8 + 4;
/// What is due within so long a time is published at once, or a thread would do nothing but fall asleep.
const SLICE: Duration = Duration::from_millis(1);
const NOW_AND_THEN: Duration = Duration::from_millis(5);

#[derive(Parser)]
enum Load {
    /// One node that publishes
    Publish(Publish),
    /// One node that subscribes
    Subscribe {
        /// So many of load/0, load/1 ...
        #[arg(long)]
        topics: usize,
    },
}

#[derive(Args)]
struct Publish {
    /// On so many topics: load/0, load/1 ...
    #[arg(long)]
    topics: usize,
    /// So often on each
    #[arg(long)]
    hz: f64,
    /// Bytes of a message
    #[arg(long)]
    size: usize,
    /// Once each topic has so many subscribers
    #[arg(long, default_value_t = 0)]
    readers: u64,
}

fn main() -> sinew::Result<()> {
    match Load::parse() {
        Load::Publish(asked) => publish(&asked),
        Load::Subscribe { topics } => subscribe(topics),
    }
}

fn publish(asked: &Publish) -> sinew::Result<()> {
    let node = Node::new("load-publisher")?;
    // A robot's numbers need little memory, and its images some of them at a time.
    let memory_budget = (16 * (HEAD + asked.size) as u64).max(1 << 20);
    let options = || PublisherOptions { memory_budget, ..Default::default() };
    let publishers = (0..asked.topics).map(|n| Publisher::new(&node, &format!("load/{n}"), IMAGE, &Qos::keep_last(4), options()));
    let publishers = publishers.collect::<sinew::Result<Vec<_>>>()?;
    while publishers.iter().any(|publisher| publisher.statistics().subscribers < asked.readers) {
        sleep(NOW_AND_THEN);
    }
    println!("ready");
    let rate = asked.topics as f64 * asked.hz;
    let (begin, mut number) = (Instant::now(), 0u64);
    loop {
        let due = begin + Duration::from_secs_f64(number as f64 / rate);
        sleep(due.saturating_duration_since(Instant::now()).max(SLICE));
        let until = (begin.elapsed().as_secs_f64() * rate) as u64;
        for number in number..until {
            publish_on(&publishers[number as usize % publishers.len()], asked.size, number)?;
        }
        number = number.max(until);
    }
}

/// Each byte is written, as a camera's driver does.
fn publish_on(publisher: &Publisher, size: usize, number: u64) -> sinew::Result<()> {
    let mut loan = publisher.loan(HEAD + size)?;
    let bytes = loan.bytes();
    bytes[..4].copy_from_slice(&[0, 1, 0, 0]);
    bytes[4..12].copy_from_slice(&number.to_le_bytes());
    bytes[12..HEAD].copy_from_slice(&(size as u32).to_le_bytes());
    bytes[HEAD..].fill(number as u8);
    loan.publish(HEAD + size)
}

fn subscribe(topics: usize) -> sinew::Result<()> {
    let node = Node::new("load-subscriber")?;
    let subscriber =
        |n| Subscriber::with_callback(&node, &format!("load/{n}"), IMAGE, &Qos::keep_last(4), SubscriberOptions::default(), drop);
    let subscribers = (0..topics).map(subscriber).collect::<sinew::Result<Vec<_>>>()?;
    while subscribers.iter().any(|subscriber| subscriber.statistics().publishers == 0) {
        sleep(NOW_AND_THEN);
    }
    println!("ready");
    loop {
        std::thread::park();
    }
}

//! Publishes and subscribes as a busy robot does, for `bench/command.py`: `load publish --topics 500 --hz 100 --size 64`, `load subscribe --topics 500`. What `sinew record` is
//! held against is `load write`, which writes images into a file, each with one `write`.
//!
//! Who publishes or subscribes prints a line as soon as all of that is there, and connected.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
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
/// So many buffers has who writes them, as a camera has: not one that stays in the cache.
const BUFFERS: usize = 8;
const NOW_AND_THEN: Duration = Duration::from_millis(5);

#[derive(Parser)]
enum Load {
    /// One node that publishes
    Publish(Publish),
    /// One node that subscribes, until it is killed
    Subscribe {
        /// So many of load/0, load/1 ...
        #[arg(long)]
        topics: usize,
    },
    /// Images from this program's own memory into a file
    Write(Write),
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
    /// So many messages on all topics together, until all subscribers have taken them; else until it is killed
    #[arg(long)]
    count: Option<u64>,
}

#[derive(Args)]
struct Write {
    /// A new one
    file: PathBuf,
    /// So often
    #[arg(long)]
    hz: f64,
    /// Bytes of an image
    #[arg(long)]
    size: usize,
    /// So many
    #[arg(long)]
    count: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Load::parse() {
        Load::Publish(asked) => Ok(publish(&asked)?),
        Load::Subscribe { topics } => Ok(subscribe(topics)?),
        Load::Write(asked) => Ok(write(&asked)?),
    }
}

/// Calls this at the rate, with the numbers from 0 up.
fn at_rate<E>(rate: f64, count: Option<u64>, mut each: impl FnMut(u64) -> Result<(), E>) -> Result<(), E> {
    let begin = Instant::now();
    let mut number = 0;
    while count.is_none_or(|count| number < count) {
        let due = begin + Duration::from_secs_f64(number as f64 / rate);
        sleep(due.saturating_duration_since(Instant::now()).max(SLICE));
        let now = (begin.elapsed().as_secs_f64() * rate) as u64 + 1;
        while number < count.map_or(now, |count| count.min(now)) {
            each(number)?;
            number += 1;
        }
    }
    Ok(())
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
    at_rate(asked.topics as f64 * asked.hz, asked.count, |number| {
        publish_on(&publishers[number as usize % publishers.len()], asked.size, number)
    })?;
    let counters = node.domain_counters()?;
    let seen = || -> sinew::Result<u64> { Ok(counters.read()?.pairs.iter().map(|pair| pair.messages + pair.missed).sum()) };
    while seen()? < asked.count.unwrap_or(0) * asked.readers {
        sleep(NOW_AND_THEN);
    }
    Ok(())
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

fn write(asked: &Write) -> std::io::Result<()> {
    let buffers: Vec<Vec<u8>> = (0..BUFFERS).map(|n| vec![n as u8 + 1; HEAD + asked.size]).collect();
    let mut file = File::create_new(&asked.file)?;
    at_rate(asked.hz, Some(asked.count), |number| file.write_all(&buffers[number as usize % BUFFERS]))
}

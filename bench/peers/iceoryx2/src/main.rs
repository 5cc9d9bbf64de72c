//! iceoryx2: a slice that the publisher loans, received by a thread that waits for an event. What `../driver.*` is for the drivers in C++ is here again.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Duration;

use iceoryx2::prelude::*;

const ABSENT: u8 = 255;
const DEPTH: usize = 8;
const PATIENCE_NS: i64 = 30_000_000_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Travels with every payload.
#[derive(Debug, Default, Clone, Copy, ZeroCopySend)]
#[repr(C)]
struct Header {
    /// Before the memory was obtained.
    began: i64,
    /// When the payload was filled, just before publishing.
    sent: i64,
    /// From 0, warm-up included.
    number: u64,
}

impl Header {
    fn value(&self) -> u8 {
        (self.number % u64::from(ABSENT)) as u8
    }
}

/// The command line.
struct Run {
    publishes: bool,
    topic: String,
    folder: String,
    size: usize,
    rate: f64,
    count: u64,
    warm_up: u64,
    subscribers: usize,
    read_all: bool,
    output: String,
}

impl Run {
    fn parse() -> Result<Self> {
        let mut words = std::env::args().skip(1);
        let role = words.next().ok_or("publish or subscribe?")?;
        let mut run = Run {
            publishes: role == "publish",
            topic: String::new(),
            folder: String::new(),
            size: 128,
            rate: 30.0,
            count: 100,
            warm_up: 16,
            subscribers: 1,
            read_all: true,
            output: String::new(),
        };
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(|| format!("{option} needs a value"))?;
            match option.as_str() {
                "--topic" => run.topic = value,
                "--folder" => run.folder = value,
                "--size" => run.size = value.parse()?,
                "--rate" => run.rate = value.parse()?,
                "--count" => run.count = value.parse()?,
                "--warm-up" => run.warm_up = value.parse()?,
                "--subscribers" => run.subscribers = value.parse()?,
                "--read" => run.read_all = value == "all",
                "--output" => run.output = value,
                _ => return Err(format!("no option {option}").into()),
            }
        }
        Ok(run)
    }

    fn messages(&self) -> u64 {
        self.warm_up + self.count
    }
}

fn now_ns() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn sleep_until(due: i64) {
    let time = libc::timespec { tv_sec: due / 1_000_000_000, tv_nsec: due % 1_000_000_000 };
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) } == libc::EINTR {}
}

fn say(word: &str) -> Result<()> {
    println!("{word}");
    Ok(std::io::stdout().flush()?)
}

fn hear() -> Result<bool> {
    Ok(std::io::stdin().lock().read_line(&mut String::new())? > 0)
}

fn connect(connected: impl Fn() -> bool) -> Result<()> {
    let until = now_ns() + PATIENCE_NS;
    while !connected() {
        if now_ns() > until {
            return Err("the other side was not there in time".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    say("connected")
}

/// What one subscriber takes down.
struct Arrivals<'a> {
    run: &'a Run,
    samples: Vec<[i64; 2]>,
    next: u64,
    missing: u64,
    damaged: u64,
}

impl<'a> Arrivals<'a> {
    fn new(run: &'a Run) -> Self {
        Arrivals { run, samples: vec![[-1, -1]; run.count as usize], next: 0, missing: 0, damaged: 0 }
    }

    fn add(&mut self, header: &Header, payload: &[u8]) {
        let readable = now_ns();
        let absent = !self.run.read_all || unsafe { libc::memchr(payload.as_ptr().cast(), ABSENT.into(), payload.len()) }.is_null();
        let read = now_ns();

        let value = header.value();
        let whole = payload.len() == self.run.size && [0, payload.len() / 2, payload.len() - 1].iter().all(|&at| payload[at] == value);
        if !absent || !whole {
            self.damaged += 1;
        }
        self.missing += header.number - self.next;
        self.next = header.number + 1;
        if header.number >= self.run.warm_up && self.next <= self.run.messages() {
            self.samples[(header.number - self.run.warm_up) as usize] = [readable - header.sent, read - header.began];
        }
    }

    fn complete(&self) -> bool {
        self.next >= self.run.messages()
    }

    fn finish(&self) -> Result<()> {
        if self.damaged > 0 {
            return Err(format!("{} messages arrived damaged", self.damaged).into());
        }
        if self.missing > 0 {
            return Err(format!("{} of {} messages were lost", self.missing, self.run.messages()).into());
        }
        let bytes: Vec<u8> = self.samples.iter().flatten().flat_map(|sample| sample.to_ne_bytes()).collect();
        Ok(std::fs::write(&self.run.output, bytes)?)
    }
}

/// Everything that iceoryx2 leaves in the file system lies in the folder of the run, or in /dev/shm under the folder's name.
fn node_of(run: &Run) -> Result<Node<ipc::Service>> {
    let mut config = Config::default();
    let name = run.folder.rsplit('/').next().unwrap_or_default();
    config.global.prefix = FileName::new(format!("{name}_").as_bytes())?;
    config.global.set_root_path(&Path::new(run.folder.as_bytes())?);
    Ok(NodeBuilder::new().config(&config).create::<ipc::Service>()?)
}

type Samples = iceoryx2::service::port_factory::publish_subscribe::PortFactory<ipc::Service, [u8], Header>;
type Events = iceoryx2::service::port_factory::event::PortFactory<ipc::Service>;

fn services_of(run: &Run, node: &Node<ipc::Service>) -> Result<(Samples, Events)> {
    let samples = node
        .service_builder(&run.topic.as_str().try_into()?)
        .publish_subscribe::<[u8]>()
        .user_header::<Header>()
        .payload_alignment(Alignment::new(64).ok_or("no alignment")?)
        .subscriber_max_buffer_size(DEPTH)
        .max_publishers(1)
        .max_subscribers(run.subscribers)
        .open_or_create()?;
    let events = node
        .service_builder(&run.topic.as_str().try_into()?)
        .event()
        .event_id_max_value(1)
        .max_notifiers(1)
        .max_listeners(run.subscribers)
        .open_or_create()?;
    Ok((samples, events))
}

fn publish(run: &Run) -> Result<()> {
    let node = node_of(run)?;
    let (samples, events) = services_of(run, &node)?;
    let publisher = samples.publisher_builder().initial_max_slice_len(run.size).create()?;
    let notifier = events.notifier_builder().create()?;
    connect(|| {
        samples.dynamic_config().number_of_subscribers() == run.subscribers && events.dynamic_config().number_of_listeners() == run.subscribers
    })?;
    if !hear()? {
        return Err("the script ended before this cell began".into());
    }
    let period = (1e9 / run.rate) as i64;
    let start = now_ns();
    for number in 0..run.messages() {
        sleep_until(start + period * number as i64);
        let mut header = Header { began: now_ns(), sent: 0, number };
        let mut sample = publisher.loan_slice_uninit(run.size)?;
        sample.payload_mut().fill(std::mem::MaybeUninit::new(header.value()));
        header.sent = now_ns();
        *sample.user_header_mut() = header;
        unsafe { sample.assume_init() }.send()?;
        notifier.notify()?;
    }
    say("published")?;
    hear()?;
    Ok(())
}

/// Waits for the listener alone: a `WaitSet` with nothing else in it was as fast, within what the machine varies.
fn subscribe(run: &Run) -> Result<()> {
    let node = node_of(run)?;
    let (samples, events) = services_of(run, &node)?;
    let subscriber = samples.subscriber_builder().buffer_size(DEPTH).create()?;
    let listener = events.listener_builder().create()?;
    let mut arrivals = Arrivals::new(run);
    connect(|| samples.dynamic_config().number_of_publishers() == 1 && events.dynamic_config().number_of_notifiers() == 1)?;
    while !arrivals.complete() {
        listener.blocking_wait(|_| {})?;
        while let Some(sample) = subscriber.receive()? {
            arrivals.add(sample.user_header(), sample.payload());
        }
    }
    arrivals.finish()
}

fn main() -> Result<()> {
    let run = Run::parse()?;
    if run.publishes { publish(&run) } else { subscribe(&run) }
}

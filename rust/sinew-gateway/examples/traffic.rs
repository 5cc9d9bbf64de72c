//! Both ends of what `bench/gateway.py` measures: nodes of a domain, and bare quinn, which the gateway is held against.
//!
//! Who runs until it is told to stop ends with its input. Each prints `ready` when all that it needs is there. Times are nanoseconds of `CLOCK_MONOTONIC`, which all network namespaces of a machine share.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};
use quinn::{Connection, Endpoint, EndpointConfig, TokioRuntime, TransportConfig, VarInt};
use rustix::time::{ClockId, clock_gettime};
use sinew::raw::{Frame, Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Node, Qos};
use sinew_gateway::config::Security;
use sinew_gateway::link;
use sinew_gateway::security::Identity;

type Failed = Box<dyn std::error::Error + Send + Sync>;

const TYPE: &str = "bench/Sample{stamp_ns:uint64;data:uint8[];}";
/// Of a message: encapsulation, time, number of bytes.
const HEAD: usize = 4 + 8 + 4;
const DEPTH: u32 = 4;
const PATIENCE: Duration = Duration::from_secs(30);
const SETTLE: Duration = Duration::from_millis(300);
const NOW_AND_THEN: Duration = Duration::from_millis(5);

#[derive(Parser)]
enum Traffic {
    /// A node that publishes, each message with the time in it
    Publish(Publish),
    /// A node that subscribes, and writes when each message was published and when it came: two u64 each
    Subscribe {
        #[arg(long)]
        topic: String,
        #[arg(long)]
        out: PathBuf,
    },
    /// A node that publishes on `there`, waits for it on `back`, and so on; writes how long each way there and back took: a u64 each
    Ping(RoundTrips),
    /// A node that publishes on `back` what it gets on `there`
    Pong,
    /// quinn alone
    #[command(subcommand)]
    Quinn(Quinn),
}

#[derive(Args)]
struct Publish {
    #[arg(long)]
    topic: String,
    /// So often
    #[arg(long)]
    hz: f64,
    /// Bytes of a message
    #[arg(long)]
    size: usize,
    /// For so long, in seconds
    #[arg(long)]
    seconds: f64,
    /// Once there are so many subscribers
    #[arg(long)]
    readers: u64,
    /// When each message was published, and how long that took: two u64 each
    #[arg(long)]
    out: PathBuf,
}

#[derive(Args)]
struct RoundTrips {
    /// So many times
    #[arg(long)]
    count: u64,
    /// Bytes of a message
    #[arg(long)]
    size: usize,
    /// How long each took: a u64 each
    #[arg(long)]
    out: PathBuf,
}

#[derive(Subcommand)]
enum Quinn {
    /// Takes what is sent, and sends back what is pinged
    Serve { address: SocketAddr },
    /// Sends messages, each over a stream of its own, as fast as they go; prints bytes a second
    Send {
        address: SocketAddr,
        #[arg(long)]
        size: usize,
        #[arg(long)]
        seconds: f64,
    },
    /// One after the other there and back, over streams of their own; writes how long each took: a u64 each
    Ping {
        address: SocketAddr,
        #[command(flatten)]
        trips: RoundTrips,
    },
}

fn main() -> Result<(), Failed> {
    match Traffic::parse() {
        Traffic::Publish(asked) => publish(&asked),
        Traffic::Subscribe { topic, out } => subscribe(&topic, &out),
        Traffic::Ping(asked) => ping(&asked),
        Traffic::Pong => pong(),
        Traffic::Quinn(asked) => tokio::runtime::Runtime::new()?.block_on(quinn(asked)),
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn ready() {
    println!("ready");
}

/// Until the input has ended.
fn until_told() {
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// As little-endian numbers.
fn write(out: &PathBuf, numbers: impl IntoIterator<Item = u64>) -> Result<(), Failed> {
    let mut file = BufWriter::new(File::create(out)?);
    for number in numbers {
        file.write_all(&number.to_le_bytes())?;
    }
    Ok(file.flush()?)
}

fn publisher(node: &Node, topic: &str, size: usize) -> sinew::Result<Publisher> {
    let memory_budget = (64 * (HEAD + size) as u64).max(1 << 20);
    Publisher::new(node, topic, TYPE, &Qos::keep_last(DEPTH), PublisherOptions { memory_budget, ..Default::default() })
}

/// Each byte is written, as a camera's driver does.
fn publish_on(publisher: &Publisher, size: usize, number: u64) -> sinew::Result<u64> {
    let mut loan = publisher.loan(HEAD + size)?;
    let bytes = loan.bytes();
    bytes[..4].copy_from_slice(&[0, 1, 0, 0]);
    bytes[12..HEAD].copy_from_slice(&(size as u32).to_le_bytes());
    bytes[HEAD..].fill(number as u8);
    let stamp = now_ns();
    bytes[4..12].copy_from_slice(&stamp.to_le_bytes());
    loan.publish(HEAD + size)?;
    Ok(stamp)
}

/// When it was published.
fn stamp_of(frame: &Frame) -> u64 {
    let mut head = [0; 12];
    let mut at = 0;
    for extent in frame.extents() {
        let some = extent.len().min(head.len() - at);
        head[at..at + some].copy_from_slice(&extent[..some]);
        at += some;
    }
    u64::from_le_bytes(head[4..12].try_into().expect("eight"))
}

fn publish(asked: &Publish) -> Result<(), Failed> {
    let node = Node::new(&format!("publisher_of_{}", asked.topic))?;
    let publisher = publisher(&node, &asked.topic, asked.size)?;
    let begin = Instant::now();
    while publisher.statistics().subscribers < asked.readers {
        if begin.elapsed() > PATIENCE {
            return Err(format!("{} has {} subscribers, not {}", asked.topic, publisher.statistics().subscribers, asked.readers).into());
        }
        sleep(NOW_AND_THEN);
    }
    // A gateway subscribes a moment before those at the far side hear of it.
    sleep(SETTLE);
    ready();
    let mut times = Vec::new();
    let begin = Instant::now();
    for number in 0.. {
        let due = Duration::from_secs_f64(number as f64 / asked.hz);
        if due.as_secs_f64() >= asked.seconds {
            break;
        }
        sleep(due.saturating_sub(begin.elapsed()));
        let before = now_ns();
        publish_on(&publisher, asked.size, number)?;
        times.extend([before, now_ns() - before]);
    }
    write(&asked.out, times)
}

fn subscribe(topic: &str, out: &PathBuf) -> Result<(), Failed> {
    let node = Node::new(&format!("subscriber_of_{topic}_{}", std::process::id()))?;
    let times = Arc::new(Mutex::new(Vec::new()));
    let arrivals = Arc::clone(&times);
    let subscriber =
        Subscriber::with_callback(&node, topic, TYPE, &Qos::keep_last(DEPTH), SubscriberOptions::default(), move |frame: Frame| {
            let arrived = now_ns();
            arrivals.lock().expect("nobody panics with it").extend([stamp_of(&frame), arrived]);
        })?;
    ready();
    until_told();
    drop(subscriber);
    let times = std::mem::take(&mut *times.lock().expect("nobody panics with it"));
    write(out, times)
}

fn ping(asked: &RoundTrips) -> Result<(), Failed> {
    let (count, size) = (asked.count, asked.size);
    let node = Node::new("ping")?;
    let there = Arc::new(publisher(&node, "there", size)?);
    let (done, all) = mpsc::channel();
    let (again, mut took) = (Arc::clone(&there), Vec::new());
    let answered = Arc::new(AtomicBool::new(false));
    let is_answered = Arc::clone(&answered);
    // The next one is sent where the answer comes: that is what is measured, and no thread of this program beside.
    let subscriber =
        Subscriber::with_callback(&node, "back", TYPE, &Qos::keep_last(DEPTH), SubscriberOptions::default(), move |frame: Frame| {
            took.push(now_ns() - stamp_of(&frame));
            // relaxed: who asks looks again
            is_answered.store(true, Ordering::Relaxed);
            if took.len() as u64 == count {
                let _ = done.send(std::mem::take(&mut took));
            } else if let Err(why) = publish_on(&again, size, took.len() as u64) {
                eprintln!("no more is sent: {why}");
            }
        })?;
    ready();
    let begin = Instant::now();
    // Until the first one comes back, those before may have had nobody to go to.
    while !answered.load(Ordering::Relaxed) {
        if begin.elapsed() > PATIENCE {
            return Err("no answer came".into());
        }
        publish_on(&there, size, 0)?;
        sleep(Duration::from_millis(200));
    }
    let took = all.recv_timeout(PATIENCE).map_err(|_| "answers do not come any more")?;
    drop(subscriber);
    write(&asked.out, took)
}

fn pong() -> Result<(), Failed> {
    let node = Node::new("pong")?;
    let back = publisher(&node, "back", 1 << 20)?;
    let _subscriber =
        Subscriber::with_callback(&node, "there", TYPE, &Qos::keep_last(DEPTH), SubscriberOptions::default(), move |frame: Frame| {
            let parts: Vec<&[u8]> = frame.extents().collect();
            if let Err(why) = back.publish(&parts) {
                eprintln!("nothing is sent back: {why}");
            }
        })?;
    ready();
    until_told();
    Ok(())
}

/// quinn as it comes, but with windows and buffers that bound nobody.
fn endpoint(address: SocketAddr) -> Result<Endpoint, Failed> {
    let identity = Identity::load(&Security::default())?;
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(8 << 20)).receive_window(VarInt::from_u32(16 << 20)).send_window(16 << 20);
    let transport = Arc::new(transport);
    let (mut server, mut client) = (identity.server(), identity.client());
    server.transport_config(Arc::clone(&transport));
    client.transport_config(transport);
    let mut endpoint = Endpoint::new(EndpointConfig::default(), Some(server), link::socket(address)?, Arc::new(TokioRuntime))?;
    endpoint.set_default_client_config(client);
    Ok(endpoint)
}

async fn quinn(asked: Quinn) -> Result<(), Failed> {
    let anywhere = "[::]:0".parse().expect("it is an address");
    match asked {
        Quinn::Serve { address } => serve(endpoint(address)?).await,
        Quinn::Send { address, size, seconds } => {
            let endpoint = endpoint(anywhere)?;
            send(&endpoint.connect(address, "sinew")?.await?, size, seconds).await
        }
        Quinn::Ping { address, trips } => {
            let endpoint = endpoint(anywhere)?;
            write(&trips.out, quinn_ping(&endpoint.connect(address, "sinew")?.await?, &trips).await?)
        }
    }
}

async fn serve(endpoint: Endpoint) -> Result<(), Failed> {
    ready();
    let told = tokio::task::spawn_blocking(until_told);
    let accepting = async {
        while let Some(incoming) = endpoint.accept().await {
            tokio::spawn(async move {
                if let Ok(connection) = incoming.await {
                    let taken = AtomicU64::new(0);
                    tokio::join!(take(&connection, &taken), answer(&connection, &taken));
                }
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        _ = told => {}
    }
    Ok(())
}

/// Reads each stream to its end, and counts the bytes.
async fn take(connection: &Connection, taken: &AtomicU64) {
    while let Ok(mut stream) = connection.accept_uni().await {
        while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, true).await {
            taken.fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed); // relaxed: a count
        }
    }
}

/// What is sent over a stream comes back over it; for nothing at all, how much was taken so far.
async fn answer(connection: &Connection, taken: &AtomicU64) {
    while let Ok((mut sender, mut receiver)) = connection.accept_bi().await {
        let Ok(asked) = receiver.read_to_end(1 << 20).await else { continue };
        let count = taken.load(Ordering::Relaxed).to_le_bytes(); // relaxed: a count
        let _ = sender.write_all(if asked.is_empty() { &count } else { &asked }).await;
        let _ = sender.finish();
    }
}

async fn send(connection: &Connection, size: usize, seconds: f64) -> Result<(), Failed> {
    let message = bytes::Bytes::from(vec![7; size]);
    let begin = Instant::now();
    let sending = async {
        loop {
            let mut stream = connection.open_uni().await?;
            stream.write_chunk(message.clone()).await?;
            stream.finish()?;
        }
    };
    // What the window takes at first is not what the link moves.
    let measuring = async {
        tokio::time::sleep(Duration::from_secs_f64(seconds / 5.0)).await;
        let (before, at) = (taken_there(connection).await?, Instant::now());
        tokio::time::sleep(Duration::from_secs_f64(seconds).saturating_sub(begin.elapsed())).await;
        let moved = taken_there(connection).await? - before;
        println!("{}", moved as f64 / at.elapsed().as_secs_f64());
        Ok(())
    };
    tokio::select! {
        failed = sending => failed,
        done = measuring => done,
    }
}

async fn taken_there(connection: &Connection) -> Result<u64, Failed> {
    let answer = round_trip(connection, &[]).await?;
    Ok(u64::from_le_bytes(answer.as_slice().try_into()?))
}

async fn round_trip(connection: &Connection, bytes: &[u8]) -> Result<Vec<u8>, Failed> {
    let (mut sender, mut receiver) = connection.open_bi().await?;
    sender.write_all(bytes).await?;
    sender.finish()?;
    Ok(receiver.read_to_end(1 << 20).await?)
}

async fn quinn_ping(connection: &Connection, asked: &RoundTrips) -> Result<Vec<u64>, Failed> {
    let bytes = vec![7; asked.size];
    let mut took = Vec::new();
    for _ in 0..asked.count {
        let begin = Instant::now();
        round_trip(connection, &bytes).await?;
        took.push(begin.elapsed().as_nanos() as u64);
    }
    Ok(took)
}

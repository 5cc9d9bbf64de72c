//! What Rust does of the matrix of tests/interop, which builds it: no example for people.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Client, ErrorKind, Node, Provider, Publisher, Qos, Subscriber};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Serialize, Deserialize, Debug, PartialEq, Clone, Copy)]
#[serde(rename = "robot/Mode(uint8)")]
enum Mode {
    Idle,
    Driving,
    Broken,
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
#[serde(rename = "robot/Point")]
struct Point {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
#[serde(rename = "robot/Header")]
struct Header {
    number: u64,
    frame_id: String,
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
#[serde(rename = "robot/Everything")]
struct Everything {
    header: Header,
    flag: bool,
    small: i8,
    medium: i16,
    mixed: u32,
    big: i64,
    ratio: f32,
    exact: f64,
    mode: Mode,
    text: String,
    position: [f64; 3],
    data: Vec<u8>,
    points: Vec<Point>,
    names: Vec<String>,
    maybe: Option<f64>,
    bits: Vec<bool>,
}
sinew::message!(Everything);

/// The message of a number, which is the same in all languages.
fn message_of(number: u64) -> Everything {
    let n = number as i64;
    Everything {
        header: Header { number, frame_id: format!("frame of number {n}") },
        flag: n % 2 == 1,
        small: -(n % 100) as i8,
        medium: -(n % 30000) as i16,
        mixed: number.wrapping_mul(2_654_435_761) as u32,
        big: -n * 1_000_000_000_000,
        ratio: n as f32 / 4.0,
        exact: n as f64 / 8.0,
        mode: [Mode::Idle, Mode::Driving, Mode::Broken][number as usize % 3],
        text: "grün ".repeat(number as usize % 50),
        position: [n as f64, -n as f64, n as f64 / 2.0],
        data: (0..number % 5 * 50000).map(|i| (number + i) as u8).collect(),
        points: (0..number % 7 * 300).map(|i| Point { x: i as f32, y: n as f32, z: -(i as f32) }).collect(),
        names: (0..number % 4).map(|i| format!("name {i}")).collect(),
        maybe: (n % 2 == 1).then_some(n as f64 / 2.0),
        bits: (0..number % 17).map(|i| i % 3 == 0).collect(),
    }
}

fn publish(node: &Node) -> sinew::Result<()> {
    let publisher = Publisher::<Everything>::new(node, "everything", &Qos::default())?;
    for number in 1.. {
        publisher.publish(&message_of(number))?;
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn subscribe(node: &Node, count: u64) -> sinew::Result<()> {
    let subscriber = Subscriber::<Everything>::new(node, "everything", &Qos::default())?;
    let (mut ways, mut before) = (BTreeSet::new(), 0);
    for _ in 0..count {
        let received = subscriber.take(PATIENCE)?.expect("one comes in time");
        let message = received.read()?;
        let number = message.header.number;
        assert!(number > before, "not newer: {number}");
        before = number;
        assert!(message == message_of(number), "not as it was published: {number}");
        ways.insert(format!("{:?}", received.info().delivery).to_lowercase());
    }
    for way in ways {
        println!("delivery {way}");
    }
    Ok(())
}

fn provide(node: &Node) -> sinew::Result<()> {
    let _provider = Provider::<Everything, Everything>::new(node, "next", &Default::default(), |call| {
        let number = call.request().map(|request| {
            assert!(
                request.header.number % 13 == 0 || request == message_of(request.header.number),
                "not as it was asked: {}",
                request.header.number
            );
            request.header.number
        });
        let ended = match number {
            Ok(number) if number % 13 == 0 => call.fail("unlucky"),
            Ok(number) => call.answer(&message_of(number + 1)),
            Err(error) => call.fail(&error.to_string()),
        };
        ended.expect("the client is there");
    })?;
    loop {
        thread::park();
    }
}

fn call(node: &Node, count: u64) -> sinew::Result<()> {
    let client = Client::<Everything, Everything>::new(node, "next", &Default::default())?;
    for number in 1..=count {
        match client.call(&message_of(number), PATIENCE) {
            Ok(response) => {
                assert!(number % 13 != 0, "not refused: {number}");
                assert!(response.read()? == message_of(number + 1), "not as it was answered: {number}");
            }
            Err(error) => {
                assert!(number % 13 == 0 && error.kind() == ErrorKind::Failed && error.to_string().contains("unlucky"), "{error}: {number}")
            }
        }
    }
    Ok(())
}

fn main() -> sinew::Result<()> {
    let arguments: Vec<_> = std::env::args().collect();
    let count = arguments.get(2).and_then(|count| count.parse().ok()).unwrap_or(0);
    let node = Node::new(&arguments[1])?;
    match arguments[1].as_str() {
        "publish" => publish(&node),
        "subscribe" => subscribe(&node, count),
        "provide" => provide(&node),
        _ => call(&node, count),
    }
}

//! A service that does something with a number.

use sinew::raw::{Call, Client, ClientOptions, Provider, ProviderOptions};
use sinew::{ErrorKind, Node};
use sinew_gateway::bridge::Bridge;

use super::{PATIENCE, until};

/// Of the service `add`.
const REQUEST: &str = "example_interfaces/srv/AddTwoInts_Request{a:int64;b:int64;}";
const RESPONSE: &str = "example_interfaces/srv/AddTwoInts_Response{sum:int64;}";

pub const NUMBER: &str = "calc/Number{value:uint32;}";

pub fn number(value: u32) -> Vec<u8> {
    [[0, 1, 0, 0], value.to_le_bytes()].concat()
}

pub fn value(stream: &[u8]) -> u32 {
    u32::from_le_bytes(stream[4..8].try_into().expect("four"))
}

pub fn provider(node: &Node, callback: impl FnMut(Call) + Send + 'static) -> Provider {
    Provider::new(node, "double", NUMBER, NUMBER, &ProviderOptions::default(), callback).expect("it may provide")
}

pub fn client(node: &Node) -> Client {
    Client::new(node, "double", NUMBER, NUMBER, &ClientOptions::default()).expect("it may call")
}

/// What the provider fails with, the client hears.
pub fn fails_as_its_provider_says(calculator: &Node, user: &Node) {
    let _provided = provider(calculator, |call| call.fail("this one cannot be doubled").expect("somebody waits"));
    let error = client(user).call(&[&number(1)], PATIENCE).expect_err("it fails");
    assert_eq!((error.kind(), error.to_string().contains("this one cannot be doubled")), (ErrorKind::Failed, true), "{error}");
}

/// That the client does not want the answer any more, the provider hears.
pub fn is_cancelled_when_nobody_waits(calculator: &Node, user: &Node) {
    let (send, calls) = std::sync::mpsc::channel();
    let _provided = provider(calculator, move |call| send.send(call).expect("the test goes on"));
    let service = client(user);
    let response = service.start(number(1), None).expect("it is called");
    let call = calls.recv_timeout(PATIENCE).expect("it arrives");
    assert!(!call.is_cancelled());
    drop(response);
    until("it is cancelled", || call.is_cancelled());
}

/// Whoever is called dies.
pub fn die(_: Call) {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}

/// Calls of a service of this domain that came from elsewhere and were not answered, also when it is not provided any more.
pub fn lost(bridge: Option<&Bridge>, service: &str) -> u64 {
    let channels = bridge.map(|bridge| bridge.status().remove(0).channels).unwrap_or_default();
    channels.iter().filter(|channel| channel.name == service && channel.outgoing).map(|channel| channel.lost).sum()
}

pub fn asked(call: &Call) -> u32 {
    value(&call.extents().collect::<Vec<_>>().concat())
}

/// Of 64 bits.
pub fn numbers(values: &[i64]) -> Vec<u8> {
    let mut stream = vec![0, 1, 0, 0];
    stream.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    stream
}

pub fn number_at(stream: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(stream[4 + 8 * at..12 + 8 * at].try_into().expect("eight"))
}

/// Provides `add`.
pub fn adder(node: &Node) -> Provider {
    let add = |call: Call| {
        let asked = call.extents().collect::<Vec<_>>().concat();
        call.answer(&[&numbers(&[number_at(&asked, 0) + number_at(&asked, 1)])]).expect("somebody waits");
    };
    Provider::new(node, "add", REQUEST, RESPONSE, &ProviderOptions::default(), add).expect("it may provide")
}

/// Calls `add` a thousand times, and every answer is right.
pub fn adds_a_thousand_times(node: &Node) {
    let service = Client::new(node, "add", REQUEST, RESPONSE, &ClientOptions::default()).expect("it may call");
    for at in 0..1000 {
        let answer = service.call(&[&numbers(&[at, 7])], PATIENCE).expect("it is answered");
        assert_eq!(number_at(&answer.to_vec(), 0), at + 7);
    }
}

//! A service that does something with a number.

use sinew::raw::{Call, Client, ClientOptions, Provider, ProviderOptions};
use sinew::{ErrorKind, Node};

use super::{PATIENCE, until};

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

pub fn asked(call: &Call) -> u32 {
    value(&call.extents().collect::<Vec<_>>().concat())
}

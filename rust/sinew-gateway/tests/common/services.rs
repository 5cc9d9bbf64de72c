//! A service that does something with a number.

use sinew::Node;
use sinew::raw::{Call, Client, ClientOptions, Provider, ProviderOptions};

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

pub fn asked(call: &Call) -> u32 {
    value(&call.extents().collect::<Vec<_>>().concat())
}

//! A client of Foxglove's protocol, and the server that it talks to.
#![allow(dead_code)] // by each test file, another part

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Lines};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use sinew::raw::Publisher;
use sinew::{Node, Qos};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use super::{Domain, eventually};

pub const NUMBER: &str = "test/Number{value:uint64;}";

/// One of them.
pub fn number(value: u64) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat()
}

pub fn publisher(node: &Node, topic: &str, signature: &str) -> Publisher {
    Publisher::new(node, topic, signature, &Qos::default(), Default::default()).unwrap()
}

pub fn subscribers(publisher: &Publisher, count: u64) {
    assert!(eventually(|| publisher.statistics().subscribers == count), "not {count}: {publisher:?}");
}

/// `sinew foxglove`, killed at the end.
pub struct Server {
    pub child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    pub port: u16,
}

impl Server {
    /// With these arguments, at a port that is free.
    pub fn start(domain: &Domain, arguments: &str) -> Server {
        Server::start_with(domain, arguments, 1024)
    }

    /// The same, with so many files at most.
    pub fn start_with(domain: &Domain, arguments: &str, files: u32) -> Server {
        let command = domain.command(format!("foxglove --port 0 {arguments}").trim());
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]).arg(command.get_program()).args(command.get_args());
        limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = limited.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the command was built");
        let lines = BufReader::new(child.stdout.take().expect("it is a pipe")).lines();
        let mut server = Server { child, lines, port: 0 };
        let first = server.line();
        let (_, rest) = first.split_once("ws://127.0.0.1:").expect("an address is in it");
        server.port = rest.split(':').next().and_then(|port| port.parse().ok()).expect("a port is in it");
        server
    }

    /// The next line that it tells.
    pub fn line(&mut self) -> String {
        self.lines.next().expect("it goes on").expect("it is text")
    }

    /// Kilobytes, as the kernel tells: "VmHWM" is the most that it ever had.
    pub fn memory(&self, what: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with(what)).expect("the kernel tells it");
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("it is a number")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection.
pub struct Client {
    socket: WebSocket<TcpStream>,
    /// What the server said first.
    pub server: Value,
    /// The channels that there are, by their topics.
    pub channels: HashMap<String, Value>,
    /// Services, by their names.
    pub services: HashMap<String, Value>,
    /// What came while something else was waited for.
    unread: VecDeque<Told>,
}

/// What the server sends.
pub enum Told {
    Json(Value),
    /// The opcode, and what follows it.
    Binary(u8, Vec<u8>),
}

impl Client {
    pub fn connect(server: &Server) -> Client {
        let mut request = format!("ws://127.0.0.1:{}", server.port).into_client_request().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", "foxglove.sdk.v1".parse().unwrap());
        let stream = TcpStream::connect(("127.0.0.1", server.port)).expect("somebody listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let (socket, _) = tungstenite::client(request, stream).expect("it speaks the protocol");
        let mut client =
            Client { socket, server: Value::Null, channels: HashMap::new(), services: HashMap::new(), unread: VecDeque::new() };
        client.server = client.json("serverInfo");
        client
    }

    pub fn send(&mut self, message: Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    pub fn send_binary(&mut self, parts: &[&[u8]]) {
        self.socket.send(Message::binary(parts.concat())).unwrap();
    }

    /// The next message; of channels and services it is remembered which there are. None: the server has ended the connection.
    pub fn next(&mut self) -> Option<Told> {
        if let Some(told) = self.unread.pop_front() {
            return Some(told);
        }
        match self.socket.read() {
            Ok(Message::Text(text)) => {
                let told: Value = serde_json::from_str(&text).expect("it sends JSON");
                self.note(&told);
                Some(Told::Json(told))
            }
            Ok(Message::Binary(bytes)) => Some(Told::Binary(bytes[0], bytes[1..].to_vec())),
            Ok(Message::Close(_)) | Err(tungstenite::Error::ConnectionClosed) => None,
            other => panic!("nothing comes: {other:?}"),
        }
    }

    fn note(&mut self, told: &Value) {
        for channel in told["channels"].as_array().into_iter().flatten().filter(|_| told["op"] == "advertise") {
            self.channels.insert(channel["topic"].as_str().unwrap().to_owned(), channel.clone());
        }
        for id in told["channelIds"].as_array().into_iter().flatten().filter(|_| told["op"] == "unadvertise") {
            self.channels.retain(|_, channel| channel["id"] != *id);
        }
        for service in told["services"].as_array().into_iter().flatten().filter(|_| told["op"] == "advertiseServices") {
            self.services.insert(service["name"].as_str().unwrap().to_owned(), service.clone());
        }
        for id in told["serviceIds"].as_array().into_iter().flatten().filter(|_| told["op"] == "unadvertiseServices") {
            self.services.retain(|_, service| service["id"] != *id);
        }
    }

    /// The next of such an `op`.
    pub fn json(&mut self, op: &str) -> Value {
        loop {
            if let Told::Json(told) = self.next().expect("it goes on")
                && told["op"] == op
            {
                return told;
            }
        }
    }

    /// The next of such an opcode.
    pub fn binary(&mut self, opcode: u8) -> Vec<u8> {
        loop {
            if let Told::Binary(of, bytes) = self.next().expect("it goes on")
                && of == opcode
            {
                return bytes;
            }
        }
    }

    /// Waits until a topic is a channel.
    pub fn channel(&mut self, topic: &str) -> Value {
        while !self.channels.contains_key(topic) {
            self.next().expect("it goes on");
        }
        self.channels[topic].clone()
    }

    /// Waits until it is there.
    pub fn service(&mut self, name: &str) -> Value {
        while !self.services.contains_key(name) {
            self.next().expect("it goes on");
        }
        self.services[name].clone()
    }

    /// Waits until a topic is none.
    pub fn gone(&mut self, topic: &str) {
        while self.channels.contains_key(topic) {
            self.next().expect("it goes on");
        }
    }

    /// When it returns, it is subscribed to.
    pub fn subscribe(&mut self, topic: &str, id: u32) {
        let channel = self.channel(topic)["id"].clone();
        let mut unread = Vec::new();
        loop {
            self.send(json!({"op": "subscribe", "subscriptions": [{"id": id, "channelId": channel}]}));
            // It answers in order.
            self.send(json!({"op": "getParameters", "parameterNames": ["none"], "id": "subscribed"}));
            let mut is_refused = false;
            loop {
                match self.next().expect("it goes on") {
                    Told::Json(told) if told["id"] == "subscribed" => break,
                    Told::Json(told) if told["op"] == "status" => is_refused = true,
                    other => unread.push(other),
                }
            }
            // It has told of a new channel a moment before it knows it itself.
            if !is_refused {
                self.unread.extend(unread);
                return;
            }
        }
    }

    pub fn unsubscribe(&mut self, id: u32) {
        self.send(json!({"op": "unsubscribe", "subscriptionIds": [id]}));
    }

    /// The next message: subscription, log time, stream.
    pub fn message(&mut self) -> (u32, u64, Vec<u8>) {
        let bytes = self.binary(1);
        let (id, rest) = bytes.split_first_chunk().unwrap();
        let (time, stream) = rest.split_first_chunk().unwrap();
        (u32::from_le_bytes(*id), u64::from_le_bytes(*time), stream.to_vec())
    }
}

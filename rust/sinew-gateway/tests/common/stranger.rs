//! Who speaks the protocol of gateways by hand.

use std::net::SocketAddr;

use quinn::{ConnectionError, Endpoint, RecvStream, SendStream, WriteError};
use sinew_gateway::config::Security;
use sinew_gateway::protocol::{Control, Hello, Kind, Offer, Packing, RecordHead, VERSION, Want};
use sinew_gateway::security::Identity;

use super::{IMAGE, PATIENCE, Robot};

/// Somebody whose certificate is accepted.
pub struct Stranger {
    _endpoint: Endpoint,
    pub connection: quinn::Connection,
    pub send: SendStream,
    receive: RecvStream,
}

impl Stranger {
    /// Has dialed, and said nothing.
    pub async fn new(robot: &Robot) -> Stranger {
        Stranger::dialing(robot.address()).await.expect("it is accepted")
    }

    /// The same, at a gateway without security.
    pub async fn dialing(address: SocketAddr) -> Result<Stranger, ConnectionError> {
        let identity = Identity::load(&Security::default()).expect("an identity is made on the fly");
        let endpoint = Endpoint::client("[::1]:0".parse().expect("it is an address")).expect("there is a port");
        let connection = endpoint.connect_with(identity.client(), address, "sinew").expect("it can be dialed").await?;
        let (send, receive) = connection.open_bi().await?;
        Ok(Stranger { _endpoint: endpoint, connection, send, receive })
    }

    /// That has introduced itself as a gateway does.
    pub async fn introduced(robot: &Robot) -> Stranger {
        let mut stranger = Stranger::new(robot).await;
        stranger.introduce().await;
        stranger
    }

    /// The same, of a gateway that takes messages of so many bytes.
    pub async fn taking(robot: &Robot, max_message: u64) -> Stranger {
        let mut stranger = Stranger::new(robot).await;
        let Control::Hello(hello) = hello() else { unreachable!("it is one") };
        stranger.introduce_as(Hello { max_message, ..hello }).await;
        stranger
    }

    /// As a gateway does.
    pub async fn introduce(&mut self) {
        let Control::Hello(hello) = hello() else { unreachable!("it is one") };
        self.introduce_as(hello).await;
    }

    pub async fn introduce_as(&mut self, hello: Hello) {
        self.say(&Control::Hello(hello)).await;
        assert!(matches!(self.hear().await, Control::Hello(_)));
        self.say(&Control::Ready).await;
    }

    pub async fn say(&mut self, control: &Control) {
        self.send.write_all(&control.encode()).await.expect("it can be said");
    }

    pub async fn hear(&mut self) -> Control {
        let mut size = [0; 4];
        self.receive.read_exact(&mut size).await.expect("something is said");
        let mut message = vec![0; u32::from_le_bytes(size) as usize];
        self.receive.read_exact(&mut message).await.expect("all of it is said");
        Control::decode(&message).expect("it is a message").expect("it is known")
    }

    /// The channel of the want of this topic.
    pub async fn wanted(&mut self, topic: &str) -> u32 {
        loop {
            if let Control::Want(want) = self.hear().await
                && want.name == topic
            {
                return want.channel;
            }
        }
    }

    /// The code and the text that it is disconnected with.
    pub async fn disconnected(self) -> (u64, String) {
        match tokio::time::timeout(PATIENCE, self.connection.closed()).await.expect("it is disconnected") {
            ConnectionError::ApplicationClosed(closed) => {
                (closed.error_code.into_inner(), String::from_utf8_lossy(&closed.reason).into_owned())
            }
            other => panic!("{other}"),
        }
    }

    /// Until it has arrived, or the connection is closed: what is wrong with one stream may close it while the next one is sent.
    pub async fn uni(&self, bytes: &[u8]) {
        let Ok(mut stream) = self.connection.open_uni().await else { return };
        if !matches!(stream.write_all(bytes).await, Err(WriteError::ConnectionLost(_))) {
            let _ = stream.finish();
            let _ = stream.stopped().await;
        }
    }
}

pub fn hello() -> Control {
    Control::Hello(Hello {
        version: VERSION,
        id: [0xff; 16],
        name: "stranger".to_owned(),
        tag: String::new(),
        node: "stranger".to_owned(),
        compression: 0,
        max_message: 1 << 20,
        clock: 0,
    })
}

pub fn want(channel: u32, name: &str) -> Control {
    let (signature, response) = (IMAGE.to_owned(), String::new());
    Control::Want(Want { channel, kind: Kind::Topic, name: name.to_owned(), signature, response, offer: Offer::default() })
}

pub fn open(channel: u32) -> Control {
    Control::Open { channel, ordered: false, after: 0, offer: Offer { depth: 8, ..Offer::default() } }
}

pub fn record(size: u32, packing: Packing, unpacked: u32) -> Vec<u8> {
    RecordHead { sequence: 1, origin: 1, age_ns: 0, packing, size, unpacked }.encode()
}

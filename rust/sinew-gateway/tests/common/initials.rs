//! Who begins handshakes of QUIC and goes on with none, as somebody does whose address is invented: nothing that is answered is looked at for what it says.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::quic::{ClientConnection, Keys, Version};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, Side};
use sinew_gateway::protocol::ALPN;

/// Where the payload of a packet begins, behind its first byte, the version, two ids, no token, and its length.
const HEADER: usize = 1 + 4 + 9 + 9 + 1 + 2 + NUMBER;
/// Bytes of the number of a packet.
const NUMBER: usize = 4;
const TAG: usize = 16;
/// Bytes of a packet, which is as large as the first ones must be.
const SIZE: usize = 1200;
const PING: [u8; 1] = [1];

/// One handshake, which says that it goes on as often as it is told to.
pub struct Initials {
    socket: UdpSocket,
    to: SocketAddr,
    id: [u8; 8],
    sent: u32,
}

impl Initials {
    /// Begins one.
    pub fn to(to: SocketAddr) -> Initials {
        let socket = UdpSocket::bind("[::1]:0").expect("there is a port");
        let mut initials = Initials { socket, to, id: fastrand::u64(..).to_be_bytes(), sent: 0 };
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider())).with_protocol_versions(&[&TLS13]);
        let mut config = config.expect("ring has TLS 1.3").with_root_certificates(RootCertStore::empty()).with_no_client_auth();
        config.alpn_protocols = vec![ALPN.to_vec()];
        // The id that its packets are from.
        let parameters = [&[0x0f, 8][..], &initials.id].concat();
        let name = "sinew".try_into().expect("it is a name");
        let mut client = ClientConnection::new(Arc::new(config), Version::V1, name, parameters).expect("it can begin");
        let mut hello = Vec::new();
        client.write_hs(&mut hello);
        let crypto = [&[6, 0][..], &length(hello.len()), &hello].concat();
        initials.send(&crypto);
        initials
    }

    /// Keeps it from being taken for silent.
    pub fn ping(&mut self) {
        self.send(&PING);
    }

    /// Whether it was begun on the other side: else it is asked to show that it gets answers (RFC 9000, 8.1.2). Waits until it is answered.
    pub fn is_begun(&self) -> bool {
        self.socket.set_read_timeout(Some(Duration::from_secs(20))).expect("it is a time");
        let mut answer = [0; 2048];
        self.socket.recv(&mut answer).expect("it is answered");
        answer[0] & 0x30 != 0x30
    }

    /// A packet with this, and nothing else.
    fn send(&mut self, frames: &[u8]) {
        let mut payload = frames.to_vec();
        payload.resize(SIZE - HEADER - TAG, 0);
        let number = self.sent.to_be_bytes();
        self.sent += 1;
        let head = [&[0xc0 | (NUMBER as u8 - 1), 0, 0, 0, 1, 8][..], &self.id, &[8], &self.id, &[0]].concat();
        let header = [&head[..], &length(NUMBER + payload.len() + TAG), &number].concat();
        let suite = ring::cipher_suite::TLS13_AES_128_GCM_SHA256.tls13().expect("it is of TLS 1.3");
        let keys = Keys::initial(Version::V1, suite, suite.quic.expect("QUIC begins with it"), &self.id, Side::Client).local;
        let tag = keys.packet.encrypt_in_place(u64::from(self.sent - 1), &header, &mut payload).expect("it is short");
        let mut packet = [&header, &payload[..], tag.as_ref()].concat();
        assert_eq!((header.len(), packet.len()), (HEADER, SIZE));
        let (clear, sample) = packet.split_at_mut(HEADER);
        let (first, rest) = clear.split_first_mut().expect("it has one");
        let number = rest.len() - NUMBER;
        keys.header.encrypt_in_place(&sample[..keys.header.sample_len()], first, &mut rest[number..]).expect("there is enough of it");
        self.socket.send_to(&packet, self.to).expect("it can be sent");
    }
}

/// As QUIC writes it in two bytes.
fn length(length: usize) -> [u8; 2] {
    (u16::try_from(length).expect("it is short") | 0x4000).to_be_bytes()
}

//! Who may be a peer, and how this gateway proves who it is: certificates, for TLS 1.3.
//!
//! Peers dial each other by address, and robots change their addresses. So certificates are not bound to names of hosts: a peer is one that has a certificate, valid now, which our own authority has signed, and the key to it.

mod files;
mod trust;
mod why;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use quinn::EndpointConfig;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::HashedConnectionIdGenerator;
use ring::hmac;
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::TLS13;
use rustls::{ClientConfig, ServerConfig};

use crate::config::Security;
use crate::link;
use crate::protocol::ALPN;
use files::{Files, Stamps};

pub use files::subject;
pub use trust::Trusted;
pub use why::explained;

/// Between two looks at the files.
const LOOK: Duration = Duration::from_secs(1);

/// Why certificates cannot be used, as a sentence.
#[derive(Debug)]
pub struct Unusable(pub String);

impl fmt::Display for Unusable {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

/// What this gateway shows peers, and what it demands of them.
pub struct Identity {
    security: Security,
    files: Files,
    stamps: Stamps,
    /// Why what was found when they had changed is not used.
    unusable: Option<String>,
}

impl Identity {
    /// Reads the files. Says in the log what is less than secure.
    pub fn load(security: &Security) -> Result<Identity, Unusable> {
        let stamps = Stamps::of(security);
        let files = Files::read(security)?;
        if security.is_ad_hoc() {
            log::warn!(
                "AD HOC: nobody's certificate is looked at. Whoever reaches this gateway can be its peer, and whoever is in between can read and change everything. Use this on networks alone on which everybody is trusted"
            );
        } else if !security.require_auth {
            log::warn!("no certificate is demanded of peers (require_auth): whoever reaches this gateway can be its peer");
        }
        Ok(Identity { security: security.clone(), files, stamps, unusable: None })
    }

    /// Nobody proves anything.
    pub fn is_ad_hoc(&self) -> bool {
        self.security.is_ad_hoc()
    }

    /// Who may be a peer from now on.
    pub fn trusted(&self) -> Trusted {
        Trusted(self.files.authority.clone())
    }

    /// For those who dial.
    pub fn server(&self) -> quinn::ServerConfig {
        let crypto = QuicServerConfig::try_from(self.accepting()).expect("ring has the cipher that QUIC begins with");
        let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(link::transport());
        config
    }

    fn accepting(&self) -> ServerConfig {
        let builder = ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13]).expect("ring has TLS 1.3");
        let builder = match &self.files.authority {
            Some(roots) => {
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::clone(roots), provider()).build();
                builder.with_client_cert_verifier(verifier.expect("there are roots"))
            }
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(&self.files.shown))));
        config.alpn_protocols = vec![ALPN.to_vec()];
        // Whoever resumes a session shows no certificate: what has expired since, or is not signed by our authority any more, would not be noticed.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config
    }

    /// For dialing.
    pub fn client(&self) -> quinn::ClientConfig {
        let crypto = QuicClientConfig::try_from(self.dialing()).expect("ring has the cipher that QUIC begins with");
        let mut config = quinn::ClientConfig::new(Arc::new(crypto));
        config.transport_config(link::transport());
        config
    }

    fn dialing(&self) -> ClientConfig {
        let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13]).expect("ring has TLS 1.3");
        let builder = builder.dangerous().with_custom_certificate_verifier(trust::verifier(self.files.authority.clone()));
        let mut config = if self.security.provide_auth {
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(&self.files.shown))))
        } else {
            builder.with_no_client_auth()
        };
        config.alpn_protocols = vec![ALPN.to_vec()];
        // As in `accepting`.
        config.resumption = Resumption::disabled();
        config
    }

    /// For the endpoint at this port. What it says of connections that it does not know is known by the peer to come from it, also when they were of its last life: so a peer notices at once when this gateway was killed and started anew, by stateless resets
    /// (RFC 9000, 10.3), rather than after a while of silence. What that hangs on is the private key, or, where there is none, the machine.
    pub fn endpoint(&self, port: u16) -> EndpointConfig {
        let secret = match &self.security.key_file {
            Some(file) => std::fs::read(file),
            None => std::fs::read("/etc/machine-id"),
        };
        let Ok(secret) = secret else { return EndpointConfig::default() };
        let master = hmac::Key::new(hmac::HMAC_SHA256, &secret);
        let derived = |what: &str| hmac::sign(&master, format!("sinew-gateway {what} {port}").as_bytes());
        let reset = hmac::Key::new(hmac::HMAC_SHA256, derived("stateless reset").as_ref());
        let ids = derived("connection ids").as_ref().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let mut config = EndpointConfig::new(Arc::new(reset));
        config.cid_generator(move || Box::new(HashedConnectionIdGenerator::from_key(ids)));
        config
    }

    /// Until the files have changed, or an authority has begun to be valid or expired, and they were read again. Files that cannot be used change nothing, the log says why, and they are tried again: a certificate may be valid from some seconds on. May be dropped at any time.
    pub async fn changed(&mut self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let stamps = Stamps::of(&self.security);
            if stamps == self.stamps && self.unusable.is_none() && !self.files.are_due() {
                continue;
            }
            self.stamps = stamps;
            match Files::read(&self.security) {
                Ok(files) => {
                    self.files = files;
                    self.unusable = None;
                    log::info!("certificates have changed: new connections use what is there now");
                    return;
                }
                Err(Unusable(why)) => {
                    if self.unusable.as_ref() != Some(&why) {
                        log::error!("certificates have changed, and those before stay in use: {why}");
                    }
                    self.unusable = Some(why);
                }
            }
        }
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// What is shown where nothing is to be proved: QUIC has no servers without a certificate.
fn made_on_the_fly() -> Result<CertifiedKey, Unusable> {
    let failed = |why: &dyn fmt::Display| Unusable(format!("no certificate could be made on the fly: {why}"));
    let made = rcgen::generate_simple_self_signed(vec!["sinew".to_owned()]).map_err(|why| failed(&why))?;
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    CertifiedKey::from_der(vec![made.cert.der().clone()], key, &provider()).map_err(|why| failed(&why))
}

#[cfg(test)]
mod tests {
    use rustls::server::ServerSessionMemoryCache;
    use rustls::{ClientConnection, HandshakeKind, ServerConnection};

    use super::*;

    /// How they meet, time after time.
    fn handshakes(client: ClientConfig, server: ServerConfig) -> [Option<HandshakeKind>; 2] {
        let (client, server) = (Arc::new(client), Arc::new(server));
        [(); 2].map(|()| {
            let mut client = ClientConnection::new(Arc::clone(&client), "sinew".try_into().expect("a name")).expect("it can dial");
            let mut server = ServerConnection::new(Arc::clone(&server)).expect("it can be dialed");
            while client.wants_write() || server.wants_write() {
                let (mut there, mut back) = (Vec::new(), Vec::new());
                client.write_tls(&mut there).expect("there is memory");
                server.read_tls(&mut &there[..]).expect("it is read");
                server.process_new_packets().expect("they fit");
                server.write_tls(&mut back).expect("there is memory");
                client.read_tls(&mut &back[..]).expect("it is read");
                client.process_new_packets().expect("they fit");
            }
            client.handshake_kind()
        })
    }

    #[test]
    fn certificates_are_shown_each_time_also_to_who_would_resume_a_session() {
        let identity = Identity::load(&Security::default()).expect("an identity is made on the fly");
        let mut resuming = identity.dialing();
        resuming.resumption = Resumption::default();
        let mut keeping = identity.accepting();
        keeping.send_tls13_tickets = 2;
        keeping.session_storage = ServerSessionMemoryCache::new(8);
        assert_eq!(handshakes(resuming.clone(), keeping.clone()), [Some(HandshakeKind::Full), Some(HandshakeKind::Resumed)]);
        assert_eq!(handshakes(identity.dialing(), keeping), [Some(HandshakeKind::Full); 2]);
        assert_eq!(handshakes(resuming, identity.accepting()), [Some(HandshakeKind::Full); 2]);
    }
}

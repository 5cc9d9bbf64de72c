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
use rustls::crypto::CryptoProvider;
use rustls::server::WebPkiClientVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::TLS13;
use rustls::{ClientConfig, ServerConfig};

use crate::config::Security;
use crate::link;
use crate::protocol::ALPN;
use files::{Files, Stamps};

pub use files::subject;
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
        Ok(Identity { security: security.clone(), files, stamps })
    }

    /// Nobody proves anything.
    pub fn is_ad_hoc(&self) -> bool {
        self.security.is_ad_hoc()
    }

    /// For those who dial.
    pub fn server(&self) -> quinn::ServerConfig {
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
        let crypto = QuicServerConfig::try_from(config).expect("ring has the cipher that QUIC begins with");
        let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(link::transport());
        config
    }

    /// For dialing.
    pub fn client(&self) -> quinn::ClientConfig {
        let builder = ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13]).expect("ring has TLS 1.3");
        let builder = builder.dangerous().with_custom_certificate_verifier(trust::verifier(self.files.authority.clone()));
        let mut config = if self.security.provide_auth {
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(Arc::clone(&self.files.shown))))
        } else {
            builder.with_no_client_auth()
        };
        config.alpn_protocols = vec![ALPN.to_vec()];
        let crypto = QuicClientConfig::try_from(config).expect("ring has the cipher that QUIC begins with");
        let mut config = quinn::ClientConfig::new(Arc::new(crypto));
        config.transport_config(link::transport());
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

    /// Until the files have changed, and were read again. Files that cannot be used change nothing, and the log says why. May be dropped at any time.
    pub async fn changed(&mut self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let stamps = Stamps::of(&self.security);
            if stamps == self.stamps {
                continue;
            }
            self.stamps = stamps;
            match Files::read(&self.security) {
                Ok(files) => {
                    self.files = files;
                    log::info!("certificates have changed: new connections use what is there now");
                    return;
                }
                Err(why) => log::error!("certificates have changed, and those before stay in use: {why}"),
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

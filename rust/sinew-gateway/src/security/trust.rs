//! Whom we dial, and whether it is a peer; whether it still is.

use std::sync::Arc;

use quinn::Connection;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::{provider, why};

/// Who may be a peer, as it was when this was asked for.
#[derive(Clone, Debug)]
pub struct Trusted(pub(super) Option<Arc<RootCertStore>>);

impl Trusted {
    /// Whether who this is a connection with could be a peer, if it came now. As a sentence why not.
    pub fn check(&self, connection: &Connection, is_dialed: bool) -> Result<(), String> {
        let Some(roots) = &self.0 else { return Ok(()) };
        let identity = connection.peer_identity().and_then(|identity| identity.downcast::<Vec<CertificateDer<'static>>>().ok());
        let shown = identity.map_or_else(Vec::new, |shown| *shown);
        let Some((certificate, intermediates)) = shown.split_first() else {
            return Err("it has shown no certificate".to_owned());
        };
        let now = UnixTime::now();
        let checked = if is_dialed {
            is_signed(certificate, intermediates, roots, &provider(), now)
        } else {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::clone(roots), provider()).build();
            verifier.expect("there are roots").verify_client_cert(certificate, intermediates, now).map(|_| ())
        };
        checked.map_err(|error| why::of(&error))
    }
}

fn is_signed(
    certificate: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    roots: &RootCertStore,
    provider: &CryptoProvider,
    now: UnixTime,
) -> Result<(), Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    verify_server_cert_signed_by_trust_anchor(&parsed, roots, intermediates, now, provider.signature_verification_algorithms.all)
}

/// Takes who has a certificate of this authority, whatever name it has; without one anybody.
pub fn verifier(authority: Option<Arc<RootCertStore>>) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Trust { authority, provider: provider() })
}

#[derive(Debug)]
struct Trust {
    authority: Option<Arc<RootCertStore>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if let Some(roots) = &self.authority {
            is_signed(certificate, intermediates, roots, &self.provider, now)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

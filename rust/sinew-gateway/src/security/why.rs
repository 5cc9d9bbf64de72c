//! Why a handshake failed, for people.

use quinn::ConnectionError;
use rustls::{CertificateError, Error};

/// TLS alerts come as codes from here on (RFC 9001, section 4.8).
const ALERTS: u64 = 0x100;

/// A sentence, where it was about certificates.
pub fn explained(error: &ConnectionError) -> Option<String> {
    let (code, is_ours, said) = match error {
        ConnectionError::TransportError(error) => (u64::from(error.code), true, error.reason.as_str()),
        ConnectionError::ConnectionClosed(closed) => (u64::from(closed.error_code), false, ""),
        _ => return None,
    };
    let alert = code.checked_sub(ALERTS).filter(|alert| *alert < 0x100)?;
    let expired = said.contains("expired");
    Some(match (alert, is_ours) {
        (116, true) => "it shows no certificate, and this gateway demands one (require_auth): issue it one with `sinew-gateway certs issue`, and set provide_auth there".to_owned(),
        (116, false) => "the peer demands a certificate (require_auth), and this gateway shows none: set provide_auth, with a certificate of the peer's authority".to_owned(),
        (45, true) => expired_there(),
        (42, true) if expired => expired_there(),
        (45, false) => "the peer says that the certificate of this gateway has expired: is the clock of both right?".to_owned(),
        (48, true) => unsigned_there(),
        (48, false) => "the certificate of this gateway is not signed by the peer's authority: have it issued where that authority's key is, and look at ca_cert_file on both sides".to_owned(),
        (120, _) => "the other side is no gateway of sinew, or of a release that does not fit".to_owned(),
        (_, true) if !said.is_empty() => format!("its certificate is refused: {said}"),
        (_, true) => "its certificate is refused".to_owned(),
        (_, false) => "the peer refuses the certificate of this gateway; its log says why".to_owned(),
    })
}

/// The same of a certificate that was shown before.
pub fn of(error: &Error) -> String {
    use CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext, UnknownIssuer};
    match error {
        Error::InvalidCertificate(Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. }) => expired_there(),
        Error::InvalidCertificate(UnknownIssuer) => unsigned_there(),
        other => format!("its certificate is refused: {other}"),
    }
}

fn unsigned_there() -> String {
    "its certificate is not signed by our authority (ca_cert_file): issue it one with `sinew-gateway certs issue` where that authority's key is"
        .to_owned()
}

fn expired_there() -> String {
    "its certificate has expired, or is not valid yet: issue it another one with `sinew-gateway certs issue`, if the clock of both is right"
        .to_owned()
}

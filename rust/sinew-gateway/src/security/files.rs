//! The files that an identity is made of.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_parser::certificate::Validity;
use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::time::ASN1Time;

use super::{Unusable, made_on_the_fly, provider};
use crate::config::Security;

/// What was read.
pub struct Files {
    /// Our certificate, with its key.
    pub shown: Arc<CertifiedKey>,
    /// What peers' certificates must be signed by. None: by nobody.
    pub authority: Option<Arc<RootCertStore>>,
    /// When one that was left out begins to be valid, or another one expires.
    next: Option<ASN1Time>,
}

/// Those of a file that are valid.
struct Authorities {
    roots: RootCertStore,
    /// Of each other one, as a sentence.
    left_out: Vec<String>,
    /// As in [`Files`].
    next: Option<ASN1Time>,
}

impl Authorities {
    fn changes_at(&mut self, moment: ASN1Time) {
        self.next = self.next.into_iter().chain([moment]).min();
    }
}

/// Why a certificate is not valid now.
#[derive(Clone, Copy)]
enum Invalid {
    /// It is from then on.
    Yet(ASN1Time),
    /// It was until then.
    AnyMore(ASN1Time),
}

/// By which it is noticed that files have changed.
#[derive(PartialEq, Eq)]
pub struct Stamps(Vec<Option<[i64; 6]>>);

impl Stamps {
    pub fn of(security: &Security) -> Stamps {
        let files = [&security.key_file, &security.cert_file, &security.ca_cert_file];
        let stamp = |path: &Path| {
            let found = std::fs::metadata(path).ok()?;
            // When whose it is, and who may read it, was changed, too.
            let changed = [found.ctime(), found.ctime_nsec()];
            Some([found.ino() as i64, found.mtime(), found.mtime_nsec(), changed[0], changed[1], found.len() as i64])
        };
        Stamps(files.iter().map(|path| stamp(path.as_deref()?)).collect())
    }
}

impl Files {
    pub fn read(security: &Security) -> Result<Files, Unusable> {
        let found = match (&security.ca_cert_file, security.require_auth) {
            (Some(path), true) => Some(authorities(path)?),
            (None, true) => return Err(missing("ca_cert_file", "require_auth")),
            (_, false) => None,
        };
        let shown = Arc::new(match (&security.cert_file, &security.key_file, security.provide_auth) {
            (Some(certificate), Some(key), true) => shown(certificate, key)?,
            (None, _, true) => return Err(missing("cert_file", "provide_auth")),
            (_, None, true) => return Err(missing("key_file", "provide_auth")),
            (_, _, false) => made_on_the_fly()?,
        });
        let Some(Authorities { roots, left_out, next }) = found else { return Ok(Files { shown, authority: None, next: None }) };
        // Here, so that it is said once: what cannot be used is tried again and again.
        for line in left_out {
            log::warn!("{line}");
        }
        Ok(Files { shown, authority: Some(Arc::new(roots)), next })
    }

    /// An authority that was left out has begun to be valid since, or another one has expired.
    pub fn are_due(&self) -> bool {
        self.next.is_some_and(|next| next < ASN1Time::now())
    }
}

/// What the certificate in a file calls its owner. None: nothing that can be read.
pub fn subject(path: &Path) -> Option<String> {
    let chain = certificates(path).ok()?;
    let (_, certificate) = parse(path, chain.first()?).ok()?;
    let name = certificate.subject().iter_common_name().next()?.as_str().ok()?;
    Some(name.to_owned())
}

fn missing(file: &str, wanted: &str) -> Unusable {
    Unusable(format!("'{wanted}' needs a '{file}', and none is configured"))
}

/// While one takes over from another, both are in the file, and either may be valid alone.
fn authorities(path: &Path) -> Result<Authorities, Unusable> {
    let mut found = Authorities { roots: RootCertStore::empty(), left_out: Vec::new(), next: None };
    let mut first = None;
    for (number, certificate) in (1..).zip(certificates(path)?) {
        let (_, parsed) = parse(path, &certificate)?;
        if let Some(invalid) = Invalid::of(parsed.validity()) {
            let why = match invalid {
                Invalid::Yet(begin) => format!("it is valid from {begin} on: it is used then"),
                Invalid::AnyMore(end) => format!("it has expired at {end}: take it out of the file"),
            };
            found.left_out.push(format!("authority {number} ({}) in {} is left out, as {why}", parsed.subject(), path.display()));
            if let Invalid::Yet(begin) = invalid {
                found.changes_at(begin);
            }
            first = first.or(Some(invalid));
            continue;
        }
        if !parsed.is_ca() {
            return Err(Unusable(format!(
                "{} is no certificate of an authority: `sinew-gateway certs init` makes one, authority.pem",
                path.display()
            )));
        }
        found.changes_at(parsed.validity().not_after);
        found.roots.add(certificate).map_err(|why| Unusable(format!("{} cannot be used: {why}", path.display())))?;
    }
    match first {
        Some(invalid) if found.roots.is_empty() => Err(invalid.unusable(path)),
        _ => Ok(found),
    }
}

fn shown(certificate: &Path, key: &Path) -> Result<CertifiedKey, Unusable> {
    let chain = certificates(certificate)?;
    let (_, parsed) = parse(certificate, &chain[0])?;
    if let Some(invalid) = Invalid::of(parsed.validity()) {
        return Err(invalid.unusable(certificate));
    }
    if parsed.is_ca() {
        return Err(Unusable(format!(
            "{} is the certificate of an authority, and none of a gateway: `sinew-gateway certs issue NAME` makes one",
            certificate.display()
        )));
    }
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|why| unreadable(key, "a private key", &why))?;
    let shown = CertifiedKey::from_der(chain, secret, &provider()).map_err(|why| match why {
        rustls::Error::InconsistentKeys(_) => Unusable(format!(
            "{} is not the key to {}: both must be made by one `sinew-gateway certs issue`",
            key.display(),
            certificate.display()
        )),
        why => Unusable(format!("{} and {} cannot be used: {why}", certificate.display(), key.display())),
    })?;
    // Of what is used alone: what cannot be used is tried again and again.
    let mode = std::fs::metadata(key).map_or(0, |found| found.permissions().mode());
    if mode & 0o077 != 0 {
        log::warn!("others can read {}, which is secret: chmod 600 {}", key.display(), key.display());
    }
    Ok(shown)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Unusable> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.map_err(|why| unreadable(path, "a certificate", &why))?;
    if certificates.is_empty() {
        return Err(Unusable(format!(
            "{} has no certificate in it (a block that begins with -----BEGIN CERTIFICATE-----)",
            path.display()
        )));
    }
    Ok(certificates)
}

fn unreadable(path: &Path, what: &str, why: &rustls::pki_types::pem::Error) -> Unusable {
    use rustls::pki_types::pem::Error;
    match why {
        Error::Io(why) => Unusable(format!("{} cannot be read: {why}", path.display())),
        Error::NoItemsFound => Unusable(format!("{} does not have {what} in it", path.display())),
        why => Unusable(format!("{} is no PEM file with {what}: {why}", path.display())),
    }
}

fn parse<'a>(path: &Path, certificate: &'a [u8]) -> Result<(&'a [u8], X509Certificate<'a>), Unusable> {
    X509Certificate::from_der(certificate).map_err(|why| Unusable(format!("{} has a certificate that is none: {why}", path.display())))
}

impl Invalid {
    /// None: it is valid.
    fn of(validity: &Validity) -> Option<Invalid> {
        let now = ASN1Time::now();
        if now < validity.not_before {
            Some(Invalid::Yet(validity.not_before))
        } else {
            (now > validity.not_after).then_some(Invalid::AnyMore(validity.not_after))
        }
    }

    /// Of a file that has no other. Without what the clock says, so that this is the same text as long as it is so.
    fn unusable(self, path: &Path) -> Unusable {
        let why = match self {
            Invalid::Yet(begin) => format!("is valid from {begin} on, and here it is not that late: is the clock right?"),
            Invalid::AnyMore(end) => format!("has expired at {end}: issue another one with `sinew-gateway certs`"),
        };
        Unusable(format!("{} {why}", path.display()))
    }
}

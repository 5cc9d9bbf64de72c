//! `sinew-gateway certs`: an authority of one's own, and certificates for gateways.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use time::{Duration, OffsetDateTime};

/// What is shown of it with `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew-gateway certs init                 an authority, once, on a machine that is kept safe
  sinew-gateway certs issue drone-1        key and certificate for one gateway
  sinew-gateway certs issue drone-1 --days 30 --force

Files are in --folder; by default in sinew/certs in $XDG_CONFIG_HOME, or ~/.config. Whoever has authority.key.pem can make peers: it stays there. A gateway needs its own two files and authority.pem.";

/// Days that an authority is valid.
const AUTHORITY_DAYS: u32 = 3650;
/// Clocks of robots are late as often as not.
const LATE: Duration = Duration::days(1);

/// Make an authority, and certificates for gateways
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Certs {
    /// What to make.
    #[command(subcommand)]
    pub what: What,
}

/// What is made.
#[derive(Subcommand, Debug)]
pub enum What {
    /// An authority: its key, and its certificate, which all gateways need
    Init {
        /// Where to
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
        /// In place of one that is there: all certificates that it has signed are worth nothing then
        #[arg(long)]
        force: bool,
    },
    /// A key and a certificate for one gateway
    Issue {
        /// The gateway's, as peers see it
        name: String,
        /// Where the authority is, and where to
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
        /// Days that it is valid
        #[arg(long, default_value_t = 365, value_parser = clap::value_parser!(u32).range(1..=AUTHORITY_DAYS as i64))]
        days: u32,
        /// In place of one that is there
        #[arg(long)]
        force: bool,
    },
}

/// Does it, and says what was made. Fails with a sentence.
pub fn certs(asked: &Certs, out: &mut dyn Write) -> Result<(), String> {
    match &asked.what {
        What::Init { folder, force } => {
            init(&chosen(folder)?, *force, out)?;
            let there = folder.as_ref().map(|folder| format!(" --folder {}", folder.display())).unwrap_or_default();
            say(out, &format!("\nNext: sinew-gateway certs issue NAME{there}, for each gateway\n"))
        }
        What::Issue { name, folder, days, force } => issue(&chosen(folder)?, name, *days, *force, out),
    }
}

fn chosen(folder: &Option<PathBuf>) -> Result<PathBuf, String> {
    if let Some(folder) = folder {
        return Ok(folder.clone());
    }
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = of("XDG_CONFIG_HOME").or_else(|| of("HOME").map(|home| home.join(".config")));
    Ok(config.ok_or("neither XDG_CONFIG_HOME nor HOME is set: say --folder")?.join("sinew/certs"))
}

fn init(folder: &Path, force: bool, out: &mut dyn Write) -> Result<(), String> {
    let (key_file, file) = (folder.join("authority.key.pem"), folder.join("authority.pem"));
    refuse_to_overwrite(&[&key_file, &file], force)?;
    let key = KeyPair::generate().map_err(|why| why.to_string())?;
    let mut params = valid(AUTHORITY_DAYS)?;
    // By its name each is known from all others, so that peers can say that they do not know it.
    let number: String = key.public_key_raw().iter().rev().take(4).map(|byte| format!("{byte:02x}")).collect();
    params.distinguished_name.push(DnType::CommonName, format!("sinew authority {number}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let certificate = params.self_signed(&key).map_err(|why| why.to_string())?;
    write(&key_file, &key.serialize_pem(), 0o600)?;
    write(&file, &certificate.pem(), 0o644)?;
    say(
        out,
        &format!(
            "{}  the authority's key: whoever has it can make peers. It stays on this machine\n{}  its certificate: for all gateways\n",
            key_file.display(),
            file.display()
        ),
    )
}

fn issue(folder: &Path, name: &str, days: u32, force: bool, out: &mut dyn Write) -> Result<(), String> {
    if name.is_empty()
        || name.len() > 64
        || name == "authority"
        || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        || name.starts_with('.')
    {
        return Err(format!(
            "'{}' is no name for a gateway: 1 to 64 letters, digits, '-', '_' and '.', which does not begin with '.', and not 'authority'",
            name.escape_debug()
        ));
    }
    let (key_file, file) = (folder.join(format!("{name}.key.pem")), folder.join(format!("{name}.pem")));
    refuse_to_overwrite(&[&key_file, &file], force)?;
    let authority = folder.join("authority.pem");
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound => {
                format!(
                    "{} is not there: say --folder where the authority is; where there is none yet, `sinew-gateway certs init` makes one",
                    path.display()
                )
            }
            _ => format!("{} cannot be read: {why}", path.display()),
        })
    };
    let unusable = |why: rcgen::Error| format!("the authority in {} cannot be used: {why}", folder.display());
    let authority_key = KeyPair::from_pem(&read(&folder.join("authority.key.pem"))?).map_err(unusable)?;
    let issuer = Issuer::from_ca_cert_pem(&read(&authority)?, authority_key).map_err(unusable)?;
    let key = KeyPair::generate().map_err(|why| why.to_string())?;
    let mut params = valid(days)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    let certificate = params.signed_by(&key, &issuer).map_err(unusable)?;
    write(&key_file, &key.serialize_pem(), 0o600)?;
    write(&file, &certificate.pem(), 0o644)?;
    let quoted = |path: &Path| serde_json::Value::from(path.file_name().unwrap_or_default().to_string_lossy()).to_string();
    say(
        out,
        &format!(
            "{}  key of gateway '{name}'\n{}  its certificate, valid for {days} days\n\nCopy both, and {}, into the folder of its configuration, which says:\n  \"security\": {{ \"key_file\": {}, \"cert_file\": {}, \"ca_cert_file\": {} }}\n",
            key_file.display(),
            file.display(),
            authority.display(),
            quoted(&key_file),
            quoted(&file),
            quoted(&authority)
        ),
    )
}

fn valid(days: u32) -> Result<CertificateParams, String> {
    let mut params = CertificateParams::new(Vec::new()).map_err(|why| why.to_string())?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    let now = OffsetDateTime::now_utc();
    params.not_before = now - LATE;
    params.not_after = now + Duration::days(days.into());
    Ok(params)
}

fn refuse_to_overwrite(files: &[&Path], force: bool) -> Result<(), String> {
    match files.iter().find(|file| !force && file.symlink_metadata().is_ok()) {
        Some(file) => Err(format!("{} is there already: --force makes another one in its place", file.display())),
        None => Ok(()),
    }
}

/// As a whole or not at all, and never readable by others in between.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), String> {
    let failed = |why: io::Error| format!("{} cannot be written: {why}", path.display());
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    let new = path.with_extension("pem.new");
    let _ = std::fs::remove_file(&new);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&new).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    std::fs::rename(&new, path).map_err(failed)
}

fn say(out: &mut dyn Write, text: &str) -> Result<(), String> {
    out.write_all(text.as_bytes()).map_err(|why| format!("the output cannot be written: {why}"))
}

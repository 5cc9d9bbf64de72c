//! Who may be a peer.

mod common;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::machine::Machine;
use common::program::{Program, output};
use common::{image, next, number_of, publisher, subscriber, until};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use sinew::{Node, NodeOptions, Qos};
use sinew_gateway::config::Security;
use sinew_gateway::security::Identity;
use time::OffsetDateTime;

const HOUR: Duration = Duration::from_secs(3600);

/// A folder with certificates of two authorities, "own" and "other", and configurations.
struct Folder {
    folder: tempfile::TempDir,
    /// Of the drone and the base.
    machines: [Machine; 2],
}

impl Folder {
    fn new() -> Folder {
        let folder =
            Folder { folder: tempfile::tempdir().expect("there is room for a folder"), machines: [Machine::new(), Machine::new()] };
        for authority in ["own", "other"] {
            folder.make(&["init"], authority);
            for name in ["drone", "base"] {
                folder.make(&["issue", name], authority);
            }
        }
        folder
    }

    fn make(&self, what: &[&str], authority: &str) {
        let folder = self.path(authority);
        let done = output(&[&["certs"], what, &["--folder", folder.to_str().expect("a path is a text")]].concat());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// To "used", what `name` shows, and what it wants to be shown.
    fn copy(&self, name: &str, shows: &str, wants: &str) {
        std::fs::create_dir_all(self.path("used")).expect("it can be made");
        let (key, certificate) = (format!("{name}.key.pem"), format!("{name}.pem"));
        for (from, file) in [(shows, key.as_str()), (shows, &certificate), (wants, "authority.pem")] {
            std::fs::copy(self.path(from).join(file), self.path("used").join(file)).expect("it can be copied");
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// A configuration, whose security is this.
    fn config(&self, name: &str, security: &str, peer: Option<SocketAddr>) -> PathBuf {
        let peers = peer.map_or(String::new(), |peer| format!(r#""{peer}""#));
        let path = self.path(&format!("{name}.json"));
        let address = self.machine(name).address;
        let text = format!(
            r#"{{ "name": "{name}", "listen": "[{address}]:0", "discovery": false, "peers": [{peers}], "security": {security},
                "rules": [{{ "topics": {{ "base_rule": "both" }} }}] }}"#
        );
        std::fs::write(&path, text).expect("it can be written");
        path
    }

    fn domain(&self, name: &str) -> String {
        self.path(&format!("{name}.sock")).to_str().expect("a path is a text").to_owned()
    }

    fn run(&self, name: &str, security: &str, peer: Option<SocketAddr>) -> Program {
        Program::run(self.machine(name), &self.config(name, security, peer), &self.domain(name))
    }

    fn machine(&self, name: &str) -> &Machine {
        &self.machines[usize::from(name == "base")]
    }
}

/// Of the authority `shows`, to peers of the authority `wants`.
fn security(name: &str, shows: &str, wants: &str) -> String {
    format!(r#"{{ "key_file": "{shows}/{name}.key.pem", "cert_file": "{shows}/{name}.pem", "ca_cert_file": "{wants}/authority.pem" }}"#)
}

#[test]
fn peers_of_one_authority_connect_and_exchange_messages() {
    let folder = Folder::new();
    let base = folder.run("base", &security("base", "own", "own"), None);
    let drone = folder.run("drone", &security("drone", "own", "own"), Some(base.address()));
    base.says("connected with 'drone' at");
    drone.says("connected with 'base' at");
    let node = |name: &str, of: &str| {
        Node::with_options(name, &NodeOptions { domain: folder.domain(of), by_caller: false }).expect("there is a domain")
    };
    let (camera, viewer) = (node("camera", "drone"), node("viewer", "base"));
    let images = publisher(&camera, "camera/image", &Qos::default());
    let seen = subscriber(&viewer, "camera/image", &Qos::default());
    until("they are connected", || images.statistics().subscribers == 1 && seen.statistics().publishers == 1);
    images.publish(&[&image(3, 1000)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 3);
    assert!(!base.said().contains("AD HOC"));
}

#[test]
fn a_gateway_without_a_name_is_called_as_its_certificate_is() {
    let folder = Folder::new();
    let base = folder.run("base", &security("base", "own", "own"), None);
    let config = folder.config("drone", &security("drone", "own", "own"), Some(base.address()));
    let text = std::fs::read_to_string(&config).expect("it was written");
    std::fs::write(&config, text.replace(r#""name": "drone", "#, "")).expect("it can be written");
    let drone = Program::run(folder.machine("drone"), &config, &folder.domain("drone"));
    drone.says("'drone' listens at");
    base.says("connected with 'drone' at");
    let told = output(&["check", config.to_str().expect("a path is a text")]);
    assert!(String::from_utf8_lossy(&told.stdout).contains("name         drone,"), "{}", String::from_utf8_lossy(&told.stdout));
}

#[test]
fn who_has_no_certificate_of_the_authority_is_refused_and_both_say_why() {
    let folder = Folder::new();
    let own = security("base", "own", "own");
    // What the drone shows and wants; what the base says, and what the drone says.
    let cases = [
        (
            security("drone", "other", "own"),
            "its certificate is not signed by our authority",
            "the certificate of this gateway is not signed by the peer's authority",
        ),
        (
            r#"{ "provide_auth": false, "ca_cert_file": "own/authority.pem" }"#.to_owned(),
            "it shows no certificate",
            "this gateway shows none",
        ),
        (r#""ad-hoc""#.to_owned(), "it shows no certificate", "this gateway shows none"),
        (
            security("drone", "own", "other"),
            "the certificate of this gateway is not signed by the peer's authority",
            "its certificate is not signed by our authority",
        ),
    ];
    let base = folder.run("base", &own, None);
    for (security, there, here) in cases {
        let drone = folder.run("drone", &security, Some(base.address()));
        drone.says(here);
        base.says(there);
        assert!(!drone.said().contains("connected with"), "{security}:\n{}", drone.said());
    }
    let drone = folder.run("drone", &security("drone", "own", "own"), Some(base.address()));
    drone.says("connected with 'base'");
}

#[test]
fn a_gateway_without_security_says_so_loudly() {
    let folder = Folder::new();
    let base = folder.run("base", r#""ad-hoc""#, None);
    let drone = folder.run("drone", r#""ad-hoc""#, Some(base.address()));
    base.says("AD HOC");
    drone.says("AD HOC");
    drone.says("connected with 'base'");
}

#[test]
fn certificates_that_change_are_used_without_a_restart_and_broken_ones_are_not() {
    let folder = Folder::new();
    let base = folder.run("base", &security("base", "own", "own"), None);
    folder.copy("drone", "other", "own");
    let drone = folder.run("drone", &security("drone", "used", "used"), Some(base.address()));
    drone.says("not signed by the peer's authority");
    std::fs::write(folder.path("used/drone.pem"), "-----BEGIN CERTIFICATE-----\nhalf a file").expect("it can be written");
    drone.says("certificates have changed, and those before stay in use");
    folder.copy("drone", "own", "own");
    drone.says("connected with 'base'");
}

#[test]
fn a_certificate_that_is_not_valid_yet_is_used_when_it_is() {
    let folder = Folder::new();
    let drone = folder.run("drone", &security("drone", "own", "own"), None);
    drone.says("listens at");
    let begin = OffsetDateTime::now_utc() + Duration::from_secs(10);
    let certificate = certificate_between(begin, begin + HOUR, &folder.path("own"), &folder.path("own/drone.key.pem"));
    std::fs::write(folder.path("own/drone.pem"), certificate).expect("it can be written");
    drone.says("certificates have changed, and those before stay in use");
    drone.says("is valid from");
    drone.says("certificates have changed: new connections use what is there now");
    assert_eq!(drone.said().matches("those before stay in use").count(), 1, "{}", drone.said());
}

#[test]
fn an_authority_that_has_expired_is_left_out_where_the_file_has_another_and_refused_where_it_has_none() {
    let folder = Folder::new();
    folder.copy("base", "own", "own");
    let [key, certificate, authority] = ["base.key.pem", "base.pem", "authority.pem"].map(|file| folder.path("used").join(file));
    let good = std::fs::read_to_string(&authority).expect("it is there");
    let (begin, end) = (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(2020, 2, 1));
    let expired = authority_between(begin, end, &folder.path("other/authority.key.pem"));
    std::fs::write(&authority, &expired).expect("it can be written");
    let said = complaint(&key, &certificate, &authority);
    let begins = format!("{} has expired at ", authority.display());
    assert!(said.starts_with(&begins) && said.ends_with(": issue another one with `sinew-gateway certs`"), "{said}");
    for both in [[&good, &expired], [&expired, &good]] {
        std::fs::write(&authority, both.map(String::as_str).concat()).expect("it can be written");
        assert_eq!(complaint(&key, &certificate, &authority), "");
    }
    let base = folder.run("base", &security("base", "used", "used"), None);
    base.says("authority 1 (CN=authority for a while) in ");
    base.says("is left out, as it has expired at ");
    let drone = folder.run("drone", &security("drone", "own", "own"), Some(base.address()));
    drone.says("connected with 'base'");
    // Files that cannot be used are read again every second.
    std::fs::write(&certificate, "-----BEGIN CERTIFICATE-----\nhalf a file").expect("it can be written");
    base.says("certificates have changed, and those before stay in use");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(base.said().matches("is left out").count(), 1, "{}", base.said());
}

#[test]
fn an_authority_that_is_not_valid_yet_is_used_when_it_is_though_the_file_stays_as_it_was() {
    let folder = Folder::new();
    folder.copy("base", "own", "own");
    let base = folder.run("base", &security("base", "used", "used"), None);
    base.says("listens at");
    let begin = OffsetDateTime::now_utc() + Duration::from_secs(10);
    let later = authority_between(begin, begin + HOUR, &folder.path("other/authority.key.pem"));
    std::fs::write(folder.path("other/authority.pem"), &later).expect("it can be written");
    let certificate = certificate_between(begin - HOUR, begin + HOUR, &folder.path("other"), &folder.path("other/drone.key.pem"));
    std::fs::write(folder.path("other/drone.pem"), certificate).expect("it can be written");
    let good = std::fs::read_to_string(folder.path("own/authority.pem")).expect("it is there");
    std::fs::write(folder.path("used/authority.pem"), good + &later).expect("it can be written");
    base.says("authority 2 (CN=authority for a while) in ");
    base.says("is left out, as it is valid from ");
    std::thread::sleep(Duration::from_secs(10));
    let drone = folder.run("drone", &security("drone", "other", "own"), Some(base.address()));
    drone.says("connected with 'base'");
}

#[test]
fn an_authority_that_expires_beside_another_one_is_left_out_from_then_on_though_the_file_stays_as_it_was() {
    let folder = Folder::new();
    folder.copy("base", "own", "own");
    let now = OffsetDateTime::now_utc();
    let short = authority_between(now - HOUR, now + Duration::from_secs(10), &folder.path("other/authority.key.pem"));
    let good = std::fs::read_to_string(folder.path("own/authority.pem")).expect("it is there");
    std::fs::write(folder.path("used/authority.pem"), short + &good).expect("it can be written");
    let base = folder.run("base", &security("base", "used", "used"), None);
    base.says("authority 1 (CN=authority for a while) in ");
    base.says("is left out, as it has expired at ");
    let drone = folder.run("drone", &security("drone", "own", "own"), Some(base.address()));
    drone.says("connected with 'base'");
}

#[test]
fn connections_with_peers_of_an_authority_that_was_replaced_end_and_others_go_on() {
    let folder = Folder::new();
    folder.copy("base", "own", "own");
    let base = folder.run("base", &security("base", "used", "used"), None);
    let drone = folder.run("drone", &security("drone", "own", "own"), Some(base.address()));
    base.says("connected with 'drone'");
    // The same authority, and another certificate of it, for which nobody has to come again.
    folder.make(&["issue", "base", "--force"], "own");
    folder.copy("base", "own", "own");
    base.says("certificates have changed: new connections use");
    folder.copy("base", "other", "other");
    base.says("is ended: its certificate is not signed by our authority");
    drone.says("the peer does not take what this gateway has shown it any more");
    drone.says("no connection with");
    assert_eq!(base.said().matches("connected with 'drone'").count(), 1, "{}", base.said());
    folder.copy("base", "own", "own");
    until("the drone is taken again", || base.said().matches("connected with 'drone'").count() == 2);
}

#[test]
fn a_connection_that_was_dialed_ends_when_the_authority_of_who_was_dialed_is_replaced() {
    let folder = Folder::new();
    folder.copy("drone", "own", "own");
    let base = folder.run("base", &security("base", "own", "own"), None);
    let drone = folder.run("drone", &security("drone", "used", "used"), Some(base.address()));
    drone.says("connected with 'base'");
    folder.copy("drone", "own", "other");
    drone.says("is ended: its certificate is not signed by our authority");
    base.says("is over");
}

#[test]
fn a_certificate_that_expires_ends_the_connection_that_was_made_with_it() {
    const LIFE: Duration = Duration::from_secs(15);
    let folder = Folder::new();
    let base = folder.run("base", &security("base", "own", "own"), None);
    base.says("listens at");
    let end = OffsetDateTime::now_utc() + LIFE;
    let certificate = certificate_between(end - HOUR, end, &folder.path("own"), &folder.path("own/drone.key.pem"));
    std::fs::write(folder.path("own/drone.pem"), certificate).expect("it can be written");
    let _drone = folder.run("drone", &security("drone", "own", "own"), Some(base.address()));
    base.says("connected with 'drone'");
    std::thread::sleep(LIFE);
    base.says("is ended: its certificate has expired");
}

#[test]
fn who_has_come_without_a_certificate_goes_when_they_are_demanded() {
    let folder = Folder::new();
    let base = folder.run("base", r#""ad-hoc""#, None);
    let drone = folder.run("drone", r#""ad-hoc""#, Some(base.address()));
    base.says("connected with 'drone'");
    folder.config("base", &security("base", "own", "own"), None);
    base.signal("HUP");
    base.says("is ended: it has shown no certificate");
    drone.says("is over");
}

#[test]
fn a_hangup_reads_the_rules_again_and_a_mistake_in_them_changes_nothing() {
    let folder = Folder::new();
    let base = folder.run("base", r#""ad-hoc""#, None);
    base.says("listens at");
    let path = folder.path("base.json");
    let whole = std::fs::read_to_string(&path).expect("it is there");
    std::fs::write(&path, whole.replace("both", "bth")).expect("it can be written");
    base.signal("HUP");
    base.says("nothing has changed: ");
    base.says("bth");
    std::fs::write(&path, whole.replace("both", "none")).expect("it can be written");
    base.signal("HUP");
    base.says("hold from now on");
    base.signal("TERM");
    assert_eq!(base.end(), Some(0));
}

/// Why an identity cannot be loaded.
fn complaint(key: &Path, certificate: &Path, authority: &Path) -> String {
    let files = [key, certificate, authority].map(|path| Some(path.to_owned()));
    let [key_file, cert_file, ca_cert_file] = files;
    let security = Security { provide_auth: true, require_auth: true, key_file, cert_file, ca_cert_file };
    Identity::load(&security).err().map(|why| why.to_string()).unwrap_or_default()
}

#[test]
fn files_that_cannot_be_used_are_named_with_what_is_wrong() {
    let folder = Folder::new();
    let (key, certificate, authority) = (folder.path("own/drone.key.pem"), folder.path("own/drone.pem"), folder.path("own/authority.pem"));
    assert_eq!(complaint(&key, &certificate, &authority), "");
    let is_about =
        |said: String, file: &Path, what: &str| assert!(said.contains(file.to_str().expect("a text")) && said.contains(what), "{said}");
    let nothing = folder.path("nothing.pem");
    is_about(complaint(&nothing, &certificate, &authority), &nothing, "cannot be read");
    is_about(complaint(&key, &nothing, &authority), &nothing, "cannot be read");
    is_about(complaint(&key, &certificate, &nothing), &nothing, "cannot be read");
    is_about(complaint(&folder.path("own/base.key.pem"), &certificate, &authority), &certificate, "is not the key to");
    is_about(complaint(&key, &authority, &authority), &authority, "is the certificate of an authority");
    is_about(complaint(&key, &certificate, &certificate), &certificate, "is no certificate of an authority");
    is_about(complaint(&certificate, &certificate, &authority), &certificate, "a private key");
    is_about(complaint(&key, &key, &authority), &key, "certificate");
    let old = folder.path("old.pem");
    let (begin, end) = (rcgen::date_time_ymd(2020, 1, 1), rcgen::date_time_ymd(2020, 2, 1));
    std::fs::write(&old, certificate_between(begin, end, &folder.path("own"), &key)).expect("it can be written");
    is_about(complaint(&key, &old, &authority), &old, "has expired at");
}

/// A certificate of the authority in this folder, for this key, that is valid in between.
fn certificate_between(begin: OffsetDateTime, end: OffsetDateTime, authority: &Path, key: &Path) -> String {
    let read = |path: &Path| std::fs::read_to_string(path).expect("it is there");
    let authority_key = KeyPair::from_pem(&read(&authority.join("authority.key.pem"))).expect("it is a key");
    let issuer = Issuer::from_ca_cert_pem(&read(&authority.join("authority.pem")), authority_key).expect("it is an authority");
    let mut params = CertificateParams::new(Vec::new()).expect("no names are fine");
    (params.not_before, params.not_after) = (begin, end);
    params.signed_by(&KeyPair::from_pem(&read(key)).expect("it is a key"), &issuer).expect("it is signed").pem()
}

/// One of an authority with this key.
fn authority_between(begin: OffsetDateTime, end: OffsetDateTime, key: &Path) -> String {
    let key = KeyPair::from_pem(&std::fs::read_to_string(key).expect("it is there")).expect("it is a key");
    let mut params = CertificateParams::new(Vec::new()).expect("no names are fine");
    params.distinguished_name.push(DnType::CommonName, "authority for a while");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    (params.not_before, params.not_after) = (begin, end);
    params.self_signed(&key).expect("it is signed").pem()
}

#[test]
fn keys_are_readable_by_their_owner_alone_and_nothing_is_overwritten() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    for file in ["authority.key.pem", "drone.key.pem"] {
        let mode = std::fs::metadata(folder.path("own").join(file)).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    let own = folder.path("own");
    let own = own.to_str().expect("a path is a text");
    let before = std::fs::read(folder.path("own/drone.key.pem")).expect("it is there");
    for arguments in [&["certs", "init", "--folder", own][..], &["certs", "issue", "drone", "--folder", own]] {
        let done = output(arguments);
        assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).contains("is there already")), (Some(1), true));
    }
    assert_eq!(std::fs::read(folder.path("own/drone.key.pem")).expect("it is there"), before);
    assert!(output(&["certs", "issue", "drone", "--folder", own, "--force"]).status.success());
    assert_ne!(std::fs::read(folder.path("own/drone.key.pem")).expect("it is there"), before);
    for name in ["", "../drone", ".drone", "authority", "a b"] {
        assert_eq!(output(&["certs", "issue", name, "--folder", own]).status.code(), Some(1), "{name}");
    }
}

//! The configuration of a gateway: a JSON file, in which comments may stand, of at most 256 KiB.
//!
//! There are two forms. sinew's own has all settings (`config.schema.json`). The other one is that of the thesis (section 5.3), with the keys `sng_config` and `sm2_config`, which says nothing of
//! peers and bandwidths: these are then as if sinew's form did not say them. Keys that are not known are refused, so that none is misspelled without notice.

mod node;
mod own;
mod ros1;
mod ros2;
mod rulesets;
mod source;
mod thesis;
mod transport;
mod units;
mod zenoh;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use sinew::GatewayStatus;

use crate::ros1::Uri;
use crate::rules::{Exception, Names, Place, Rule, RuleList, Rules, Ruleset, Symbol, Traffic};

pub use ros1::TAG as ROS1;
pub use ros2::{TAG as ROS2, ros_domain_id};
pub use source::{Error, MAX_SIZE};
pub use units::bandwidth;
pub use zenoh::TAG as ZENOH;

/// Where gateways listen.
pub const PORT: u16 = 7463;
/// Bytes of a message where nothing else is said.
pub const MAX_MESSAGE: u64 = 64 << 20;

/// What a gateway is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What peers call it. None: that of its certificate, else the name of the machine ([`crate::name`]).
    pub name: Option<String>,
    /// By this the peers choose among their rulesets. "": none.
    pub tag: String,
    /// A name, or the path of a socket. None: `$SINEW_DOMAIN`, else "default".
    pub domain: Option<PathBuf>,
    /// What joins it with others.
    pub transport: Transport,
    /// Where peers may connect to. `[::]:7463` where nothing is said; port 0: one that is free.
    pub listen: SocketAddr,
    /// Who is dialed: "host:port" or "host", an IPv6 address in brackets.
    pub peers: Vec<String>,
    /// Who is found on the local link.
    pub discovery: Discovery,
    /// Who may be a peer.
    pub security: Security,
    /// Bits a second for all peers together.
    pub budget: Option<u64>,
    /// Bytes of the largest message that it takes.
    pub max_message: u64,
    /// What goes where.
    pub rules: Rules,
}

/// How messages go to other machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// From gateway to gateway (spec/gateway.md).
    #[default]
    Quic,
    /// Through a Zenoh network, which is there already. Of the [`Settings`] it leaves `listen`, `peers`, `discovery`, `security` and `budget` as they are where nothing is said; they mean nothing.
    Zenoh(Zenoh),
    /// To programs of ROS 2, over DDS. Likewise. To those with rmw_zenoh it is Zenoh.
    Ros2(Ros2),
    /// To programs of ROS 1, over TCPROS. Likewise.
    Ros1(Ros1),
}

impl Transport {
    /// The tag of all that is beyond it. "": peers have their own.
    pub fn tag(&self) -> &'static str {
        match self {
            Transport::Quic => "",
            Transport::Zenoh(_) => ZENOH,
            Transport::Ros2(_) => ROS2,
            Transport::Ros1(_) => ROS1,
        }
    }
}

/// The Zenoh network, and the place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zenoh {
    /// Zenoh's own configuration. None: what Zenoh does without one.
    pub config_file: Option<PathBuf>,
    /// Endpoints of routers or peers, beside those in the file.
    pub connect: Vec<String>,
    /// What all key expressions begin with. Of no meaning where `ros2` is there.
    pub prefix: String,
    /// It is that of ROS 2, with rmw_zenoh.
    pub ros2: Option<RmwZenoh>,
}

impl Default for Zenoh {
    fn default() -> Zenoh {
        Zenoh { config_file: None, connect: Vec::new(), prefix: "sinew".to_owned(), ros2: None }
    }
}

/// Where ROS 2 is in a Zenoh network, and what is known of its types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RmwZenoh {
    /// Where the configuration says none, ROS_DOMAIN_ID of the environment, else 0.
    pub domain_id: u32,
    /// As in [`Ros2`].
    pub definitions: Vec<PathBuf>,
}

/// Where ROS 2 is, and what is known of its types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ros2 {
    /// Where the configuration says none, ROS_DOMAIN_ID of the environment, else 0.
    pub domain_id: u32,
    /// Addresses of the interfaces that DDS uses. Empty: all.
    pub interfaces: Vec<Ipv4Addr>,
    /// Folders with packages, beside those that come with sinew and those in AMENT_PREFIX_PATH.
    pub definitions: Vec<PathBuf>,
}

/// Where ROS 1 is, and what is known of its types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ros1 {
    /// None: what ROS_MASTER_URI says, else port 11311 of this machine.
    pub master: Option<Uri>,
    /// By which others reach this machine, a name or an address. None: what ROS_HOSTNAME or ROS_IP say, else the name of the machine.
    pub hostname: Option<String>,
    /// Folders with packages, before those in ROS_PACKAGE_PATH and Debian's.
    pub definitions: Vec<PathBuf>,
}

/// Finding others by multicast.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// Whether to do it.
    pub enabled: bool,
    /// Over which. Empty: over all that are up and can multicast.
    pub interfaces: Vec<String>,
}

/// Certificates. With neither `provide_auth` nor `require_auth` it is ad hoc: anybody may be a peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// Show a certificate; `key_file` and `cert_file` are there.
    pub provide_auth: bool,
    /// Take only peers whose certificate the authority has signed; `ca_cert_file` is there.
    pub require_auth: bool,
    /// The private key, as PEM.
    pub key_file: Option<PathBuf>,
    /// The certificate, as PEM.
    pub cert_file: Option<PathBuf>,
    /// The certificate of the authority, as PEM.
    pub ca_cert_file: Option<PathBuf>,
}

impl Settings {
    /// From this file, which is read as a whole. Paths in it that are relative are so to its folder.
    pub fn read(file: &Path) -> Result<Settings, Box<Error>> {
        Settings::parse(file, &source::read(file)?)
    }

    /// From this text, as if it stood in that file, which need not be there.
    pub fn parse(file: &Path, text: &str) -> Result<Settings, Box<Error>> {
        let source = source::Source::new(file, text);
        node::parse(
            &source,
            text,
            |root| if root.has("sng_config") || root.has("sm2_config") { thesis::read(&root) } else { own::read(&root) },
        )
    }

    /// Everything that others make goes over, and comes from there, as far as it can.
    pub fn everything(domain: Option<PathBuf>, transport: Transport) -> Settings {
        let rule = |symbol| Rule { at: Place::default(), symbol, traffic: Traffic::default() };
        let all_but = |names| {
            let exceptions = vec![Exception { names, rule: rule(Symbol::None) }];
            Some(RuleList { base: rule(Symbol::Both), exceptions })
        };
        let topics = all_but(Names::Is(GatewayStatus::TOPIC.to_owned()));
        let services = all_but(Names::StartsWith("gateway_".to_owned())).filter(|_| !matches!(transport, Transport::Ros1(_)));
        let rulesets = vec![Ruleset { at: Place::default(), tag: None, topics, services }];
        let tag = transport.tag().to_owned();
        Settings { tag, domain, transport, rules: Rules { at: Place::default(), rulesets }, ..Settings::unsaid() }
    }

    /// What holds where a configuration says nothing. Nothing is let through, and nobody proves who they are.
    fn unsaid() -> Settings {
        Settings {
            name: None,
            tag: String::new(),
            domain: None,
            transport: Transport::Quic,
            listen: SocketAddr::from((Ipv6Addr::UNSPECIFIED, PORT)),
            peers: Vec::new(),
            discovery: Discovery { enabled: true, interfaces: Vec::new() },
            security: Security::default(),
            budget: None,
            max_message: MAX_MESSAGE,
            rules: Rules::default(),
        }
    }
}

impl Security {
    /// Whether anybody may be a peer, and nobody knows who this is.
    pub fn is_ad_hoc(&self) -> bool {
        !self.provide_auth && !self.require_auth
    }
}

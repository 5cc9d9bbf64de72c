//! What is told of configurations and rules, as JSON and to people.

use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::{Error, RmwZenoh, Ros1, Ros2, Settings, Transport, Zenoh, bandwidth};
use crate::name;
use crate::protocol::Packing;
use crate::rules::{self, Decision, Place, RuleList, Symbol, Traffic};

/// What is wrong with a configuration.
#[derive(Serialize)]
pub struct Mistake<'a> {
    file: &'a Path,
    line: usize,
    column: usize,
    text: &'a str,
}

/// A rule that has decided.
#[derive(Serialize)]
pub struct Rule<'a> {
    rule: &'static str,
    because: String,
    file: &'a Path,
    line: usize,
    column: usize,
    priority: i32,
    max_rate: Option<f64>,
    max_bandwidth: Option<u64>,
    reliable: bool,
    compression: &'static str,
    onward: bool,
}

/// A configuration.
#[derive(Serialize)]
pub struct Summary<'a> {
    file: &'a Path,
    name: String,
    tag: &'a str,
    domain: Option<&'a Path>,
    #[serde(flatten)]
    transport: Joined<'a>,
    max_message: u64,
    rulesets: Vec<Ruleset<'a>>,
    warnings: Vec<String>,
}

/// How it comes to other machines.
#[derive(Serialize)]
#[serde(tag = "transport", rename_all = "lowercase")]
enum Joined<'a> {
    Quic { listen: SocketAddr, peers: &'a [String], discovery: bool, interfaces: &'a [String], security: &'static str, budget: Option<u64> },
    Zenoh { config_file: Option<&'a Path>, connect: &'a [String], prefix: Option<&'a str>, ros2: Option<OverZenoh<'a>> },
    Ros2 { domain_id: u32, interfaces: &'a [Ipv4Addr], definitions: &'a [PathBuf] },
    Ros1 { master: Option<String>, hostname: Option<&'a str>, definitions: &'a [PathBuf] },
}

#[derive(Serialize)]
struct OverZenoh<'a> {
    domain_id: u32,
    definitions: &'a [PathBuf],
}

#[derive(Serialize)]
struct Ruleset<'a> {
    tag: Option<&'a str>,
    line: usize,
    column: usize,
    topics: Option<Rules>,
    services: Option<Rules>,
}

#[derive(Serialize)]
struct Rules {
    base_rule: &'static str,
    exceptions: usize,
}

impl<'a> Mistake<'a> {
    pub fn of(error: &'a Error) -> Mistake<'a> {
        let Place { file, line, column } = &error.at;
        Mistake { file, line: *line, column: *column, text: &error.text }
    }
}

impl<'a> Rule<'a> {
    pub fn of(decision: &'a Decision) -> Rule<'a> {
        let Place { file, line, column } = &decision.because.at;
        let Traffic { priority, max_rate, max_bandwidth, reliable, compression, onward } = decision.traffic;
        Rule {
            rule: decision.symbol.name(),
            because: decision.because.to_string(),
            file,
            line: *line,
            column: *column,
            priority,
            max_rate,
            max_bandwidth,
            reliable,
            compression: packing(compression),
            onward,
        }
    }
}

impl<'a> Summary<'a> {
    pub fn of(file: &'a Path, settings: &'a Settings) -> Summary<'a> {
        let rules = |list: &Option<RuleList>| {
            list.as_ref().map(|list| Rules { base_rule: list.base.symbol.name(), exceptions: list.exceptions.len() })
        };
        let rulesets = settings.rules.rulesets.iter().map(|ruleset| Ruleset {
            tag: ruleset.tag.as_deref(),
            line: ruleset.at.line,
            column: ruleset.at.column,
            topics: rules(&ruleset.topics),
            services: rules(&ruleset.services),
        });
        Summary {
            file,
            name: name::of(settings),
            tag: &settings.tag,
            domain: settings.domain.as_deref(),
            transport: Joined::of(settings),
            max_message: settings.max_message,
            rulesets: rulesets.collect(),
            warnings: warnings(settings),
        }
    }

    pub fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{} is valid", self.file.display())?;
        writeln!(out, "  name         {}, {}", self.name, quoted_tag(self.tag))?;
        writeln!(out, "  domain       {}", self.domain.map_or("that of the environment".into(), Path::to_string_lossy))?;
        self.transport.tell(out)?;
        writeln!(out, "  max_message  {} bytes", self.max_message)?;
        for (number, ruleset) in (1..).zip(&self.rulesets) {
            let tag = ruleset.tag.map_or("all other peers".to_owned(), |tag| format!("the tag '{tag}'"));
            writeln!(out, "  ruleset {number} for {tag} (line {}, column {})", ruleset.line, ruleset.column)?;
            for (kind, rules) in [("topics  ", &ruleset.topics), ("services", &ruleset.services)] {
                let rules = rules.as_ref().map_or("none, as no rules are said".to_owned(), |Rules { base_rule, exceptions }| {
                    format!("{base_rule}, {exceptions} exception{}", if *exceptions == 1 { "" } else { "s" })
                });
                writeln!(out, "    {kind}   {rules}")?;
            }
        }
        self.warnings.iter().try_for_each(|warning| writeln!(out, "  warning: {warning}"))
    }
}

impl<'a> Joined<'a> {
    fn of(settings: &'a Settings) -> Joined<'a> {
        match &settings.transport {
            Transport::Quic => Joined::Quic {
                listen: settings.listen,
                peers: &settings.peers,
                discovery: settings.discovery.enabled,
                interfaces: &settings.discovery.interfaces,
                security: match (settings.security.provide_auth, settings.security.require_auth) {
                    (true, true) => "shows a certificate, and takes only peers that the authority has signed",
                    (true, false) => "shows a certificate, but takes anybody",
                    (false, true) => "shows no certificate, but takes only peers that the authority has signed",
                    (false, false) => "ad hoc: takes anybody",
                },
                budget: settings.budget,
            },
            Transport::Zenoh(Zenoh { config_file, connect, prefix, ros2 }) => {
                let over = |RmwZenoh { domain_id, definitions }: &'a RmwZenoh| OverZenoh { domain_id: *domain_id, definitions };
                let prefix = ros2.is_none().then_some(prefix.as_str());
                Joined::Zenoh { config_file: config_file.as_deref(), connect, prefix, ros2: ros2.as_ref().map(over) }
            }
            Transport::Ros2(Ros2 { domain_id, interfaces, definitions }) => Joined::Ros2 { domain_id: *domain_id, interfaces, definitions },
            Transport::Ros1(Ros1 { master, hostname, definitions }) => {
                Joined::Ros1 { master: master.as_ref().map(ToString::to_string), hostname: hostname.as_deref(), definitions }
            }
        }
    }

    fn tell(&self, out: &mut dyn Write) -> io::Result<()> {
        let listed = |texts: Vec<String>, none: &str| if texts.is_empty() { none.to_owned() } else { texts.join(", ") };
        let all = |texts: &[String]| listed(texts.to_vec(), "nobody");
        let paths = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
        let known = |folders: &[PathBuf]| listed(paths(folders), "those that come with sinew, and of AMENT_PREFIX_PATH");
        match self {
            Joined::Quic { listen, peers, discovery, interfaces, security, budget } => {
                writeln!(out, "  listens at   {listen}")?;
                writeln!(out, "  dials        {}", all(peers))?;
                let discovery = match (discovery, interfaces) {
                    (false, _) => "off".to_owned(),
                    (true, []) => "over all interfaces".to_owned(),
                    (true, interfaces) => format!("over {}", interfaces.join(", ")),
                };
                writeln!(out, "  discovery    {discovery}")?;
                writeln!(out, "  security     {security}")?;
                writeln!(out, "  budget       {}", budget.map_or("none".to_owned(), bandwidth))
            }
            Joined::Zenoh { config_file, connect, prefix, ros2 } => {
                match ros2 {
                    Some(ros2) => writeln!(out, "  transport    ROS 2 over Zenoh (rmw_zenoh), domain {}", ros2.domain_id)?,
                    None => writeln!(out, "  transport    a Zenoh network, below '{}'", prefix.unwrap_or_default())?,
                }
                writeln!(out, "  connects to  {}", all(connect))?;
                writeln!(out, "  its own file {}", config_file.map_or("none".into(), Path::to_string_lossy))?;
                ros2.iter().try_for_each(|ros2| writeln!(out, "  definitions  {}", known(ros2.definitions)))
            }
            Joined::Ros2 { domain_id, interfaces, definitions } => {
                writeln!(out, "  transport    ROS 2 over DDS, domain {domain_id}")?;
                writeln!(out, "  interfaces   {}", listed(interfaces.iter().map(ToString::to_string).collect(), "all"))?;
                writeln!(out, "  definitions  {}", known(definitions))
            }
            Joined::Ros1 { master, hostname, definitions } => {
                writeln!(out, "  transport    ROS 1 over TCPROS")?;
                writeln!(out, "  master       {}", master.as_deref().unwrap_or("that of ROS_MASTER_URI, else of this machine"))?;
                writeln!(out, "  hostname     {}", hostname.unwrap_or("that of ROS_HOSTNAME or ROS_IP, else of the machine"))?;
                writeln!(out, "  definitions  {}", listed(paths(definitions), "those of ROS_PACKAGE_PATH, and Debian's"))
            }
        }
    }
}

/// What is valid, but hardly meant.
fn warnings(settings: &Settings) -> Vec<String> {
    let mut warnings = Vec::new();
    let security = &settings.security;
    let files: Vec<&PathBuf> = match &settings.transport {
        Transport::Quic => {
            if security.is_ad_hoc() {
                warnings.push(
                    "anybody who reaches this gateway may be its peer, and read and change what is sent, as security is ad hoc".to_owned(),
                );
            }
            let provided = [&security.key_file, &security.cert_file].into_iter().filter(|_| security.provide_auth);
            provided.chain([&security.ca_cert_file].into_iter().filter(|_| security.require_auth)).flatten().collect()
        }
        Transport::Zenoh(zenoh) => zenoh.config_file.iter().chain(zenoh.ros2.iter().flat_map(|ros2| &ros2.definitions)).collect(),
        Transport::Ros2(ros2) => ros2.definitions.iter().collect(),
        Transport::Ros1(ros1) => ros1.definitions.iter().collect(),
    };
    for file in files {
        if let Err(error) = File::open(file) {
            warnings.push(format!("'{}' cannot be read here: {error}", file.display()));
        }
    }
    let rulesets = &settings.rules.rulesets;
    if rulesets.is_empty() {
        warnings.push("nothing goes over, as there are no rules".to_owned());
    }
    for (at, ruleset) in rulesets.iter().enumerate() {
        if let Some(first) = rulesets[..at].iter().find(|first| first.tag == ruleset.tag) {
            warnings
                .push(format!("the ruleset of line {} is never used, as that of line {} has the same tag", ruleset.at.line, first.at.line));
        }
    }
    for list in rulesets.iter().filter_map(|ruleset| ruleset.topics.as_ref()) {
        let exceptions = list.exceptions.iter().map(|exception| ("exception", &exception.rule));
        let all = [("base rule", &list.base)].into_iter().chain(exceptions);
        warnings.extend(all.filter_map(|(which, rule)| without_effect(which, rule, &settings.transport)));
    }
    if settings.transport == Transport::Quic && settings.peers.is_empty() && !settings.discovery.enabled {
        warnings.push("this gateway waits to be dialed, as it has no peers, and discovery is off".to_owned());
    }
    warnings
}

/// What a rule for topics says of how they go, though it only lets them in.
fn without_effect(which: &str, rule: &rules::Rule, transport: &Transport) -> Option<String> {
    // Where nothing is let out, "onward" is refused.
    let Traffic { priority, max_rate, max_bandwidth, reliable, compression, onward: _ } = &rule.traffic;
    let keys = [
        ("'priority'", *priority != 0),
        ("'max_rate'", max_rate.is_some()),
        ("'max_bandwidth'", max_bandwidth.is_some()),
        ("'reliable'", *reliable),
        ("'compression'", *compression != Packing::None),
    ];
    let said: Vec<&str> = keys.into_iter().filter(|(_, is_said)| *is_said).map(|(key, _)| key).collect();
    if rule.symbol != Symbol::In || said.is_empty() {
        return None;
    }
    let instead = match transport {
        Transport::Quic => "the gateway that sends them decides how they go: say it in the peer's rule that lets them out",
        Transport::Zenoh(_) | Transport::Ros2(_) | Transport::Ros1(_) => "a bridge takes what comes as it was sent: leave it out",
    };
    Some(format!("the {which} of line {} has no use for {}, as it lets topics in only, and {instead}", rule.at.line, said.join(", ")))
}

/// "the tag 'base'", "no tag".
pub fn quoted_tag(tag: &str) -> String {
    if tag.is_empty() { "no tag".to_owned() } else { format!("the tag '{tag}'") }
}

/// What is not as it is for all.
pub fn traffic(traffic: &Traffic) -> Vec<String> {
    let Traffic { priority, max_rate, max_bandwidth, reliable, compression, onward } = traffic;
    let mut told = Vec::new();
    told.extend((*priority != 0).then(|| format!("priority {priority}")));
    told.extend(max_rate.map(|rate| format!("at most {rate} messages a second")));
    told.extend(max_bandwidth.map(|bits| format!("at most {}", bandwidth(bits))));
    told.extend(reliable.then(|| "reliable".to_owned()));
    told.extend((*compression != Packing::None).then(|| format!("packed by {}", packing(*compression))));
    told.extend(onward.then(|| "onward: also what bridges and other gateways have brought".to_owned()));
    told
}

fn packing(packing: Packing) -> &'static str {
    match packing {
        Packing::None => "none",
        Packing::Zstd => "zstd",
        Packing::Lz4 => "lz4",
    }
}

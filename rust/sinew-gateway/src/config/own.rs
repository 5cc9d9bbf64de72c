//! sinew's own form.

use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use super::node::{Node, Table};
use super::source::Outcome;
use super::{Discovery, Security, Settings, Transport, rulesets, transport};

pub const KEYS: [&str; 15] = [
    "$schema",
    "name",
    "tag",
    "domain",
    "transport",
    "zenoh",
    "ros2",
    "ros1",
    "listen",
    "peers",
    "discovery",
    "security",
    "budget",
    "max_message",
    "rules",
];
pub const SECURITY_KEYS: [&str; 5] = ["key_file", "cert_file", "ca_cert_file", "provide_auth", "require_auth"];
/// Sizes of messages go over in 32 bits (G19).
const MOST: u64 = u32::MAX as u64;

pub fn read(root: &Node<'_>) -> Outcome<Settings> {
    let table = root.table(&KEYS)?;
    table.read("$schema", |node| node.text("a text"))?;
    let mut settings = Settings::unsaid();
    settings.name = table.read("name", Node::name)?;
    if let Some(tag) = table.read("tag", Node::name)? {
        settings.tag = tag;
    }
    settings.domain = table.read("domain", |node| {
        // A name has no folder, so it is not relative to one.
        let domain = node.text("the name of a domain, or the path of its socket")?;
        if domain.contains('/') { path(node) } else { node.name().map(PathBuf::from) }
    })?;
    settings.transport = transport::read(&table)?;
    if settings.transport == Transport::Quic {
        read_quic(&table, &mut settings)?;
    } else {
        settings.transport.tag().clone_into(&mut settings.tag);
    }
    if let Some(most) = table.read("max_message", |node| node.size(MOST))? {
        settings.max_message = most;
    }
    settings.rules.at = table.at();
    if let Some(rules) = table.read("rules", |node| rulesets::read(node, &settings.transport))? {
        settings.rules = rules;
    }
    Ok(settings)
}

/// What other networks have a configuration of their own for.
fn read_quic(table: &Table<'_>, settings: &mut Settings) -> Outcome<()> {
    if let Some(listen) = table.read("listen", listen)? {
        settings.listen = listen;
    }
    settings.peers = table.read("peers", peers)?.unwrap_or_default();
    if let Some(discovery) = table.read("discovery", discovery)? {
        settings.discovery = discovery;
    }
    let meaning = "which says who may be a peer: the files \"key_file\", \"cert_file\" and \"ca_cert_file\", or \"ad-hoc\" for anybody";
    settings.security = security(&table.need("security", meaning)?)?;
    settings.budget = table.read("budget", Node::bandwidth)?;
    Ok(())
}

fn listen(node: &Node<'_>) -> Outcome<SocketAddr> {
    let possible = "an address and a port, as \"[::]:7463\" or \"192.168.1.2:7463\"";
    node.text(possible)?.parse().map_err(|_| node.wrong(possible))
}

fn peers(node: &Node<'_>) -> Outcome<Vec<String>> {
    let possible = "a host with or without a port, as \"robot.local:7463\", \"192.168.1.2\" or \"[fd09::1]:7463\"";
    let peers = node.list("peers", "a list of hosts, as [\"robot.local:7463\"]")?;
    let peer = |node: Node<'_>| {
        let text = node.text(possible)?;
        if is_host(text) { Ok(text.to_owned()) } else { Err(node.wrong(possible)) }
    };
    peers.into_iter().map(peer).collect()
}

/// What stands in a list of peers. Whether there is such a host is another question.
fn is_host(text: &str) -> bool {
    let port = |text: &str| text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0);
    if let Some((address, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) {
        let (address, interface) = address.split_once('%').unwrap_or((address, "any"));
        let interface = !interface.is_empty() && interface.chars().all(|c| c.is_ascii_graphic());
        return interface && address.parse::<Ipv6Addr>().is_ok() && (rest.is_empty() || rest.strip_prefix(':').is_some_and(port));
    }
    let (host, allowed) = text.split_once(':').map_or((text, true), |(host, rest)| (host, port(rest)));
    allowed && (1..=253).contains(&host.len()) && host.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_'))
}

fn discovery(node: &Node<'_>) -> Outcome<Discovery> {
    let possible = "true, false, or a list of network interfaces, as [\"wlan0\"]";
    if !node.is_list() {
        let enabled = node.boolean().map_err(|_| node.wrong(possible))?;
        return Ok(Discovery { enabled, interfaces: Vec::new() });
    }
    let interfaces = node.list("discovery", possible)?;
    if interfaces.is_empty() {
        return Err(node.error("'discovery' is an empty list: say false for none, true for all interfaces, or which"));
    }
    let name = |node: &Node<'_>| {
        let possible = "the name of a network interface, of 1 to 15 characters";
        let text = node.text(possible)?;
        let fits = (1..=15).contains(&text.len()) && !text.contains(|c: char| c == '/' || c.is_whitespace() || c.is_control());
        if fits { Ok(text.to_owned()) } else { Err(node.wrong(possible)) }
    };
    Ok(Discovery { enabled: true, interfaces: interfaces.iter().map(name).collect::<Outcome<_>>()? })
}

fn security(node: &Node<'_>) -> Outcome<Security> {
    let possible = "\"ad-hoc\", or an object with the files \"key_file\", \"cert_file\" and \"ca_cert_file\"";
    if node.is_text() {
        return if node.text(possible)? == "ad-hoc" { Ok(Security::default()) } else { Err(node.wrong(possible)) };
    }
    let table = node.table(&SECURITY_KEYS)?;
    let security = Security {
        provide_auth: table.read("provide_auth", Node::boolean)?.unwrap_or(true),
        require_auth: table.read("require_auth", Node::boolean)?.unwrap_or(true),
        key_file: table.read("key_file", path)?,
        cert_file: table.read("cert_file", path)?,
        ca_cert_file: table.read("ca_cert_file", path)?,
    };
    if security.is_ad_hoc() {
        return Err(
            table.error("with 'provide_auth' and 'require_auth' both false anybody may be a peer: say \"security\": \"ad-hoc\" for that")
        );
    }
    complete(security).map_err(|missing| table.error(missing))
}

/// With the files that it needs, or a sentence about the first that it lacks.
pub fn complete(security: Security) -> Result<Security, String> {
    let provided = [("key_file", &security.key_file), ("cert_file", &security.cert_file)];
    if let Some((key, _)) = provided.iter().find(|(_, file)| security.provide_auth && file.is_none()) {
        return Err(format!(
            "'{key}' is missing: to prove who it is ('provide_auth'), a gateway needs its 'key_file' and its 'cert_file'; `sinew-gateway certs` makes them"
        ));
    }
    if security.require_auth && security.ca_cert_file.is_none() {
        return Err(
            "'ca_cert_file' is missing: to know who others are ('require_auth'), a gateway needs the certificate of their authority; \
             \"require_auth\": false lets anybody in"
                .to_owned(),
        );
    }
    Ok(security)
}

/// Relative to the folder of the configuration.
pub fn path(node: &Node<'_>) -> Outcome<PathBuf> {
    let possible = "the path of a file";
    let text = node.text(possible)?;
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(node.wrong(possible));
    }
    Ok(node.source().folder().join(text))
}

//! `"transport": "zenoh"`, and what belongs to it.

use super::node::{Node, Table};
use super::own::path;
use super::source::Outcome;
use super::transport::STAYS;
use super::{RmwZenoh, Zenoh, ros2};

pub const KEYS: [&str; 6] = ["config_file", "connect", "prefix", "ros2", "domain_id", "definitions"];
/// The tag of a whole Zenoh network.
pub const TAG: &str = "zenoh";
/// What of the configuration is for QUIC alone, and where it goes instead.
pub const ELSEWHERE: [(&str, &str); 6] = [
    ("tag", "leave it out: in a Zenoh network nobody chooses rules by it, and what all of that network has here is the tag \"zenoh\""),
    ("listen", "say it as 'listen/endpoints' in Zenoh's own configuration, which \"config_file\" of 'zenoh' names"),
    ("peers", "say routers or peers of Zenoh as \"connect\" of 'zenoh'"),
    ("discovery", "say it as 'scouting' in Zenoh's own configuration, which \"config_file\" of 'zenoh' names"),
    (
        "security",
        "say it as 'transport/link/tls', 'transport/auth' and 'access_control' in Zenoh's own configuration, which \"config_file\" of 'zenoh' names",
    ),
    ("budget", "say it as 'downsampling' or 'low_pass_filter' in Zenoh's own configuration, which \"config_file\" of 'zenoh' names"),
];

/// What a rule may not say.
pub const SHAPED_ELSEWHERE: [(&str, &str); 3] = [
    (
        "compression",
        "it has its own: say it as 'transport/unicast/compression' in Zenoh's own configuration, which \"config_file\" of 'zenoh' names",
    ),
    (
        "max_bandwidth",
        "it has its own: say it as 'downsampling' or 'low_pass_filter' in Zenoh's own configuration, which \"config_file\" of 'zenoh' names",
    ),
    ("onward", STAYS),
];

pub fn zenoh(node: &Node<'_>) -> Outcome<Zenoh> {
    let table = node.table(&KEYS)?;
    let mut zenoh = Zenoh { config_file: table.read("config_file", path)?, ..Zenoh::default() };
    zenoh.connect = table.read("connect", connect)?.unwrap_or_default();
    if let Some(prefix) = table.read("prefix", prefix)? {
        zenoh.prefix = prefix;
    }
    zenoh.ros2 = rmw_zenoh(&table)?;
    Ok(zenoh)
}

/// None: it is sinew's own.
fn rmw_zenoh(table: &Table<'_>) -> Outcome<Option<RmwZenoh>> {
    if !table.read("ros2", Node::boolean)?.unwrap_or(false) {
        for key in ["domain_id", "definitions"] {
            if let Some(node) = table.get(key) {
                return Err(node.error(format!("'{key}' is for \"ros2\": true alone: say that, too, or leave this out")));
            }
        }
        return Ok(None);
    }
    if let Some(node) = table.get("prefix") {
        return Err(node.error("'prefix' is not for \"ros2\": true: leave it out, as key expressions of ROS 2 begin with \"domain_id\""));
    }
    Ok(Some(RmwZenoh {
        domain_id: ros2::domain_id(table)?,
        definitions: table.read("definitions", ros2::definitions)?.unwrap_or_default(),
    }))
}

fn connect(node: &Node<'_>) -> Outcome<Vec<String>> {
    let possible = "an endpoint of Zenoh, as \"tcp/10.0.0.1:7447\" or \"tls/router.local:7447\"";
    let endpoint = |node: Node<'_>| {
        let text = node.text(possible)?;
        let fits = text.split_once('/').is_some_and(|(protocol, address)| {
            let is_protocol = !protocol.is_empty() && protocol.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'_' | b'-'));
            is_protocol && !address.is_empty() && address.bytes().all(|b| b.is_ascii_graphic())
        });
        if fits { Ok(text.to_owned()) } else { Err(node.wrong(possible)) }
    };
    node.list("connect", "a list of endpoints of Zenoh, as [\"tcp/10.0.0.1:7447\"]")?.into_iter().map(endpoint).collect()
}

/// What all key expressions begin with, which therefore is one itself, and has no wildcards.
fn prefix(node: &Node<'_>) -> Outcome<String> {
    let possible =
        "the begin of key expressions, as \"sinew\" or \"fleet/north\": letters, digits, '_', '-' and '.', in chunks between slashes";
    let text = node.text(possible)?;
    let is_chunk = |chunk: &str| !chunk.is_empty() && chunk.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    if text.len() <= 255 && text.split('/').all(is_chunk) { Ok(text.to_owned()) } else { Err(node.wrong(possible)) }
}

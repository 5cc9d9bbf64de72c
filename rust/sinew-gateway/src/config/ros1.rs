//! `"transport": "ros1"`, and what belongs to it.

use std::path::PathBuf;

use super::Ros1;
use super::node::Node;
use super::own::path;
use super::source::Outcome;
use super::transport::STAYS;
use crate::ros1::{Uri, is_host};

pub const KEYS: [&str; 3] = ["master", "hostname", "definitions"];
/// The tag of all of ROS 1.
pub const TAG: &str = "ros1";
/// What of the configuration is for QUIC alone, and where it goes instead.
pub const ELSEWHERE: [(&str, &str); 6] = [
    ("tag", "leave it out: what all of ROS 1 has here is the tag \"ros1\""),
    ("listen", "leave it out: ROS 1 takes ports that are free, at \"hostname\" of 'ros1'"),
    ("peers", "say where the master is, as \"master\" of 'ros1'"),
    ("discovery", "leave it out: the master knows who is there"),
    ("security", "leave it out: ROS 1 has none, and rules alone say what may go where"),
    ("budget", "say \"max_rate\" in rules"),
];
/// What a rule may not say.
pub const SHAPED_ELSEWHERE: [(&str, &str); 5] = [
    ("compression", "messages of ROS 1 go as they are"),
    ("max_bandwidth", "say \"max_rate\""),
    ("priority", "each subscriber of ROS 1 has a connection of its own"),
    ("reliable", "messages go by TCP, and wait as their publishers' depth says"),
    ("onward", STAYS),
];
/// What rules may not be for.
pub const UNRULED: [(&str, &str); 1] = [("services", "leave it out: topics alone go over")];

pub fn ros1(node: &Node<'_>) -> Outcome<Ros1> {
    let table = node.table(&KEYS)?;
    Ok(Ros1 {
        master: table.read("master", master)?,
        hostname: table.read("hostname", hostname)?,
        definitions: table.read("definitions", definitions)?.unwrap_or_default(),
    })
}

fn master(node: &Node<'_>) -> Outcome<Uri> {
    let possible = "where the master is, as \"http://localhost:11311\"";
    node.text(possible)?.parse().map_err(|_| node.wrong(possible))
}

fn hostname(node: &Node<'_>) -> Outcome<String> {
    let possible = "the name or the IP address by which others reach this machine, as \"robot.local\" or \"192.168.1.2\"";
    let text = node.text(possible)?;
    if is_host(text) { Ok(text.to_owned()) } else { Err(node.wrong(possible)) }
}

fn definitions(node: &Node<'_>) -> Outcome<Vec<PathBuf>> {
    node.list("folder", "a list of folders with packages of ROS 1, as [\"/opt/ros/noetic/share\"]")?.iter().map(path).collect()
}

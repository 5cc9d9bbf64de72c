//! `"transport": "ros2"`, and what belongs to it.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use super::Ros2;
use super::node::{Node, Table};
use super::own::path;
use super::source::Outcome;
use super::transport::STAYS;

pub const KEYS: [&str; 3] = ["domain_id", "interfaces", "definitions"];
/// The tag of a whole ROS 2 network.
pub const TAG: &str = "ros2";
/// Of higher domains, the ports are those that the kernel gives to anybody.
const HIGHEST: i32 = 232;
/// What of the configuration is for QUIC alone, and where it goes instead.
pub const ELSEWHERE: [(&str, &str); 6] = [
    ("tag", "leave it out: what all of ROS 2 has here is the tag \"ros2\""),
    ("listen", "leave it out: DDS chooses its ports by \"domain_id\" of 'ros2'"),
    ("peers", "leave it out: DDS finds others by multicast, or as FASTRTPS_DEFAULT_PROFILES_FILE says"),
    ("discovery", "say the addresses of interfaces as \"interfaces\" of 'ros2'"),
    ("security", "leave it out: SROS 2 is not spoken, and rules alone say what may go where"),
    ("budget", "say \"max_rate\" in rules"),
];
/// What a rule may not say.
pub const SHAPED_ELSEWHERE: [(&str, &str); 5] = [
    ("compression", "messages of ROS 2 go as they are"),
    ("max_bandwidth", "say \"max_rate\""),
    ("priority", "DDS sends messages in their order"),
    ("reliable", "messages are as reliable as their publishers offer"),
    ("onward", STAYS),
];

pub fn ros2(node: &Node<'_>) -> Outcome<Ros2> {
    let table = node.table(&KEYS)?;
    let mut ros2 = Ros2 { domain_id: domain_id(&table)?, ..Ros2::default() };
    ros2.interfaces = table.read("interfaces", interfaces)?.unwrap_or_default();
    ros2.definitions = table.read("definitions", definitions)?.unwrap_or_default();
    Ok(ros2)
}

/// Where the configuration says nothing of ROS 2.
pub fn unsaid(root: &Table<'_>) -> Outcome<Ros2> {
    let domain_id = ros_domain_id().map_err(|why| root.error(why))?;
    Ok(Ros2 { domain_id, ..Ros2::default() })
}

/// What the table says, else what holds for programs of ROS 2.
pub fn domain_id(table: &Table<'_>) -> Outcome<u32> {
    let said = table.read("domain_id", |node| node.integer(0, HIGHEST).map(i32::unsigned_abs))?;
    said.map_or_else(|| ros_domain_id().map_err(|why| table.error(why)), Ok)
}

/// `$ROS_DOMAIN_ID`, else 0, also where it is empty, as programs of ROS 2 take it. Fails with a sentence where that is no domain.
pub fn ros_domain_id() -> Result<u32, String> {
    let Some(text) = std::env::var("ROS_DOMAIN_ID").ok().filter(|text| !text.is_empty()) else { return Ok(0) };
    let wrong = || format!("ROS_DOMAIN_ID is {text:?}, which is no number from 0 to {HIGHEST}");
    text.trim().parse().ok().filter(|id| *id <= HIGHEST.unsigned_abs()).ok_or_else(wrong)
}

fn interfaces(node: &Node<'_>) -> Outcome<Vec<Ipv4Addr>> {
    let possible = "the IPv4 address of a network interface of this machine, as \"192.168.1.2\", as DDS goes over IPv4 alone";
    let address = |node: &Node<'_>| node.text(possible)?.parse().map_err(|_| node.wrong(possible));
    node.list("interface", "a list of IPv4 addresses of this machine, as [\"127.0.0.1\"]")?.iter().map(address).collect()
}

pub fn definitions(node: &Node<'_>) -> Outcome<Vec<PathBuf>> {
    node.list("folder", "a list of folders with packages of ROS 2, as [\"/opt/ros/jazzy/share\"]")?.iter().map(path).collect()
}

//! `sinew bridge`: runs the program that is the bridge, in place of this one.

use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::{Args, Subcommand};

use crate::cli::Cli;
use crate::failure::{Done, Failure};
use crate::quiet;

const ROS2: &str = "\
Examples:
  sinew bridge ros2                                all topics and services, both ways, in the ROS domain of $ROS_DOMAIN_ID, else 0
  sinew bridge ros2 --domain-id 7 --interface 127.0.0.1
  sinew bridge ros2 ros2.json                      what that says; `sinew-gateway check ros2.json` explains it

It runs until it is interrupted. `sinew gateway status` shows what goes over.";

const ROS1: &str = "\
Examples:
  sinew bridge ros1                                all topics, both ways, of the master at $ROS_MASTER_URI, else http://localhost:11311
  sinew bridge ros1 --master http://robot:11311 --hostname base.local
  sinew bridge ros1 ros1.json                      what that says; `sinew-gateway check ros1.json` explains it

It runs until it is interrupted. `sinew gateway status` shows what goes over.";

/// To whom.
#[derive(Subcommand, Debug)]
pub enum BridgeCommand {
    /// Connect the domain with programs of ROS 2, over DDS; ROS 2 itself is not needed here
    #[command(after_help = ROS2)]
    Ros2(Ros2),
    /// Connect the domain with programs of ROS 1, over TCPROS; ROS 1 itself is not needed here
    #[command(after_help = ROS1)]
    Ros1(Ros1),
}

/// What goes over, and where.
#[derive(Args, Debug)]
pub struct Ros2 {
    /// A configuration with "transport": "ros2"; without one, everything goes both ways
    pub file: Option<PathBuf>,
    /// The domain of ROS 2, 0 to 232; without one, $ROS_DOMAIN_ID, else 0
    #[arg(long, value_name = "ID", value_parser = clap::value_parser!(u32).range(0..=232), conflicts_with = "file")]
    pub domain_id: Option<u32>,
    /// The IPv4 address of a network interface of this machine that DDS is to use; without one, all
    #[arg(long, value_name = "ADDRESS", conflicts_with = "file")]
    pub interface: Vec<Ipv4Addr>,
    /// A folder with packages of ROS 2, as /opt/ros/jazzy/share, beside those that come with sinew and those in $AMENT_PREFIX_PATH
    #[arg(long, value_name = "FOLDER", conflicts_with = "file")]
    pub definitions: Vec<PathBuf>,
}

/// What goes over, and where.
#[derive(Args, Debug)]
pub struct Ros1 {
    /// A configuration with "transport": "ros1"; without one, all topics go both ways
    pub file: Option<PathBuf>,
    /// Where the master is; without it, $ROS_MASTER_URI, else http://localhost:11311
    #[arg(long, value_name = "URI", conflicts_with = "file")]
    pub master: Option<String>,
    /// The name or the IP address by which others reach this machine; without it, $ROS_HOSTNAME, $ROS_IP, or the name of the machine
    #[arg(long, value_name = "HOST", conflicts_with = "file")]
    pub hostname: Option<String>,
    /// A folder with packages of ROS 1, as /opt/ros/noetic/share, before those in $ROS_PACKAGE_PATH and /usr/share
    #[arg(long, value_name = "FOLDER", conflicts_with = "file")]
    pub definitions: Vec<PathBuf>,
}

/// Does not return, unless it fails.
pub fn run(cli: &Cli, asked: &BridgeCommand) -> Done {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name("sinew-gateway")).filter(|path| path.is_file());
    let program = beside.unwrap_or_else(|| "sinew-gateway".into());
    let mut command = Command::new(&program);
    quiet::only_here(&mut command);
    let (file, definitions) = match asked {
        BridgeCommand::Ros2(asked) => {
            command.arg("ros2");
            command.args(asked.domain_id.iter().flat_map(|id| ["--domain-id".to_owned(), id.to_string()]));
            command.args(asked.interface.iter().flat_map(|address| ["--interface".to_owned(), address.to_string()]));
            (&asked.file, &asked.definitions)
        }
        BridgeCommand::Ros1(asked) => {
            command.arg("ros1");
            command.args(asked.master.iter().flat_map(|uri| ["--master", uri]));
            command.args(asked.hostname.iter().flat_map(|host| ["--hostname", host]));
            (&asked.file, &asked.definitions)
        }
    };
    command.args(definitions.iter().flat_map(|folder| ["--definitions".into(), folder.clone().into_os_string()]));
    command.args(file);
    if file.is_none() {
        command.args(cli.domain.iter().flat_map(|domain| ["--domain", domain]));
    } else if cli.domain.is_some() {
        return Err(Failure::Refused("a configuration says which domain it is for: --domain is for a bridge without one".to_owned()));
    }
    let why = command.exec();
    Err(Failure::Failed(format!("{} cannot be run: {why}; it is installed with this command (`make install`)", program.display())))
}

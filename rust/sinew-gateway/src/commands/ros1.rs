//! `sinew-gateway ros1`, which `sinew bridge ros1` is: until it is interrupted.

use std::path::PathBuf;

use clap::Args;

use super::run;
use crate::config::{Ros1, Settings, Transport};
use crate::ros1::{Uri, is_host};

/// What is shown of it with `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew bridge ros1                                all topics, both ways, of the master at $ROS_MASTER_URI, else http://localhost:11311
  sinew bridge ros1 --master http://robot:11311 --hostname base.local
  sinew bridge ros1 ros1.json                      what that says; `sinew-gateway check ros1.json` explains it

Exit status: 0 when it was told to end (SIGTERM, Ctrl-C); 1 when it cannot run.";

/// Connect the domain with programs of ROS 1, over TCPROS
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct AskedRos1 {
    /// A configuration with "transport": "ros1"; without one, all topics go both ways
    pub file: Option<PathBuf>,
    /// The domain: a name, or the path of its socket; without one, $SINEW_DOMAIN, else "default"
    #[arg(long, short, value_name = "DOMAIN", conflicts_with = "file")]
    pub domain: Option<PathBuf>,
    /// Where the master is; without it, $ROS_MASTER_URI, else http://localhost:11311
    #[arg(long, value_name = "URI", value_parser = master, conflicts_with = "file")]
    pub master: Option<Uri>,
    /// The name or the IP address by which others reach this machine; without it, $ROS_HOSTNAME, $ROS_IP, or the name of the machine
    #[arg(long, value_name = "HOST", value_parser = hostname, conflicts_with = "file")]
    pub hostname: Option<String>,
    /// A folder with packages of ROS 1, as /opt/ros/noetic/share, before those in $ROS_PACKAGE_PATH and /usr/share
    #[arg(long, value_name = "FOLDER", conflicts_with = "file")]
    pub definitions: Vec<PathBuf>,
}

/// Runs. Fails with a sentence.
pub fn ros1(asked: &AskedRos1) -> Result<(), String> {
    let Some(file) = &asked.file else {
        let ros1 = Ros1 { master: asked.master.clone(), hostname: asked.hostname.clone(), definitions: asked.definitions.clone() };
        return run::serve(Settings::everything(asked.domain.clone(), Transport::Ros1(ros1)), None);
    };
    let settings = Settings::read(file).map_err(|error| error.to_string())?;
    if !matches!(settings.transport, Transport::Ros1(_)) {
        return Err(format!("{} has no \"transport\": \"ros1\": `sinew-gateway run` takes others", file.display()));
    }
    run::serve(settings, Some(file))
}

fn master(text: &str) -> Result<Uri, String> {
    text.parse().map_err(|_| "it is no address like http://localhost:11311".to_owned())
}

fn hostname(text: &str) -> Result<String, String> {
    if is_host(text) { Ok(text.to_owned()) } else { Err("it is neither a name of a machine nor an address".to_owned()) }
}

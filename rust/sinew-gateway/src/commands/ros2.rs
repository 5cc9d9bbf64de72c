//! `sinew-gateway ros2`, which `sinew bridge ros2` is: until it is interrupted.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use clap::Args;

use super::run;
use crate::config::{Ros2, Settings, Transport, ros_domain_id};

/// What is shown of it with `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew bridge ros2                                all topics and services, both ways, in the ROS domain of $ROS_DOMAIN_ID, else 0
  sinew bridge ros2 --domain-id 7 --interface 127.0.0.1
  sinew bridge ros2 ros2.json                      what that says; `sinew-gateway check ros2.json` explains it

Exit status: 0 when it was told to end (SIGTERM, Ctrl-C); 1 when it cannot run.";

/// Connect the domain with programs of ROS 2, over DDS
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct AskedRos2 {
    /// A configuration with "transport": "ros2"; without one, everything goes both ways
    pub file: Option<PathBuf>,
    /// The domain: a name, or the path of its socket; without one, $SINEW_DOMAIN, else "default"
    #[arg(long, short, value_name = "DOMAIN", conflicts_with = "file")]
    pub domain: Option<PathBuf>,
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

/// Runs. Fails with a sentence.
pub fn ros2(asked: &AskedRos2) -> Result<(), String> {
    let Some(file) = &asked.file else {
        let domain_id = asked.domain_id.map_or_else(ros_domain_id, Ok)?;
        let ros2 = Ros2 { domain_id, interfaces: asked.interface.clone(), definitions: asked.definitions.clone() };
        return run::serve(Settings::everything(asked.domain.clone(), Transport::Ros2(ros2)), None);
    };
    let settings = Settings::read(file).map_err(|error| error.to_string())?;
    if !matches!(settings.transport, Transport::Ros2(_)) {
        return Err(format!("{} has no \"transport\": \"ros2\": `sinew-gateway run` takes others", file.display()));
    }
    run::serve(settings, Some(file))
}

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::*;

    #[test]
    fn an_interface_has_an_ipv4_address() {
        let read = |address: &str| AskedRos2::augment_args(Command::new("ros2")).try_get_matches_from(["ros2", "--interface", address]);
        assert!(read("127.0.0.1").is_ok());
        let why = read("::1").expect_err("DDS goes over IPv4 alone").to_string();
        assert!(why.contains("invalid value '::1'") && why.contains("IPv4"), "{why}");
    }
}

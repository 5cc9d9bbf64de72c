//! `sinew foxglove`: a domain for Foxglove to look at.

use std::net::IpAddr;

use clap::Args;

use crate::cli::Cli;
use crate::failure::Done;
use crate::foxglove;
use crate::patterns::Patterns;

/// What `--help` says behind the options.
pub const HELP: &str = "\
Examples:
  sinew foxglove
  sinew foxglove --max-rate 10 'camera/*' tf
  sinew foxglove --exclude '**/raw' --port 9000
  sinew foxglove --allow-publish --services

In Foxglove, open a connection to ws://localhost:8765. Topics are subscribed to while somebody there looks at them. Pictures and points are drawn of types that Foxglove knows, as sensor_msgs/msg/Image; others are shown as they are.
Topics that only other machines have are there, too, as gateways tell while a client is connected; such a topic comes here while somebody looks at it.
Where topics are named or left out, so are services, by the same patterns.
The parameter /TOPIC.max_rate is how many messages a second of each publisher are sent.
There are no passwords: who reaches the port sees all topics, which on this machine goes for the pages that a browser has open, too.";

/// How to serve it.
#[derive(Args, Debug)]
pub struct Foxglove {
    /// Which topics.
    #[command(flatten)]
    pub patterns: Patterns,
    /// Where to listen; 0.0.0.0 lets other machines in
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub address: IpAddr,
    /// The port; 0: one that is free
    #[arg(long, short, default_value_t = 8765)]
    pub port: u16,
    /// So many messages a second of each publisher, where a client sets no other; 0: all
    #[arg(long, default_value_t = 0.0, value_name = "HZ", value_parser = rate)]
    pub max_rate: f64,
    /// Let clients publish on topics that are there, as JSON or CDR
    #[arg(long)]
    pub allow_publish: bool,
    /// Let clients call services
    #[arg(long)]
    pub services: bool,
}

/// Serves it until it is interrupted.
pub fn foxglove(cli: &Cli, asked: &Foxglove) -> Done {
    foxglove::serve(cli, asked)
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    foxglove::is_rate(rate).then_some(rate).ok_or_else(|| "a rate is 0 or more".to_owned())
}

//! What can be asked for.

use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::commands::doctor::EXAMPLES as DOCTOR;
use crate::commands::graph::{EXAMPLES as GRAPH, Graph};
use crate::commands::{action, bag, bridge, call, foxglove, launch, play, publish, record, trigger};
use crate::completion::{self, Names};

const STATUS: &str = "\
Exit status: 0 when it did what was asked, 1 when something failed, 2 when arguments, or a launch file, are wrong, 3 when what was asked for is not there, or differs.
Environment: SINEW_DOMAIN is the domain where --domain does not say another.";

/// What there is in a domain, what flows in it, and why.
#[derive(Parser, Debug)]
#[command(name = "sinew", version, after_help = STATUS, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Cli {
    /// The domain: a name, or the path of its socket
    #[arg(long, short, global = true, value_name = "DOMAIN")]
    pub domain: Option<String>,
    /// Print JSON: one document, or one a line of what goes on
    #[arg(long, global = true)]
    pub json: bool,
    /// When to print in colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// When to print in colour.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// For all output from now on.
    pub fn write_global(self) {
        let choice = match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Topics: what there is, and what flows
    #[command(subcommand)]
    Topic(TopicCommand),
    /// Nodes
    #[command(subcommand)]
    Node(NodeCommand),
    /// Services
    #[command(subcommand)]
    Service(ServiceCommand),
    /// Actions: goals that take a while
    #[command(subcommand)]
    Action(action::ActionCommand),
    /// Types of messages
    #[command(subcommand)]
    Type(TypeCommand),
    /// Everything that is there
    #[command(subcommand)]
    Domain(DomainCommand),
    /// Gateways: the ways to other machines
    #[command(subcommand)]
    Gateway(GatewayCommand),
    /// Ways to programs that are not of sinew
    #[command(subcommand)]
    Bridge(bridge::BridgeCommand),
    /// Tell of a topic who reads whom which way, why, what it costs, and who holds what
    #[command(after_help = "Example:\n  sinew explain camera/image")]
    Explain(TopicName),
    /// Draw nodes and topics, and what flows between them; nobody subscribes for that
    #[command(after_help = GRAPH)]
    Graph(Graph),
    /// Check this machine and the domain, and tell what to do about what is wrong
    #[command(after_help = DOCTOR)]
    Doctor,
    /// Show all topics and what flows in them, again and again; nobody subscribes for that
    #[command(after_help = TOP)]
    Top {
        /// Over so long a time each, as 500ms or 2s
        #[arg(long, short, default_value = "1s", value_parser = interval)]
        interval: Duration,
        /// Only topics with this in their names, or their types'
        #[arg(long, short, value_name = "TEXT", default_value = "")]
        filter: String,
        /// By what they are ordered
        #[arg(long, short, value_enum, default_value_t = Order::Name)]
        sort: Order,
    },
    /// Recordings
    #[command(subcommand)]
    Bag(bag::BagCommand),
    /// Record messages into files
    #[command(after_help = record::EXAMPLES)]
    Record(record::Record),
    /// Tell a flight recorder to write what it holds
    #[command(after_help = trigger::EXAMPLES)]
    Trigger(trigger::Trigger),
    /// Play messages of files
    #[command(after_help = play::EXAMPLES)]
    Play(play::Play),
    /// Let Foxglove show the domain
    #[command(after_help = foxglove::HELP)]
    Foxglove(foxglove::Foxglove),
    /// Start the processes of a robot together, keep them, and stop them together
    #[command(after_help = launch::MANUAL)]
    Launch(launch::Launch),
    /// Print what completes this command in a shell
    #[command(
        after_help = "Examples:\n  sinew completions bash > ~/.local/share/bash-completion/completions/sinew\n  sinew completions fish > ~/.config/fish/completions/sinew.fish"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print what a command line may go on with, for the scripts of `completions`
    #[command(hide = true, after_help = completion::EXAMPLES)]
    Complete(completion::Typed),
}

const TOP: &str = "\
Examples:
  sinew top --sort bandwidth
  sinew top --json | jq '.topics[] | select(.lost > 0) | .topic'

Keys: arrows select, enter shows who publishes and subscribes, g what goes over gateways, s orders by the next column, r the other way round, / filters, space pauses, q ends.";

/// By what topics are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Their names
    Name,
    /// Messages a second, most first
    Rate,
    /// Bytes a second, most first
    Bandwidth,
    /// How long messages take, longest first
    Latency,
    /// Messages that subscribers keep, most first
    Held,
    /// Messages that were lost, most first
    Lost,
}

/// Topics.
#[derive(Subcommand, Debug)]
pub enum TopicCommand {
    /// List the topics
    #[command(
        visible_alias = "ls",
        after_help = "Examples:\n  sinew topic list\n  sinew topic list --verbose\n  sinew topic list --json | jq -r '.[].name'"
    )]
    List {
        /// With types, and how many publish and subscribe
        #[arg(long, short, alias = "show-types", short_alias = 't')]
        verbose: bool,
        /// Those of services and actions, too
        #[arg(long, short, visible_alias = "services")]
        all: bool,
    },
    /// Show a topic's type, publishers and subscribers, with their quality of service
    #[command(after_help = "Example:\n  sinew topic info camera/image")]
    Info {
        #[command(flatten)]
        topic: TopicName,
        /// Of ROS 2: it tells all anyway.
        #[arg(long, short, hide = true)]
        verbose: bool,
    },
    /// Show the type of a topic
    #[command(after_help = "Example:\n  sinew topic type camera/image")]
    Type(TopicName),
    /// List the topics of a type
    #[command(after_help = "Example:\n  sinew topic find robot/Image")]
    Find {
        /// Its name, with or without namespace
        #[arg(value_name = "TYPE", add = Names::TypesOfTopics.completer())]
        type_name: String,
    },
    /// Print messages, of any type
    #[command(after_help = ECHO)]
    Echo(Echo),
    /// Publish messages, from YAML or JSON
    #[command(after_help = publish::EXAMPLES)]
    Pub(publish::Publish),
    /// Show how often messages are published; nobody subscribes for that, but with --jitter
    #[command(
        after_help = "Examples:\n  sinew topic hz camera/image\n  sinew topic hz --count 1 --interval 5s camera/image lidar/points\n  sinew topic hz --jitter imu"
    )]
    Hz(Hz),
    /// Show how many bytes are published; nobody subscribes for that
    #[command(after_help = "Example:\n  sinew topic bw camera/image")]
    Bw(Rates),
    /// Show how long messages take to their subscribers; nobody subscribes for that
    #[command(after_help = "Example:\n  sinew topic delay camera/image")]
    Delay(Rates),
}

const ECHO: &str = "\
Examples:
  sinew topic echo camera/image
  sinew topic echo --once camera/image.header.stamp_ns
  sinew topic echo --json scan | jq '.ranges | min'
  sinew topic echo --csv odometry.pose > poses.csv
  sinew topic echo --image camera/image

It goes on until it is interrupted, also when the topic goes and comes again, unless --once, --count or --timeout says when it is to end: then it ends with the topic, too.";

/// Messages to print.
#[derive(Args, Debug)]
pub struct Echo {
    /// What to print.
    #[arg(value_name = "TOPIC[.FIELD]", add = Names::Topics.completer(), help = "A topic, or a part of its messages: camera/image.header.stamp_ns, scan.ranges[3]")]
    pub what: String,
    /// What it is to carry, which may be left out
    #[arg(value_name = "TYPE", add = Names::TypesOfTopics.completer())]
    pub type_name: Option<String>,
    /// A part of the messages, as behind a dot
    #[arg(long, value_name = "FIELD")]
    pub field: Option<String>,
    /// Of ROS 2, where arrays are not shortened else.
    #[arg(long, hide = true)]
    pub no_arr: bool,
    /// One message
    #[arg(long, short = '1', conflicts_with = "count")]
    pub once: bool,
    /// So many messages; else until it is interrupted
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub count: Option<u64>,
    /// Values with commas between, behind a line with their names
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Draw pictures in the terminal, the newest in place of the one before: width, height, encoding and data, or format and data as JPEG or PNG
    #[arg(long, conflicts_with_all = ["csv", "json", "full"])]
    pub image: bool,
    /// Arrays and strings as a whole; else so many elements of them
    #[arg(long, short)]
    pub full: bool,
    /// So many elements of arrays, and letters of strings
    #[arg(long, value_name = "COUNT", default_value_t = 128, conflicts_with = "full")]
    pub most: u64,
    /// How long to wait for each message, as 500ms or 2s
    #[arg(long, value_parser = duration)]
    pub timeout: Option<Duration>,
}

impl Echo {
    /// The topic, and what of it.
    pub fn path(&self) -> String {
        let field = self.field.as_deref().unwrap_or_default();
        let dot = if field.is_empty() || field.starts_with(['.', '[', '<']) { "" } else { "." };
        format!("{}{dot}{field}", self.what)
    }
}

/// A topic.
#[derive(Args, Debug)]
pub struct TopicName {
    /// Its name
    #[arg(add = Names::Topics.completer())]
    pub topic: String,
}

/// What is counted, again and again.
#[derive(Args, Debug)]
pub struct Rates {
    /// Names of topics; all topics where none is given
    #[arg(add = Names::Topics.completer())]
    pub topics: Vec<String>,
    /// Over so long a time each, as 500ms or 2s
    #[arg(long, short, default_value = "1s", value_parser = interval)]
    pub interval: Duration,
    /// So many times; else until it is interrupted
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub count: Option<u64>,
}

/// How often, and how regularly.
#[derive(Args, Debug)]
pub struct Hz {
    /// What is counted.
    #[command(flatten)]
    pub rates: Rates,
    /// How regularly, too: the shortest and the longest time between two messages, and the standard deviation; for that it subscribes to the topics, which are named
    #[arg(long, short, requires = "topics")]
    pub jitter: bool,
}

/// Nodes.
#[derive(Subcommand, Debug)]
pub enum NodeCommand {
    /// List the nodes
    #[command(visible_alias = "ls", after_help = "Examples:\n  sinew node list\n  sinew node list --verbose")]
    List {
        /// With process, user and container
        #[arg(long, short)]
        verbose: bool,
    },
    /// Show a node's process, topics and services
    #[command(after_help = "Example:\n  sinew node info camera")]
    Info {
        /// Its name
        #[arg(add = Names::Nodes.completer())]
        node: String,
    },
    /// End a node's connection with the manager, as if that had died: it registers again, and messages go on meanwhile
    #[command(after_help = "Example:\n  sinew node kill-connection camera")]
    KillConnection {
        /// Its name
        #[arg(add = Names::Nodes.completer())]
        node: String,
    },
}

/// Services.
#[derive(Subcommand, Debug)]
pub enum ServiceCommand {
    /// List the services
    #[command(visible_alias = "ls", after_help = "Example:\n  sinew service list --verbose")]
    List {
        /// With types, and how many provide and call
        #[arg(long, short, alias = "show-types", short_alias = 't')]
        verbose: bool,
        /// Those of actions, too
        #[arg(long, short)]
        all: bool,
    },
    /// Show a service's types, providers and clients
    #[command(after_help = "Example:\n  sinew service info add")]
    Info {
        /// Its name
        #[arg(add = Names::Services.completer())]
        service: String,
    },
    /// Call a service, with a request from YAML or JSON
    #[command(after_help = call::EXAMPLES)]
    Call(call::Call),
}

/// Types of messages.
#[derive(Subcommand, Debug)]
pub enum TypeCommand {
    /// Show what messages consist of
    #[command(
        after_help = "Examples:\n  sinew type show robot/Image\n  sinew type show camera/image\n  sinew type show sensor_msgs/msg/Image\n  sinew type show --signature camera/image"
    )]
    Show {
        /// A topic, a type that one of the domain has or that a definition of ROS 2 is there for, or a signature
        #[arg(value_name = "TYPE", add = Names::TopicsAndTypes.completer())]
        of: String,
        /// In one line, as programs give it
        #[arg(long)]
        signature: bool,
    },
    /// Say what two types differ in
    #[command(after_help = "Example:\n  sinew type diff camera/left camera/right")]
    Diff {
        /// As of `type show`
        #[arg(add = Names::TopicsAndTypes.completer())]
        one: String,
        /// As of `type show`
        #[arg(add = Names::TopicsAndTypes.completer())]
        other: String,
    },
}

/// Everything.
#[derive(Subcommand, Debug)]
pub enum DomainCommand {
    /// Show all nodes, topics, publishers and subscribers
    #[command(after_help = "Examples:\n  sinew domain state\n  sinew domain state --json | jq '.pairs[] | select(.delivery == null)'")]
    State,
    /// Tell of what comes and goes, until it is interrupted
    #[command(after_help = "Example:\n  sinew domain watch")]
    Watch {
        /// What is there already, too
        #[arg(long)]
        all: bool,
    },
}

/// Gateways.
#[derive(Subcommand, Debug)]
pub enum GatewayCommand {
    /// Show with which peers the gateways of this domain are connected, how good the links are, and what goes over them
    #[command(
        after_help = "Examples:\n  sinew gateway status\n  watch --color sinew --color always gateway status\n  sinew gateway status --json | jq '.[].peers[] | select(.loss > 0.05) | .name'\n\nIt is what every gateway publishes once a second on the topic gateway/status, which can be recorded and plotted, too. `sinew-gateway check` tells which rule lets a topic through."
    )]
    Status,
}

/// A time with its unit: 500ms, 2s, 1.5.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let factor = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("'{unit}' is no unit of time: ms, s, min or h are")),
    };
    let number: f64 = number.parse().map_err(|_| format!("'{text}' is no time: 500ms, 2s or 1.5 are"))?;
    Duration::try_from_secs_f64(number * factor).map_err(|why| why.to_string())
}

/// The same of what rates are over: in less, next to nothing is counted.
pub fn interval(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        short if short < Duration::from_millis(10) => Err("an interval has 10ms at least".to_owned()),
        interval => Ok(interval),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2min"), Ok(Duration::from_secs(120)));
        assert!(duration("2 parsecs").is_err());
        assert!(duration("s").is_err());
        assert!(duration("1e999s").is_err());
    }

    #[test]
    fn every_command_has_an_example_or_commands_of_its_own() {
        fn check(command: &clap::Command) {
            for each in command.get_subcommands() {
                let help = each.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(each.has_subcommands() || help.starts_with("Example"), "{}", each.get_name());
                check(each);
            }
        }
        check(&Cli::command());
    }
}

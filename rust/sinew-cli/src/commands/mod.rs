//! What each command does.

pub mod action;
pub mod bag;
pub mod bridge;
pub mod call;
pub mod doctor;
mod domain;
mod echo;
mod explain;
pub mod foxglove;
mod gateway;
pub mod graph;
pub mod launch;
mod node;
pub mod play;
pub mod publish;
mod rates;
pub mod record;
pub mod send_goal;
mod service;
mod topic;
pub mod trigger;
mod types;

use crate::cli::{Cli, Command, DomainCommand, GatewayCommand, NodeCommand, ServiceCommand, TopicCommand, TypeCommand};
use crate::completion;
use crate::failure::Done;
use crate::top;

/// Does what is asked.
pub fn run(cli: &Cli) -> Done {
    match &cli.command {
        Command::Topic(command) => match command {
            TopicCommand::List { verbose, all } => topic::list(cli, *verbose, *all),
            TopicCommand::Info { topic, .. } => topic::info(cli, &topic.topic),
            TopicCommand::Type(topic) => topic::type_of_one(cli, &topic.topic),
            TopicCommand::Find { type_name } => topic::find(cli, type_name),
            TopicCommand::Echo(asked) => echo::echo(cli, asked),
            TopicCommand::Pub(asked) => publish::publish(cli, asked),
            TopicCommand::Hz(asked) => rates::watch(cli, &asked.rates, if asked.jitter { rates::Of::Periods } else { rates::Of::Messages }),
            TopicCommand::Bw(asked) => rates::watch(cli, asked, rates::Of::Bytes),
            TopicCommand::Delay(asked) => rates::watch(cli, asked, rates::Of::Delay),
        },
        Command::Node(command) => match command {
            NodeCommand::List { verbose } => node::list(cli, *verbose),
            NodeCommand::Info { node } => node::info(cli, node),
            NodeCommand::KillConnection { node } => node::kill_connection(cli, node),
        },
        Command::Service(command) => match command {
            ServiceCommand::List { verbose, all } => service::list(cli, *verbose, *all),
            ServiceCommand::Call(asked) => call::call(cli, asked),
            ServiceCommand::Info { service } => service::info(cli, service),
        },
        Command::Bridge(command) => bridge::run(cli, command),
        Command::Action(command) => action::run(cli, command),
        Command::Type(command) => match command {
            TypeCommand::Show { of, signature } => types::show(cli, of, *signature),
            TypeCommand::Diff { one, other } => types::diff(cli, one, other),
        },
        Command::Domain(command) => match command {
            DomainCommand::State => domain::state(cli),
            DomainCommand::Watch { all } => domain::watch(cli, *all),
        },
        Command::Gateway(GatewayCommand::Status) => gateway::status(cli),
        Command::Foxglove(asked) => foxglove::foxglove(cli, asked),
        Command::Explain(topic) => explain::explain(cli, &topic.topic),
        Command::Graph(asked) => graph::graph(cli, asked),
        Command::Doctor => doctor::doctor(cli),
        Command::Launch(asked) => launch::launch(cli, asked),
        Command::Bag(bag::BagCommand::Info(asked)) => bag::info(cli, asked),
        Command::Play(asked) => play::play(cli, asked),
        Command::Trigger(asked) => trigger::trigger(cli, asked),
        Command::Record(asked) => record::record(cli, asked),
        Command::Top { interval, filter, sort } => top::run(cli, *interval, filter, *sort),
        Command::Completions { shell } => completion::script(*shell),
        Command::Complete(typed) => completion::complete(typed),
    }
}

//! Names for who presses TAB. That waits for nobody for long, and changes nothing: where no manager listens, there are none.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use sinew::msg::Type;
use sinew::msg::ros2::Library;
use sinew::{Node, NodeOptions};

use crate::actions::{self, is_of_action};
use crate::beyond::Beyond;
use crate::doctor;
use crate::domain::{View, body_of, is_part};
use crate::record::flight::recorders;

/// So long the domain may take to answer. A manager that is stopped never does.
pub const PATIENCE: Duration = Duration::from_millis(300);

/// What an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Topics, but for those of services and actions.
    Topics,
    Nodes,
    Services,
    Actions,
    /// Those of messages that topics carry.
    TypesOfTopics,
    /// Those, and definitions that are installed.
    Types,
    /// Topics, and what they may stand for: their types and others.
    TopicsAndTypes,
    TypesOfServices,
    TypesOfActions,
    Recorders,
}

/// The domain that is asked.
static DOMAIN: OnceLock<Option<String>> = OnceLock::new();

/// None: that of the environment.
pub fn ask_in(domain: Option<String>) {
    let _ = DOMAIN.set(domain);
}

impl Names {
    /// For an argument.
    pub fn completer(self) -> ArgValueCompleter {
        ArgValueCompleter::new(move |typed: &OsStr| self.candidates(&typed.to_string_lossy()))
    }

    fn candidates(self, typed: &str) -> Vec<CompletionCandidate> {
        let mut names = self.in_time();
        if matches!(self, Names::Types | Names::TopicsAndTypes) {
            names.extend(defined());
        }
        // As in ROS, a slash may stand before the names of some.
        let may_have_slash = [Names::Topics, Names::Nodes, Names::Services, Names::Actions, Names::TopicsAndTypes].contains(&self);
        let (slash, typed) = typed.strip_prefix('/').filter(|_| may_have_slash).map_or(("", typed), |typed| ("/", typed));
        let fitting = names.iter().filter(|name| is_plain(name) && name.starts_with(typed));
        fitting.map(|name| CompletionCandidate::new(format!("{slash}{name}"))).collect()
    }

    /// What has been told when it is time to answer.
    fn in_time(self) -> BTreeSet<String> {
        let until = Instant::now() + PATIENCE;
        let (names, told) = channel();
        std::thread::spawn(move || self.tell(&names));
        let mut found = BTreeSet::new();
        while let Ok(some) = told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            found.extend(some);
        }
        found
    }

    fn tell(self, to: &Sender<Vec<String>>) -> Option<()> {
        let socket = doctor::where_a_manager_listens(DOMAIN.get().and_then(|domain| domain.as_deref()))?;
        let options = NodeOptions { domain: socket.to_string_lossy().into_owned(), by_caller: false };
        let node = Node::with_options(&format!("sinew-complete-{}", std::process::id()), &options).ok()?;
        let view = View::of(&node).ok()?;
        to.send(self.here(&view)).ok()?;
        // Gateways may take longer than there is time.
        to.send(self.beyond(&Beyond::of(&node, &view))).ok()
    }

    fn here(self, view: &View) -> Vec<String> {
        let topics = || view.topics().into_iter().filter(|topic| !is_part(&topic.name));
        let services = || view.services().into_iter().map(|service| service.name.to_owned());
        match self {
            Names::Topics => topics().map(|topic| topic.name.clone()).collect(),
            Names::Types | Names::TypesOfTopics => topics().map(|topic| topic.type_name.clone()).collect(),
            Names::TopicsAndTypes => topics().flat_map(|topic| [topic.name.clone(), topic.type_name.clone()]).collect(),
            Names::Nodes => view.nodes().into_iter().map(|node| node.name.clone()).collect(),
            Names::Services => services().filter(|name| !is_of_action(name)).collect(),
            Names::Actions => actions::of(view).into_iter().map(|action| action.name.to_owned()).collect(),
            Names::TypesOfServices => {
                let requests = view.services().into_iter().filter_map(|service| service.requests).map(body_of);
                requests.filter_map(|request| whole(request, "Request")).collect()
            }
            Names::TypesOfActions => {
                let goals = actions::of(view).into_iter().map(|action| action.types()).map(|[goal, ..]| goal);
                goals.filter_map(|goal| whole(goal, "Goal")).collect()
            }
            Names::Recorders => recorders(view),
        }
    }

    fn beyond(self, beyond: &Beyond) -> Vec<String> {
        match self {
            Names::Topics => beyond.topics.keys().filter(|name| !is_part(name)).cloned().collect(),
            Names::Services => beyond.services.keys().filter(|name| !is_of_action(name)).cloned().collect(),
            _ => Vec::new(),
        }
    }
}

/// Strangers choose names, and a shell would read what stands in them.
fn is_plain(name: &str) -> bool {
    !name.starts_with('-') && name.chars().all(|c| c.is_alphanumeric() || "/_-.@+%,:=".contains(c))
}

/// Messages of which definitions of ROS 2 are there.
fn defined() -> impl Iterator<Item = String> {
    Library::new(sinew::definition_folders(&[])).names().into_iter().filter(|name| name.contains("/msg/"))
}

/// The type of a service or an action, by what its requests or goals are called.
fn whole(part: Option<Type>, called: &str) -> Option<String> {
    Some(part?.name().strip_suffix(called)?.trim_end_matches(['_', '/']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_read_is_no_name_to_complete() {
        assert!(is_plain("camera/left_image") && is_plain("sensor_msgs/msg/Image") && is_plain("größe"));
        assert!(!is_plain("$(reboot)") && !is_plain("a b") && !is_plain("-rf") && !is_plain("a;b") && !is_plain("a\nb") && !is_plain("~"));
    }
}

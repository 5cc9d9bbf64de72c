//! `sinew action list`, `info`, `cancel`.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;
use sinew::raw::{Publisher, PublisherOptions, Subscriber, SubscriberOptions};
use sinew::{Ghost, Node};

use crate::actions::{self, Action, GoalId, GoalStatus};
use crate::cli::Cli;
use crate::commands::send_goal::{self, SendGoal};
use crate::completion::Names;
use crate::doctor::neighbours::tell_if_empty;
use crate::domain::{View, join};
use crate::failure::{Done, Failure};
use crate::output::{Cell, GOOD, NAME, TITLE, Table, json, out, shown};
use crate::units::nanoseconds;

/// Actions.
#[derive(clap::Subcommand, Debug)]
pub enum ActionCommand {
    /// List the actions
    #[command(visible_alias = "ls", after_help = "Example:\n  sinew action list --verbose")]
    List {
        /// With types, and how many execute and send goals
        #[arg(long, short, alias = "show-types", short_alias = 't')]
        verbose: bool,
    },
    /// Show an action's types, servers, clients, and what has become of goals
    #[command(after_help = "Example:\n  sinew action info dock")]
    Info {
        /// Its name
        #[arg(add = Names::Actions.completer())]
        action: String,
    },
    /// Send a goal, from YAML or JSON, and wait for its result
    #[command(visible_alias = "send_goal", after_help = send_goal::EXAMPLES)]
    SendGoal(SendGoal),
    /// Cancel goals that are executed
    #[command(after_help = "Examples:\n  sinew action cancel dock\n  sinew action cancel dock --goal 3f2a")]
    Cancel(Cancel),
}

/// What to cancel.
#[derive(clap::Args, Debug)]
pub struct Cancel {
    /// The action
    #[arg(add = Names::Actions.completer())]
    pub action: String,
    /// The goal: its id or how that begins; else all goals
    #[arg(long, value_name = "ID")]
    pub goal: Option<String>,
}

/// Does what is asked.
pub fn run(cli: &Cli, command: &ActionCommand) -> Done {
    match command {
        ActionCommand::List { verbose } => list(cli, *verbose),
        ActionCommand::Info { action } => info(cli, action),
        ActionCommand::SendGoal(asked) => send_goal::send_goal(cli, asked),
        ActionCommand::Cancel(asked) => cancel(cli, asked),
    }
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    goal: Option<String>,
    feedback: Option<String>,
    result: Option<String>,
    servers: Vec<String>,
    clients: Vec<String>,
}

impl<'a> Listed<'a> {
    fn of(view: &View, action: &Action<'a>) -> Listed<'a> {
        let [goal, feedback, result] = action.types().map(|ty| ty.map(|ty| ty.name()));
        Listed { name: action.name, goal, feedback, result, servers: action.servers(view), clients: action.clients(view) }
    }
}

fn list(cli: &Cli, verbose: bool) -> Done {
    let node = join(cli, "action-list")?;
    let view = View::of(&node)?;
    tell_if_empty(cli, &view);
    let listed: Vec<Listed> = actions::of(&view).iter().map(|action| Listed::of(&view, action)).collect();
    if cli.json {
        return json(&listed);
    }
    if !verbose {
        let mut out = out();
        for action in listed {
            writeln!(out, "{}", shown(action.name))?;
        }
        return Ok(());
    }
    let mut table = Table::new(&["action", "goal", "feedback", "result", "servers", "clients"]);
    for action in listed {
        let types = [action.goal, action.feedback, action.result].map(|name| Cell::new(name.unwrap_or_default()));
        let counts = [action.servers, action.clients].map(|nodes| Cell::number(nodes.len()));
        table.row([Cell::new(action.name).styled(NAME)].into_iter().chain(types).chain(counts));
    }
    table.print()
}

fn info(cli: &Cli, name: &str) -> Done {
    let node = join(cli, "action-info")?;
    let view = View::of(&node)?;
    let action = actions::find(&view, name)?;
    let goals = Goals::of(&node, &view, &action)?;
    let told = Listed::of(&view, &action);
    let goals = goals.in_order();
    if cli.json {
        #[derive(Serialize)]
        struct Info<'a> {
            #[serde(flatten)]
            action: Listed<'a>,
            goals: Vec<&'a GoalStatus>,
        }
        return json(&Info { action: told, goals });
    }
    let mut out = out();
    let ty = |name: &Option<String>| shown(name.as_deref().unwrap_or("unknown: nobody is there"));
    writeln!(out, "{TITLE}action{TITLE:#}    {NAME}{}{NAME:#}", shown(told.name))?;
    writeln!(out, "{TITLE}goal{TITLE:#}      {}", ty(&told.goal))?;
    writeln!(out, "{TITLE}feedback{TITLE:#}  {}", ty(&told.feedback))?;
    writeln!(out, "{TITLE}result{TITLE:#}    {}", ty(&told.result))?;
    writeln!(out, "{TITLE}servers{TITLE:#}   {}", shown(&told.servers.join(", ")))?;
    writeln!(out, "{TITLE}clients{TITLE:#}   {}", shown(&told.clients.join(", ")))?;
    if !goals.is_empty() {
        writeln!(out)?;
        table_of(&goals).write(&mut out, "")?;
    }
    Ok(())
}

fn table_of(goals: &[&GoalStatus]) -> Table {
    let mut table = Table::new(&["goal", "state", "accepted"]);
    let now = actions::now_ns();
    for goal in goals {
        let state = Cell::new(goal.state.to_string());
        let age = now.saturating_sub(goal.accepted_at);
        table.row([
            Cell::new(goal.id.to_string()),
            if goal.state.runs() { state.styled(GOOD) } else { state },
            Cell::new(format!("{} ago", nanoseconds(age as f64))),
        ]);
    }
    table
}

/// What all servers of an action tell of its goals.
struct Goals {
    told: Option<Subscriber>,
    goals: BTreeMap<GoalId, GoalStatus>,
}

impl Goals {
    /// As soon as every server has told that has something to tell.
    fn of(node: &Node, view: &View, action: &Action<'_>) -> Done<Goals> {
        const AT_MOST: Duration = Duration::from_secs(2);
        let mut goals = Goals { told: None, goals: BTreeMap::new() };
        let Some(topic) = action.status else { return Ok(goals) };
        actions::check(action)?;
        let counts = node.domain_counters()?.read()?;
        let has_told = |id| counts.publishers.iter().any(|counts| counts.publisher == id && counts.messages > 0);
        let expected = view.endpoints(topic.id, true).filter(|publisher| has_told(publisher.id)).count();
        let options = SubscriberOptions { ghost: Ghost::Observer, ..Default::default() };
        goals.told = Some(Subscriber::new(node, &topic.name, &topic.signature, &actions::qos(1), options)?);
        let until = Instant::now() + AT_MOST;
        for _ in 0..expected {
            if !goals.take(until)? {
                break;
            }
        }
        Ok(goals)
    }

    /// Waits for what a server tells. False: none did.
    fn take(&mut self, until: Instant) -> Done<bool> {
        let Some(told) = &self.told else { return Ok(false) };
        let Some(frame) = told.take(until.saturating_duration_since(Instant::now()))? else { return Ok(false) };
        let from = || shown(&frame.info().publisher);
        let statuses = actions::statuses(&frame);
        let statuses = statuses.map_err(|why| Failure::Failed(format!("what '{}' tells of its goals cannot be read: {why}", from())))?;
        self.goals.extend(statuses.into_iter().map(|goal| (goal.id, goal)));
        Ok(true)
    }

    /// The newest last.
    fn in_order(&self) -> Vec<&GoalStatus> {
        let mut goals: Vec<_> = self.goals.values().collect();
        goals.sort_by_key(|goal| goal.accepted_at);
        goals
    }
}

fn cancel(cli: &Cli, asked: &Cancel) -> Done {
    let node = join(cli, "action-cancel")?;
    let view = View::of(&node)?;
    let action = actions::find(&view, &asked.action)?;
    let mut goals = Goals::of(&node, &view, &action)?;
    let wanted = wanted(&goals, &action, asked.goal.as_deref())?;
    let topic = action.cancel.ok_or_else(|| Failure::Negative(format!("nobody executes goals of '{}'", shown(action.name))))?;
    let options = PublisherOptions { ghost: Ghost::Observer, ..Default::default() };
    let wishes = Publisher::new(&node, &topic.name, &topic.signature, &actions::qos(512), options)?;
    let wish = if asked.goal.is_some() { wanted[0] } else { GoalId::ALL };
    wishes.publish(&[&actions::wish(wish)])?;
    wait_until_heard(&mut goals, &wanted)?;
    let cancelled: Vec<&GoalStatus> = wanted.iter().filter_map(|id| goals.goals.get(id)).collect();
    if cli.json { json(&cancelled) } else { table_of(&cancelled).print() }
}

/// Those that are executed, or the one that is asked for.
fn wanted(goals: &Goals, action: &Action<'_>, id: Option<&str>) -> Done<Vec<GoalId>> {
    let begin = id.unwrap_or_default().to_ascii_lowercase();
    let fits = |goal: &&&GoalStatus| goal.state.runs() && goal.id.to_string().starts_with(&begin);
    let wanted: Vec<GoalId> = goals.in_order().iter().filter(fits).map(|goal| goal.id).collect();
    match (id, wanted.len()) {
        (None, 0) => Err(Failure::Negative(format!("no goal of '{}' is executed", shown(action.name)))),
        (Some(id), 0) => {
            Err(Failure::Negative(format!("no goal of '{}' is executed whose id begins with '{}'", shown(action.name), shown(id))))
        }
        (Some(id), 2..) => {
            Err(Failure::Failed(format!("{} goals have an id that begins with '{}': say more of it", wanted.len(), shown(id))))
        }
        _ => Ok(wanted),
    }
}

/// Until their servers tell that they have heard of the wish, or that they have ended.
fn wait_until_heard(goals: &mut Goals, wanted: &[GoalId]) -> Done {
    let until = Instant::now() + Duration::from_secs(5);
    let is_open = |goals: &Goals| {
        let state = |id| goals.goals.get(id).map(|goal: &GoalStatus| goal.state);
        wanted.iter().any(|id| state(id) == Some(actions::State::Executing))
    };
    while is_open(goals) {
        if !goals.take(until)? {
            return Err(Failure::Failed("the server has not heard of it in time: whether the goal is cancelled is unknown".to_owned()));
        }
    }
    Ok(())
}

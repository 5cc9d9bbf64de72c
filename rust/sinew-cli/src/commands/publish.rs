//! `sinew topic pub`: messages from YAML and JSON.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde::Serialize;
use sinew::msg::Type;
use sinew::msg::value::Value;
use sinew::raw::{Publisher, PublisherOptions};
use sinew::{ErrorKind, Node, Qos};

use crate::cli::Cli;
use crate::commands::types;
use crate::completion::Names;
use crate::documents::{self, Documents};
use crate::domain::{View, canonical, join, type_of};
use crate::failure::{Done, Failure};
use crate::interrupt::Interrupt;
use crate::misfits::Misfits;
use crate::output::{Progress, counted, json_line, say, shown};
use crate::taken::{self, Taken};
use crate::typed;

/// What `--help` shows.
pub const EXAMPLES: &str = "\
Examples:
  sinew topic pub --rate 10 cmd_vel '{linear: {x: 0.5}}'
  sinew topic pub --once goal 'position: [1, 2, 0]'
  sinew topic pub cmd_vel geometry_msgs/msg/Twist '{linear: {x: 0.5}}'
  sinew topic pub light 'robot/Light{on:bool;}' 'on: true'
  sinew topic echo --json scan | sinew topic pub scan_again robot/Scan -

A type is needed for a topic that nobody has. Fields that are left out are zero, empty or none. With --once it waits for a subscriber. At the end it waits until those that were connected before the first message have taken all, 10 s at most: else the exit status is 1.";

/// What to publish, and how.
#[derive(clap::Args, Debug)]
pub struct Publish {
    /// The topic
    #[arg(add = Names::Topics.completer())]
    pub topic: String,
    /// What a new topic is to carry, as of `type show`
    #[arg(value_name = "TYPE", add = Names::Types.completer())]
    first: Option<String>,
    /// The message as YAML or JSON; - is --stdin
    #[arg(value_name = "MESSAGE")]
    second: Option<String>,
    /// So many messages a second [default: 1; with --stdin, as they come]
    #[arg(long, short, value_name = "HZ", value_parser = period)]
    pub rate: Option<Duration>,
    /// One message
    #[arg(long, short = '1', conflicts_with = "count")]
    pub once: bool,
    /// So many messages; else until it is interrupted, or all were read
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub count: Option<u64>,
    /// Messages from the standard input: each a line of JSON, or YAML with --- between
    #[arg(long, conflicts_with_all = ["second", "file"])]
    pub stdin: bool,
    /// Messages from a file, likewise
    #[arg(long, short, value_name = "FILE", conflicts_with = "second")]
    pub file: Option<PathBuf>,
    /// Wait for so many subscribers first [default: 0; with --once, 1]
    #[arg(long, short, value_name = "COUNT")]
    pub wait: Option<u64>,
    /// Of the newest messages keep so many for subscribers that are slow
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=512))]
    pub depth: u32,
    /// Lose nothing: wait for subscribers that are slow and want all
    #[arg(long, conflicts_with = "depth")]
    pub keep_all: bool,
    /// Keep what was published for subscribers that come late, while this runs
    #[arg(long)]
    pub transient_local: bool,
}

impl Publish {
    fn type_name(&self) -> Option<&str> {
        typed::split(self.first.as_deref(), self.second.as_deref()).0
    }

    /// The type may be left out before it.
    fn message(&self) -> Option<&str> {
        typed::split(self.first.as_deref(), self.second.as_deref()).1
    }

    fn reads_stdin(&self) -> bool {
        self.stdin || self.message() == Some("-")
    }

    fn most(&self) -> Option<u64> {
        if self.once { Some(1) } else { self.count }
    }

    /// Between two messages.
    fn period(&self) -> Option<Duration> {
        self.rate.or((!self.reads_stdin()).then_some(Duration::from_secs(1)))
    }

    /// Reliable, since that fits all subscribers, and those that do not ask for it get messages as before.
    fn qos(&self) -> Qos {
        let depth = if self.keep_all { 0 } else { self.depth };
        Qos { depth, keep_all: self.keep_all, reliable: true, transient_local: self.transient_local, ..Qos::default() }
    }
}

fn period(text: &str) -> Result<Duration, String> {
    let hz: f64 = text.parse().map_err(|_| format!("'{text}' is no number"))?;
    if hz >= 1e-6 { Ok(Duration::from_secs_f64(1.0 / hz)) } else { Err("it is to be 0.000001 at least".to_owned()) }
}

/// Publishes what is asked for.
pub fn publish(cli: &Cli, asked: &Publish) -> Done {
    let node = join(cli, "pub")?;
    let topic = canonical(&asked.topic);
    if (asked.stdin || asked.file.is_some())
        && let Some(message) = asked.message()
    {
        return Err(Failure::Failed(format!(
            "'{}' is no type, and a message cannot be given beside those of --stdin or --file",
            shown(message)
        )));
    }
    let ty = match asked.type_name() {
        Some(name) => types::find(cli, name)?,
        None => of_topic(&node, &asked.topic)?,
    };
    let mut messages = Messages::new(asked, ty)?;
    let publisher = Publisher::new(&node, topic, &messages.ty.to_string(), &asked.qos(), PublisherOptions::default())?;
    let interrupt = Interrupt::new()?;
    let mut progress = Progress::new();
    let run = Run { asked, node: &node, publisher: &publisher, interrupt: &interrupt, progress: &mut progress, taken: None };
    let taken = run.run(&mut messages);
    drop(progress);
    let all = match taken? {
        Some(taken) => taken.wait(&publisher, topic, &interrupt),
        None if asked.most().is_some() => Err(Failure::Failed("it was interrupted before all was published".to_owned())),
        None => Ok(()),
    };
    let printed = if cli.json {
        #[derive(Serialize)]
        struct Published<'a> {
            topic: &'a str,
            published: u64,
            subscribers: u64,
        }
        let told = publisher.statistics();
        json_line(&Published { topic, published: told.published, subscribers: told.subscribers })
    } else {
        Ok(())
    };
    all.and(printed)
}

/// What a topic carries that is there.
fn of_topic(node: &Node, topic: &str) -> Done<Type> {
    let view = View::of(node)?;
    let found = view.topic(topic).map_err(|failure| match failure {
        Failure::Negative(text) => Failure::Negative(format!("{text}; a new topic needs a type: sinew topic pub TOPIC TYPE MESSAGE")),
        other => other,
    });
    type_of(found?)
}

struct Run<'a> {
    asked: &'a Publish,
    node: &'a Node,
    publisher: &'a Publisher,
    interrupt: &'a Interrupt,
    progress: &'a mut Progress,
    /// From the first message on.
    taken: Option<Taken>,
}

impl Run<'_> {
    /// Until all was published. None: it was interrupted.
    fn run(mut self, messages: &mut Messages) -> Done<Option<Taken>> {
        if !self.wait_for_subscribers()? {
            return Ok(None);
        }
        let most = self.asked.most();
        let (mut due, mut published) = (Instant::now(), 0);
        while most.is_none_or(|most| published < most) {
            let stream = match messages.next(self.interrupt, || self.look())? {
                Next::Message(stream) => stream,
                Next::End => break,
                Next::Interrupt => return Ok(None),
            };
            if let Some(period) = self.asked.period() {
                if self.wait_until(due) {
                    return Ok(None);
                }
                due = (due + period).max(Instant::now());
            }
            self.taken.get_or_insert_with(|| Taken::new(self.node, self.publisher));
            if !self.publish(&stream)? {
                return Ok(None);
            }
            self.look();
            published += 1;
            let (topic, subscribers) = (shown(canonical(&self.asked.topic)), self.publisher.statistics().subscribers);
            self.progress.show(&format!("published {published} on {topic}, {}", counted(subscribers, "subscriber")));
        }
        Ok(Some(self.taken.unwrap_or_default()))
    }

    fn look(&mut self) {
        if let Some(taken) = &mut self.taken {
            taken.look(self.publisher);
        }
    }

    /// Whether it was interrupted before.
    fn wait_until(&mut self, moment: Instant) -> bool {
        loop {
            let soon = Instant::now() + taken::OFTEN;
            if self.interrupt.wait_until(moment.min(soon)) {
                return true;
            }
            if moment <= soon {
                return false;
            }
            self.look();
        }
    }

    /// False: it was interrupted.
    fn wait_for_subscribers(&mut self) -> Done<bool> {
        let wanted = self.asked.wait.unwrap_or(u64::from(self.asked.once));
        // Those that are there already come within milliseconds.
        let soon = Instant::now() + Duration::from_millis(300);
        let mut misfits = None;
        loop {
            if self.publisher.statistics().subscribers >= wanted {
                return Ok(true);
            }
            if self.interrupt.wait(Duration::from_millis(10)) {
                return Ok(false);
            }
            if misfits.is_none() && Instant::now() > soon {
                say!("waiting for {} of '{}'", counted(wanted, "subscriber"), shown(canonical(&self.asked.topic)));
                misfits = Some(Misfits::of(self.node)?);
            }
            misfits.iter_mut().flat_map(Misfits::new_ones).for_each(|misfit| say!("{misfit}"));
        }
    }

    /// False: it was interrupted while it waited for a subscriber.
    fn publish(&mut self, stream: &[u8]) -> Done<bool> {
        loop {
            match self.publisher.publish(&[stream]) {
                Ok(()) => return Ok(true),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.interrupt.wait(Duration::ZERO) {
                        return Ok(false);
                    }
                    self.look();
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// What is to be published.
struct Messages {
    ty: Type,
    from: From,
}

enum From {
    /// The same again and again.
    One(Vec<u8>),
    /// Those of a file, so many of which were taken.
    Documents(Receiver<Result<Value, String>>, u64),
}

enum Next<'a> {
    Message(Cow<'a, [u8]>),
    End,
    Interrupt,
}

impl Messages {
    fn new(asked: &Publish, ty: Type) -> Done<Messages> {
        let from = match (&asked.file, asked.message()) {
            _ if asked.reads_stdin() => read(BufReader::new(io::stdin())),
            (Some(path), _) => {
                let file = File::open(path).map_err(|why| Failure::Failed(format!("'{}' cannot be read: {why}", path.display())))?;
                read(BufReader::new(file))
            }
            (None, text) => From::One(
                documents::parse(text.unwrap_or_default())
                    .and_then(|value| value.to_stream(&ty).map_err(|why| why.to_string()))
                    .map_err(|why| Failure::Failed(format!("the message is no {}: {why}", shown(&ty.name()))))?,
            ),
        };
        Ok(Messages { ty, from })
    }

    /// Calls `look` now and then while none comes.
    fn next(&mut self, interrupt: &Interrupt, mut look: impl FnMut()) -> Done<Next<'_>> {
        const NOW_AND_THEN: Duration = Duration::from_millis(100);
        let (documents, count) = match &mut self.from {
            From::One(stream) => return Ok(Next::Message(Cow::Borrowed(stream))),
            From::Documents(documents, count) => (documents, count),
        };
        let document = loop {
            // Also where documents come without a pause.
            if interrupt.wait(Duration::ZERO) {
                return Ok(Next::Interrupt);
            }
            match documents.recv_timeout(NOW_AND_THEN) {
                Ok(document) => break document,
                Err(RecvTimeoutError::Disconnected) => return Ok(Next::End),
                Err(RecvTimeoutError::Timeout) => look(),
            }
        };
        *count += 1;
        let stream = document.and_then(|value| value.to_stream(&self.ty).map_err(|why| why.to_string()));
        let stream = stream.map_err(|why| Failure::Failed(format!("message {count} is no {}: {why}", shown(&self.ty.name()))))?;
        Ok(Next::Message(Cow::Owned(stream)))
    }
}

/// On a thread of its own: who reads cannot be interrupted.
fn read<R: BufRead + Send + 'static>(from: R) -> From {
    let (sender, documents) = mpsc::sync_channel(1);
    std::thread::spawn(move || Documents::new(from).try_for_each(|document| sender.send(document)));
    From::Documents(documents, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_of_messages_a_second() {
        assert_eq!(period("10"), Ok(Duration::from_millis(100)));
        assert_eq!(period("0.5"), Ok(Duration::from_secs(2)));
        for text in ["0", "-1", "nan", "1e-300", "fast", "infinitely"] {
            assert!(period(text).is_err(), "{text}");
        }
        assert_eq!(period("inf"), Ok(Duration::ZERO), "as fast as it goes");
    }
}

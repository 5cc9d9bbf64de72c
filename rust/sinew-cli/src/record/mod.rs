//! `sinew record`: messages from shared memory into files.
//!
//! Subscribers put frames into a [`queue`], and one thread writes them to [`files`] from where their publishers wrote them. It is the only one that waits for a disk: when that is slow, the queue fills, then publishers' rings, and then
//! messages are lost, which their subscribers count.

mod awaited;
mod counts;
mod files;
pub mod flight;
mod heard;
mod parting;
mod progress;
mod queue;
mod source;
mod topics;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use self::counts::Counts;
pub use self::files::{FLIGHT, LOST, REASON};
use self::files::{Files, Lost, Plan, Recorded};
use self::progress::{Line, Recording, Told, by_topics, refuse_not_recorded, tell_of_empty};
use self::queue::{Queue, Taken};
use self::source::Received;
use self::topics::Subscriptions;
use crate::aside;
use crate::cli::Cli;
use crate::clock::Clock;
use crate::commands::record::Record;
use crate::domain::{Followed, View, join, service_of};
use crate::failure::{Done, Failure};
use crate::interrupt;
use crate::output::{WARN, json, say, shown};
use crate::patterns::Topics;

/// What happens while it is recorded.
enum Event {
    /// Topics may have come or gone.
    Changed,
    /// It is to end.
    Interrupted,
    /// The one who writes has ended, as it could not.
    Ended,
}

/// What a flight recorder is called where nobody says.
pub const USUAL_NAME: &str = "recorder";

/// So long nobody wonders why it has not ended.
const SOON: Duration = Duration::from_secs(1);

/// Records until it is interrupted.
pub fn run(cli: &Cli, asked: &Record) -> Done {
    aside::begin(tell_unread);
    if let Some(last) = asked.last {
        return flight::run(cli, asked, last);
    }
    // Before there is a file: who is started again after this has failed is to find none.
    let node = join(cli, "record")?;
    let path = asked.output.as_deref().map_or_else(|| Ok(usual_path()), |path| file_in(path, usual_path()))?;
    let plan = Plan {
        is_unnamed: asked.output.as_ref() != Some(&path),
        path,
        compression: asked.compression.into(),
        split_size: asked.split_size.map(|size| size.as_u64()),
        split_time: asked.split_time,
    };
    let lost = Lost::default();
    let files = Files::new(plan, Arc::clone(&lost)).map_err(Failure::of)?;
    let (events, happened) = mpsc::channel();
    let interrupted = events.clone();
    interrupt::on_interrupt(move || drop(interrupted.send(Event::Interrupted)))?;
    let changed = events.clone();
    let followed = Followed::telling(&node, move || drop(changed.send(Event::Changed)))?;

    let path = files.path();
    let (queue, told) = (Arc::new(Queue::new()), Arc::new(Told::default()));
    let writer = {
        let (queue, told, clock) = (Arc::clone(&queue), Arc::clone(&told), Clock::new());
        std::thread::spawn(move || {
            let written = write(files, &queue, &told, &clock);
            queue.close();
            let _ = events.send(Event::Ended);
            written
        })
    };
    let into = Arc::clone(&queue);
    let sink = Arc::new(move |message: Received| {
        let size = message.frame.size() as u64;
        into.push(message, size);
    });
    let topics = Wanted::new(asked)?;
    let mut view = View::of(&node)?;
    let mut subscriptions = Subscriptions::new(node, move |topic| topics.has(topic), sink);
    subscriptions.bring(asked, &view);

    let begun = Instant::now();
    let end = asked.max_duration.map(|longest| begun + longest);
    let mut line = Line::new(cli, &path);
    let has_ended = loop {
        let now = Instant::now();
        if end.is_some_and(|end| now >= end) {
            break false;
        }
        let next = end.map_or(line.due, |end| end.min(line.due));
        match happened.recv_timeout(next.saturating_duration_since(now)) {
            Ok(Event::Changed) => {
                if let Some(changed) = followed.changed() {
                    view = changed;
                    subscriptions.update(&view);
                }
            }
            Ok(Event::Interrupted) => break false,
            Ok(Event::Ended) => break true,
            Err(_) => {
                let counts = subscriptions.counts();
                *lost.lock().expect("nobody panics with it") = lost_of(&counts);
                subscriptions.tend(&view);
                line.print(begun.elapsed(), &told, &counts, subscriptions.is_empty());
            }
        }
    };

    // What has come while the disk was too slow will not be written any more.
    let behind = if queue.is_full() { subscriptions.waiting() } else { BTreeMap::new() };
    // In this order: whoever receives may wait for room, and who writes ends the last file, in which all that was lost is to be, as soon as nothing comes any more.
    subscriptions.stop(|| queue.is_full());
    let mut counts = subscriptions.counts();
    behind.into_iter().for_each(|(topic, waiting)| counts.entry(topic).or_default().lost += waiting);
    *lost.lock().expect("nobody panics with it") = lost_of(&counts);
    queue.close();
    if let Some(view) = followed.changed() {
        subscriptions.note_unheard(&view);
    }
    let not_recorded = subscriptions.not_recorded();
    drop(subscriptions);
    let seconds = begun.elapsed().as_secs_f64();
    if !has_ended && is_late(&happened) {
        line.tell_waiting(queue.bytes());
    }
    let (files, failed) = writer.join().map_err(|_| Failure::Failed("the thread that writes has panicked".to_owned()))?;
    line.clear();
    let is_held_up = aside::is_held_up();
    count_unwritten(&mut counts, &files);
    let total = |of: fn(&Recorded) -> u64| files.iter().map(of).sum();
    let recording = Recording {
        messages: total(|file| file.messages),
        bytes: total(|file| file.bytes),
        seconds,
        lost: counts.values().map(|counts| counts.lost).sum(),
        not_recorded,
        topics: by_topics(counts),
        files,
    };
    let printed = match (is_held_up, cli.json) {
        (true, _) => Ok(()),
        (false, true) => json(&recording),
        (false, false) => recording.print(),
    };
    if let Some(why) = failed {
        return Err(Failure::Failed(format!("{why}. What was recorded before can be read")));
    }
    recording.refuse_gone()?;
    refuse_not_recorded(&recording.not_recorded)?;
    tell_of_empty(asked.topics.names(), &recording.topics)?;
    printed
}

/// Whether the one who writes has not ended a while after it was told to.
fn is_late(happened: &Receiver<Event>) -> bool {
    let until = Instant::now() + SOON;
    loop {
        match happened.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Event::Ended) => return false,
            Ok(Event::Changed | Event::Interrupted) => {}
            Err(_) => return true,
        }
    }
}

/// It goes on also where nobody reads what it tells.
fn tell_unread(why: std::io::Error) {
    let why = match Failure::from(why) {
        Failure::Failed(why) => why,
        _ => "nobody reads the output any more".to_owned(),
    };
    say!("{WARN}warning:{WARN:#} {why}; files are written as before");
}

/// Which topics are recorded.
#[derive(Clone)]
struct Wanted {
    topics: Topics,
    services: bool,
}

impl Wanted {
    fn new(asked: &Record) -> Done<Wanted> {
        Ok(Wanted { topics: asked.topics.topics().map_err(Failure::of)?, services: asked.services })
    }

    /// A service is meant by its own name, too.
    fn has(&self, topic: &str) -> bool {
        match service_of(topic) {
            None => self.topics.has(topic),
            Some(service) => self.services && (self.topics.has(service) || self.topics.has(topic)),
        }
    }
}

/// Writes what comes until nothing comes any more.
fn write(mut files: Files, queue: &Queue<Received>, told: &Told, clock: &Clock) -> (Vec<Recorded>, Option<sinew_bag::BagError>) {
    let failed = loop {
        let written = match queue.take(files.tend_at()) {
            Taken::Item(message) => files.write(&message, &message.stamp(clock)),
            Taken::Nothing => Ok(()),
            Taken::Closed => break None,
        };
        let written = written.and_then(|()| files.tend());
        let (bytes, messages) = files.totals();
        told.bytes.store(bytes, Ordering::Relaxed);
        told.messages.store(messages, Ordering::Relaxed);
        if let Err(why) = written {
            break Some(why);
        }
    };
    let (recorded, unfinished) = files.finish();
    (recorded, failed.or(unfinished))
}

/// What was received, and is in no file, is lost, too.
fn count_unwritten(counts: &mut BTreeMap<String, Counts>, files: &[Recorded]) {
    for (topic, counts) in counts {
        let written = files.iter().filter_map(|file| file.topics.get(topic)).sum();
        counts.lost += counts.received.saturating_sub(written);
        counts.received = written;
    }
}

fn lost_of(counts: &BTreeMap<String, Counts>) -> BTreeMap<String, u64> {
    counts.iter().map(|(topic, counts)| (topic.clone(), counts.lost)).collect()
}

/// The file, or in the folder that is named the one of that name. With a slash at its end it is a folder, which is made where there is none.
fn file_in(path: &Path, name: impl AsRef<Path>) -> Done<PathBuf> {
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        let unmade = |why: std::io::Error| Failure::Failed(format!("the folder {} cannot be made: {why}", shown(&path.to_string_lossy())));
        std::fs::create_dir_all(path).map_err(unmade)?;
        return Ok(path.join(name));
    }
    Ok(if path.is_dir() { path.join(name) } else { path.to_owned() })
}

/// As `ros2 bag` calls them.
fn usual_path() -> PathBuf {
    format!("sinew_{}.mcap", usual_time()).into()
}

fn usual_time() -> String {
    jiff::ZonedDateTime::now().strftime("%Y_%m_%d-%H_%M_%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_writes_is_late_when_it_has_not_ended_after_a_while() {
        let (events, happened) = mpsc::channel();
        for event in [Event::Changed, Event::Ended] {
            events.send(event).unwrap();
        }
        assert!(!is_late(&happened));
        assert!(is_late(&happened));
    }
}

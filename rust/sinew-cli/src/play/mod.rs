//! `sinew play`: messages of files into a domain, when they are due.
//!
//! The next message lies where its subscribers will read it before it is due, so that publishing it is all that is left to be done then.

mod keys;
mod merged;
mod report;
mod schedule;
mod tracks;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use globset::Glob;
use signal_hook::consts::SIGCONT;
use sinew::{DomainEndpoint, Qos};

use self::keys::{Key, Keys};
use self::merged::{Merged, Part, Said};
use self::report::{Line, Report, left_out};
use self::schedule::Schedule;
use self::tracks::{Published, Tracks};
use crate::aside;
use crate::cli::Cli;
use crate::commands::play::Play;
use crate::domain::{View, canonical, is_of_service, join, raise_limit_of_files};
use crate::failure::{Done, Failure};
use crate::interrupt;
use crate::output::{WARN, say, shown};
use crate::patterns::is_name;
use crate::recordings::open_all;

/// Rates.
pub const SLOWEST: f64 = 0.001;
/// Rates.
pub const FASTEST: f64 = 1000.0;
/// What a key makes of the rate.
const STEP: f64 = 1.1;
/// Of the recording. There may be a single message in what is played again and again, which is not to be played as often as a processor can.
const SHORTEST_ROUND: Duration = Duration::from_millis(100);

/// What happens meanwhile.
pub enum Happened {
    Interrupted,
    Key(Key),
}

/// Plays it to its end, or until it is interrupted.
pub fn run(cli: &Cli, asked: &Play) -> Done {
    raise_limit_of_files();
    aside::begin(drop);
    let mut parts = Vec::new();
    open_all(&asked.files, |bag| {
        if let Some(why) = bag.cut() {
            say!("{} is not whole: {}; what is whole is played", shown(&bag.path().to_string_lossy()), shown(why));
        }
        parts.push(Part { bag, topics: Default::default() });
        Ok(())
    })?;
    tell_of_absent(asked, &parts)?;
    let node = join(cli, "play")?;
    // Before others see its publishers.
    let (events, happened) = mpsc::channel();
    let interrupted = events.clone();
    interrupt::on_interrupt(move || drop(interrupted.send(Happened::Interrupted)))?;
    let mut tracks = Tracks::new(&node, asked, &mut parts)?;
    for refused in &tracks.refused {
        say!("topic '{}' is not played: {}", shown(&refused.name), shown(&refused.why));
    }
    if tracks.publishers.is_empty() {
        return Err(nothing(asked, &parts, &tracks));
    }
    let Some(begin) = parts.iter().filter_map(|part| part.bag.times()).map(|(begin, _)| begin).min() else {
        return Err(Failure::Negative("there is no message in it".to_owned()));
    };
    let end = parts.iter().filter_map(|part| part.bag.times()).map(|(_, end)| end).max().unwrap_or(begin);
    let from = begin.saturating_add(nanoseconds(asked.start));
    let until = asked.duration.map(|duration| from.saturating_add(nanoseconds(duration)));
    if from > end {
        let length = Duration::from_nanos(end - begin);
        return Err(Failure::Negative(format!("there is no message so late: it is {length:.3?} long")));
    }

    let goes_on = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGCONT, Arc::clone(&goes_on)).map_err(interrupt::unwatched)?;
    let keys = Keys::new(events)?;
    await_connections(&View::of(&node)?, &tracks);

    let begun = Instant::now();
    let end = until.map_or(end, |until| until.min(end));
    let line = Line::new(cli, keys.is_some(), (begin, end));
    let schedule = Schedule::new(begun, from, asked.rate, asked.paused);
    let mut player = Player { tracks: &mut tracks, pace: Pace { schedule, happened, goes_on, line, steps: 0 }, tried: 0 };
    let round_end = end.max(from.saturating_add(nanoseconds(SHORTEST_ROUND)));
    let mut said = Said::new();
    let ended = loop {
        let before = player.tried;
        let ended = player.play(Merged::new(&parts, from, until, &mut said));
        if ended == Ended::Interrupted || !asked.repeat {
            break ended;
        }
        if player.tried == before {
            player.pace.line.clear();
            return Err(nothing_again(&tracks, &said));
        }
        // Its last messages may be of topics that are not played.
        let played = player.played();
        if player.pace.wait(round_end, played) == Ended::Interrupted {
            break Ended::Interrupted;
        }
        player.pace.schedule.jump(Instant::now(), from);
    };
    player.pace.line.clear();
    drop(keys);
    let is_held_up = aside::is_held_up();
    Report::new(&tracks, left_out(&parts, &said), begun.elapsed()).tell(cli, ended == Ended::Interrupted, is_held_up)
}

/// Fails where a name that is asked for is of no topic in the files: a slip of the pen, by which others would be played, or under other names. A pattern that matches none may be meant so.
fn tell_of_absent(asked: &Play, parts: &[Part]) -> Done {
    let names: BTreeSet<&str> = parts.iter().flat_map(|part| part.bag.topics()).map(|(_, topic)| canonical(&topic.name)).collect();
    let plain = asked.topics.iter().chain(&asked.exclude).map(Glob::glob).filter(|text| is_name(text));
    let mut named = plain.chain(asked.remap.iter().map(|(old, _)| canonical(old)));
    if let Some(name) = named.find(|name| !names.contains(name)) {
        let hint = match sinew::msg::nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean '{}'?", shown(near)),
            None => "`sinew bag info` lists those that there are".to_owned(),
        };
        return Err(Failure::Negative(format!("no topic '{}' is in it: {hint}", shown(name))));
    }
    for pattern in asked.topics.iter().chain(&asked.exclude).filter(|pattern| !is_name(pattern.glob())) {
        let matcher = pattern.compile_matcher();
        if !names.iter().any(|name| matcher.is_match(name)) {
            say!("{WARN}warning:{WARN:#} no topic in it is like '{}'", shown(pattern.glob()));
        }
    }
    Ok(())
}

/// Why nothing is played.
fn nothing(asked: &Play, parts: &[Part], tracks: &Tracks) -> Failure {
    if !tracks.refused.is_empty() {
        return Failure::Failed("no topic can be played".to_owned());
    }
    let names: Vec<_> = parts.iter().flat_map(|part| part.bag.topics()).map(|(_, topic)| canonical(&topic.name)).collect();
    let asks = !asked.topics.is_empty() || !asked.exclude.is_empty();
    let why = if names.is_empty() {
        "there is no message in it"
    } else if names.iter().all(|name| is_of_service(name)) {
        "there is nothing in it but what services sent, which is not played; `sinew bag info` lists it"
    } else if asks {
        "no topic of it is asked for; `sinew bag info` lists those that there are"
    } else {
        "there is no message in it"
    };
    Failure::Negative(why.to_owned())
}

/// Why a part is not played again and again.
fn nothing_again(tracks: &Tracks, said: &Said) -> Failure {
    let why = tracks.publishers.iter().find_map(|published| Some((&published.name, published.why.as_ref()?)));
    let why = match why {
        Some((name, why)) => format!("the first message of '{}' cannot, since {}", shown(name), shown(why)),
        None if said.is_empty() => "there is no message in that part of it".to_owned(),
        None => "what is there of it cannot be read".to_owned(),
    };
    Failure::Negative(format!("nothing in it can be played again and again: {why}"))
}

/// Until those who subscribe already get every message, which takes some milliseconds.
fn await_connections(view: &View, tracks: &Tracks) {
    const LONGEST: Duration = Duration::from_secs(2);
    const OFTEN: Duration = Duration::from_millis(1);
    let begun = Instant::now();
    let is_connected = |published: &Published| {
        let topic = view.state.topic(&published.name);
        let fitting = topic.into_iter().flat_map(|topic| view.endpoints(topic.id, false)).filter(|end| fits(&published.qos, end)).count();
        published.publisher.statistics().subscribers >= fitting as u64
    };
    while !tracks.publishers.iter().all(is_connected) && begun.elapsed() < LONGEST {
        std::thread::sleep(OFTEN);
    }
}

/// Whether a subscriber gets what a publisher with this quality of service publishes.
fn fits(offered: &Qos, asked: &DomainEndpoint) -> bool {
    let is_short_enough =
        |offered: Option<Duration>, asked: Option<Duration>| asked.is_none_or(|asked| offered.is_some_and(|offered| offered <= asked));
    offered.reliable >= asked.reliable
        && offered.transient_local >= asked.transient_local
        && offered.manual_by_topic >= asked.manual_by_topic
        && is_short_enough(offered.deadline, asked.deadline)
        && is_short_enough(offered.lease, asked.lease)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    AtTheEnd,
    Interrupted,
}

struct Player<'a> {
    tracks: &'a mut Tracks,
    pace: Pace,
    /// Messages that were published, or were to be.
    tried: u64,
}

impl Player<'_> {
    fn played(&self) -> u64 {
        self.tracks.publishers.iter().map(|published| published.played).sum()
    }

    fn play(&mut self, messages: Merged) -> Ended {
        for (file, message) in messages {
            let played = self.played();
            let Some((publisher, loan, used)) = self.tracks.ready(file, &message) else {
                let Pace { schedule, happened, steps, .. } = &mut self.pace;
                // Nobody waits for it, and many may follow.
                if happened.try_iter().any(|event| is_end(&event, schedule, steps)) {
                    return Ended::Interrupted;
                }
                continue;
            };
            if self.pace.wait(message.stamp.log_time, played) == Ended::Interrupted {
                return Ended::Interrupted;
            }
            if self.pace.schedule.is_paused() {
                self.pace.steps -= 1;
            }
            self.tried += 1;
            let published = loan.publish(used);
            let to = &mut self.tracks.publishers[publisher];
            match published {
                Ok(()) => to.played += 1,
                Err(why) => {
                    to.failed += 1;
                    to.why.get_or_insert(why.to_string());
                }
            }
        }
        Ended::AtTheEnd
    }
}

/// When what comes next is due, also as somebody wants it meanwhile.
struct Pace {
    schedule: Schedule,
    happened: Receiver<Happened>,
    /// Whether it was stopped, as by Ctrl-Z, and goes on.
    goes_on: Arc<AtomicBool>,
    line: Line,
    /// Messages that are played although it is paused.
    steps: u64,
}

impl Pace {
    /// Until that time of the recording has come, or a step is to go there.
    fn wait(&mut self, time: u64, played: u64) -> Ended {
        let Pace { schedule, happened, goes_on, line, steps } = self;
        loop {
            let now = Instant::now();
            // Else all that was due meanwhile would come at once.
            if goes_on.swap(false, Ordering::SeqCst) {
                schedule.jump(now, schedule.time(now).min(time));
            }
            line.print(now, schedule, played);
            if schedule.is_paused() && *steps > 0 {
                schedule.jump(now, time);
                return Ended::AtTheEnd;
            }
            let due = schedule.due(time);
            let next = line.due().into_iter().chain(due).min();
            let event = match next {
                // What is due is played before it is looked for keys, but they are looked for.
                Some(next) => happened.recv_timeout(next.saturating_duration_since(now)).ok(),
                None => happened.recv().ok(),
            };
            match event {
                Some(event) if is_end(&event, schedule, steps) => return Ended::Interrupted,
                None if due.is_some_and(|due| due <= Instant::now()) && !goes_on.load(Ordering::SeqCst) => return Ended::AtTheEnd,
                Some(_) | None => {}
            }
        }
    }
}

/// Does what is asked for, unless that is to end.
fn is_end(event: &Happened, schedule: &mut Schedule, steps: &mut u64) -> bool {
    let now = Instant::now();
    match event {
        Happened::Interrupted | Happened::Key(Key::End) => return true,
        Happened::Key(Key::Pause) => schedule.set_paused(now, !schedule.is_paused()),
        Happened::Key(Key::Step) => {
            schedule.set_paused(now, true);
            *steps += 1;
        }
        Happened::Key(Key::Faster) => schedule.set_rate(now, (schedule.rate() * STEP).min(FASTEST)),
        Happened::Key(Key::Slower) => schedule.set_rate(now, (schedule.rate() / STEP).max(SLOWEST)),
    }
    false
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

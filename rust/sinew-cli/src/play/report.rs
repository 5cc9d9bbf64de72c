//! What is told while it is played, and at the end.

use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::keys::is_in_front;
use super::merged::{Part, Said};
use super::schedule::Schedule;
use super::tracks::Tracks;
use crate::cli::Cli;
use crate::failure::{Done, Failure, judged};
use crate::output::{BAD, NAME, WARN, counted, json, out, show, shown};
use crate::units::{clock_time, three_digits};

/// On a terminal, a line that changes.
pub struct Line {
    is_shown: bool,
    due: Instant,
    /// Of the recording.
    times: (u64, u64),
}

impl Line {
    const EVERY: Duration = Duration::from_millis(200);

    pub fn new(cli: &Cli, is_on_terminal: bool, times: (u64, u64)) -> Line {
        Line { is_shown: is_on_terminal && !cli.json, due: Instant::now(), times }
    }

    /// When it is to be printed again.
    pub fn due(&self) -> Option<Instant> {
        self.is_shown.then_some(self.due)
    }

    /// If it is due.
    pub fn print(&mut self, now: Instant, schedule: &Schedule, played: u64) {
        if !self.is_shown || now < self.due {
            return;
        }
        self.due = now + Self::EVERY;
        if !is_in_front() {
            return;
        }
        let (begin, end) = self.times;
        let since_begin = |time: u64| clock_time(Duration::from_nanos(time.min(end).saturating_sub(begin)));
        let (time, length, rate) = (since_begin(schedule.time(now)), since_begin(end), three_digits(schedule.rate()));
        let paused = if schedule.is_paused() { "  paused" } else { "" };
        show!("{time} of {length}  {played} messages  {rate} times as fast{WARN}{paused}{WARN:#}");
    }

    pub fn clear(&self) {
        if self.is_shown && is_in_front() {
            show!("");
        }
    }
}

/// What was played.
#[derive(Serialize)]
pub struct Report<'a> {
    messages: u64,
    failed: u64,
    seconds: f64,
    topics: Vec<OfTopic<'a>>,
    /// Topics that were not.
    refused: Vec<OfRefused<'a>>,
    /// Why parts of files were not.
    left_out: Vec<String>,
}

#[derive(Serialize)]
struct OfTopic<'a> {
    name: &'a str,
    messages: u64,
    failed: u64,
    /// The first failed for this reason.
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct OfRefused<'a> {
    name: &'a str,
    why: &'a str,
}

impl<'a> Report<'a> {
    pub fn new(tracks: &'a Tracks, left_out: Vec<String>, time: Duration) -> Report<'a> {
        let published = tracks.publishers.iter();
        let topics =
            published.map(|topic| OfTopic { name: &topic.name, messages: topic.played, failed: topic.failed, why: topic.why.as_deref() });
        let topics: Vec<_> = topics.collect();
        Report {
            messages: topics.iter().map(|topic| topic.messages).sum(),
            failed: topics.iter().map(|topic| topic.failed).sum(),
            seconds: time.as_secs_f64(),
            topics,
            refused: tracks.refused.iter().map(|refused| OfRefused { name: &refused.name, why: &refused.why }).collect(),
            left_out,
        }
    }

    /// Prints it, unless that is held up; fails where messages could not be published, or parts of files were left out of what was played to its end.
    pub fn tell(&self, cli: &Cli, is_interrupted: bool, is_held_up: bool) -> Done {
        let printed = match (is_held_up, cli.json) {
            (true, _) => Ok(()),
            (false, true) => json(self),
            (false, false) => self.print(),
        };
        let is_well = self.failed == 0 && (is_interrupted || self.left_out.is_empty());
        judged(printed, if is_well { Ok(()) } else { Err(Failure::Failed(String::new())) })
    }

    fn print(&self) -> Done {
        let mut out = out();
        writeln!(out, "{} of {} in {:.1} s", counted(self.messages, "message"), counted(self.topics.len() as u64, "topic"), self.seconds)?;
        for topic in self.topics.iter().filter(|topic| topic.failed > 0) {
            let (name, why) = (shown(topic.name), shown(topic.why.unwrap_or_default()));
            writeln!(out, "  {NAME}{name}{NAME:#}: {BAD}{} were not published{BAD:#}, the first since {why}", topic.failed)?;
        }
        for why in &self.left_out {
            writeln!(out, "  {BAD}left out:{BAD:#} {}", shown(why))?;
        }
        Ok(())
    }
}

/// More than these nobody reads.
const MOST_REASONS: usize = 20;

/// Why parts of files were left out; without what is missing at the end of a file that is not whole, which was told before, and is no failure.
pub fn left_out(parts: &[Part], said: &Said) -> Vec<String> {
    let reasons = said.iter().filter(|(file, _)| parts[*file].bag.cut().is_none());
    let reasons = reasons.map(|(file, why)| (&parts[*file].bag, why.as_str()));
    let damage = parts.iter().filter_map(|part| Some((&part.bag, part.bag.damage()?)));
    few(reasons.chain(damage).map(|(bag, why)| format!("{}: {why}", bag.path().display())).collect())
}

/// The first of them, and how many more there are.
fn few(mut reasons: Vec<String>) -> Vec<String> {
    let more = reasons.len().saturating_sub(MOST_REASONS);
    if more > 0 {
        reasons.truncate(MOST_REASONS);
        reasons.push(format!("and {more} more"));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_reasons_the_first_are_told_and_how_many_more_there_are() {
        let reasons = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(few(reasons(MOST_REASONS)), reasons(MOST_REASONS));
        let told = few(reasons(MOST_REASONS + 2));
        assert_eq!((told.len(), told[MOST_REASONS].as_str()), (MOST_REASONS + 1, "and 2 more"));
    }
}

//! One end of a cell, as the command line tells it.

use std::ops::RangeInclusive;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, ValueEnum};

/// What a process does in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    Publish,
    Subscribe,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Read {
    All,
    Touch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Wait {
    Block,
    Spin,
}

/// One end of a cell that bench/compare measures: one of its publishers, or one of its subscribers.
#[derive(Debug, Parser)]
pub struct Run {
    pub(crate) role: Role,
    /// Of those that the system has to carry a message
    #[arg(long, default_value = "")]
    pub way: String,
    /// On which messages go
    #[arg(long)]
    pub topic: String,
    /// For samples, and where the system may keep files
    #[arg(long)]
    pub folder: String,
    #[arg(long, default_value = "128", value_parser = within(1..=1 << 30), help = "Payload bytes")]
    size: usize,
    /// Messages per second; 0: one right after the other
    #[arg(long, default_value_t = 30.0)]
    pub(crate) rate: f64,
    /// Messages of each publisher that are measured
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// Messages of each that go before
    #[arg(long, default_value_t = 16)]
    pub(crate) warm_up: usize,
    /// How many there are
    #[arg(long, default_value = "1", value_parser = within(1..=8))]
    pub publishers: usize,
    /// How many there are
    #[arg(long, default_value = "1", value_parser = within(1..=8))]
    pub subscribers: usize,
    /// Which of them this one is, from 0
    #[arg(long, default_value_t = 0)]
    pub index: usize,
    #[arg(long, value_enum, default_value = "all", help = "What subscribers read: every byte, or three")]
    read: Read,
    #[arg(long, value_enum, default_value = "block", help = "Whether subscribers sleep until a message comes")]
    wait: Wait,
    /// Priority at SCHED_FIFO of the threads that publish and that receive; 0: ordinary threads
    #[arg(long, default_value_t = 0)]
    pub(crate) fifo: i32,
    #[arg(long, default_value_t = 0.0, help = "How much the rate grows with each step")]
    rate_step: f64,
    #[arg(long, default_value_t = 0.0, help = "By which share of itself the size grows with each step, at least by a byte")]
    size_step: f64,
    #[arg(long, default_value = "10", value_parser = within(1..=1000), help = "Messages of a step")]
    step: usize,
    #[arg(
        long,
        default_value_t = 0.0,
        help = "A publisher ends after so long, with what it has published by then; 0: with its last message"
    )]
    pub(crate) seconds: f64,
    /// Of each step, where it grows.
    #[arg(skip)]
    sizes: Vec<usize>,
}

fn within(range: RangeInclusive<u64>) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(range)
}

impl Run {
    /// That of this process. Ends it where the command line is wrong.
    pub(crate) fn of_command_line() -> Self {
        let mut run = Run::parse();
        run.plan_sizes();
        run
    }

    /// Of each publisher.
    pub fn messages(&self) -> usize {
        self.warm_up + self.count
    }

    /// Payload bytes of a message.
    pub fn size_of(&self, number: u64) -> usize {
        self.sizes.get(number as usize / self.step).copied().unwrap_or(self.size)
    }

    /// The largest of all.
    pub fn largest(&self) -> usize {
        self.sizes.last().copied().unwrap_or(self.size)
    }

    /// Whether subscribers look again and again; otherwise they sleep.
    pub fn spins(&self) -> bool {
        self.wait == Wait::Spin
    }

    pub(crate) fn reads_all(&self) -> bool {
        self.read == Read::All
    }

    pub(crate) fn rate_of(&self, number: u64) -> f64 {
        self.rate + self.rate_step * (number / self.step as u64) as f64
    }

    fn plan_sizes(&mut self) {
        if self.size_step <= 0.0 {
            return;
        }
        let mut next = self.size;
        while self.sizes.len() <= self.messages() / self.step {
            self.sizes.push(next);
            next += 1.max((next as f64 * self.size_step) as usize);
        }
    }
}

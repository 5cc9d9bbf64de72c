//! A bad network for `bench/gateway.py`: a cable between two network namespaces that has a rate, a delay and losses, the same in both directions. The kernel's own emulator (netem) is not everywhere; this needs `/dev/net/tun`, the command `ip`, and root.
//!
//! `emulator --a robot:wire --b base:wire --rate 50000000 --delay 20 --loss 5` prints a line when the cable is there, and goes on until its input ends.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::Parser;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::ioctl::{Setter, ioctl};

#[derive(Parser)]
struct Cable {
    /// One end: a namespace, and what the interface is called there
    #[arg(long, value_parser = end)]
    a: End,
    /// The other end
    #[arg(long, value_parser = end)]
    b: End,
    /// Bits of Ethernet frames a second; default: as many as come
    #[arg(long)]
    rate: Option<f64>,
    /// Bytes that may wait for their turn; what is more is lost
    #[arg(long, default_value_t = 64_000.0)]
    queue: f64,
    /// Milliseconds that each frame takes beside
    #[arg(long, default_value_t = 0.0)]
    delay: f64,
    /// Percent of the frames that are lost on the way, by chance
    #[arg(long, default_value_t = 0.0)]
    loss: f64,
}

#[derive(Clone)]
struct End {
    namespace: String,
    name: String,
}

fn end(text: &str) -> Result<End, String> {
    let (namespace, name) = text.split_once(':').ok_or("NAMESPACE:INTERFACE")?;
    Ok(End { namespace: namespace.to_owned(), name: name.to_owned() })
}

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let cable = Cable::parse();
    // Timers are late by 50 us, else.
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
    let ends = [plug_in(&cable.a, 'a')?, plug_in(&cable.b, 'b')?];
    let mut directions = [Direction::new(&cable), Direction::new(&cable)];
    println!("ready");
    let input = std::io::stdin();
    let mut frame = vec![0; 65_536];
    loop {
        let now = Instant::now();
        for (at, direction) in directions.iter_mut().enumerate() {
            while let Some(due) = direction.arrived(now) {
                // What nobody takes is lost, as on a cable whose far end is down.
                let _ = rustix::io::write(&ends[1 - at], &due);
            }
        }
        let next = directions.iter().filter_map(Direction::next).min();
        let wait = next.map(|at| Timespec::try_from(at.saturating_duration_since(Instant::now()))).transpose()?;
        let mut watched = [PollFd::new(&ends[0], PollFlags::IN), PollFd::new(&ends[1], PollFlags::IN), PollFd::new(&input, PollFlags::IN)];
        match poll(&mut watched, wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(why) => return Err(why.into()),
        }
        let seen = [0, 1, 2].map(|at| watched[at].revents());
        // An end whose namespace has gone is not readable any more, but broken.
        if !seen[2].is_empty() || seen.iter().any(|seen| seen.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)) {
            return Ok(());
        }
        for at in 0..2 {
            if seen[at].contains(PollFlags::IN) {
                while let Ok(size) = rustix::io::read(&ends[at], &mut frame) {
                    directions[at].send(&frame[..size], Instant::now());
                }
            }
        }
    }
}

/// The kernel's `struct ifreq`, as `TUNSETIFF` reads it.
#[repr(C)]
struct Request {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

const TAP_WITHOUT_HEADER: i16 = 0x0002 | 0x1000;
/// `_IOW('T', 202, int)`
const TUNSETIFF: rustix::ioctl::Opcode = 0x4004_54ca;

/// An interface whose frames are read and written here, in that namespace.
fn plug_in(end: &End, side: char) -> Result<File, Failed> {
    let file = File::options().read(true).write(true).open("/dev/net/tun").map_err(|why| format!("/dev/net/tun: {why}"))?;
    rustix::io::ioctl_fionbio(&file, true)?;
    let here = format!("em{}{side}", std::process::id());
    let mut request = Request { name: [0; 16], flags: TAP_WITHOUT_HEADER, rest: [0; 22] };
    request.name[..here.len()].copy_from_slice(here.as_bytes());
    // SAFETY: TUNSETIFF reads a `struct ifreq`, which `Request` is laid out as.
    unsafe { ioctl(file.as_fd(), Setter::<TUNSETIFF, Request>::new(request)) }
        .map_err(|why| format!("no interface can be made here: {why}"))?;
    let done = Command::new("ip").args(["link", "set", &here, "netns", &end.namespace, "name", &end.name]).output()?;
    if !done.status.success() {
        return Err(format!("{here} to {}: {}", end.namespace, String::from_utf8_lossy(&done.stderr)).into());
    }
    Ok(file)
}

/// What is under way from one end to the other, in order.
struct Direction {
    bytes_per_second: Option<f64>,
    queue: f64,
    delay: Duration,
    loss: f64,
    /// Until then frames before the next one are being sent.
    busy: Instant,
    frames: VecDeque<(Instant, Vec<u8>)>,
}

impl Direction {
    fn new(cable: &Cable) -> Direction {
        Direction {
            bytes_per_second: cable.rate.map(|bits| bits / 8.0),
            queue: cable.queue,
            delay: Duration::from_secs_f64(cable.delay / 1e3),
            loss: cable.loss / 100.0,
            busy: Instant::now(),
            frames: VecDeque::new(),
        }
    }

    /// A frame that is lost on the way has taken its time on the link, as on radio.
    fn send(&mut self, frame: &[u8], now: Instant) {
        let mut begin = now;
        if let Some(rate) = self.bytes_per_second {
            begin = self.busy.max(now);
            if (begin - now).as_secs_f64() * rate > self.queue {
                return;
            }
            begin += Duration::from_secs_f64(frame.len() as f64 / rate);
            self.busy = begin;
        }
        if fastrand::f64() >= self.loss {
            self.frames.push_back((begin + self.delay, frame.to_vec()));
        }
    }

    fn next(&self) -> Option<Instant> {
        self.frames.front().map(|(at, _)| *at)
    }

    fn arrived(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.next().filter(|at| *at <= now)?;
        self.frames.pop_front().map(|(_, frame)| frame)
    }
}

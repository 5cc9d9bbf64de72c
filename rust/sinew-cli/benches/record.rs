//! What `sinew record` costs beside writing the same bytes with one `write` each, and how much it takes without a loss: `cargo bench -p sinew-cli --bench record -- [FOLDER]`.
//!
//! The folder is where files are written, /dev/shm where none is said; it needs room for 3 GB. A camera publishes images of 5.5 MB, 30 of them a second; what the recorder takes of the processor, in user and in kernel mode, from
//! its start to its end, is set in relation to that of a program that writes the same images at the same rate from its own memory. Then images come faster, until 500 MB a second.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sinew::raw::{Publisher, PublisherOptions};
use sinew::{Node, NodeOptions, Qos};

const IMAGE: &str = "robot/Image{stamp_ns:uint64;data:uint8[];}";
const SIZE: usize = 5_500_000;
/// Stream of an image: encapsulation, time, number of bytes, bytes.
const HEAD: usize = 4 + 8 + 4;
/// So many buffers the writer has, as a camera has: not one that stays in the cache.
const BUFFERS: usize = 8;

struct Plan {
    hz: f64,
    count: usize,
}

impl Plan {
    /// Calls this at the rate, for each image.
    fn run(&self, mut each: impl FnMut(usize)) {
        let begun = Instant::now();
        for n in 0..self.count {
            let due = begun + Duration::from_secs_f64(n as f64 / self.hz);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            each(n);
        }
    }
}

fn main() {
    // `cargo bench` adds --bench.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [word, path, hz, count] = &arguments[..]
        && word == "write"
    {
        let plan = Plan { hz: hz.parse().expect("a rate"), count: count.parse().expect("a count") };
        return write(Path::new(path), &plan);
    }
    let folder = arguments.first().map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
    let scratch = tempfile::tempdir_in(folder).expect("the folder takes files");

    let plan = Plan { hz: 30.0, count: 300 };
    println!("{} images of {SIZE} bytes, {} a second, in {}", plan.count, plan.hz, scratch.path().display());
    for round in 1..=3 {
        let write = written(scratch.path(), &plan);
        let (record, told) = recorded(scratch.path(), &plan);
        let ratio = record.as_secs_f64() / write.as_secs_f64();
        println!(
            "round {round}: write {write:?}, record {record:?}, ratio {ratio:.2}; {} recorded, {} lost",
            told["messages"], told["lost"]
        );
    }
    for megabytes in [200, 300, 400, 500] {
        let plan = Plan { hz: f64::from(megabytes) * 1e6 / SIZE as f64, count: 450 };
        let (record, told) = recorded(scratch.path(), &plan);
        println!("{megabytes} MB/s: {} recorded, {} lost, processor {record:?}", told["messages"], told["lost"]);
    }
}

/// Writes the images, as the other process.
fn write(path: &Path, plan: &Plan) {
    let buffers: Vec<Vec<u8>> = (0..BUFFERS).map(|n| vec![n as u8 + 1; HEAD + SIZE]).collect();
    let mut file = File::create_new(path).expect("a new file");
    plan.run(|n| file.write_all(&buffers[n % BUFFERS]).expect("it is written"));
}

/// What it takes to write them.
fn written(folder: &Path, plan: &Plan) -> Duration {
    let path = folder.join("written");
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg("write").arg(&path).args([plan.hz.to_string(), plan.count.to_string()]);
    let before = of_children();
    assert!(command.status().expect("it runs").success());
    let _ = std::fs::remove_file(&path);
    of_children() - before
}

/// What it takes to record them, and what the recorder says.
fn recorded(folder: &Path, plan: &Plan) -> (Duration, serde_json::Value) {
    let domain = tempfile::tempdir().expect("a folder");
    let socket = domain.path().join("domain").to_string_lossy().into_owned();
    let node = Node::with_options("camera", &NodeOptions { domain: socket.clone(), by_caller: false }).expect("a node");
    let images = Publisher::new(&node, "camera/image", IMAGE, &Qos::keep_last(4), PublisherOptions::default()).expect("a publisher");
    let path = folder.join("recorded.mcap");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(["record", "--json", "-o"]).arg(&path).env("SINEW_DOMAIN", &socket).stdout(Stdio::piped());
    let before = of_children();
    let recorder = command.spawn().expect("it runs");
    while images.statistics().subscribers == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    plan.run(|n| {
        let mut loan = images.loan(HEAD + SIZE).expect("room for an image");
        let bytes = loan.bytes();
        bytes[..4].copy_from_slice(&[0, 1, 0, 0]);
        bytes[4..12].copy_from_slice(&(n as u64).to_le_bytes());
        bytes[12..16].copy_from_slice(&(SIZE as u32).to_le_bytes());
        bytes[HEAD..].fill(n as u8);
        loan.publish(HEAD + SIZE).expect("it is published");
    });
    let counters = node.domain_counters().expect("counters");
    let seen = || counters.read().expect("counts").pairs.iter().map(|pair| pair.messages + pair.missed).sum::<u64>();
    while seen() < plan.count as u64 {
        std::thread::sleep(Duration::from_millis(1));
    }
    kill(Pid::from_raw(recorder.id() as i32), Signal::SIGINT).expect("it is there");
    let output = recorder.wait_with_output().expect("it ends");
    let _ = std::fs::remove_file(&path);
    (of_children() - before, serde_json::from_slice(&output.stdout).expect("it prints JSON"))
}

/// What the processes that this one has waited for took of the processor.
fn of_children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("it is counted");
    let micros = [usage.user_time(), usage.system_time()].map(|time| time.tv_sec() as u64 * 1_000_000 + time.tv_usec() as u64);
    Duration::from_micros(micros.iter().sum())
}

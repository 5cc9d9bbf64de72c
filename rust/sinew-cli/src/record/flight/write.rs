//! Writing what is held into a file, beside holding more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use rustix::fs::{Access, access};
use serde::Serialize;
use sinew_bag::{BagError, Compression, Result, settle};

use super::Event;
use super::service::{Caller, Response};
use super::store::Held;
use crate::clock::Clock;
use crate::failure::{Done, Failure};
use crate::output::{path_as_text, shown};
use crate::record::files::{self, Files, Lost, with_stem_end};
use crate::record::{file_in, usual_time};

const USUAL_FILE: &str = "flight.mcap";

/// Where files are.
#[derive(Clone, Debug)]
pub struct Plan {
    path: PathBuf,
    compression: Compression,
}

/// What is to be written.
pub struct Job {
    pub held: Vec<Arc<Held>>,
    /// What is older is there since its publisher keeps it.
    pub begin_ns: Option<i64>,
    pub reasons: Vec<String>,
    pub callers: Vec<Caller>,
    pub plan: Plan,
    pub clock: Clock,
}

/// What was written.
#[derive(Serialize)]
pub struct Written {
    #[serde(serialize_with = "path_as_text")]
    pub path: PathBuf,
    pub messages: u64,
    pub bytes: u64,
    pub seconds: f64,
    /// Messages that lay in their publishers' memory,
    pub by_reference: u64,
    /// and those of which so many were held that the library had copied them.
    pub copied: u64,
    pub lost: u64,
    pub reasons: Vec<String>,
}

/// Of a job.
pub type Outcome = Result<Written>;

impl Plan {
    /// Fails where no file can be written, of which it would be too late to tell when something has happened.
    pub fn new(path: Option<&Path>, compression: Compression) -> Done<Plan> {
        let path = path.map_or_else(|| Ok(PathBuf::from(USUAL_FILE)), |path| file_in(path, USUAL_FILE))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let why_not = match folder.metadata() {
            Ok(there) if !there.is_dir() => "it is no folder".to_owned(),
            Ok(_) => match access(folder, Access::WRITE_OK | Access::EXEC_OK) {
                Ok(()) => return Ok(Plan { path, compression }),
                Err(why) => std::io::Error::from(why).to_string(),
            },
            Err(why) => why.to_string(),
        };
        let folder = shown(&folder.to_string_lossy());
        Err(Failure::Failed(format!("no file could be written into {folder}: {why_not}. Make it, or name a file elsewhere by --output")))
    }

    /// With the time in its name.
    fn path(&self) -> PathBuf {
        with_stem_end(&self.path, &format!("_{}", usual_time()))
    }
}

/// Does it on a thread of its own, which tells when it is done.
pub fn start(job: Job, events: Sender<Event>) {
    std::thread::spawn(move || {
        let mut job = job;
        let callers = std::mem::take(&mut job.callers);
        let outcome = write(job);
        for caller in callers {
            // Whoever has gone meanwhile needs no answer.
            let _ = match &outcome {
                Ok(written) => {
                    let path = std::path::absolute(&written.path).unwrap_or_else(|_| written.path.clone());
                    let path = path.to_string_lossy().into_owned();
                    caller.answer(&Response { path, messages: written.messages, bytes: written.bytes })
                }
                Err(why) => caller.fail(&why.to_string()),
            };
        }
        let _ = events.send(Event::Written(outcome));
    });
}

fn write(job: Job) -> Outcome {
    let lost = Lost::default();
    let plan =
        files::Plan { path: job.plan.path(), is_unnamed: true, compression: job.plan.compression, split_size: None, split_time: None };
    let mut files = Files::new(plan, Arc::clone(&lost))?;
    files.write_reason(job.reasons.join("; "))?;
    let (mut by_reference, mut copied, mut missed) = (0, 0, BTreeMap::<String, u64>::new());
    let begin = job.begin_ns.map(|begin| job.clock.since_1970(begin));
    let mut times: Option<(i64, i64)> = None;
    let mut failed: Option<BagError> = None;
    for held in job.held {
        let mut stamp = held.message.stamp(&job.clock);
        // Where a file is played, it is to be there from the begin on.
        stamp.log_time = stamp.log_time.max(begin.unwrap_or(0));
        if let Err(why) = files.write(&held.message, &stamp) {
            failed = Some(why);
            break;
        }
        if held.is_by_reference() {
            by_reference += 1;
        } else {
            copied += 1;
        }
        *missed.entry(held.message.source.name.clone()).or_default() += held.info.missed;
        let time = held.info.receive_time_ns.max(job.begin_ns.unwrap_or(i64::MIN));
        times = Some((times.map_or(time, |(first, _)| first), time));
    }
    let lost_in_all = missed.values().sum();
    *lost.lock().expect("nobody panics with it") = missed;
    let (recorded, unfinished) = files.finish();
    if let Some(why) = failed.or(unfinished) {
        return Err(why);
    }
    // A robot that falls may lose its power a moment later.
    recorded.iter().filter(|file| !file.gone).try_for_each(|file| settle(&file.path))?;
    Ok(Written {
        path: recorded.first().map(|file| file.path.clone()).unwrap_or_default(),
        messages: recorded.iter().map(|file| file.messages).sum(),
        bytes: recorded.iter().map(|file| file.bytes).sum(),
        seconds: times.map_or(0.0, |(first, last)| last.saturating_sub(first) as f64 / 1e9),
        by_reference,
        copied,
        lost: lost_in_all,
        reasons: job.reasons,
    })
}

//! `sinew launch`: the processes of a robot, started together, kept, and stopped together.
//!
//! A file is read (`yaml`, `file`), filled with its arguments (`substitution`) and looked over on this machine (`plan`), all before anything is
//! started; all that is wrong is told at once (`findings`). Then one loop (`supervisor`) has the processes (`process`, `output`), their lines (`lines`)
//! and their ends (`restart`, `stop`, `orphans`), and a thread writes the log (`log`, `told`), for which nobody waits.

mod file;
mod findings;
mod lines;
mod log;
mod orphans;
mod output;
mod plan;
mod process;
mod restart;
mod signals;
mod stop;
mod substitution;
mod supervisor;
mod told;
mod yaml;

use std::collections::BTreeMap;
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use rustix::termios::tcgetwinsize;
use serde::Serialize;

use crate::cli::Cli;
use crate::commands::launch::Launch;
use crate::failure::{Done, Failure};
use crate::launch::file::File;
use crate::launch::findings::Findings;
use crate::launch::log::Log;
use crate::launch::plan::Surroundings;
use crate::launch::supervisor::Supervisor;
use crate::launch::told::Form;
use crate::output::{Cell, FAINT, NAME, Table, json};
use crate::quiet::is_of_user;

/// Bytes of a launch file at most.
const MOST: u64 = 1 << 20;
/// How wide what processes write may be where nobody looks.
const USUAL_COLUMNS: usize = 120;
/// Less than that is for nobody.
const FEWEST_COLUMNS: usize = 40;

/// Starts what the file says, and keeps it until all of it has ended.
pub fn run(cli: &Cli, asked: &Launch) -> Done {
    let mut findings = Findings::new(&asked.file);
    let file = read(&asked.file, &mut findings)?;
    if asked.show_args {
        findings.refuse()?;
        return show_arguments(cli, &file);
    }
    let path = std::path::absolute(&asked.file).map_err(Failure::of)?;
    let (own, current) = (std::env::current_exe().ok(), std::env::current_dir().unwrap_or_default());
    let is_coloured = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
    let with_colours = is_coloured && !cli.json;
    let around = Surroundings {
        folder: path.parent().unwrap_or(Path::new("/")),
        current: &current,
        variable: &|name| std::env::var(name).ok().filter(|_| is_of_user(name)),
        own_folder: own.as_deref().and_then(Path::parent),
        environment: plain(with_colours),
        domain: cli.domain.as_deref(),
    };
    let arguments = plan::arguments(&file, &asked.arguments, &around, &mut findings);
    let plans = plan::plans(&file, &arguments, &around, &mut findings);
    findings.refuse()?;
    let form = Form::new(cli.json, with_colours, plans.iter().map(|plan| plan.name.as_str()));
    let columns = columns(form.margin());
    Supervisor::new(plans, Log::new(form), columns, with_colours)?.run()
}

/// What the file says. What is wrong with it is found.
fn read(path: &Path, findings: &mut Findings) -> Done<File> {
    let refused = |why: String| Failure::Refused(format!("the launch file {} cannot be read: {why}", path.display()));
    // Not more than that is read: it may be anything, as a device.
    let mut bytes = Vec::new();
    let opened =
        std::fs::File::open(path).and_then(|file| std::io::Read::read_to_end(&mut std::io::Read::take(file, MOST + 1), &mut bytes));
    opened.map_err(|why| refused(why.to_string()))?;
    if bytes.len() as u64 > MOST {
        return Err(refused(format!("it has more than {MOST} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused("it is no text in UTF-8".to_owned()))?;
    if is_of_ros(path, &text) {
        return Err(Failure::Refused("launch files of ROS 2 are not read: docs/launch.md says how one is written here".to_owned()));
    }
    Ok(yaml::read(&text, findings).map(|document| File::of(document, findings)).unwrap_or_default())
}

/// Whether it is a launch file of ROS: in Python or XML, which its name says, or in YAML with `launch:` first.
fn is_of_ros(path: &Path, text: &str) -> bool {
    let is_said = |line: &&str| !line.is_empty() && !line.starts_with(['#', '%']) && !line.starts_with("---");
    path.extension().is_some_and(|extension| ["py", "xml", "launch"].iter().any(|of_ros| extension == *of_ros))
        || text.lines().map(str::trim_end).find(is_said).is_some_and(|line| line.starts_with("launch:"))
}

/// Processes that write to a terminal think that colours are seen.
fn plain(with_colours: bool) -> BTreeMap<String, String> {
    let is_told = with_colours || std::env::var_os("NO_COLOR").is_some();
    (!is_told).then(|| ("NO_COLOR".to_owned(), "1".to_owned())).into_iter().collect()
}

/// How wide what processes write may be, behind their names.
fn columns(margin: usize) -> u16 {
    let all = tcgetwinsize(std::io::stdout()).map(|size| usize::from(size.ws_col)).unwrap_or_default();
    let columns = if all == 0 { USUAL_COLUMNS } else { all.saturating_sub(margin).max(FEWEST_COLUMNS) };
    u16::try_from(columns).unwrap_or(u16::MAX)
}

/// For `--json`.
#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    default: Option<&'a str>,
}

fn show_arguments(cli: &Cli, file: &File) -> Done {
    let shown = file
        .arguments
        .iter()
        .map(|argument| Shown { name: &argument.name, default: argument.default.as_ref().map(|value| value.text.as_str()) });
    if cli.json {
        return json(&shown.collect::<Vec<_>>());
    }
    let mut table = Table::new(&["argument", "default"]);
    for Shown { name, default } in shown {
        let default = default.map_or_else(|| Cell::new("none: it must be given").styled(FAINT), Cell::new);
        table.row([Cell::new(name).styled(NAME), default]);
    }
    if table.is_empty() { Ok(()) } else { table.print() }
}

//! `sinew graph`: nodes and topics as a picture.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::cli::{Cli, interval};
use crate::doctor::neighbours::tell_if_empty;
use crate::domain::{View, join};
use crate::failure::{Done, Failure};
use crate::flow::Moment;
use crate::graph::{Told, collect, dot, svg, write};
use crate::output::{json, out};

/// What is shown of it with `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew graph
  sinew graph --filter camera
  sinew graph -o graph.svg
  sinew graph --svg --services > graph.svg
  sinew graph --json | jq -r '.edges[] | select(.delivery == null) | .why'

Colours of a picture: green is read in place, blue are arrays in place, orange is copied, red is not connected; point at it to see why. On a terminal both in the middle are yellow, and a word says which.";

/// What to draw, and as what.
#[derive(Args, Debug)]
pub struct Graph {
    /// As a picture: SVG
    #[arg(long, conflicts_with = "json")]
    pub svg: bool,
    /// Into a file: a picture where its name ends with .svg, a description for Graphviz with .dot
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub output: Option<PathBuf>,
    /// Only topics and nodes with this in their names, or topics with it in their types, and what they are connected to
    #[arg(long, short, value_name = "TEXT", default_value = "")]
    pub filter: String,
    /// Services and actions, too
    #[arg(long)]
    pub services: bool,
    /// Rates over so long a time, as 500ms or 2s
    #[arg(long, short, default_value = "1s", value_parser = interval)]
    pub interval: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Svg,
    Dot,
}

/// Draws it.
pub fn graph(cli: &Cli, asked: &Graph) -> Done {
    let format = format_of(asked)?;
    let node = join(cli, "graph")?;
    let counters = node.domain_counters()?;
    let before = Moment::of(&counters, None)?;
    std::thread::sleep(asked.interval);
    let (view, now) = (View::of(&node)?, Moment::of(&counters, Some(&before))?);
    tell_if_empty(cli, &view);
    let drawn = collect(&view, &before, &now, asked.services).filtered(&asked.filter);
    if cli.json {
        return json(&Told::of(&drawn));
    }
    match (format, &asked.output) {
        (Format::Text, _) => write(&drawn, &mut out()),
        (Format::Svg, file) => put(&svg(&drawn)?, file.as_deref()),
        (Format::Dot, file) => put(&dot(&drawn), file.as_deref()),
    }
}

fn format_of(asked: &Graph) -> Done<Format> {
    let Some(file) = &asked.output else { return Ok(if asked.svg { Format::Svg } else { Format::Text }) };
    match file.extension().and_then(|extension| extension.to_str()) {
        _ if asked.svg => Ok(Format::Svg),
        Some("svg") => Ok(Format::Svg),
        Some("dot" | "gv") => Ok(Format::Dot),
        _ => Err(Failure::Refused(format!(
            "'{}' does not say what to write: its name ends with .svg for a picture, or .dot for Graphviz",
            crate::output::shown(&file.to_string_lossy())
        ))),
    }
}

fn put(text: &str, file: Option<&Path>) -> Done {
    use std::io::Write;
    let Some(file) = file else { return Ok(std::io::stdout().lock().write_all(text.as_bytes())?) };
    std::fs::write(file, text).map_err(|why| {
        let name = crate::output::shown(&file.to_string_lossy());
        Failure::Failed(format!("'{name}' cannot be written: {why}"))
    })
}

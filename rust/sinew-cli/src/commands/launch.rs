//! `sinew launch`: the processes of a robot.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::cli::Cli;
use crate::failure::Done;
use crate::launch;

/// For `--help`.
pub const MANUAL: &str = "\
Examples:
  sinew launch robot.yaml
  sinew launch robot.yaml speed:=0.8 record:=drives
  sinew launch robot.yaml --show-args
  sinew launch --json robot.yaml | jq 'select(.event == \"ended\")'

A launch file, of which only `processes` and a `command` each are needed:

  domain: robot                    # SINEW_DOMAIN of all; --domain is stronger
  arguments:                       # with defaults; without one (null) an argument must be given
    speed: 0.5
    record: \"\"
  environment:                     # of all, in addition to the one that the launcher has
    SINEW_LOG: warn
  processes:                       # started in this order, without waiting for one another
    camera:
      command: build/camera --rate 30
    planner:
      command: [python3, planner.py, --speed, $(var speed)]
      directory: python            # relative to the folder of the file, which is the default
      environment: {A: b}
      restart: on-failure          # the default; or never, or always
    recorder:
      if: $(var record)            # not started if that is empty, false, no, off or 0
      command: sinew record --all -o $(var record)/   # a folder, which is made: a new file each time
    driver:
      command: ./driver
      required: true               # when it has ended for good, all are stopped

A command is split into words as a shell would, and no shell runs it, or is a list of words. A program without a slash is looked for in PATH, and then where this command is; one with a slash is relative to the directory.
In every value $(var NAME) is an argument, $(env NAME) and $(env NAME DEFAULT) a variable of the launcher's environment, $(dirname) the folder of the file, and $$( the text $(. What is put in stays within its word.

Everything is checked before anything is started. Each process writes to a terminal of its own, reads nothing, and starts again 0.5 s after it has failed, then 1 s, up to 10 s; who has lived for 10 s begins anew.
Ctrl-C (or SIGTERM, or SIGHUP) stops all: by SIGINT, after 5 s by SIGTERM, after 5 more by SIGKILL; each further Ctrl-C goes on to the next at once. A script around a program is to end in `exec` of it: else the shell may end first, by which the program gets SIGHUP, and ends in the middle of what it does. What processes have started ends with them, but for managers of domains (sinewd), and for what runs as another user, as by sudo, and does not obey Ctrl-C.
A log that nobody reads stops no process: the oldest lines of it are dropped, and counted. Nor does one that cannot be written any more.
Exit status: 0 when all have ended well or were stopped, 1 when one has failed for good or could not be stopped, 2 when the file or the arguments are wrong.";

/// What to start.
#[derive(Args, Debug)]
pub struct Launch {
    /// The launch file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Values of its arguments
    #[arg(value_name = "NAME:=VALUE", value_parser = argument)]
    pub arguments: Vec<(String, String)>,
    /// Print its arguments with their defaults, and start nothing
    #[arg(long, short)]
    pub show_args: bool,
}

/// Keeps it until all of it has ended.
pub fn launch(cli: &Cli, asked: &Launch) -> Done {
    launch::run(cli, asked)
}

fn argument(text: &str) -> Result<(String, String), String> {
    let argument = text.split_once(":=").filter(|(name, _)| !name.is_empty());
    argument
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| format!("'{text}' gives an argument no value: speed:=0.8 does"))
}

//! What goes wrong, and how the command ends then.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::output::say;

/// Why the command ends without having done what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// Something failed; exit status 1.
    Failed(String),
    /// What was asked for is not there, or differs; exit status 3.
    Negative(String),
    /// What was asked cannot be done as it is written; exit status 2.
    Refused(String),
    /// Whoever reads the output has had enough, as `head` does.
    Closed,
}

/// What the functions of this crate return.
pub type Done<T = ()> = Result<T, Failure>;

impl Failure {
    /// Says it, and gives the exit status.
    pub fn tell(self) -> ExitCode {
        let (text, status) = match self {
            Failure::Failed(text) => (text, 1),
            Failure::Refused(text) => (text, 2),
            Failure::Negative(text) => (text, 3),
            Failure::Closed => return ExitCode::SUCCESS,
        };
        if !text.is_empty() {
            let red = anstyle::AnsiColor::Red.on_default().bold();
            say!("{red}error:{red:#} {text}");
        }
        ExitCode::from(status)
    }

    /// Of anything that says why itself.
    pub fn of(error: impl Display) -> Failure {
        Failure::Failed(error.to_string())
    }
}

/// How it ends where the verdict stands in what is printed: who has read enough of that, as `head`, gets the status nevertheless.
pub fn judged(printed: Done, verdict: Done) -> Done {
    match printed {
        Ok(()) | Err(Failure::Closed) => verdict,
        failed => failed,
    }
}

impl From<sinew::Error> for Failure {
    fn from(error: sinew::Error) -> Failure {
        Failure::of(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Failure::Closed
        } else {
            Failure::Failed(format!("the output cannot be written: {error}"))
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::from(io::Error::from(error))
    }
}

//! `sinew doctor`: what is as it should be, what is not, and what to do about it.

use std::io::Write;

use serde::Serialize;

use crate::cli::Cli;
use crate::doctor::{CHECKS, Finding, Level, Patient};
use crate::failure::{Done, Failure, judged};
use crate::output::{BAD, FAINT, GOOD, TITLE, WARN, json, out, shown};

/// What is shown of it with `--help`.
pub const EXAMPLES: &str = "\
Examples:
  sinew doctor
  sinew doctor --domain left_arm
  sinew doctor --json | jq -r '.checks[] | select(.level != \"ok\") | .remedy'

It starts no manager in the domain, but one in a domain of its own, which is gone afterwards.
Exit status: 0 when there is no problem, though there may be warnings; 1 when something does not work.";

#[derive(Serialize)]
struct Told {
    problems: usize,
    warnings: usize,
    checks: Vec<Checked>,
}

#[derive(Serialize)]
struct Checked {
    section: &'static str,
    check: &'static str,
    #[serde(flatten)]
    finding: Finding,
}

/// Looks at everything.
pub fn doctor(cli: &Cli) -> Done {
    let patient = Patient::this(cli.domain.as_deref());
    let checked = CHECKS.iter().filter_map(|check| {
        let finding = (check.look)(&patient)?;
        Some(Checked { section: check.section, check: check.name, finding })
    });
    let checks: Vec<Checked> = checked.collect();
    let count = |level| checks.iter().filter(|checked| checked.finding.level() == level).count();
    let told = Told { problems: count(Level::Problem), warnings: count(Level::Warning), checks };
    let printed = if cli.json { json(&told) } else { print(&told) };
    judged(printed, if told.problems > 0 { Err(Failure::Failed(String::new())) } else { Ok(()) })
}

fn print(told: &Told) -> Done {
    let mut out = out();
    let mut section = "";
    for Checked { section: of, check, finding } in &told.checks {
        if section != *of {
            let gap = if section.is_empty() { "" } else { "\n" };
            writeln!(out, "{gap}{TITLE}{of}{TITLE:#}")?;
            section = of;
        }
        let (style, word) = match finding.level() {
            Level::Ok => (GOOD, "ok"),
            Level::Warning => (WARN, "warning"),
            Level::Problem => (BAD, "problem"),
        };
        writeln!(out, "  {style}{word:<7}{style:#}  {check:<13}  {}", shown(finding.found()))?;
        let indent = " ".repeat(26);
        let (each, more) = finding.each();
        for one in each {
            writeln!(out, "{indent}{FAINT}-{FAINT:#} {}", shown(one))?;
        }
        if more > 0 {
            writeln!(out, "{indent}{FAINT}and {more} more{FAINT:#}")?;
        }
        if let Some(remedy) = finding.remedy() {
            writeln!(out, "{indent}{TITLE}do:{TITLE:#} {}", shown(remedy))?;
        }
    }
    let (problems, warnings) = (told.problems, told.warnings);
    let style = if problems > 0 {
        BAD
    } else if warnings > 0 {
        WARN
    } else {
        GOOD
    };
    let some = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    Ok(writeln!(out, "\n{style}{}, {}{style:#}", some(problems, "problem"), some(warnings, "warning"))?)
}

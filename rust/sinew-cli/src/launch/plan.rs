//! What is to be started: a launch file with all values put in, and looked for on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::launch::file::{Command, File, Process, Value};
use crate::launch::findings::{Findings, Place, meant};
use crate::launch::restart::Restart;
use crate::launch::substitution::Scope;
use crate::output::shown;

/// The variable that says which domain.
const DOMAIN: &str = "SINEW_DOMAIN";
/// Where programs are looked for when nothing says it.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A process that can be started.
#[derive(Debug)]
pub struct Plan {
    /// Its name in the log.
    pub name: String,
    /// A file that is there, and can be run.
    pub program: PathBuf,
    /// Without the program.
    pub arguments: Vec<String>,
    /// A folder that is there.
    pub directory: PathBuf,
    /// What its environment has in addition to the launcher's, in place of what is there.
    pub environment: BTreeMap<String, String>,
    /// When it is started again.
    pub restart: Restart,
    /// Whether all are stopped when it has ended.
    pub is_required: bool,
}

/// What a launch file is filled with and measured by.
pub struct Surroundings<'a> {
    /// The folder of the file.
    pub folder: &'a Path,
    /// That of the launcher.
    pub current: &'a Path,
    /// A variable of the launcher's own environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Where this program is installed: what is there, processes find as well.
    pub own_folder: Option<&'a Path>,
    /// What every process has in its environment where the file says nothing else.
    pub environment: BTreeMap<String, String>,
    /// Instead of the domain that the file says.
    pub domain: Option<&'a str>,
}

/// The arguments of a file with their values: those that were given, and of others the defaults.
pub fn arguments(file: &File, given: &[(String, String)], around: &Surroundings<'_>, findings: &mut Findings) -> BTreeMap<String, String> {
    for (n, (name, _)) in given.iter().enumerate() {
        if !file.arguments.iter().any(|argument| argument.name == *name) {
            let names = file.arguments.iter().map(|argument| argument.name.as_str());
            findings.add_anywhere(format!("there is no argument '{name}': {}", meant(name, names)));
        } else if given[..n].iter().any(|(before, _)| before == name) {
            findings.add_anywhere(format!("argument '{name}' is given twice"));
        }
    }
    let mut values = BTreeMap::new();
    for argument in &file.arguments {
        let name = &argument.name;
        let value = match (given.iter().find(|(given, _)| given == name), &argument.default) {
            (Some((_, value)), _) => Some(value.clone()),
            // A default may have what stands before it.
            (None, Some(default)) => findings
                .take(default.at, Scope { arguments: &values, folder: around.folder, variable: around.variable }.fill(&default.text)),
            (None, None) => {
                findings.add(argument.at, format!("argument '{name}' has no default: give it, as {name}:=VALUE behind the file"));
                None
            }
        };
        values.insert(name.clone(), value.unwrap_or_default());
    }
    values
}

/// All that is to be started. What is wrong is found, also of those that are not to be.
pub fn plans(file: &File, arguments: &BTreeMap<String, String>, around: &Surroundings<'_>, findings: &mut Findings) -> Vec<Plan> {
    let scope = Scope { arguments, folder: around.folder, variable: around.variable };
    let mut filling = Filling { scope, around, findings };
    let mut common = around.environment.clone();
    let of_file = filling.optional(file.domain.as_ref()).map(|domain| one_for_all(&domain, around.folder));
    // What is said beside the file is meant from where it is said.
    let of_launcher = |domain: &str| one_for_all(domain, around.current);
    let domain = around.domain.map(of_launcher).or(of_file);
    if let Some(domain) = domain.or_else(|| (around.variable)(DOMAIN).as_deref().map(of_launcher)) {
        common.insert(DOMAIN.to_owned(), domain);
    }
    common.extend(filling.variables(&file.environment));
    file.processes.iter().filter_map(|process| filling.plan(process, &common)).collect()
}

/// The path of a socket would be another one in each directory. Names have no slash.
fn one_for_all(domain: &str, folder: &Path) -> String {
    if domain.contains('/') { folder.join(domain).to_string_lossy().into_owned() } else { domain.to_owned() }
}

struct Filling<'a, 'f> {
    scope: Scope<'a>,
    around: &'a Surroundings<'a>,
    findings: &'f mut Findings,
}

impl Filling<'_, '_> {
    fn value(&mut self, value: &Value) -> Option<String> {
        self.findings.take(value.at, self.scope.fill(&value.text))
    }

    fn optional(&mut self, value: Option<&Value>) -> Option<String> {
        self.value(value?)
    }

    fn variables(&mut self, variables: &[(String, Value)]) -> Vec<(String, String)> {
        let folder = self.around.folder;
        let filled = variables.iter().filter_map(|(name, value)| Some((name.clone(), self.value(value)?)));
        filled.map(|(name, value)| if name == DOMAIN { (name, one_for_all(&value, folder)) } else { (name, value) }).collect()
    }

    /// Of a value that means something.
    fn meaning<T>(&mut self, value: Option<&Value>, default: T, of: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let Some(value) = value else { return Some(default) };
        let text = self.value(value)?;
        self.findings.take(value.at, of(&text))
    }

    /// None where it is not to be started, or cannot be.
    fn plan(&mut self, process: &Process, common: &BTreeMap<String, String>) -> Option<Plan> {
        let is_wanted = match process.condition.as_ref() {
            // What is put in may be anything, as the name of a file, and says yes then.
            Some(condition) if condition.text.contains("$(") => self.value(condition).map(|text| truth(&text).unwrap_or(!text.is_empty())),
            condition => self.meaning(condition, true, |text| if text.is_empty() { Ok(false) } else { truth(text) }),
        };
        let mut environment = common.clone();
        environment.extend(self.variables(&process.environment));
        let path = environment.get("PATH").cloned().or_else(|| (self.around.variable)("PATH")).unwrap_or_else(|| USUAL_PATH.to_owned());
        let path = self.around.own_folder.map_or_else(|| path.clone(), |own| format!("{path}:{}", own.display()));
        environment.insert("PATH".to_owned(), path.clone());
        let restart = self.meaning(process.restart.as_ref(), Restart::OnFailure, Restart::of);
        let is_required = self.meaning(process.required.as_ref(), false, truth);
        let (at, words) = self.words(&process.command);
        let relative = self.meaning(process.directory.as_ref(), String::new(), |text| Ok(text.to_owned()));
        if is_wanted == Some(false) {
            return None;
        }
        let directory = self.around.folder.join(relative?);
        if !directory.is_dir() {
            let at = process.directory.as_ref().map_or(process.at, |value| value.at);
            self.findings.add(at, format!("process '{}' is to run in {}, which is no folder", process.name, directory.display()));
            return None;
        }
        let mut words = words?.into_iter();
        let program = words.next().unwrap_or_default();
        let program = self.findings.take(at, found(&process.name, &program, &directory, &path));
        Some(Plan {
            name: process.name.clone(),
            program: program?,
            arguments: words.collect(),
            directory,
            environment,
            restart: restart?,
            is_required: is_required?,
        })
    }

    /// The program and its arguments, and where they stand.
    fn words(&mut self, command: &Command) -> (Place, Option<Vec<String>>) {
        match command {
            Command::Text(value) => {
                let words = self.findings.take(value.at, self.scope.words(&value.text));
                if words.as_ref().is_some_and(Vec::is_empty) {
                    self.findings.add(value.at, "the command is empty");
                    return (value.at, None);
                }
                (value.at, words)
            }
            Command::List(list) => {
                let words: Vec<_> = list.iter().map(|value| self.value(value)).collect();
                (list[0].at, words.into_iter().collect())
            }
        }
    }
}

/// Where a program is, as its process would find it.
fn found(process: &str, program: &str, directory: &Path, path: &str) -> Result<PathBuf, String> {
    let is_program = |file: &Path| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    if program.contains('/') {
        let file = directory.join(program);
        return match (is_program(&file), file.is_file()) {
            (true, _) => Ok(file),
            (false, true) => {
                Err(format!("the program of process '{process}', {}, is not executable: chmod +x makes it so", file.display()))
            }
            (false, false) => Err(format!("the program of process '{process}' is not there: {} is no file", file.display())),
        };
    }
    path.split(':').map(|folder| directory.join(folder).join(program)).find(|file| is_program(file)).ok_or_else(|| {
        format!(
            "the program of process '{process}', '{program}', is in no folder of PATH ({path}); where it lies beside, ./{program} names it"
        )
    })
}

/// As YAML has had it, in letters of either size.
fn truth(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        _ => Err(format!("'{}' is neither true nor false", shown(text))),
    }
}

//! `$(var NAME)`, `$(env NAME DEFAULT)` and `$(dirname)`: what stands in a text for something else, as in launch files of ROS 2.

use std::collections::BTreeMap;
use std::path::Path;

use crate::launch::findings::meant;

/// What there is to be put in.
pub struct Scope<'a> {
    /// The arguments of the file, with their values.
    pub arguments: &'a BTreeMap<String, String>,
    /// The folder of the file.
    pub folder: &'a Path,
    /// A variable of the launcher's own environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// A part of a text.
enum Piece<'t> {
    Text(&'t str),
    Var(&'t str),
    Env(&'t str, Option<&'t str>),
    Folder,
}

/// Around the number of each substitution while a command is split into words: what no argument of a program can have in it.
const MARK: char = '\0';

impl Scope<'_> {
    /// The text with all that is to be put in.
    pub fn fill(&self, text: &str) -> Result<String, String> {
        if text.contains(MARK) {
            return Err("a text with a zero byte cannot be handed to a program".to_owned());
        }
        pieces(text)?.iter().map(|piece| self.filled(piece)).collect()
    }

    /// A command as the words that a shell would split it into. What is put in stays within its word, whatever it is.
    pub fn words(&self, text: &str) -> Result<Vec<String>, String> {
        self.fill(text)?;
        let pieces = pieces(text)?;
        let mark =
            |(n, piece): (usize, &Piece<'_>)| if let Piece::Text(text) = piece { (*text).to_owned() } else { format!("{MARK}{n}{MARK}") };
        let marked: String = pieces.iter().enumerate().map(mark).collect();
        let words = shlex::split(&marked).ok_or("a quote is not closed, or nothing follows a backslash")?;
        // Not all come back: some may stand in a comment.
        let part = |(n, part): (usize, &str)| match part.parse::<usize>() {
            Ok(piece) if n % 2 == 1 => self.filled(&pieces[piece]),
            _ => Ok(part.to_owned()),
        };
        words.iter().map(|word| word.split(MARK).enumerate().map(part).collect()).collect()
    }

    fn filled(&self, piece: &Piece<'_>) -> Result<String, String> {
        match piece {
            Piece::Text(text) => Ok((*text).to_owned()),
            Piece::Folder => Ok(self.folder.to_string_lossy().into_owned()),
            Piece::Var(name) => self.arguments.get(*name).cloned().ok_or_else(|| {
                format!(
                    "there is no argument '{name}' under `arguments:` (before this): {}",
                    meant(name, self.arguments.keys().map(String::as_str))
                )
            }),
            Piece::Env(name, default) => (self.variable)(name)
                .or_else(|| default.map(str::to_owned))
                .ok_or_else(|| format!("there is no {name} in the environment: set it, or give a default, as $(env {name} DEFAULT)")),
        }
    }
}

/// The parts of a text. `$$(` is what `$(` is as text.
fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find("$(") {
        let inside = &rest[at + 2..];
        if let Some(before) = rest[..at].strip_suffix('$') {
            pieces.extend([Piece::Text(before), Piece::Text("$(")]);
            rest = inside;
            continue;
        }
        let end = inside.find(')').ok_or_else(|| format!("'{}' is not closed: a ) is missing", &rest[at..]))?;
        pieces.extend([Piece::Text(&rest[..at]), substitution(&inside[..end])?]);
        rest = &inside[end + 1..];
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

/// What stands between the parentheses.
fn substitution(inside: &str) -> Result<Piece<'_>, String> {
    let (kind, rest) = inside.trim().split_once(char::is_whitespace).map_or((inside.trim(), ""), |(kind, rest)| (kind, rest.trim()));
    let (name, default) =
        rest.split_once(char::is_whitespace).map_or((rest, None), |(name, default)| (name, Some(unquoted(default.trim()))));
    match (kind, name, default) {
        _ if inside.contains("$(") => Err(format!("'$({inside})' has another one inside, which is not possible")),
        ("var", name, None) if !name.is_empty() => Ok(Piece::Var(name)),
        ("env", name, default) if !name.is_empty() => Ok(Piece::Env(name, default)),
        ("dirname", "", None) => Ok(Piece::Folder),
        _ => Err(format!(
            "'$({inside})' is not known: $(var NAME), $(env NAME), $(env NAME DEFAULT) and $(dirname) are, and $$( is the text $("
        )),
    }
}

/// A default may be quoted, so that it can be empty.
fn unquoted(text: &str) -> &str {
    ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_scope<T>(work: impl Fn(&Scope<'_>) -> T) -> T {
        let arguments = [("speed", "0.5"), ("name", "a 'b"), ("empty", "")].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let variable = |name: &str| (name == "HOME").then(|| "/home/robot".to_owned());
        work(&Scope { arguments: &arguments, folder: Path::new("/robot"), variable: &variable })
    }

    fn fill(text: &str) -> Result<String, String> {
        in_scope(|scope| scope.fill(text))
    }

    fn words(text: &str) -> Result<Vec<String>, String> {
        in_scope(|scope| scope.words(text))
    }

    #[test]
    fn each_kind_is_put_in() {
        assert_eq!(fill("$(dirname)/maps at $(var speed) of $(env HOME)").unwrap(), "/robot/maps at 0.5 of /home/robot");
        assert_eq!(fill("$(env NOWHERE a b)|$(env NOWHERE '')|$( var  speed )").unwrap(), "a b||0.5");
        assert_eq!(fill("$$(date) costs $5 ($)").unwrap(), "$(date) costs $5 ($)");
    }

    #[test]
    fn what_cannot_be_put_in_is_said() {
        assert!(fill("$(var sped)").unwrap_err().contains("did you mean 'speed'?"));
        assert!(fill("$(env NOWHERE)").unwrap_err().contains("$(env NOWHERE DEFAULT)"));
        assert!(fill("$(arg speed)").unwrap_err().contains("'$(arg speed)' is not known"));
        assert!(fill("$(env A $(var speed))").unwrap_err().contains("another one inside"));
        assert!(fill("$(var speed").unwrap_err().contains("a ) is missing"));
        assert!(fill("a\0b").unwrap_err().contains("zero byte"));
    }

    #[test]
    fn a_command_is_split_as_a_shell_would_and_values_stay_in_their_words() {
        assert_eq!(words("run --speed $(var speed) 'a b'\\ c").unwrap(), ["run", "--speed", "0.5", "a b c"]);
        assert_eq!(words("run $(var name)$(var speed) '$(var empty)' $(var empty)x").unwrap(), ["run", "a 'b0.5", "", "x"]);
        assert_eq!(words("sh -c 'echo $$(date)'").unwrap(), ["sh", "-c", "echo $(date)"]);
        assert!(words("run 'a").unwrap_err().contains("a quote is not closed"));
    }

    #[test]
    fn a_comment_takes_no_value_of_what_stands_behind_it() {
        assert_eq!(words("run # $(var name)\n$(var speed)").unwrap(), ["run", "0.5"]);
        assert_eq!(words("run # $(dirname)\n$(var speed)$(var name) # $(var speed)").unwrap(), ["run", "0.5a 'b"]);
    }
}

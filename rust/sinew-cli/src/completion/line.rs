//! What has been typed, as words.

/// The words of a line of bash, the last of which is empty where the next one has not begun.
pub fn words(line: &str) -> Vec<String> {
    // Whose quote is still open is not split by that.
    let split = shlex::split(line).or_else(|| shlex::split(&format!("{line}'"))).or_else(|| shlex::split(&format!("{line}\"")));
    let mut words = split.unwrap_or_else(|| line.split_whitespace().map(str::to_owned).collect());
    let is_open = shlex::split(line).is_none();
    if !is_open && (line.is_empty() || line.ends_with(char::is_whitespace)) {
        words.push(String::new());
    }
    words
}

/// The domain that an option says.
pub fn domain_in(words: &[String]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-d" | "--domain" => return words.next().cloned(),
            "--" => return None,
            _ => {}
        }
        let attached = word.strip_prefix("--domain=");
        // "-d=x" is x, as clap has it.
        let short = || word.strip_prefix("-d").map(|domain| domain.strip_prefix('=').unwrap_or(domain));
        if let Some(domain) = attached.or_else(short) {
            return Some(domain.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_bash_splits_it() {
        assert_eq!(words("sinew topic ec"), ["sinew", "topic", "ec"]);
        assert_eq!(words("sinew topic "), ["sinew", "topic", ""]);
        assert_eq!(words("sinew -d 'my domain' topic"), ["sinew", "-d", "my domain", "topic"]);
        assert_eq!(words("sinew topic echo 'cam"), ["sinew", "topic", "echo", "cam"]);
        assert_eq!(words("sinew topic echo \"cam"), ["sinew", "topic", "echo", "cam"]);
        assert_eq!(words(""), [""]);
    }

    #[test]
    fn the_domain_is_that_of_the_option() {
        let domain = |line: &str| domain_in(&words(line));
        assert_eq!(domain("sinew -d left topic echo ").as_deref(), Some("left"));
        assert_eq!(domain("sinew topic echo --domain=left ").as_deref(), Some("left"));
        assert_eq!(domain("sinew -dleft topic").as_deref(), Some("left"));
        assert_eq!(domain("sinew topic echo -- -d").as_deref(), None);
        assert_eq!(domain("sinew topic echo ").as_deref(), None);
    }
}

//! Which topics are meant, by patterns of their names.

use clap::Args;
use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::completion::Names;
use crate::domain::canonical;

/// Topics of a domain, or of a file.
#[derive(Args, Debug)]
pub struct Patterns {
    /// Names of topics or patterns of them, as camera/* or **/image; all topics where none is given
    #[arg(value_name = "TOPIC", value_parser = pattern, add = Names::Topics.completer())]
    pub topics: Vec<Glob>,
    /// Without these
    #[arg(long, short = 'x', value_name = "TOPIC", value_parser = pattern, add = Names::Topics.completer())]
    pub exclude: Vec<Glob>,
}

/// What the patterns match.
#[derive(Clone, Debug)]
pub struct Topics {
    /// None: all.
    wanted: Option<GlobSet>,
    excluded: GlobSet,
}

impl Patterns {
    /// To ask it for topics.
    pub fn topics(&self) -> Result<Topics, globset::Error> {
        let wanted = if self.topics.is_empty() { None } else { Some(set(&self.topics)?) };
        Ok(Topics { wanted, excluded: set(&self.exclude)? })
    }

    /// Those that are names, and no patterns of more than one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.topics.iter().map(Glob::glob).filter(|name| is_name(name))
    }
}

/// Whether it is no pattern of more than one.
pub fn is_name(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '[', '{', '\\'])
}

impl Topics {
    /// Whether it is one of them.
    pub fn has(&self, topic: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(topic)) && !self.excluded.is_match(topic)
    }
}

fn set(patterns: &[Glob]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(pattern.clone());
    }
    set.build()
}

/// `*` stays within a word of a name, `**` does not.
pub fn pattern(text: &str) -> Result<Glob, String> {
    let glob = GlobBuilder::new(canonical(text)).literal_separator(true).build();
    glob.map_err(|why| format!("it is no pattern: {}; camera/*, **/image and camera/{{left,right}} are", why.kind()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Asked {
        #[command(flatten)]
        patterns: Patterns,
    }

    fn topics(arguments: &[&str]) -> Topics {
        let asked = Asked::try_parse_from([&["test"], arguments].concat()).unwrap_or_else(|why| panic!("{why}"));
        asked.patterns.topics().unwrap()
    }

    #[test]
    fn all_topics_are_meant_where_none_is_named() {
        assert!(topics(&[]).has("camera/image"));
        let without = topics(&["--exclude", "camera/*", "-x", "scan"]);
        assert!(!without.has("camera/image") && !without.has("scan") && without.has("camera/left/image"));
    }

    #[test]
    fn a_star_stays_within_a_word_and_two_do_not() {
        let few = topics(&["/camera/*", "**/points", "odometry"]);
        assert!(few.has("camera/image") && few.has("lidar/front/points") && few.has("points") && few.has("odometry"));
        assert!(!few.has("camera") && !few.has("camera/left/image") && !few.has("odometry/raw"));
        let left = topics(&["**", "--exclude", "**/{left,right}/**"]);
        assert!(left.has("camera/image") && !left.has("camera/left/image"));
    }

    #[test]
    fn what_is_no_pattern_is_said_with_what_is_one() {
        let Err(complaint) = Asked::try_parse_from(["test", "camera/[left"]) else { panic!("it is none") };
        assert!(complaint.to_string().contains("it is no pattern: unclosed character class"), "{complaint}");
    }
}

//! What a check finds, and what is to be done about it.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// It works, but not as well as it could, or not for long.
    Warning,
    /// Something does not work.
    Problem,
}

/// What was found. What is not as it should be has a remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    level: Level,
    found: String,
    remedy: Option<String>,
    /// One of each, where several are found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    each: Vec<String>,
    /// So many more there are.
    #[serde(skip_serializing_if = "is_none")]
    more: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// So many of one kind are told.
const MOST: usize = 10;

impl Finding {
    /// All is well.
    pub fn ok(found: impl Into<String>) -> Finding {
        Finding { level: Level::Ok, found: found.into(), remedy: None, each: Vec::new(), more: 0 }
    }

    /// It could be better, and so it gets better.
    pub fn warning(found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { level: Level::Warning, remedy: Some(remedy.into()), ..Finding::ok(found) }
    }

    /// It is broken, and so it is mended.
    pub fn problem(found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { level: Level::Problem, ..Finding::warning(found, remedy) }
    }

    /// With what was found one by one.
    #[must_use]
    pub fn with(mut self, each: impl IntoIterator<Item = String>) -> Finding {
        let mut each = each.into_iter();
        self.each = each.by_ref().take(MOST).collect();
        self.more = each.count();
        self
    }

    /// How bad it is.
    pub fn level(&self) -> Level {
        self.level
    }

    /// As a sentence.
    pub fn found(&self) -> &str {
        &self.found
    }

    /// A command to type, or what else to do.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// One by one, and how many more there are.
    pub fn each(&self) -> (&[String], usize) {
        (&self.each, self.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_some_are_told_and_the_others_counted() {
        let finding = Finding::problem("much", "do something").with((0..25).map(|number| number.to_string()));
        assert_eq!((finding.each().0.len(), finding.each().1), (10, 15));
    }
}

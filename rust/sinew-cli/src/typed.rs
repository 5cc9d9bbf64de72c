//! Types that are said though they are known: as in ROS 2, one may stand between a name and a message.

use sinew::msg::Type;

use crate::failure::{Done, Failure};
use crate::output::shown;

/// Whether it can be nothing else: a name, or a signature.
pub fn is_type(text: &str) -> bool {
    let is_word =
        |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    text.contains('/') && text.split('/').all(is_word) || matches!(text.parse(), Ok(Type::Structure(_)))
}

/// The type and the message of what stands behind a name. Either may be left out.
pub fn split<'a>(first: Option<&'a str>, second: Option<&'a str>) -> (Option<&'a str>, Option<&'a str>) {
    match (first, second) {
        (Some(alone), None) if !is_type(alone) => (None, Some(alone)),
        other => other,
    }
}

/// A name without the word that ROS 2 has behind the package: `std_msgs/String` for `std_msgs/msg/String`.
pub fn short(name: &str) -> String {
    let mut words: Vec<&str> = name.split('/').collect();
    if words.len() > 2 && ["msg", "srv", "action"].contains(&words[1]) {
        words.remove(1);
    }
    words.join("/")
}

/// Fails where a type was asked for that is not there. `part` is what the type is of the one that is asked for: "Request", "Goal", or the whole, which is empty.
pub fn check(what: &str, ty: &Type, part: &str, asked: Option<&str>) -> Done {
    let Some(asked) = asked else { return Ok(()) };
    if is_meant(ty, part, asked) {
        return Ok(());
    }
    let text = format!("{what} {}, and no {}: the type may be left out", shown(&ty.name()), shown(asked));
    Err(Failure::Negative(text))
}

fn is_meant(ty: &Type, part: &str, asked: &str) -> bool {
    if let Ok(Type::Structure(structure)) = asked.parse() {
        return sinew::msg::difference(ty, &Type::Structure(structure)).is_none();
    }
    let (name, asked) = (short(&ty.name()), short(asked));
    let whole = name.strip_suffix(part).map(|whole| whole.trim_end_matches(['_', '/']));
    name == asked || whole == Some(&asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_alone_behind_the_topic_is_a_type_where_it_can_be_no_message() {
        for text in ["geometry_msgs/msg/Twist", "robot/Light", "robot/Light{on:bool;}", "a/b/c/D2"] {
            assert!(is_type(text), "{text}");
        }
        for text in ["", "-", "/", "a/", "on: true", "{linear: {x: 0.5}}", "path: a/b", "a/b: 1", "[1, 2]", "uint8", "1/2", "a / b"] {
            assert!(!is_type(text), "{text}");
        }
    }

    #[test]
    fn the_type_of_a_service_is_known_by_its_requests() {
        let ty = |name: &str| format!("{name}{{a:int64;}}").parse().unwrap();
        for name in ["pack/srv/Add_Request", "pack/Add/Request", "pack/AddRequest", "pack/srv/Add"] {
            assert!(is_meant(&ty(name), "Request", "pack/srv/Add"), "{name}");
            assert!(is_meant(&ty(name), "Request", "pack/Add"), "{name}");
        }
        assert!(is_meant(&ty("Words"), "", "Words"));
        assert!(is_meant(&ty("Words"), "", "Words{a:int64;}"));
        assert!(!is_meant(&ty("Words"), "", "Words{a:int32;}"));
        assert!(!is_meant(&ty("pack/srv/Add_Request"), "Request", "pack/srv/Sub"));
        assert!(!is_meant(&ty("pack/msg/Add"), "", "other/msg/Add"));
    }
}

//! Topics and nodes as ROS 1 names them. Pure.

use ring::digest::{SHA256, digest};

/// Of the topic `name`: names of a domain are words of letters, digits and `_` with slashes between them (W20), and so are those of ROS 1.
pub fn topic(name: &str) -> String {
    format!("/{name}")
}

/// The other way round. None: it is of nothing that a domain can have.
pub fn name(topic: &str) -> Option<&str> {
    let name = topic.strip_prefix('/')?;
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    name.split('/').all(is_word).then_some(name)
}

/// What the bridges of one domain are called, by which they know each other: neither brings what the other wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// Of this one.
    pub name: String,
    /// What the names of all of them begin with.
    family: String,
}

impl Own {
    /// Of the domain with this mark. `id` is drawn by lot, since ROS 1 ends a node when another one takes its name.
    pub fn new(mark: &str, id: [u8; 4]) -> Own {
        let family = format!("/sinew_{}_", hex(&digest(&SHA256, mark.as_bytes()).as_ref()[..8]));
        Own { name: format!("{family}{}", hex(&id)), family }
    }

    /// Whether a node of this name is a bridge of the same domain.
    pub fn is_of_us(&self, node: &str) -> bool {
        node.starts_with(&self.family)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_of_ros_1_has_a_slash_before_it() {
        assert_eq!(name(&topic("camera/image")), Some("camera/image"));
        for none in ["", "/", "camera", "//a", "/a/", "/a b", "/~a", "/a\u{f6}"] {
            assert_eq!(name(none), None, "{none}");
        }
    }

    #[test]
    fn bridges_of_one_domain_know_each_other() {
        let (one, other, stranger) = (Own::new("a", [1; 4]), Own::new("a", [2; 4]), Own::new("b", [1; 4]));
        assert!(one.is_of_us(&other.name) && one.is_of_us(&one.name) && one.name != other.name);
        assert!(!one.is_of_us(&stranger.name) && !one.is_of_us("/listener") && !one.is_of_us(""));
        assert!(one.name.starts_with("/sinew_") && one.name.ends_with("_01010101"), "{}", one.name);
    }
}

//! Topics and services as DDS has them where ROS 2 made them. Pure.

/// Of the topic `name`.
pub fn topic(name: &str) -> String {
    format!("rt/{name}")
}

/// On which a service is asked.
pub fn requests(service: &str) -> String {
    format!("rq/{service}Request")
}

/// On which a service answers.
pub fn replies(service: &str) -> String {
    format!("rr/{service}Reply")
}

/// What a topic of DDS is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<'a> {
    /// Messages of this topic.
    Topic(&'a str),
    /// Requests to this service.
    Requests(&'a str),
    /// Its replies.
    Replies(&'a str),
}

/// None: it is of no ROS 2, or of a name that no topic of a domain can have.
pub fn role(topic: &str) -> Option<Role<'_>> {
    let (place, name) = topic.split_once('/')?;
    let role = match place {
        "rt" => Role::Topic(name),
        "rq" => Role::Requests(name.strip_suffix("Request")?),
        "rr" => Role::Replies(name.strip_suffix("Reply")?),
        _ => return None,
    };
    let (Role::Topic(name) | Role::Requests(name) | Role::Replies(name)) = role;
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    name.split('/').all(is_word).then_some(role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_of_ros_2_is_known_by_its_place() {
        assert_eq!(role(&topic("camera/image")), Some(Role::Topic("camera/image")));
        assert_eq!(role(&requests("arm/move")), Some(Role::Requests("arm/move")));
        assert_eq!(role(&replies("arm/move")), Some(Role::Replies("arm/move")));
    }

    #[test]
    fn what_is_of_no_ros_2_has_no_role() {
        for name in
            ["", "rt", "rt/", "rt//a", "rt/a/", "rt/a b", "chatter", "ros_discovery_info", "rq/arm/move", "rr/Reply", "rp/a", "rt/a\u{f6}"]
        {
            assert_eq!(role(name), None, "{name}");
        }
    }
}

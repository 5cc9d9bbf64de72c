//! Key expressions as rmw_zenoh has them, and names within them. Pure.

/// What stands for a slash within a chunk.
const SLASH: &str = "%";

/// Of the messages of a topic, or the calls of a service: a name of a domain, a type as DDS has its name, and the hash of that.
pub fn data(domain_id: u32, name: &str, ty: &str, hash: &str) -> String {
    format!("{domain_id}/{name}/{ty}/{hash}")
}

/// Of the topic or service whose key this is.
pub fn name(data: &str) -> Option<&str> {
    let (_, rest) = data.split_once('/')?;
    let (rest, _) = rest.rsplit_once('/')?;
    rest.rsplit_once('/').map(|(name, _)| name)
}

/// All tokens of a ROS domain. No wildcard matches their first chunk, so that it stands there.
pub fn tokens(domain_id: u32) -> String {
    format!("@ros2_lv/{domain_id}/**")
}

/// Where whoever has kept messages with the key `data` is asked for them: as AdvancedSubscribers of Zenoh do.
pub fn keepers(data: &str) -> String {
    format!("{data}/@adv/**")
}

/// Where one of them answers, whose messages are in the order of their time stamps, as an AdvancedPublisher does.
pub fn keeper(data: &str, zid: &str) -> String {
    format!("{data}/@adv/pub/{zid}/uhlc/_")
}

/// A chunk, of something absolute: `camera/image` as `%camera%image`.
pub fn mangled(name: &str) -> String {
    format!("{SLASH}{}", name.replace('/', SLASH))
}

/// The other way round. None: it is of nothing that a domain can have.
pub fn demangled(chunk: &str) -> Option<String> {
    let name = chunk.strip_prefix(SLASH)?;
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    name.split(SLASH).all(is_word).then(|| name.replace(SLASH, "/"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zenoh::key_expr::KeyExpr;

    use super::*;

    const STRING: &str = "std_msgs::msg::dds_::String_";
    const HASH: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

    #[test]
    fn the_topic_chatter_has_the_key_that_its_publishers_in_ros_2_have() {
        let expected = "0/chatter/std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
        assert_eq!(data(0, "chatter", STRING, HASH), expected);
    }

    #[test]
    fn who_asks_all_keepers_of_a_topic_asks_this_one_and_gets_no_messages_by_that() {
        let key = data(7, "arm/joints", STRING, HASH);
        let all = KeyExpr::try_from(keepers(&key)).expect("it is one");
        let is_asked = |key: String| all.intersects(&KeyExpr::try_from(key).expect("it is one"));
        assert!(is_asked(keeper(&key, "1a2b")) && !is_asked(key));
    }

    #[test]
    fn what_is_of_no_domain_is_not_demangled() {
        for chunk in ["", "%", "chatter", "%%a", "%a%", "%a b", "%~a", "%a-b", "%\u{f6}"] {
            assert_eq!(demangled(chunk), None, "{chunk}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn every_name_is_one_chunk_and_a_key_without_wildcards(name in "[A-Za-z0-9_]{1,9}(/[A-Za-z0-9_]{1,9}){0,3}") {
            let chunk = mangled(&name);
            prop_assert!(!chunk.contains('/'));
            prop_assert_eq!(demangled(&chunk), Some(name.clone()));
            let key = data(0, &name, STRING, HASH);
            prop_assert_eq!(super::name(&key), Some(name.as_str()));
            prop_assert!(!KeyExpr::try_from(key).expect("it is one").is_wild());
        }
    }
}

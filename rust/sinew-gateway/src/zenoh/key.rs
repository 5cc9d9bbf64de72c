//! Topics and services as key expressions. Pure.
//!
//! A name is words of ASCII letters, digits and `_` with single slashes between them (W20), and so is a key expression as it stands, without wildcards.

/// The chunk that services stand below. It begins with '@', so that no wildcard matches it: whoever stores `sinew/**` answers no calls. No topic is named so.
const SERVICE: &str = "@service";
/// The chunk below which calls are cancelled.
const CANCEL: &str = "@cancel";

/// The chunk below which those tell that they are there who keep messages for those who come late.
const KEPT: &str = "@kept";

/// Of a topic.
pub fn topic(prefix: &str, name: &str) -> String {
    format!("{prefix}/{name}")
}

/// Of a service, for its calls.
pub fn service(prefix: &str, name: &str) -> String {
    format!("{prefix}/{SERVICE}/{name}")
}

/// Of a service, for calls that nobody waits for any more.
pub fn cancel(prefix: &str, name: &str) -> String {
    format!("{prefix}/{CANCEL}/{name}")
}

/// Of a topic, for the token of one who keeps messages of it, who has drawn this number.
pub fn keeper(prefix: &str, name: &str, drawn: u64) -> String {
    format!("{prefix}/{KEPT}/{name}/{drawn:016x}")
}

/// All of these.
pub fn keepers(prefix: &str, name: &str) -> String {
    format!("{prefix}/{KEPT}/{name}/*")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zenoh::key_expr::KeyExpr;

    use super::*;

    #[test]
    fn whoever_stores_everything_has_topics_and_no_services() {
        let all = KeyExpr::try_from("fleet/north/**").expect("it is one");
        let is_in = |key: String| all.intersects(&KeyExpr::try_from(key).expect("it is one"));
        assert!(is_in(topic("fleet/north", "arm/move")));
        assert!(!is_in(service("fleet/north", "arm/move")) && !is_in(cancel("fleet/north", "arm/move")));
    }

    #[test]
    fn those_who_keep_messages_of_a_topic_are_told_from_those_of_others() {
        let all = KeyExpr::try_from(keepers("sinew", "arm")).expect("it is one");
        let is_of_it = |name: &str| all.includes(&KeyExpr::try_from(keeper("sinew", name, 7)).expect("it is one"));
        assert_eq!(["arm", "arm/move", "leg", "left/arm"].map(is_of_it), [true, false, false, false]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn every_name_of_a_domain_is_a_key_expression_without_wildcards(name in "[A-Za-z0-9_]{1,9}(/[A-Za-z0-9_]{1,9}){0,3}") {
            let keys = [topic("sinew", &name), service("sinew", &name), cancel("sinew", &name)];
            for (at, key) in keys.iter().enumerate() {
                let valid = KeyExpr::try_from(key.as_str()).expect("it is one");
                prop_assert!(!valid.is_wild() && valid.as_str() == key && !keys[at + 1..].contains(key));
            }
        }
    }
}

//! Topics and services as key expressions. Pure.

use std::fmt::Write;

/// The chunk that services stand below. It begins with '@', so that no wildcard matches it: whoever stores `sinew/**` answers no calls.
const SERVICE: &str = "@service";
/// The chunk below which calls are cancelled.
const CANCEL: &str = "@cancel";

/// Of a topic.
pub fn topic(prefix: &str, name: &str) -> String {
    format!("{prefix}/{}", encoded(name))
}

/// Of a service, for its calls.
pub fn service(prefix: &str, name: &str) -> String {
    format!("{prefix}/{SERVICE}/{}", encoded(name))
}

/// Of a service, for calls that nobody waits for any more.
pub fn cancel(prefix: &str, name: &str) -> String {
    format!("{prefix}/{CANCEL}/{}", encoded(name))
}

/// What key expressions cannot have is percent-encoded: `*`, `$`, `?`, `#` and `%`, an '@' at the begin of a chunk, which has a meaning there, and control characters. An empty chunk is a lone `%`.
fn encoded(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    for (at, chunk) in name.split('/').enumerate() {
        if at > 0 {
            key.push('/');
        }
        if chunk.is_empty() {
            key.push('%');
        }
        for (at, character) in chunk.char_indices() {
            let is_special = matches!(character, '*' | '$' | '?' | '#' | '%') || (character == '@' && at == 0) || character.is_control();
            if is_special {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    write!(key, "%{byte:02X}").expect("a String takes it");
                }
            } else {
                key.push(character);
            }
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zenoh::key_expr::KeyExpr;

    use super::*;

    /// The name again, as programs of Zenoh have to find it.
    fn decoded(key: &str) -> String {
        let chunks = key.split('/').map(|chunk| {
            if chunk == "%" {
                return Vec::new();
            }
            let (mut bytes, mut rest) = (Vec::new(), chunk.as_bytes());
            while let Some((&byte, behind)) = rest.split_first() {
                let code = (byte == b'%').then(|| u8::from_str_radix(std::str::from_utf8(&behind[..2]).expect("ASCII"), 16).expect("hex"));
                bytes.push(code.unwrap_or(byte));
                rest = if code.is_some() { &behind[2..] } else { behind };
            }
            bytes
        });
        String::from_utf8(chunks.collect::<Vec<_>>().join(&b'/')).expect("it was one")
    }

    #[test]
    fn ordinary_names_stand_in_key_expressions_as_they_are() {
        for name in ["camera/image", "a", "robot_1/arm-2/joint.3", "größe/ü", "a@b", "x y"] {
            assert_eq!(topic("sinew", name), format!("sinew/{name}"));
        }
        assert_eq!(service("fleet/north", "arm/move"), "fleet/north/@service/arm/move");
        assert_eq!(cancel("sinew", "arm/move"), "sinew/@cancel/arm/move");
    }

    #[test]
    fn what_key_expressions_cannot_have_is_encoded() {
        for (name, key) in [
            ("/camera", "sinew/%/camera"),
            ("a//b/", "sinew/a/%/b/%"),
            ("a*b$?#%", "sinew/a%2Ab%24%3F%23%25"),
            ("@service/x", "sinew/%40service/x"),
            ("a\nb", "sinew/a%0Ab"),
            ("**", "sinew/%2A%2A"),
        ] {
            assert_eq!(topic("sinew", name), key);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn every_name_has_a_key_expression_of_its_own_without_wildcards(name in prop_oneof!["[a-c/*$?#%@]{1,12}", any::<String>().prop_filter("there are none without", |name| !name.is_empty())]) {
            let key = topic("sinew", &name);
            let valid = KeyExpr::try_from(key.as_str()).expect("it is one");
            prop_assert!(!valid.is_wild(), "{key}");
            prop_assert_eq!(decoded(key.strip_prefix("sinew/").expect("it begins so")), name);
        }
    }
}

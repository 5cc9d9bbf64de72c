//! What participants and endpoints say of themselves: `key=value;`, one behind the other. Pure.

/// The value of a key. What strangers wrote there may be anything.
pub fn value<'a>(user_data: &'a [u8], key: &str) -> Option<&'a str> {
    let text = std::str::from_utf8(user_data).ok()?;
    text.split(';').filter_map(|pair| pair.split_once('=')).find_map(|(each, value)| (each.trim() == key).then_some(value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_among_others() {
        let said = b"enclave=/;typehash=RIHS01_12; x = y ;";
        assert_eq!(value(said, "typehash"), Some("RIHS01_12"));
        assert_eq!(value(said, "x"), Some("y"));
        assert_eq!((value(said, "hash"), value(b"", "x"), value(b"x", "x"), value(b"\xff=1;", "\u{ff}")), (None, None, None, None));
    }
}

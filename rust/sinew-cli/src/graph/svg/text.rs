//! Text in a picture: what a stranger chose may not be part of its language, and has to fit.

/// As SVG has it between elements and in attributes.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\n' => escaped.push('\n'),
            // XML has none of these, in whatever form.
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// With so many letters at most: those in the middle are left out, since names of topics differ at both ends.
pub fn shortened(text: &str, most: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_owned();
    }
    let (front, back) = (most / 2, (most - 1) / 2);
    letters[..front].iter().chain(&['…']).chain(&letters[letters.len() - back..]).collect()
}

/// About how wide it is, in a font without serifs that is rather wide.
pub fn width(text: &str, size: f64) -> f64 {
    let ems = text.chars().map(|letter| match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | '\'' | '|' | ' ' => 0.32,
        'f' | 'r' | 't' | 'I' | '/' | '-' | '(' | ')' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '…' => 0.95,
        'a'..='z' | '0'..='9' | '_' => 0.61,
        'A'..='Z' => 0.72,
        letter if letter.is_ascii() => 0.7,
        _ => 1.05,
    });
    ems.sum::<f64>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_part_of_the_language() {
        assert_eq!(escaped("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&apos;");
        assert_eq!(escaped("a\u{0}\u{1b}\u{fffe}b"), "a\u{fffd}\u{fffd}\u{fffd}b");
    }

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("camera/image", 12), "camera/image");
        assert_eq!(shortened("camera/image", 8), "came…age");
        assert_eq!(shortened("äöü", 2), "ä…");
    }
}

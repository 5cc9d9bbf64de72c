//! Sizes and bandwidths as people write them.

/// Units, and how many bits a second they are.
pub const BANDWIDTHS: [(&str, f64); 4] = [("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];
/// Units, and how many bytes they are.
pub const SIZES: [(&str, f64); 7] =
    [("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0)];

/// A number and a unit, with a space between them or without. What is not 1 at least, or not below 2^53, is none.
pub fn parse(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    let starts_and_ends_with_digits = !number.starts_with('.') && !number.ends_with('.');
    let value = number.parse::<f64>().ok().filter(|_| starts_and_ends_with_digits)? * factor;
    (1.0..9_007_199_254_740_992.0).contains(&value).then_some(value.round() as u64)
}

/// In the largest unit that leaves no more than three digits behind the point: "20 Mbit/s".
pub fn bandwidth(bits: u64) -> String {
    let (unit, factor) = BANDWIDTHS.into_iter().rfind(|(_, factor)| bits as f64 >= *factor).unwrap_or(BANDWIDTHS[0]);
    format!("{} {unit}", (bits as f64 / factor * 1e3).round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_read_with_and_without_a_space() {
        assert_eq!(parse("20 Mbit/s", &BANDWIDTHS), Some(20_000_000));
        assert_eq!(parse("1.5Gbit/s", &BANDWIDTHS), Some(1_500_000_000));
        assert_eq!(parse("9600 bit/s", &BANDWIDTHS), Some(9600));
        assert_eq!(parse("64 MiB", &SIZES), Some(64 << 20));
        assert_eq!(parse("64 MB", &SIZES), Some(64_000_000));
        for text in [
            "",
            "20",
            "Mbit/s",
            "20 mbit/s",
            "20  Mbit/s",
            "0 bit/s",
            "0.4 bit/s",
            "-1 bit/s",
            "1e3 bit/s",
            "1.2.3 bit/s",
            ".5 bit/s",
            "5. bit/s",
        ] {
            assert_eq!(parse(text, &BANDWIDTHS), None, "{text}");
        }
        assert_eq!(parse(&format!("{}0 Gbit/s", "9".repeat(400)), &BANDWIDTHS), None);
    }

    #[test]
    fn a_bandwidth_is_told_in_the_unit_in_which_it_would_be_written() {
        for text in ["20 Mbit/s", "1.5 Gbit/s", "999 bit/s", "64 kbit/s"] {
            assert_eq!(bandwidth(parse(text, &BANDWIDTHS).expect("it is one")), text);
        }
    }
}

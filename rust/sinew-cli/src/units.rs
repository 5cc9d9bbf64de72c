//! Numbers for people.

use std::time::Duration;

/// "12.3 MB", in powers of 1000, as rates of bytes are usually told.
pub fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    scaled(bytes, 1000.0, &UNITS)
}

/// "15.4 us".
pub fn nanoseconds(time: f64) -> String {
    const UNITS: [&str; 4] = ["ns", "us", "ms", "s"];
    scaled(time, 1000.0, &UNITS)
}

/// "1:02:03", and "2:03" within an hour.
pub fn clock_time(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// With three digits.
pub fn three_digits(number: f64) -> String {
    let digits = match number.abs() {
        n if n >= 99.95 || n == 0.0 => 0,
        n if n >= 9.995 => 1,
        _ => 2,
    };
    format!("{number:.digits$}")
}

fn scaled(mut number: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while number.abs() >= step - 0.5 && unit + 1 < units.len() {
        number /= step;
        unit += 1;
    }
    let whole = unit == 0 && number.fract() == 0.0;
    format!("{} {}", if whole { format!("{number}") } else { three_digits(number) }, units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_the_unit_that_fits() {
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(999.0), "999 B");
        assert_eq!(bytes(999.7), "1.00 kB");
        assert_eq!(bytes(6_220_800.0), "6.22 MB");
        assert_eq!(bytes(186_624_000.0), "187 MB");
        assert_eq!(nanoseconds(15_400.0), "15.4 us");
        assert_eq!(nanoseconds(2.5e12), "2500 s");
        assert_eq!(three_digits(29.97), "30.0");
        assert_eq!(three_digits(0.5), "0.50");
        assert_eq!(clock_time(Duration::from_secs(123)), "2:03");
        assert_eq!(clock_time(Duration::from_secs(3723)), "1:02:03");
    }
}

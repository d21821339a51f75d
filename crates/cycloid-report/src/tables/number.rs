//! Formats numbers.

/// The placeholder for unknown numbers.
pub(crate) const NONE: &str = "–";

/// Formats a number with a comma between thousands.
pub(crate) fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number and its noun: 1 thread, 2 threads.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Formats [`whole`], or [`NONE`].
pub(crate) fn whole_or_none(number: Option<u64>) -> String {
    number.map_or_else(|| NONE.into(), whole)
}

/// Formats a ratio with three significant digits, up to hundreds.
pub(crate) fn proportion(ratio: f64) -> String {
    let decimals = match ratio {
        r if r < 9.995 => 2,
        r if r < 99.95 => 1,
        _ => 0,
    };
    format!("{ratio:.decimals$}")
}

/// Formats half of an interval relative to its centre; beyond some size the value counts as
/// unknown.
pub(crate) fn percent(part: f64) -> String {
    if part < 0.995 { format!("{:.0}%", part * 100.0) } else { ">99%".into() }
}

/// The unit of a table's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Its sign.
    pub(crate) sign: &'static str,
    nanoseconds: u32,
    decimals: usize,
}

impl Unit {
    /// For times from a few to some thousands of them.
    pub(crate) const MICROSECONDS: Self = Self { sign: "µs", nanoseconds: 1000, decimals: 1 };

    /// Returns the unit in which `nanoseconds` has about four digits.
    pub(crate) fn of(nanoseconds: f64) -> Self {
        match nanoseconds {
            t if t < 1e4 => Self { sign: "µs", nanoseconds: 1000, decimals: 3 },
            t if t < 1e7 => Self::MICROSECONDS,
            _ => Self { sign: "ms", nanoseconds: 1_000_000, decimals: 2 },
        }
    }

    /// Formats a time in this unit.
    pub(crate) fn show(self, nanoseconds: f64) -> String {
        let text = format!("{:.*}", self.decimals, nanoseconds / f64::from(self.nanoseconds));
        match text.split_once('.') {
            Some((integer, fraction)) => {
                let integer = integer.parse().map_or_else(|_| integer.into(), whole);
                format!("{integer}.{fraction}")
            }
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(whole(number), text);
        }
    }

    #[test]
    fn proportions() {
        for (ratio, text) in [(0.123, "0.12"), (1.0, "1.00"), (9.996, "10.0"), (312.4, "312")] {
            assert_eq!(proportion(ratio), text);
        }
    }

    #[test]
    fn times() {
        let show = |time| (Unit::of(time).show(time), Unit::of(time).sign);
        assert_eq!(show(1234.5), ("1.234".into(), "µs"));
        assert_eq!(show(1_234_567.0), ("1,234.6".into(), "µs"));
        assert_eq!(show(1_234_567_000.0), ("1,234.57".into(), "ms"));
    }
}

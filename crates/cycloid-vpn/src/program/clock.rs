//! The time of day.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use x509_cert::der::DateTime;

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// Returns a time in seconds since 1970 as in 2026-01-31T12:00:00Z.
pub(super) fn date(unix: u64) -> String {
    let date = DateTime::from_unix_duration(Duration::from_secs(unix));
    date.map_or_else(|_| format!("{unix} s after 1970"), |date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(1_709_210_096), "2024-02-29T12:34:56Z");
        assert_eq!(date(u64::MAX), "18446744073709551615 s after 1970");
    }
}

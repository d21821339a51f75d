//! Times for people: UTC in ISO 8601.

/// Returns a time in milliseconds since 1970 as `2026-01-31T23:59:59.999Z`.
pub(super) fn utc(milliseconds: u64) -> String {
    let (seconds, millis) = (milliseconds / 1000, milliseconds % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Returns year, month and day of the proleptic Gregorian calendar, from the days since 1970-01-01.
/// Years begin in March here, so that the leap day is a year's last; 400 years have 146,097 days.
const fn date(days: u64) -> (u64, u64, u64) {
    // Days since 0000-03-01.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March have 31, 30, 31, 30, 31 days, and again.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..=9 => (year, month + 3),
        _ => (year + 1, month - 9),
    };
    (400 * era + year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of `date --utc --date=@SECONDS`.
    #[test]
    fn times_are_utc() {
        for (milliseconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_251_199_001, "2024-02-29T23:59:59.001Z"),
            (1_735_689_599_000, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_000, "9999-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(utc(milliseconds), expected);
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = date(0);
        for day in 1..300_000 {
            let (year, month, today) = date(day);
            let next = match before {
                (year, 12, 31) => (year + 1, 1, 1),
                (year, month, day) => {
                    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                    let length = match month {
                        2 => 28 + u64::from(leap),
                        4 | 6 | 9 | 11 => 30,
                        _ => 31,
                    };
                    if day == length { (year, month + 1, 1) } else { (year, month, day + 1) }
                }
            };
            assert_eq!((year, month, today), next);
            before = next;
        }
    }

    #[test]
    fn no_time_panics() {
        utc(u64::MAX);
    }
}

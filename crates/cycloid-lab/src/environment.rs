//! Describes where a measurement was made: machine, compiler, date.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use cycloid::cpu;
use cycloid_profiler::clock;

use crate::record::Environment;

/// Returns the current environment of this process and machine.
pub fn current() -> Environment {
    Environment {
        program: concat!("cycloid ", env!("CARGO_PKG_VERSION")).into(),
        date: date(seconds_since_1970()),
        cpu: cpu_model(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        target: env!("CYCLOID_TARGET").into(),
        level_detected: cpu::detected_level().name().into(),
        level_used: cpu::level().name().into(),
        compiler: env!("CYCLOID_COMPILER").into(),
        opt_level: env!("CYCLOID_OPT_LEVEL").into(),
        clock: clock::NAME.into(),
    }
}

/// Returns the processor's name as the system gives it.
fn cpu_model() -> String {
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    information
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name")
        .map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.trim().into())
}

fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

/// Formats seconds since 1970-01-01 as an RFC 3339 date in UTC.
fn date(seconds: u64) -> String {
    // A year that begins in March ends with the leap day, so months have fixed offsets: every five
    // months from March take 153 days, and every 400 years take 146,097 days.
    let days = seconds / 86_400 + 719_468; // from 0000-03-01
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(seconds), text);
        }
    }
}

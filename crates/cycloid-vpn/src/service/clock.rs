//! Formats times for logs and status files: local time, to the second.

use std::mem::MaybeUninit;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns seconds since 1970, UTC.
pub fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Formats a time as `2026-11-21 19:40:24` in the system's time zone.
///
/// Uses the C library, which reads only the zone file that `TZ` or the system selects.
pub fn local(unix: u64) -> String {
    let unix = libc::time_t::try_from(unix).unwrap_or(libc::time_t::MAX);
    let mut moment = MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both pointers are valid for the call, which reads the first and writes the second.
    let known = unsafe { !libc::localtime_r(&raw const unix, moment.as_mut_ptr()).is_null() };
    if !known {
        // The year is out of range.
        return "-".into();
    }
    // SAFETY: `localtime_r` succeeded, so it has written `moment`.
    let moment = unsafe { moment.assume_init() };
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        i64::from(moment.tm_year) + 1900,
        moment.tm_mon + 1,
        moment.tm_mday,
        moment.tm_hour,
        moment.tm_min,
        moment.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn times_equal_those_of_date() {
        for unix in [0, 1_795_290_024, 1_782_864_000] {
            let moment = format!("--date=@{unix}");
            let said = Command::new("date").args([&moment, "+%Y-%m-%d %H:%M:%S"]).output().unwrap();
            assert_eq!(local(unix), String::from_utf8(said.stdout).unwrap().trim());
        }
    }

    #[test]
    fn extreme_times_do_not_panic() {
        assert_eq!(local(u64::MAX), "-");
    }
}

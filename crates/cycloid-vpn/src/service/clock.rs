//! Moments as logs and status files have them: local time, to the second.

use std::mem::MaybeUninit;
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since the start of 1970, UTC.
pub fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// `2026-11-21 19:40:24`, in the system's time zone.
///
/// The C library's: it reads the zone's file and no other, where `TZ` or the system says so.
pub fn local(unix: u64) -> String {
    let unix = libc::time_t::try_from(unix).unwrap_or(libc::time_t::MAX);
    let mut moment = MaybeUninit::<libc::tm>::uninit();
    // SAFETY: both places outlive the call, which reads the one and writes the other.
    let known = unsafe { !libc::localtime_r(&raw const unix, moment.as_mut_ptr()).is_null() };
    if !known {
        // Of a year that has no number.
        return "-".into();
    }
    // SAFETY: it was written, as there was no error.
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
    fn moments_are_those_of_the_systems_own_program() {
        for unix in [0, 1_795_290_024, 1_782_864_000] {
            let moment = format!("--date=@{unix}");
            let said = Command::new("date").args([&moment, "+%Y-%m-%d %H:%M:%S"]).output().unwrap();
            assert_eq!(local(unix), String::from_utf8(said.stdout).unwrap().trim());
        }
    }

    #[test]
    fn there_is_no_moment_that_it_ends_at() {
        assert_eq!(local(u64::MAX), "-");
    }
}

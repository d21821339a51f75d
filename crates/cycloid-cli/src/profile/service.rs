//! Profiles a running service, on Linux.

use cycloid_command::Stop;
#[cfg(target_os = "linux")]
use cycloid_profiler::{
    Refusal, request,
    service::{LONGEST_SECONDS, Request},
};
use cycloid_report::profile::{Report, Settings};

/// Requests the profile of a running service, and resolves its names.
#[cfg(target_os = "linux")]
pub(super) fn ask(process: u32, settings: Settings) -> Result<Report, Stop> {
    let Settings { seconds, hertz } = settings;
    if seconds > LONGEST_SECONDS {
        return Err(Stop::usage(
            format!("a running service can be profiled for at most {LONGEST_SECONDS} seconds"),
            "give a smaller --seconds",
        ));
    }
    let raw = request(process, Request { seconds, hertz }).map_err(|refusal| {
        let hint = match &refusal {
            Refusal::NoProcess => "find the process id with `pgrep cycloid`",
            Refusal::NotAService => {
                "name a `cycloid-hsm serve`, `cycloid-vpn server` or `cycloid-vpn client` that was \
                 started without CYCLOID_PROFILE"
            }
            Refusal::NoAnswer(_) => {
                "another request may be running, or the process belongs to another user: try again \
                 as root"
            }
            Refusal::Malformed(_) => "profile it with the version of cycloid that it runs",
        };
        Stop::failed(format!("process {process} {refusal}"), hint)
    })?;
    // In a container, the service's files are below its own root.
    Ok(Report::of_samples(&raw, &[format!("/proc/{process}/root").into()]))
}

/// The services run on Linux only.
#[cfg(not(target_os = "linux"))]
pub(super) fn ask(_: u32, _: Settings) -> Result<Report, Stop> {
    Err(Stop::usage("a running service can be profiled on Linux only", "profile an operation here"))
}

//! Directives for the process, its sockets, log, hooks and management interface.

use super::entry::{Entry, ignored, refused, used};
use crate::config::common::{
    Command, Hooks, LogTarget, Management, ManagementAddress, ManagementOptions,
    ManagementPassword, PasswordVia,
};
use crate::config::draft::Draft;
use crate::config::error::Problem;
use crate::config::place::{BOTH, CLIENT, PUSHED, SERVER};
use crate::config::values::{Call, Result};

/// A directive without arguments, which sets a flag.
macro_rules! flag {
    ($name:literal, $place:expr, $($field:ident).+) => {
        used($name, $place, 0, 0, |draft, _| {
            draft.$($field).+ = true;
            Ok(())
        })
    };
}

/// A directive whose argument is a program.
macro_rules! hook {
    ($name:literal, $place:expr, $field:ident) => {
        used($name, $place, 1, 1, |draft, call| set_hook(draft, call, |hooks| &mut hooks.$field))
    };
}

pub(super) const TABLE: &[Entry] = &[
    // The process.
    used("cd", BOTH, 1, 1, |draft, call| {
        draft.common.process.directory = Some(call.path(0));
        Ok(())
    }),
    used("user", BOTH, 1, 1, |draft, call| {
        draft.common.process.user = Some(call.owned(0));
        Ok(())
    }),
    used("group", BOTH, 1, 1, |draft, call| {
        draft.common.process.group = Some(call.owned(0));
        Ok(())
    }),
    used("chroot", BOTH, 1, 1, |draft, call| {
        draft.common.process.chroot = Some(call.path(0));
        Ok(())
    }),
    used("daemon", BOTH, 0, 1, |draft, call| {
        let message = "the program stays in the foreground: start it from a service manager, such \
                       as the systemd units cycloid-vpn-client@ and cycloid-vpn-server@";
        draft.warn(call.directive, message);
        Ok(())
    }),
    used("writepid", BOTH, 1, 1, |draft, call| {
        draft.common.process.pid_file = Some(call.path(0));
        Ok(())
    }),
    used("nice", BOTH, 1, 1, |draft, call| {
        draft.common.process.nice = Some(call.number(0, -20..=19)?);
        Ok(())
    }),
    flag!("mlock", BOTH, common.process.lock_memory),
    flag!("persist-key", BOTH | PUSHED, common.process.persist_key),
    used("remap-usr1", BOTH, 1, 1, |draft, call| {
        let choices = [("SIGHUP", "SIGHUP"), ("SIGTERM", "SIGTERM")];
        draft.common.process.remap_usr1 = Some(call.choice(0, &choices)?.into());
        Ok(())
    }),
    flag!("enable-dco", BOTH, common.process.enable_dco),
    flag!("disable-dco", BOTH, common.process.disable_dco),
    used("threads", BOTH, 1, 1, |draft, call| {
        draft.common.process.threads = Some(call.number(0, 1..=256)?);
        Ok(())
    }),
    used("metrics", BOTH, 1, 1, |draft, call| {
        let text = call.text(0);
        draft.common.process.metrics = Some(text.parse().map_err(|_| {
            Problem::new(
                format!("'{text}' is not ADDRESS:PORT"),
                "write it like 127.0.0.1:9176 or [::1]:9176",
            )
        })?);
        Ok(())
    }),
    // Sockets.
    used("sndbuf", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.sockets.send_buffer = buffer(call)?;
        Ok(())
    })
    .with_effect("used; a client ignores a pushed one, since its sockets are open already"),
    used("rcvbuf", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.sockets.receive_buffer = buffer(call)?;
        Ok(())
    })
    .with_effect("used; a client ignores a pushed one, since its sockets are open already"),
    used("tcp-nodelay", BOTH, 0, 0, |_, _| Ok(()))
        .with_effect("used: a server pushes it; the sockets of both ends always have it"),
    used("socket-flags", BOTH | PUSHED, 0, 8, |_, call| {
        for index in 0..call.all().len() {
            call.choice(index, &[("TCP_NODELAY", ())])?;
        }
        Ok(())
    })
    .with_effect("ignored: sockets always have TCP_NODELAY, the only flag"),
    used("mark", BOTH, 1, 1, |draft, call| {
        draft.common.sockets.mark = Some(call.number(0, 0..=u32::MAX)?);
        Ok(())
    }),
    used("bind-dev", BOTH, 1, 1, |draft, call| {
        draft.common.sockets.device = Some(call.owned(0));
        Ok(())
    }),
    flag!("multihome", BOTH, common.sockets.multihome),
    ignored("passtos", BOTH, "packets leave with the type of service of the outer socket"),
    ignored("tcp-queue-limit", BOTH, "the queue of a client over TCP has 256 KiB"),
    // The log.
    used("log", BOTH, 1, 1, |draft, call| log(draft, call, false)),
    used("log-append", BOTH, 1, 1, |draft, call| log(draft, call, true)),
    used("syslog", BOTH, 0, 1, |draft, call| {
        let name = call.get(0).unwrap_or("openvpn").to_owned();
        draft.common.log.target = LogTarget::Syslog(name);
        Ok(())
    }),
    used("verb", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.log.verbosity = call.number(0, 0..=u32::MAX)?.min(15) as u8;
        Ok(())
    }),
    used("mute", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.log.mute = Some(call.number(0, 0..=u32::MAX)?).filter(|count| *count > 0);
        Ok(())
    }),
    flag!("suppress-timestamps", BOTH, common.log.suppress_timestamps),
    flag!("machine-readable-output", BOTH, common.log.machine_readable),
    ignored("mute-replay-warnings", BOTH, "replays are counted, not logged one by one"),
    ignored("errors-to-stderr", BOTH, "messages always go to standard error"),
    used("status", BOTH, 1, 2, |draft, call| {
        let every = match call.get(1) {
            Some(_) => call.seconds(1)?.max(std::time::Duration::from_secs(1)),
            None => std::time::Duration::from_secs(60),
        };
        draft.common.log.status = Some((call.path(0), every));
        Ok(())
    }),
    used("status-version", BOTH, 1, 1, |draft, call| {
        draft.common.log.status_version = call.number(0, 1..=3)?;
        Ok(())
    }),
    // Management.
    used("management", BOTH, 2, 3, management),
    flag!("management-client", BOTH, management_options.connect),
    flag!("management-hold", BOTH, management_options.hold),
    flag!("management-query-passwords", BOTH, management_options.query_passwords),
    flag!("management-query-remote", CLIENT, management_options.query_remote),
    flag!("management-signal", BOTH, management_options.signal_on_disconnect),
    flag!("management-forget-disconnect", BOTH, management_options.forget_on_disconnect),
    ignored("management-up-down", BOTH, "the interface reports the state instead: `state on`"),
    flag!("management-client-auth", SERVER, management_options.client_auth),
    used("management-log-cache", BOTH, 1, 1, |draft, call| {
        draft.management_options.log_cache = Some(call.number(0, 1..=100_000)?);
        Ok(())
    }),
    used("management-client-user", BOTH, 1, 1, |draft, call| {
        draft.management_options.client_user = Some(call.owned(0));
        Ok(())
    }),
    used("management-client-group", BOTH, 1, 1, |draft, call| {
        draft.management_options.client_group = Some(call.owned(0));
        Ok(())
    }),
    refused(
        "management-query-proxy",
        "the management interface does not choose proxies",
        "remove it, and set http-proxy or socks-proxy",
    ),
    refused("management-client-pf", "the tunnel has no packet filter", "use nftables"),
    // Hooks.
    used("script-security", BOTH, 1, 2, |draft, call| {
        draft.common.hooks.security = Some(call.number(0, 0..=3)?);
        Ok(())
    }),
    hook!("up", BOTH, up),
    ignored("up-delay", BOTH, "a client runs `up` after it has connected, a server at the start"),
    flag!("up-restart", BOTH, common.hooks.up_restart),
    hook!("down", BOTH, down),
    flag!("down-pre", BOTH, common.hooks.down_pre),
    hook!("route-up", BOTH, route_up),
    hook!("route-pre-down", BOTH, route_pre_down),
    hook!("ipchange", BOTH, ip_change),
    hook!("tls-verify", BOTH, tls_verify),
    hook!("tls-crypt-v2-verify", SERVER, tls_crypt_v2_verify),
    used("tls-export-cert", BOTH, 1, 1, |draft, call| {
        draft.common.hooks.export_certificates = Some(call.path(0));
        Ok(())
    }),
    hook!("client-connect", SERVER, client_connect),
    hook!("client-disconnect", SERVER, client_disconnect),
    hook!("client-crresponse", SERVER, client_response),
    hook!("learn-address", SERVER, learn_address),
    used("auth-user-pass-verify", SERVER, 1, 2, |draft, call| {
        let choices = [("via-file", PasswordVia::File), ("via-env", PasswordVia::Environment)];
        let via = if call.get(1).is_some() { call.choice(1, &choices)? } else { choices[1].1 };
        draft.common.hooks.verify_password = Some((call.command(0)?, via));
        Ok(())
    }),
    used("tmp-dir", BOTH, 1, 1, |draft, call| {
        draft.common.hooks.directory = Some(call.path(0));
        Ok(())
    }),
    // A server may set only `setenv-safe` variables, and so cannot set a hook's PATH.
    used("setenv", BOTH, 1, 2, setenv),
    used("setenv-safe", BOTH | PUSHED, 1, 2, |draft, call| {
        let name = variable(call)?;
        draft.common.hooks.environment.push((format!("OPENVPN_{name}"), call.owned(1)));
        Ok(())
    }),
];

fn buffer(call: &Call<'_>) -> Result<Option<u32>> {
    // 0 keeps the system's default.
    Ok(Some(call.number(0, 0..=i32::MAX as u32)?).filter(|bytes| *bytes > 0))
}

fn log(draft: &mut Draft, call: &Call<'_>, append: bool) -> Result<()> {
    draft.common.log.target = LogTarget::File { path: call.path(0), append };
    Ok(())
}

fn management(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let address = match (call.text(0), call.text(1)) {
        (_, "unix") => ManagementAddress::Unix(call.path(0)),
        ("tunnel", _) => ManagementAddress::Tunnel(call.port(1)?),
        _ => ManagementAddress::Tcp(call.host(0)?, call.port(1)?),
    };
    let password = call.get(2).map(|word| match word {
        "stdin" => ManagementPassword::Ask,
        _ => ManagementPassword::File(call.path(2)),
    });
    let options = ManagementOptions::default();
    draft.common.management = Some(Management { address, password, options });
    Ok(())
}

fn set_hook(
    draft: &mut Draft,
    call: &Call<'_>,
    field: fn(&mut Hooks) -> &mut Option<Command>,
) -> Result<()> {
    *field(&mut draft.common.hooks) = Some(call.command(0)?);
    Ok(())
}

fn setenv(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let name = variable(call)?;
    match name.as_str() {
        "FORWARD_COMPATIBLE" => draft.forward_compatible = call.text(1) == "1",
        // As push-peer-info.
        "PUSH_PEER_INFO" => {}
        _ => draft.common.hooks.environment.push((name, call.owned(1))),
    }
    Ok(())
}

/// Returns the variable name in the first argument, with underscores in place of characters that no
/// name may have.
fn variable(call: &Call<'_>) -> Result<String> {
    let name = call.text(0);
    if name.is_empty() {
        return Err(Problem::new("the variable name is empty", "write it like UV_NAME"));
    }
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    Ok(name.chars().map(letter).collect())
}

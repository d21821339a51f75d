//! Client-only directives.

use super::entry::{Entry, ignored, used};
use crate::config::client::{AuthRetry, PullFilter, Verdict};
use crate::config::credentials::Credentials;
use crate::config::draft::Draft;
use crate::config::error::Problem;
use crate::config::place::{BOTH, CLIENT};
use crate::config::values::{Call, Result};
use crate::proto::{Role, Transport};
use zeroize::Zeroizing;

pub(super) const TABLE: &[Entry] = &[
    used("client", CLIENT, 0, 0, |draft, _| {
        draft.client.pull = true;
        set_role(draft, Role::Client)
    }),
    used("tls-client", CLIENT, 0, 0, |draft, _| set_role(draft, Role::Client)),
    used("pull", CLIENT, 0, 0, |draft, _| {
        draft.client.pull = true;
        Ok(())
    }),
    used("remote-random", CLIENT, 0, 0, |draft, _| {
        draft.client.remote_random = true;
        Ok(())
    }),
    ignored("remote-random-hostname", CLIENT, "the names of remotes are looked up as they are"),
    used("resolv-retry", BOTH, 1, 1, |draft, call| {
        if call.text(0) != "infinite" {
            call.seconds(0)?;
            let message = "resolv-retry is ignored: names are looked up again for each attempt to \
                           connect, without a time limit";
            draft.warn(call.directive, message);
        }
        Ok(())
    })
    .with_effect("ignored, with a warning unless it is `infinite`, which always holds"),
    used("auth-user-pass", CLIENT, 0, 1, |draft, call| {
        draft.client.credentials = Some(credentials(call)?);
        Ok(())
    })
    .or_block(),
    used("auth-retry", BOTH, 1, 1, |draft, call| {
        let choices = [
            ("none", AuthRetry::None),
            ("nointeract", AuthRetry::NoInteract),
            ("interact", AuthRetry::Interact),
        ];
        draft.client.auth_retry = call.choice(0, &choices)?;
        Ok(())
    }),
    used("auth-nocache", BOTH, 0, 0, |draft, _| {
        draft.client.auth_nocache = true;
        Ok(())
    }),
    used("static-challenge", CLIENT, 2, 3, |draft, call| {
        let echo = call.choice(1, &[("0", false), ("1", true)])?;
        draft.client.static_challenge = Some((call.owned(0), echo));
        Ok(())
    }),
    used("route-nopull", CLIENT, 0, 0, |draft, _| {
        draft.client.route_nopull = true;
        Ok(())
    }),
    used("pull-filter", CLIENT, 2, 2, |draft, call| {
        let choices =
            [("accept", Verdict::Accept), ("ignore", Verdict::Ignore), ("reject", Verdict::Reject)];
        let verdict = call.choice(0, &choices)?;
        draft.client.pull_filters.push(PullFilter { verdict, prefix: call.owned(1) });
        Ok(())
    }),
    used("push-peer-info", CLIENT, 0, 0, |_, _| Ok(())).with_effect(
        "ignored: variables of `setenv` whose names begin with UV_ or IV_ are always sent, and \
         the hardware address never",
    ),
    used("kill-switch", CLIENT, 0, 0, |draft, _| {
        draft.client.kill_switch = true;
        Ok(())
    }),
    ignored("allow-pull-fqdn", BOTH, "names in pushed routes are always resolved"),
    ignored("allow-recursive-routing", BOTH, "packets to the server never enter the tunnel"),
    used("proto-force", CLIENT, 1, 1, |draft, call| {
        let choices = [("udp", Transport::Udp), ("tcp", Transport::Tcp)];
        draft.forced = Some(call.choice(0, &choices)?);
        Ok(())
    }),
    ignored(
        "preresolve",
        CLIENT,
        "names are looked up before each attempt, where that is possible",
    ),
    ignored("ip-remote-hint", CLIENT, "the address of a remote comes from its name alone"),
];

pub(super) fn set_role(draft: &mut Draft, role: Role) -> Result<()> {
    if draft.role.is_some_and(|present| present != role) {
        return Err(Problem::new(
            "the file is for both a client and a server",
            "keep `client` (or tls-client), or `server` (or tls-server)",
        ));
    }
    draft.role = Some(role);
    Ok(())
}

pub(super) fn credentials(call: &Call<'_>) -> Result<Credentials> {
    let Some(block) = &call.directive.block else {
        return Ok(match call.get(0) {
            Some("[inline]") => {
                let hint = "remove the line if the file has a block <auth-user-pass>";
                return Err(Problem::new("`[inline]` is not a file", hint));
            }
            Some("stdin") | None => Credentials::Ask,
            Some(_) => Credentials::File(call.path(0)),
        });
    };
    let text = std::str::from_utf8(block).map_err(|_| {
        Problem::new("the user name or password is not UTF-8", "save the file as UTF-8")
    })?;
    let mut lines = text.lines().map(|line| line.trim_end_matches('\r'));
    let username = lines.next().filter(|name| !name.is_empty()).ok_or_else(|| {
        Problem::new(
            "the user name is missing",
            "write the user name on the first line and the password on the second",
        )
    })?;
    let password = lines.next().filter(|password| !password.is_empty());
    Ok(Credentials::Inline {
        username: username.to_owned(),
        password: password.map(|password| Zeroizing::new(password.to_owned())),
    })
}

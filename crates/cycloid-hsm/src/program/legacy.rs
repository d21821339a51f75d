//! `cycloid-hsm legacy`: the weak operations that the security officer allows.

use cycloid_command::{Stop, output};
use cycloid_hsm::legacy::Legacy;
use cycloid_hsm::rpc::{Request, Response, Role};

use crate::arguments::{Change, Hsm, LegacyArguments, LegacyCommand};
use crate::client::{call, connect, login, unexpected};
use crate::refusal::UNLOCK;

pub(super) fn run(hsm: &Hsm, legacy: &LegacyArguments) -> Result<(), Stop> {
    match &legacy.command {
        LegacyCommand::List => list(hsm),
        LegacyCommand::Allow(change) => set(hsm, change, true),
        LegacyCommand::Forbid(change) => set(hsm, change, false),
    }
}

fn list(hsm: &Hsm) -> Result<(), Stop> {
    let info = match call(&connect(hsm)?, &Request::Token {})? {
        Response::Token { info } => info,
        other => return Err(unexpected(&other)),
    };
    if info.locked {
        return Err(Stop::failed("the keystore is locked", UNLOCK));
    }
    let line = |weak: &Legacy| {
        let state = if info.allowed().has(*weak) { "allowed" } else { "forbidden" };
        format!("{}\t{state}\t{}\n", weak.name(), weak.description())
    };
    output::print(&Legacy::ALL.iter().map(line).collect::<String>())
}

fn set(hsm: &Hsm, change: &Change, allowed: bool) -> Result<(), Stop> {
    let client = login(hsm, Role::SecurityOfficer, change.pin.pin_file.as_deref())?;
    call(&client, &Request::AllowLegacy { weak: change.name, allowed }).map(drop)
}

//! `cycloid-hsm audit`: shows and verifies the audit log.

use cycloid_command::{Stop, output};
use cycloid_hsm::rpc::message::AuditEntry;
use cycloid_hsm::rpc::{Request, Response, Role};
use cycloid_hsm::store::{AuditHead, Trouble};
use serde_json::json;

use crate::arguments::{Audit, AuditCommand, AuditShow, AuditUses, AuditVerify, Hsm, Switch};
use crate::client::{call, login, unexpected};
use crate::keystore::open;
use crate::refusal::refused;
use crate::time::utc;

pub(super) fn run(hsm: &Hsm, audit: &Audit) -> Result<(), Stop> {
    match &audit.command {
        AuditCommand::Show(arguments) => show(hsm, arguments),
        AuditCommand::Verify(arguments) => verify(hsm, arguments),
        AuditCommand::Uses(arguments) => uses(hsm, arguments),
    }
}

fn uses(hsm: &Hsm, arguments: &AuditUses) -> Result<(), Stop> {
    let client = login(hsm, Role::SecurityOfficer, arguments.pin.pin_file.as_deref())?;
    let required = arguments.required == Switch::On;
    call(&client, &Request::LogUses { required }).map(drop)
}

fn show(hsm: &Hsm, arguments: &AuditShow) -> Result<(), Stop> {
    let client = login(hsm, Role::SecurityOfficer, arguments.pin.pin_file.as_deref())?;
    let mut from = 1;
    loop {
        let entries = match call(&client, &Request::Audit { from, limit: 500 })? {
            Response::Audit { entries } => entries,
            other => return Err(unexpected(&other)),
        };
        let Some(last) = entries.last() else { return Ok(()) };
        from = last.sequence + 1;
        let line = if arguments.json { json } else { line };
        output::print(&entries.iter().map(line).collect::<String>())?;
    }
}

fn line(entry: &AuditEntry) -> String {
    let AuditEntry { sequence, time, who, what, .. } = entry;
    format!("{sequence}\t{}\t{who}\t{what}\n", utc(*time))
}

fn json(entry: &AuditEntry) -> String {
    let AuditEntry { sequence, time, who, what, .. } = entry;
    // A double holds milliseconds exactly for far longer than a log lasts.
    let seconds = *time as f64 / 1000.0;
    format!("{}\n", json!({"sequence": sequence, "time": seconds, "who": who, "what": what}))
}

fn verify(hsm: &Hsm, arguments: &AuditVerify) -> Result<(), Stop> {
    let known = match &arguments.head {
        None => None,
        Some(text) => Some(text.parse::<AuditHead>().map_err(|_| {
            Stop::usage(
                "invalid head of an audit log",
                "give a head that an earlier `cycloid-hsm audit verify` printed",
            )
        })?),
    };
    let (head, acknowledged) =
        open(hsm)?.audit_report(known.as_ref()).map_err(|error| match Trouble::of(&error) {
            Some(Trouble::Tampered) => Stop::failed(
                error.to_string(),
                "the log or the whole database was changed from outside the keystore; `cycloid-hsm salvage check` lists the damage",
            ),
            _ => refused(&error),
        })?;
    for sentence in acknowledged {
        eprintln!("warning: {sentence}");
    }
    output::print(&format!("{head}\n"))
}

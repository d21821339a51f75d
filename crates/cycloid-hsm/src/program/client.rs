//! The program as a client of the daemon: connecting, logging in and calling.

use std::path::Path;

use cycloid_command::Stop;
use cycloid_hsm::Code;
use cycloid_hsm::rpc::{Client, Request, Response, Role, default_socket};

use crate::arguments::Hsm;
use crate::refusal::{PEM_FILES, refused};
use crate::secrets::{pin_of, secret};

pub(super) fn unexpected(response: &Response) -> Stop {
    Stop::failed(
        format!("unexpected answer from the daemon: {}", response.name()),
        "use the same version of the program and the daemon",
    )
}

pub(super) fn call(client: &Client, request: &Request) -> Result<Response, Stop> {
    client.call(request).map_err(|error| refused(&error))
}

pub(super) fn connect(hsm: &Hsm) -> Result<Client, Stop> {
    let socket = hsm.socket.clone().unwrap_or_else(default_socket);
    Client::connect(socket, "cycloid-hsm").map_err(|error| match error.code {
        Code::ARGUMENTS_BAD => Stop::failed(error.to_string(), PEM_FILES),
        _ => refused(&error),
    })
}

pub(super) fn login(hsm: &Hsm, role: Role, pin_file: Option<&Path>) -> Result<Client, Stop> {
    let client = connect(hsm)?;
    let what = match role {
        Role::SecurityOfficer => "security officer's PIN",
        Role::User => "user's PIN",
        Role::Auditor => "auditor's PIN",
    };
    let pin = secret(pin_file, pin_of(what))?;
    call(&client, &Request::Login { role, pin })?;
    Ok(client)
}

//! `cycloid-hsm key delete`: shows the selected key, asks, and destroys it.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use cycloid_command::{Stop, output, terminal};
use cycloid_hsm::attribute::{Template, cka, cko};
use cycloid_hsm::rpc::{Client, Request};

use crate::arguments::Delete;
use crate::client::call;
use crate::objects::{Object, find, identifier};

/// Fails early if confirmation is needed but no terminal is attached.
pub(super) fn may_ask(delete: &Delete) -> Result<(), Stop> {
    if delete.yes || terminal::is_there() {
        return Ok(());
    }
    Err(Stop::failed(
        "cannot ask for confirmation without a terminal",
        "give --yes to destroy the key without asking",
    ))
}

pub(super) fn run(client: &Client, delete: &Delete) -> Result<(), Stop> {
    let chosen = choose(client, delete)?;
    let lines: String = chosen.iter().map(Object::line).collect();
    if let Some(object) = chosen.iter().find(|object| !object.destroyable) {
        return Err(Stop::failed(
            format!("object {} may not be destroyed", object.handle),
            "its CKA_DESTROYABLE is false and cannot be changed; nothing was destroyed",
        ));
    }
    if !delete.yes {
        eprint!("{lines}destroy {}? This cannot be undone. [y/N] ", count(chosen.len()));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        if read.is_err() || !matches!(answer.trim(), "y" | "Y" | "yes") {
            return Err(Stop::failed(
                "nothing was destroyed",
                "answer y or give --yes to destroy it",
            ));
        }
    }
    for (done, object) in chosen.iter().enumerate() {
        if let Err(stop) = call(client, &Request::Destroy { object: object.handle }) {
            let said: String = chosen[..done].iter().map(Object::line).collect();
            output::print(&said)?;
            eprintln!("destroyed {} of {}", done, count(chosen.len()));
            return Err(stop);
        }
    }
    output::print(&lines)?;
    eprintln!("destroyed {}", count(chosen.len()));
    Ok(())
}

fn count(objects: usize) -> String {
    format!("{objects} object{}", if objects == 1 { "" } else { "s" })
}

/// Returns the selected key: one object, or both halves of a pair.
fn choose(client: &Client, delete: &Delete) -> Result<Vec<Object>, Stop> {
    let mut template = Template::new();
    template.set(cka::LABEL, delete.select.label.as_bytes());
    let id = delete.id.as_deref().map(|hex| identifier(Some(hex))).transpose()?;
    if let Some(id) = &id {
        template.set(cka::ID, id.clone());
    }
    let handles = find(client, &template)?.into_iter();
    let handles = handles.filter(|handle| delete.object.is_none_or(|object| object == *handle));
    let objects: Vec<Object> =
        handles.map(|handle| Object::read(client, handle)).collect::<Result<_, _>>()?;
    let mut keys = units(objects);
    if keys.len() > 1 {
        return Err(ambiguous(delete, &keys));
    }
    keys.pop().ok_or_else(|| {
        let label = &delete.select.label;
        let with = match (&delete.id, delete.object) {
            (_, Some(object)) => format!(" with the number {object}"),
            (Some(id), None) => format!(" with the identifier {id}"),
            (None, None) => String::new(),
        };
        Stop::failed(
            format!("no object is labelled {label:?}{with}"),
            "list the objects with `cycloid-hsm key list`",
        )
    })
}

/// Groups objects into units that can be destroyed by themselves. A private and a public key are a
/// pair if they share one identifier and one public key that no other object has. Certificates and
/// data count only if there are no keys.
fn units(objects: Vec<Object>) -> Vec<Vec<Object>> {
    let is_key = |object: &Object| {
        matches!(object.class, cko::PRIVATE_KEY | cko::PUBLIC_KEY | cko::SECRET_KEY)
    };
    let (keys, others): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_key);
    if keys.is_empty() {
        return others.into_iter().map(|object| vec![object]).collect();
    }
    let mut groups: BTreeMap<_, Vec<Object>> = BTreeMap::new();
    for key in keys {
        // A secret key is never half of a pair.
        let alone = (key.class == cko::SECRET_KEY).then_some(key.handle);
        let group = (alone, key.id.clone(), key.key_type, key.public_key_info.clone());
        groups.entry(group).or_default().push(key);
    }
    let mut units: Vec<Vec<Object>> = Vec::new();
    for group in groups.into_values() {
        match group.as_slice() {
            [one, other] if one.class != other.class => units.push(group),
            _ => units.extend(group.into_iter().map(|key| vec![key])),
        }
    }
    units.sort_by_key(|unit| unit[0].handle);
    units
}

fn ambiguous(delete: &Delete, units: &[Vec<Object>]) -> Stop {
    let lines: String = units.iter().flatten().map(Object::line).collect();
    let ids: std::collections::BTreeSet<&[u8]> =
        units.iter().map(|unit| unit[0].id.as_slice()).collect();
    let told_apart = ids.len() == units.len() && !ids.contains(&[][..]);
    let hint = if told_apart {
        "nothing was destroyed; choose a key by its identifier, the fifth column, with --id"
    } else {
        "nothing was destroyed; choose a key by its number, the first column, with --object"
    };
    let label = &delete.select.label;
    Stop::failed(
        format!("{} keys are labelled {label:?}:\n{}", units.len(), lines.trim_end()),
        hint,
    )
}

//! `cycloid-hsm multiply`: fills a temporary keystore with copies of its private key, so that a
//! benchmark can start a daemon with many keys.

use cycloid_command::Stop;
use cycloid_hsm::Code;
use cycloid_hsm::attribute::{Template, cka, cko};
use cycloid_hsm::rpc::Secret;
use cycloid_hsm::store::Store;

use crate::arguments::{Hsm, Multiply};
use crate::keystore::open;
use crate::refusal::refused;

/// The number of keys written in one transaction.
const AT_ONCE: usize = 1000;

/// Stores copies of the keystore's only private key, each with its own label and identifier.
pub(super) fn run(hsm: &Hsm, arguments: &Multiply) -> Result<(), Stop> {
    let store = open(hsm)?;
    let (attributes, secret) = private_key(&store).map_err(|error| refused(&error))?;
    let numbers: Vec<usize> = (0..arguments.copies).collect();
    for numbers in numbers.chunks(AT_ONCE) {
        let templates = numbers.iter().map(|number| {
            let mut template = attributes.clone();
            template.set(cka::LABEL, format!("key {number}").into_bytes());
            template.set(cka::ID, (*number as u64).to_be_bytes());
            template
        });
        let templates: Vec<Template> = templates.collect();
        let stored = store.write(|write| {
            let mut records = templates.iter().map(|template| (template, Some(&*secret)));
            records.try_for_each(|record| write.insert(record).map(drop))
        });
        stored.map_err(|error| refused(&error))?;
    }
    Ok(())
}

/// Returns the keystore's only private key.
fn private_key(store: &Store) -> Result<(Template, Secret), cycloid_hsm::Error> {
    let (_, records) = store.load()?;
    let class = u64::from(cko::PRIVATE_KEY);
    let private = |template: &Template| template.number(cka::CLASS).is_ok_and(|c| c == Some(class));
    let mut private_keys = records.into_iter().filter(|record| private(&record.attributes));
    match (private_keys.next(), private_keys.next()) {
        (Some(record), None) => Ok((record.attributes, Secret(store.secret(record.id)?))),
        _ => Err(Code::OBJECT_HANDLE_INVALID.because("the keystore must have one private key")),
    }
}

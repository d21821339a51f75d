//! The instruction sets that the library may use.

use std::env;

use cycloid::cpu::{self, Level};

use crate::Stop;

/// The environment variable that limits the instruction sets.
pub const VARIABLE: &str = "CYCLOID_CPU";

/// Limits the library to the instruction set of this name or, without one, of the environment
/// variable's value.
///
/// # Errors
/// [`Stop::Usage`] if there is no such instruction set, or the processor lacks it.
pub fn limit(name: Option<&str>) -> Result<(), Stop> {
    let (name, place) = match (name, env::var(VARIABLE)) {
        (Some(name), _) => (name.to_owned(), "--cpu"),
        (None, Ok(name)) if !name.is_empty() => (name, VARIABLE),
        _ => return Ok(()),
    };
    let detected = Level::ALL.into_iter().filter(|level| level.is_detected());
    let names = detected.map(Level::name).collect::<Vec<_>>().join(", ");
    let failure =
        |message: String| Err(Stop::usage(message, format!("this processor has {names}")));
    match Level::from_name(&name) {
        None => failure(format!("unknown level '{name}' in {place}")),
        Some(level) if !level.is_detected() => {
            failure(format!("this processor lacks {name}, which {place} demands"))
        }
        Some(level) => {
            cpu::limit(level);
            Ok(())
        }
    }
}

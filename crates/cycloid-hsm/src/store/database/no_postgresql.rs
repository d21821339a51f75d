//! Stands in for PostgreSQL in a build without it: its URLs are refused.

use super::connection::{Connection, Watch};
use crate::{Code, Result};

/// The address of a server. This type has no values, because every URL is refused.
#[derive(Clone)]
pub(super) enum Place {}

impl Place {
    pub(super) fn database(&self) -> Option<&str> {
        match *self {}
    }
}

/// Refuses a URL.
pub(super) fn place(_url: &str) -> Result<Box<Place>> {
    let reason = "this program was built without PostgreSQL; the feature `postgresql` adds it";
    Err(Code::FUNCTION_NOT_SUPPORTED.because(reason))
}

pub(super) fn open(place: &Place) -> Result<Box<dyn Connection>> {
    match *place {}
}

pub(super) fn watch(place: &Place) -> Result<Box<dyn Watch>> {
    match *place {}
}

//! An entry of the table of directives.

use crate::config::draft::Draft;
use crate::config::error::Problem;
use crate::config::values::Call;

pub(in crate::config) type Apply = fn(&mut Draft, &Call<'_>) -> Result<(), Problem>;

/// The effect of a directive.
#[derive(Clone, Copy)]
pub(in crate::config) enum Action {
    Use(Apply),
    /// Does nothing, for this reason.
    Ignore(&'static str),
    Refuse {
        reason: &'static str,
        hint: &'static str,
    },
}

/// A directive's table entry.
pub(in crate::config) struct Entry {
    pub(in crate::config) name: &'static str,
    /// Bits of [`place`].
    pub(in crate::config) place: u8,
    /// The minimum and maximum number of arguments.
    pub(in crate::config) arguments: (usize, usize),
    /// Whether a block may replace the arguments.
    pub(in crate::config) block: bool,
    pub(in crate::config) action: Action,
}

/// Returns an entry for a directive with `least` to `most` arguments.
pub(super) const fn used(
    name: &'static str,
    place: u8,
    least: usize,
    most: usize,
    apply: Apply,
) -> Entry {
    Entry { name, place, arguments: (least, most), block: false, action: Action::Use(apply) }
}

pub(super) const fn ignored(name: &'static str, place: u8, reason: &'static str) -> Entry {
    let action = Action::Ignore(reason);
    Entry { name, place, arguments: (0, usize::MAX), block: true, action }
}

pub(super) const fn refused(name: &'static str, reason: &'static str, hint: &'static str) -> Entry {
    let action = Action::Refuse { reason, hint };
    Entry { name, place: 0, arguments: (0, usize::MAX), block: true, action }
}

impl Entry {
    pub(super) const fn or_block(mut self) -> Self {
        self.block = true;
        self
    }
}

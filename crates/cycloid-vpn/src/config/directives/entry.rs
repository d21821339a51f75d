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
    /// The text of the reference for a used directive, if its effect differs from its name.
    pub(in crate::config) effect: Option<&'static str>,
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
    let (arguments, action) = ((least, most), Action::Use(apply));
    Entry { name, place, arguments, block: false, effect: None, action }
}

pub(super) const fn ignored(name: &'static str, place: u8, reason: &'static str) -> Entry {
    let action = Action::Ignore(reason);
    Entry { name, place, arguments: (0, usize::MAX), block: true, effect: None, action }
}

pub(super) const fn refused(name: &'static str, reason: &'static str, hint: &'static str) -> Entry {
    let action = Action::Refuse { reason, hint };
    Entry { name, place: 0, arguments: (0, usize::MAX), block: true, effect: None, action }
}

impl Entry {
    pub(super) const fn or_block(mut self) -> Self {
        self.block = true;
        self
    }

    /// Sets what the reference says about it.
    pub(super) const fn with_effect(mut self, effect: &'static str) -> Self {
        self.effect = Some(effect);
        self
    }
}

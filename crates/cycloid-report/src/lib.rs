//! Shows what the lab measured: as text, as a page, beside earlier results, and as profiles.
//!
//! Everything here reads records ([`cycloid_lab::record`]) or profiles. Operations run in functions
//! of the lab, so this crate is compiled for a short build, not for speed.
//!
//! - [`compare`]: compares two sides of records, with verdicts that account for noise.
//! - [`history`]: records results over time and flags outliers.
//! - [`page`]: shows records as one HTML page.
//! - [`profile`]: shows where time is spent, as flat profile, call graph and folded stacks.
//! - [`tables`]: shows a record as text.

pub mod compare;
pub mod history;
pub mod page;
pub mod profile;
pub mod tables;

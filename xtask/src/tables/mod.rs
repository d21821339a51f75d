//! `cargo xtask tables`: generates the tables and the scoreboard in the documents from committed
//! records, and the library's tables of multiples of the curves' base points.
//!
//! The multiples are computed in a slow and simple way, with integers and affine points,
//! independently of the library's own code. Except for BLS12-381, a table holds the odd multiples 1, 3, …, 2^w − 1 of
//! 2^(w·s·i)·G for successive i, where w is the width of a window and s is the number of windows
//! that share an entry's place by doubling. Coordinates are little-endian words of 64 bits, in the
//! form in which a backend takes constants ([`multiples::Form`]): entry by entry for one number, and
//! for eight numbers sixteen entries at a time, limb by limb.

mod bls12_381;
mod documents;
mod edwards;
mod emulated;
mod multiples;
mod records;
mod scoreboard;
mod weierstrass;

use std::fs;

use crate::process::{Failure, Outcome, say};
use documents::HINT;
use multiples::{FOLDER, Table};

/// Writes the tables, or with `check` compares them with the existing ones.
pub(crate) fn run(check: bool) -> Outcome {
    documents::run(check)?;
    documents::draw_scoreboard(check)?;
    let tables = [edwards::tables(), weierstrass::tables(), bls12_381::tables()];
    let tables: Vec<Table> = tables.into_iter().flatten().collect();
    if check {
        return compare(&tables);
    }
    for table in &tables {
        let path = table.path();
        fs::write(&path, &table.bytes)
            .map_err(|error| Failure::new(format!("cannot write {path}: {error}")))?;
        say(format!("{path}: {} bytes", table.bytes.len()));
    }
    Ok(())
}

/// Checks that the files in the folder are exactly these tables.
fn compare(tables: &[Table]) -> Outcome {
    for table in tables {
        let path = table.path();
        let there = fs::read(&path)
            .map_err(|error| Failure::new(format!("cannot read {path}: {error}")).hint(HINT))?;
        if there != table.bytes {
            return Err(Failure::new(format!("{path} differs from the computed table")).hint(HINT));
        }
    }
    let names = fs::read_dir(FOLDER)
        .map_err(|error| Failure::new(format!("cannot read {FOLDER}: {error}")))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    for name in names.filter(|name| name.ends_with(".bin")) {
        if tables.iter().all(|table| table.name != name) {
            return Err(Failure::new(format!("{FOLDER}/{name} is not a table of the library"))
                .hint("delete it"));
        }
    }
    say(format!("the {} tables in {FOLDER} match the computed ones", tables.len()));
    Ok(())
}

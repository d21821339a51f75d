//! Parses the user's choice of tables for this suite.

use super::Ec;
use super::ours::MOST;
use crate::Failure;
use crate::peers::ec::{Curve, Task};

impl Ec {
    /// Parses `--curve`: `all`, or curves separated by commas, in any case, with or without hyphen.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn curves_from_list(list: &str) -> Result<Vec<Curve>, Failure> {
        let known = Curve::ALL.map(Curve::name).join(", ").to_lowercase();
        let plain = |name: &str| name.trim().replace('-', "").to_lowercase();
        chosen(
            list,
            &Curve::ALL,
            |curve, name| plain(curve.name()) == plain(name),
            |name| {
                Failure::new(
                    format!("no curve is called '{name}'"),
                    format!("use all, or a list of {known}"),
                )
            },
        )
    }

    /// Parses `--operation`: `all`, or names separated by commas.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn tasks_from_list(list: &str) -> Result<Vec<Task>, Failure> {
        let known = Task::ALL.map(Task::name).join(", ");
        chosen(
            list,
            &Task::ALL,
            |task, name| task.name() == name.trim(),
            |name| {
                Failure::new(
                    format!("no operation is called '{name}'"),
                    format!("use all, or a list of {known}"),
                )
            },
        )
    }

    /// Parses `--batch`: numbers of operations separated by commas.
    ///
    /// # Errors
    /// The first invalid item.
    pub fn batches_from_list(list: &str) -> Result<Vec<usize>, Failure> {
        list.split(',')
            .map(|item| {
                let count = item.trim().parse().ok().filter(|count| (1..=MOST).contains(count));
                count.ok_or_else(|| {
                    Failure::new(
                        format!("'{item}' is not a batch size"),
                        format!("use sizes from 1 to {MOST}, as in --batch 8,64"),
                    )
                })
            })
            .collect()
    }
}

/// Returns the items of `all` that a list names, in the order of `all`.
fn chosen<T: Copy>(
    list: &str,
    all: &[T],
    is: impl Fn(T, &str) -> bool,
    unknown: impl Fn(&str) -> Failure,
) -> Result<Vec<T>, Failure> {
    if list == "all" {
        return Ok(all.to_vec());
    }
    let names: Vec<&str> = list.split(',').collect();
    match names.iter().find(|name| !all.iter().any(|item| is(*item, name))) {
        Some(name) => Err(unknown(name)),
        None => {
            let named = |item: &T| names.iter().any(|name| is(*item, name));
            Ok(all.iter().copied().filter(named).collect())
        }
    }
}

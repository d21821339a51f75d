//! Reads the options that repeat a measurement from the parameters of its tables.

use std::collections::BTreeSet;

use crate::record::{Method, Table};

/// Formats `--name a,b`; `None` without values.
pub(super) fn option<T: ToString>(
    name: &str,
    values: impl IntoIterator<Item = T>,
) -> Option<String> {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    (!values.is_empty()).then(|| format!("--{name} {}", values.join(",")))
}

/// Returns the values of a parameter that is a number.
pub(super) fn numbers(tables: &[&Table], parameter: &str) -> BTreeSet<u64> {
    tables.iter().filter_map(|table| table.parameters.get(parameter)?.as_u64()).collect()
}

/// Returns the values of a text parameter that are safe in a shell; omits all others.
pub(super) fn texts(tables: &[&Table], parameter: &str) -> BTreeSet<String> {
    let values = tables.iter().filter_map(|table| table.parameters.get(parameter)?.as_str());
    let plain = |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    values.filter(plain).map(str::to_lowercase).collect()
}

/// Returns the numbers of operations per batch.
pub(super) fn batches(tables: &[&Table]) -> BTreeSet<u32> {
    let records = tables.iter().flat_map(|table| &table.records);
    let batches = records.filter(|record| record.method == Method::Batch);
    batches.map(|record| record.operations_per_call).collect()
}

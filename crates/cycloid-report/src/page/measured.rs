//! A table together with its record, and the roles of its rows.

use cycloid_lab::record::{Method, Record, Report, Summary, Table};

/// A table and its source.
#[derive(Clone, Copy)]
pub(super) struct Measured<'a> {
    /// The name of the file.
    pub(super) source: &'a str,
    pub(super) report: &'a Report,
    pub(super) table: &'a Table,
}

impl<'a> Measured<'a> {
    /// Returns the group of the table.
    pub(super) fn group(&self) -> &'a str {
        &self.table.group
    }

    /// Returns its name within the group; empty if it is alone.
    pub(super) fn name(&self) -> &'a str {
        &self.table.name
    }

    /// Returns the row that ratios refer to.
    pub(super) fn reference(&self) -> Option<&'a Record> {
        self.table.records.iter().find(|record| record.label == self.table.reference)
    }

    /// Returns whether a row belongs to the reference's library and, in a comparison of backends,
    /// to its backend.
    pub(super) fn is_ours(&self, record: &Record) -> bool {
        match self.reference() {
            Some(reference) if self.table.summary == Summary::Backends => {
                record.label == reference.label
            }
            Some(reference) => record.implementation.product == reference.implementation.product,
            None => false,
        }
    }

    /// Returns the owner of a row as plots name it: a library, or for ours also the label.
    pub(super) fn product(&self, record: &Record) -> String {
        let Record { group, label, .. } = record;
        let product = &*record.implementation.product;
        match record.method {
            _ if !self.is_ours(record) && self.table.summary == Summary::Backends => label.clone(),
            _ if !self.is_ours(record) || *label == self.table.reference => product.into(),
            Method::Batch => format!("{product} ×{}", record.operations_per_call),
            _ if group == product => format!("{product}, {label}"),
            _ => format!("{group}, {label}"),
        }
    }

    /// Returns the owner of a row as tables name it, unique within the table.
    pub(super) fn who(&self, record: &Record) -> String {
        let name = self.product(record);
        let same = self.table.records.iter().filter(|other| self.product(other) == name).count();
        if same > 1 { format!("{name}, {}", record.label) } else { name }
    }

    /// Returns a row's time by the table's statistic.
    pub(super) fn time(&self, record: &Record) -> f64 {
        record.time.nanoseconds(self.table.statistic)
    }
}

/// Formats a time with three significant digits and its unit.
pub(super) fn duration(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        0.0 => return "0".into(),
        t if t < 1e3 => (t, "ns"),
        t if t < 1e6 => (t / 1e3, "µs"),
        t if t < 1e9 => (t / 1e6, "ms"),
        t => (t / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Formats three significant digits, or all digits before the point.
pub(super) fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 || v == 0.0 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    crate::tables::number::whole(value.round().max(0.0) as u64)
}

/// Formats a number of bytes for an axis.
pub(super) fn bytes(value: f64) -> String {
    match value {
        v if v < 1024.0 => format!("{} B", digits(v)),
        v if v < 1024.0 * 1024.0 => format!("{} KiB", digits(v / 1024.0)),
        v => format!("{} MiB", digits(v / (1024.0 * 1024.0))),
    }
}

/// Formats a rate: thousands and millions abbreviated where it is on an axis, else with separators.
pub(super) fn rate(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", digits(v / 1e6)),
        v if v >= 1e4 => format!("{}k", digits(v / 1e3)),
        v => digits(v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(duration(999.0), "999 ns");
        assert_eq!(duration(1_705_000.0), "1.71 ms");
        assert_eq!(duration(20_000.0), "20 µs");
        assert_eq!([0.0, 0.5, 12.34, 1234.5].map(digits), ["0", "0.5", "12.3", "1,235"]);
        assert_eq!([384.0, 4096.0, 3e6].map(bytes), ["384 B", "4 KiB", "2.86 MiB"]);
        assert_eq!([724.7, 43_381.0, 54_388_912.0].map(rate), ["725", "43.4k", "54.4M"]);
    }
}

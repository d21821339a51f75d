//! Writes a comparison as CSV (RFC 4180), one line per row.

use std::fmt::Write;

use super::comparison::{Comparison, Verdict};
use super::counts::KINDS;

/// Formats a header and one line per row. Changes are fractions, not per cent.
pub fn csv(comparison: &Comparison) -> String {
    let mut text = String::from(
        "suite,table,group,label,library,old_version,new_version,old_ns,new_ns,change,low,high,\
         resolution,recurrence,verdict",
    );
    for (code, _) in KINDS {
        let _ =
            write!(text, ",old_{code}_instructions,new_{code}_instructions,{code}_instructions");
    }
    text.push('\n');
    for table in &comparison.tables {
        for row in &table.rows {
            let [old, new] = &row.versions;
            let names =
                [&table.suite, &table.title, &row.group, &row.label, &row.product, old, new];
            for name in names {
                let _ = write!(text, "{},", quoted(name));
            }
            let numbers = [
                row.time_ns[0],
                row.time_ns[1],
                row.change,
                row.interval[0],
                row.interval[1],
                row.resolution,
                row.recurrence,
            ];
            for number in numbers {
                let _ = write!(text, "{number:.5},");
            }
            let _ = write!(text, "{}", row.verdict.map_or("unchanged", Verdict::name));
            for (code, _) in KINDS {
                let _ = match row.counted.iter().find(|counted| counted.code == code) {
                    Some(counted) => {
                        let [old, new] = counted.count;
                        write!(text, ",{old},{new},{}", counted.verdict.name())
                    }
                    None => write!(text, ",,,"),
                };
            }
            text.push('\n');
        }
    }
    text
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

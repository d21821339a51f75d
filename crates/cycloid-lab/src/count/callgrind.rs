//! What callgrind writes: its format of profiles, of version 1, with positions that are addresses.

use std::collections::BTreeSet;

use super::LINE_BYTES;

/// What was counted since the dump before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dump {
    /// What the request for it called it.
    pub(super) name: String,
    /// Instructions that were executed.
    pub(super) instructions: u64,
    /// The lines of the instruction cache that they are in: the file that the code is from, and the
    /// number of the line in it.
    pub(super) lines: BTreeSet<(String, u64)>,
}

/// What begins the name of a dump that was asked for.
const TRIGGER: &str = "desc: Trigger: Client Request: ";

/// A file of callgrind's; none if the program did not ask for it, as for the last one of a process.
///
/// # Errors
/// Says what is wrong in the first line that is.
pub(super) fn parse(text: &str) -> Result<Option<Dump>, String> {
    let Some(name) = text.lines().find_map(|line| line.strip_prefix(TRIGGER)) else {
        return match text.starts_with("# callgrind format\n") {
            true => Ok(None),
            false => Err("a file does not begin as callgrind's do".into()),
        };
    };
    let mut dump = Dump { name: name.trim().into(), instructions: 0, lines: BTreeSet::new() };
    let (mut object, mut total, mut is_of_callee) = (String::new(), None, false);
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("{name}, line {}: {what}: {line}", number + 1);
        match line.split_once(['=', ':']) {
            Some(("positions", kinds)) if kinds.trim() != "instr" => {
                return Err(wrong("positions are no addresses"));
            }
            Some(("events", events)) if events.trim() != "Ir" => {
                return Err(wrong("not instructions are counted, or not alone"));
            }
            Some(("ob", file)) => object = file.into(),
            // The line behind it has what the callee took, which is in the callee's own lines.
            Some(("calls", _)) => is_of_callee = true,
            Some(("totals", sum)) => {
                total = Some(sum.trim().parse::<u64>().map_err(|_| wrong("no number"))?);
            }
            None if !line.is_empty() && !line.starts_with('#') => {
                let (address, count) = cost(line).ok_or_else(|| wrong("no address and number"))?;
                if !std::mem::take(&mut is_of_callee) {
                    let sum = dump.instructions.checked_add(count);
                    dump.instructions = sum.ok_or_else(|| wrong("too many"))?;
                    dump.lines.insert((object.clone(), address / LINE_BYTES));
                }
            }
            _ => {}
        }
    }
    match total {
        Some(total) if total == dump.instructions => Ok(Some(dump)),
        Some(total) => {
            Err(format!("{name}: the lines have {}, not {total} as is said", dump.instructions))
        }
        None => Err(format!("{name}: the end is missing")),
    }
}

/// An address and how many instructions were executed there.
fn cost(line: &str) -> Option<(u64, u64)> {
    let (address, count) = line.strip_prefix("0x")?.split_once(' ')?;
    Some((u64::from_str_radix(address, 16).ok()?, count.parse().ok()?))
}

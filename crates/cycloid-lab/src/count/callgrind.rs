//! Parses callgrind's output: profile format version 1 with addresses as positions.

use std::collections::BTreeSet;

/// Bytes of a line of the instruction cache.
pub(super) const LINE_BYTES: u64 = 64;

/// The counts since the previous dump.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dump {
    /// The name given in the dump request.
    pub(super) name: String,
    /// Executed instructions.
    pub(super) instructions: u64,
    /// The executed instruction-cache lines: the file that contains the code and the number of the
    /// line in that file.
    pub(super) lines: BTreeSet<(String, u64)>,
}

/// The prefix of the line that names a requested dump.
const TRIGGER: &str = "desc: Trigger: Client Request: ";

/// Parses a file that callgrind wrote. Returns `None` if the program did not request it, as with
/// the last dump of a process.
///
/// # Errors
/// Describes the first malformed line.
pub(super) fn parse(text: &str) -> Result<Option<Dump>, String> {
    let Some(name) = text.lines().find_map(|line| line.strip_prefix(TRIGGER)) else {
        return match text.starts_with("# callgrind format\n") {
            true => Ok(None),
            false => Err("a file does not begin like a callgrind profile".into()),
        };
    };
    let mut dump = Dump { name: name.trim().into(), instructions: 0, lines: BTreeSet::new() };
    let (mut object, mut total, mut is_of_callee) = (String::new(), None, false);
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("{name}, line {}: {what}: {line}", number + 1);
        match line.split_once(['=', ':']) {
            Some(("positions", kinds)) if kinds.trim() != "instr" => {
                return Err(wrong("positions are not addresses"));
            }
            Some(("events", events)) if events.trim() != "Ir" => {
                return Err(wrong("events other than instructions are counted"));
            }
            Some(("ob", file)) => object = file.into(),
            // The next line has the callee's cost, which the callee's own lines already include.
            Some(("calls", _)) => is_of_callee = true,
            Some(("totals", sum)) => {
                total = Some(sum.trim().parse::<u64>().map_err(|_| wrong("not a number"))?);
            }
            None if !line.is_empty() && !line.starts_with('#') => {
                let (address, count) =
                    cost(line).ok_or_else(|| wrong("not an address and a count"))?;
                if !std::mem::take(&mut is_of_callee) {
                    let sum = dump.instructions.checked_add(count);
                    dump.instructions = sum.ok_or_else(|| wrong("the sum overflows"))?;
                    dump.lines.insert((object.clone(), address / LINE_BYTES));
                }
            }
            _ => {}
        }
    }
    match total {
        Some(total) if total == dump.instructions => Ok(Some(dump)),
        Some(total) => Err(format!(
            "{name}: the lines add up to {}, not to the stated total of {total}",
            dump.instructions
        )),
        None => Err(format!("{name}: the end is missing")),
    }
}

/// Parses an address and the number of instructions executed there.
fn cost(line: &str) -> Option<(u64, u64)> {
    let (address, count) = line.strip_prefix("0x")?.split_once(' ')?;
    Some((u64::from_str_radix(address, 16).ok()?, count.parse().ok()?))
}

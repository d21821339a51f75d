//! Parsing of valid and malformed callgrind output, and counting of a loop with a known number of
//! instructions.

use std::arch::asm;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use super::*;
use crate::measure::Operation;
use crate::record::{Implementation, Method, Parameters, Summary};
use crate::suite::subjects::{Sampling, Setting, Subject};

/// A dump as valgrind 3.19 writes it, with other numbers.
const DUMP: &str = "\
# callgrind format
version: 1
creator: callgrind-3.19.0
pid: 1
cmd:  ./a = calls=1 totals: 7
part: 2


desc: I1 cache: 
desc: Timerange: Basic block 6 - 14
desc: Trigger: Client Request: row 1

positions: instr
events: Ir
summary: 106


ob=/a
fl=???
fn=a::main
cfn=a::span
calls=1 0x14070 
0x13fca 106

fn=a::span
0x1403f 1
0x14040 2
cob=/lib/libc.so.6
cfi=???
cfn=memcpy
calls=1 0x40 
0x14044 100
0x14080 3

ob=/lib/libc.so.6
fl=???
fn=memcpy
0x14040 100

totals: 106
";

fn parsed(text: &str) -> Result<Option<Dump>, String> {
    callgrind::parse(text)
}

#[test]
fn a_dump_has_the_instructions_of_callees_once_and_lines_of_each_file() {
    let dump = parsed(DUMP).unwrap().unwrap();
    assert_eq!((&*dump.name, dump.instructions), ("row 1", 106));
    let line = |file: &str, number| (file.to_owned(), number);
    let lines = [line("/a", 0x500), line("/a", 0x501), line("/a", 0x502)];
    let lines = lines.into_iter().chain([line("/lib/libc.so.6", 0x501)]).collect();
    assert_eq!(dump.lines, lines);
}

#[test]
fn malformed_dumps_are_errors_and_the_dump_at_exit_is_ignored() {
    let end = DUMP.replace("Client Request: row 1", "Program termination");
    assert_eq!(parsed(&end), Ok(None));
    let too_many = format!("0x14040 {}\n0x14040 {}", u64::MAX, u64::MAX);
    for (from, to, message) in [
        ("# callgrind format", "# something else", ""),
        ("positions: instr", "positions: line", "positions are not addresses"),
        ("events: Ir", "events: Ir Dr Dw", "events other than instructions are counted"),
        ("0x14040 2", "+1 2", "not an address and a count"),
        ("0x14040 2", "0x14040", "not an address and a count"),
        ("0x14040 2", "0x14040 -2", "not an address and a count"),
        ("0x14040 2", "0x14040 2 3", "not an address and a count"),
        ("0x14040 2", "0xfffffffffffffffff 2", "not an address and a count"),
        ("0x14040 2", "0x14040 18446744073709551616", "not an address and a count"),
        ("0x14040 2", &too_many, "the sum overflows"),
        ("0x14040 2", "0x14040 3", "the lines add up to 107, not to the stated total of 106"),
        ("\ntotals: 106", "\ntotals: many", "not a number"),
        ("\ntotals: 106", "", "the end is missing"),
    ] {
        let text = DUMP.replace(from, to);
        match parsed(&text) {
            // The first line matters only if no request is named.
            Ok(dump) => assert!(message.is_empty() && dump.is_some(), "{to}"),
            Err(error) => assert!(!message.is_empty() && error.contains(message), "{error}"),
        }
    }
    for text in ["", "\0\u{fffd}", "# callgrind", "{\"format\": 2}"] {
        assert!(parsed(text).unwrap_err().contains("does not begin"), "{text}");
    }
    // A file cut at any place is an error, or has no name yet.
    let named = DUMP.find("row 1").unwrap() + "row 1".len();
    for length in named..DUMP.len() - 1 {
        let cut = parsed(&DUMP[..length]);
        // The first digits of the last number may remain.
        assert!(cut.is_err(), "{length}: {cut:?}");
    }
}

fn dump(name: &str, instructions: u64, lines: &[u64]) -> Dump {
    let lines = lines.iter().map(|line| (String::from("/a"), *line)).collect();
    Dump { name: name.into(), instructions, lines }
}

#[test]
fn the_surrounding_call_is_subtracted_and_the_range_of_runs_is_kept() {
    let nothing = dump(NOTHING, 10, &[1, 2]);
    let (few, many) = (dump("row 0", 1010, &[2, 3]), dump("row 0", 1030, &[3, 4, 5]));
    let same = count(&[&few, &few], &nothing, 8);
    assert_eq!((same.count, same.range, same.runs), (125.0, [125.0; 2], 2));
    assert_eq!(same.code_bytes, 64);
    let varying = count(&[&few, &many], &nothing, 1);
    assert_eq!((varying.count, varying.range), (1010.0, [1000.0, 1020.0]));
    assert_eq!(varying.code_bytes, 3 * 64);
}

/// A loop of two instructions per iteration.
struct Loop(u64);

impl Operation for Loop {
    fn run(&mut self) -> Result<(), &'static str> {
        let turns = self.0;
        // SAFETY: only counts a register down to zero.
        unsafe {
            asm!("2:", "dec {turns}", "jnz 2b", turns = inout(reg) turns => _, options(nomem, nostack));
        }
        Ok(())
    }

    fn output(&self) -> Vec<u64> {
        Vec::new()
    }

    fn heap_held(&self) -> Option<u64> {
        None
    }
}

/// Iterations of the counted loops, and the number of operations that each stands for.
const LOOPS: [(u64, u32); 4] = [(1000, 1), (2000, 1), (4000, 1), (4000, 8)];

/// The environment variable that starts this process as the counted one.
const VARIABLE: &str = "CYCLOID_TEST_LOOPS";

/// Not a test by itself: another test runs it under callgrind.
#[test]
fn loops() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let subject = |(turns, operations): (u64, u32)| Subject {
        group: "loops".into(),
        label: format!("{turns} turns, {operations}"),
        method: Method::Single,
        implementation: Implementation {
            product: "test".into(),
            version: "1".into(),
            function: "none".into(),
            backend: None,
        },
        constant_time: true,
        operations_per_call: operations,
        scratch: None,
        every_round: true,
        operation: Box::new(Loop(turns)),
    };
    let setting = Setting {
        suite: "test",
        operation: "loop",
        group: "loops".into(),
        name: String::new(),
        series: None,
        parameters: Parameters::new(),
        summary: Summary::Proportions,
        reference: 0,
        time: Duration::ZERO,
        sampling: Sampling::Paired,
        missing: Vec::new(),
        notes: Vec::new(),
    };
    let mut subjects: Vec<Subject> = LOOPS.map(subject).into();
    let rows = under_valgrind::table(&setting, &mut subjects, Duration::from_secs(60), 0).unwrap();
    println!("\n{}", serde_json::to_string(&rows).unwrap());
}

/// An empty directory that is removed on drop.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_loop_is_counted_to_the_instruction_and_scales_with_its_iterations() {
    let directory = Directory::new("cycloid-loops");
    let mut command = command(&std::env::current_exe().unwrap(), &directory.0);
    command.args(["--exact", "count::tests::loops", "--nocapture"]).env(VARIABLE, "1");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let rows = text.lines().find(|line| line.starts_with("[{")).unwrap();
    let counted = read(&directory.0, serde_json::from_str(rows).unwrap()).unwrap();
    let counts: Vec<Count> = counted.iter().map(|(_, count)| count.unwrap()).collect();
    assert!(counts.iter().all(|count| count.range == [count.count; 2]), "{counts:?}");
    // The overhead beside the loop is the same in each, and close to zero.
    let beside = counts[0].count - 2000.0;
    assert!((0.0..16.0).contains(&beside), "{counts:?}");
    assert_eq!(counts[1].count, 4000.0 + beside);
    assert_eq!(counts[2].count, 8000.0 + beside);
    assert_eq!(counts[3].count, (8000.0 + beside) / 8.0);
    assert!((64..=3 * 64).contains(&counts[0].code_bytes), "{counts:?}");
    // The files are deleted after reading.
    assert_eq!(fs::read_dir(&directory.0).unwrap().count(), 0);
}

#[test]
fn missing_or_malformed_files_are_errors() {
    let directory = Directory::new("cycloid-strange");
    let row = |runs| Row {
        suite: "test".into(),
        title: "table".into(),
        group: "group".into(),
        label: "label".into(),
        product: "test".into(),
        operations_per_call: 1,
        dump: "row 1".into(),
        runs,
    };
    // A row without counted runs needs no files.
    assert_eq!(read(&directory.0, vec![row(0)]).unwrap(), [(row(0), None)]);
    let write = |name: &str, text: &str| fs::write(directory.0.join(name), text).unwrap();
    write("callgrind.1", DUMP);
    let failure = read(&directory.0, vec![row(1)]).unwrap_err();
    assert!(failure.message.contains("did not count every run of table, label"), "{failure}");
    write("callgrind.1", DUMP);
    write("callgrind.2", "nonsense");
    let failure = read(&directory.0, vec![row(1)]).unwrap_err();
    assert!(failure.message.contains("cannot read"), "{failure}");
    assert!(read(Path::new("/no/such/directory"), Vec::new()).is_err());
}

//! The library on an emulated Cortex-M4: its kernels beside plain Rust, known answers, the plugin's
//! model of cycles, a firmware in C, and what the library's code must not contain.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

use crate::process::{Failure, Outcome, output, program, run as run_program, say, shown, works};

const FOLDER: &str = "crates/cycloid-m4";
const TARGET: &str = "thumbv7em-none-eabihf";
const EMULATOR: &str = "qemu-system-arm";

/// The folder for what is built.
const BUILT: &str = "target/cortex-m4";

/// Operations whose results are compared with known answers, apart from the slowest.
const OPERATIONS: &str = "rsa-verify p256-sign p256-verify p256-agree x25519-agree ed25519-sign \
                          ed25519-verify modexp:0:64 modexp:35:64 crt:30";

/// Those whose stack is wiped: secret inputs.
const SECRET: &str = "rsa-sign rsa-sign-least rsa-sign-first rsa-sign-pss rsa-decrypt p256-key \
                      p256-sign p256-agree x25519-key x25519-agree ed25519-key ed25519-sign \
                      crt-pow crt-pow-least";

/// Bytes of stack by which an operation's bound exceeds its own frames, at least.
const MARGIN: usize = 64;

/// A way to compile the programs: options of cargo, and the folder for what is built.
struct Variant {
    options: &'static [&'static str],
    built: &'static str,
}

/// Large tables, as by default.
const LARGE: Variant = Variant { options: &[], built: BUILT };

/// Small tables, and only SHA-256.
const SMALL: Variant = Variant {
    options: &["--no-default-features", "--features", "small-tables"],
    built: "target/cortex-m4/small-tables",
};

/// The same without tables.
const NONE: Variant =
    Variant { options: &["--no-default-features"], built: "target/cortex-m4/no-tables" };

/// The same with the least code.
const LEAST: Variant = Variant {
    options: &[
        "--no-default-features",
        "--features",
        "small",
        "--config",
        "profile.release.opt-level=\"z\"",
    ],
    built: "target/cortex-m4/small",
};

const VARIANTS: [&Variant; 4] = [&LARGE, &SMALL, &NONE, &LEAST];

/// The instruction `bx lr`: the function returns.
const RETURN: [u8; 2] = [0x70, 0x47];

/// Parts of symbols that the library's code must not have, and what they are. Names of Rust's
/// functions have lengths before their parts.
const FORBIDDEN: [(&str, &str); 6] = [
    ("__aeabi_uldivmod", "a division of 64 bits"),
    ("__aeabi_ldivmod", "a division of 64 bits"),
    ("__rust_alloc", "an allocator"),
    ("__rdl_alloc", "an allocator"),
    ("malloc", "an allocator"),
    ("4core3fmt", "formatting"),
];

/// Runs the programs, and returns a line for the summary. Without the emulator or the target, the
/// line says that nothing ran.
pub(crate) fn run() -> Result<String, Failure> {
    let libraries =
        output(&mut program("rustc", &format!("--print target-libdir --target {TARGET}")))?;
    let reason = if !works(&mut program(EMULATOR, "--version")) {
        "qemu-system-arm is missing (apt-get install qemu-system-arm)"
    } else if !Path::new(libraries.trim()).exists() {
        "the target is missing (rustup target add thumbv7em-none-eabihf)"
    } else {
        build_all()?;
        let compared = emulate(&LARGE, "kernels", "", &[])?;
        // The tables' sizes do not change the kernels.
        emulate(&LEAST, "kernels", "", &[])?;
        let mut right = usize::MAX;
        for variant in VARIANTS {
            let answers = emulate(variant, "runner", OPERATIONS, &[])?;
            right = right.min(answers.lines().count());
            let bounds = emulate(variant, "runner", SECRET, &[])?;
            check_stack(&bounds, &emulate_unwiped(variant)?)?;
        }
        let symbols = symbols("runner")?;
        let timed = timing()?;
        let firmware = firmware_in_c()?;
        let last = compared.lines().last().unwrap_or_default().to_owned();
        if right != OPERATIONS.split_whitespace().count() {
            return Err(Failure::new(format!("only {right} operations wrote a result")));
        }
        return Ok(format!(
            "Cortex-M4: {last} with plain Rust; {right} operations with known answers, \
             three sizes of tables, the least code, and bounded stack; {timed} sequences with \
             known cycles; {symbols} symbols, none forbidden; {firmware}"
        ));
    };
    say(format!("WARNING: the kernels for Armv7E-M are untested: {reason}"));
    Ok(format!("Cortex-M4: NOT RUN: {reason}"))
}

/// Builds everything that runs later, two builds at a time: most of each is one crate, and one unit
/// of code.
fn build_all() -> Outcome {
    let mut builds = Vec::new();
    if works(&mut program(COMPILER, "--version")) {
        builds.extend(FIRMWARE.iter().map(library_build));
    }
    builds.extend(VARIANTS.map(|variant| build(variant, &["kernels", "runner"])));
    let builds = Mutex::new(builds.into_iter());
    let next = || builds.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(mut build) = next() {
            run_program(&mut build)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let other = scope.spawn(work);
        let here = work();
        other.join().unwrap_or_else(|_| Err(Failure::new("a build panicked".to_owned())))?;
        here
    })
}

/// Builds a program and runs it; fails if it does. `more` are options of the emulator.
fn emulate(
    variant: &Variant,
    name: &str,
    arguments: &str,
    more: &[&str],
) -> Result<String, Failure> {
    run_program(&mut build(variant, &[name]))?;
    emulate_program(&path(variant.built, name), name, arguments, more)
}

/// Runs the operations on secrets in a copy of the program whose function that wipes the stack
/// returns at once, so that the depth of the stack is that of an operation's own frames.
fn emulate_unwiped(variant: &Variant) -> Result<String, Failure> {
    let (wiping, unwiped) = (path(variant.built, "runner"), path(variant.built, "unwiped"));
    let mut program = fs::read(&wiping)
        .map_err(|error| Failure::new(format!("cannot read {wiping}: {error}")))?;
    let place = place_of("wipe_pairs", &wiping)?;
    let function = program.get_mut(place..place + RETURN.len());
    let function = function.ok_or_else(|| Failure::new(format!("{wiping} ends before {place}")))?;
    function.copy_from_slice(&RETURN);
    fs::write(&unwiped, program)
        .map_err(|error| Failure::new(format!("cannot write {unwiped}: {error}")))?;
    emulate_program(&unwiped, "runner", SECRET, &[])
}

/// Returns the position in the file of the only function whose name contains `part`.
fn place_of(part: &str, path: &str) -> Result<usize, Failure> {
    let symbols = output(program("readelf", "-sW").arg(path))?;
    let named: Vec<&str> = symbols.lines().filter(|line| line.contains(part)).collect();
    let [symbol] = named[..] else {
        return Err(Failure::new(format!("{path} has {} symbols with `{part}`", named.len())));
    };
    let segments = output(program("readelf", "-lW").arg(path))?;
    place(symbol, &segments).ok_or_else(|| Failure::new(format!("{path} does not load `{symbol}`")))
}

/// Returns the position in the file of a symbol of `readelf -sW`, by the segments of `readelf -lW`.
fn place(symbol: &str, segments: &str) -> Option<usize> {
    let number =
        |text: &str| usize::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok();
    // "   233: 00028521  5196 FUNC    GLOBAL  DEFAULT    2 _ZN7cycloid7machine5stack…": the lowest
    // bit of an address selects Thumb instructions.
    let address = number(symbol.split_whitespace().nth(1)?)? & !1;
    // "  LOAD           0x000514 0x00000400 0x00000400 0x3e198 0x3e198 R E 0x4": the position in the
    // file, two addresses, and the size.
    segments.lines().find_map(|line| {
        let numbers = line.trim_start().strip_prefix("LOAD")?.split_whitespace().map_while(number);
        let [position, start, _, size, ..] = numbers.collect::<Vec<_>>()[..] else { return None };
        (start..start + size).contains(&address).then(|| address - start + position)
    })
}

/// Returns the command that builds programs.
fn build(variant: &Variant, names: &[&str]) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut build = program(&cargo, "build --release --locked");
    names.iter().for_each(|name| _ = build.args(["--bin", name]));
    // Its configuration, which names the target, is read in its folder only.
    build.args(["--target-dir", &format!("../../{}", variant.built)]).args(variant.options);
    build.current_dir(FOLDER).env_remove("CARGO_TARGET_DIR");
    build
}

/// Runs a program under the emulator; fails if it does.
fn emulate_program(
    path: &str,
    name: &str,
    arguments: &str,
    more: &[&str],
) -> Result<String, Failure> {
    let semihosting = ["enable=on,target=native,chardev=text,arg=", name];
    let arguments = arguments.split_whitespace().map(|argument| format!(",arg={argument}"));
    let semihosting = semihosting.concat() + &arguments.collect::<String>();
    let mut emulator = program(EMULATOR, "-M mps2-an386 -cpu cortex-m4 -nographic");
    // Without a device, QEMU writes the program's text to standard error.
    emulator.args(["-monitor", "none", "-serial", "none", "-chardev", "stdio,id=text"]);
    emulator.args(["-semihosting-config", &semihosting]).args(more);
    emulator.arg("-kernel").arg(path);
    say(shown(&emulator));
    output(&mut emulator)
}

fn path(built: &str, name: &str) -> String {
    format!("{built}/{TARGET}/release/{name}")
}

/// Checks the symbols of a program, and returns their number.
fn symbols(name: &str) -> Result<usize, Failure> {
    let listed = output(program("readelf", "-sW").arg(path(BUILT, name)))?;
    let names = names(&listed);
    check_names(name, &names)?;
    Ok(names.len())
}

/// Returns the names in the list of symbols by `readelf -sW`.
fn names(listed: &str) -> Vec<&str> {
    // "   233: 00028520  5196 FUNC    LOCAL  DEFAULT    2 _ZN7cycloid6scheme…"
    let names = listed.lines().filter_map(|line| line.split_whitespace().nth(7));
    names.filter(|name| *name != "Name").collect()
}

fn check_names(program: &str, names: &[&str]) -> Outcome {
    if names.is_empty() {
        return Err(Failure::new(format!("{program} has no symbols")));
    }
    for (part, what) in FORBIDDEN {
        if let Some(name) = names.iter().find(|name| name.contains(part)) {
            return Err(Failure::new(format!("{program} contains {what}: {name}")));
        }
    }
    Ok(())
}

/// Compares the lines `name scratch stack` of operations that wipe their stack with those of the
/// same operations that do not: the bound must exceed an operation's own frames.
fn check_stack(bounds: &str, used: &str) -> Outcome {
    let stack = |line: &str| line.split(' ').nth(2).and_then(|bytes| bytes.parse::<usize>().ok());
    let lines = bounds.lines().zip(used.lines());
    if bounds.lines().count() != used.lines().count() || lines.clone().count() == 0 {
        return Err(Failure::new("the operations wrote different lines".to_owned()));
    }
    for (bound, used) in lines {
        if stack(bound).zip(stack(used)).is_none_or(|(bound, used)| used + MARGIN > bound) {
            let message = format!("the stack is not wiped as deep as '{used}': '{bound}'");
            return Err(Failure::new(message));
        }
    }
    Ok(())
}

/// A firmware in C: the folder for what is built, options of cargo for the C interface, those of the
/// compiler, and the number of signatures that it makes.
struct Firmware {
    folder: &'static str,
    options: &'static str,
    defined: &'static [&'static str],
    steps: usize,
}

/// With all curves and RSA, and with P-256 alone and the least code.
const FIRMWARE: [Firmware; 2] = [
    Firmware {
        folder: "c",
        options: "",
        defined: &["-DRSA_KEY=\"crates/cycloid-aarch64/keys/rsa-2048.der\""],
        steps: 3,
    },
    Firmware {
        folder: "c-p256",
        options: "--no-default-features --features p256,small \
                  --config profile.release.opt-level=\"z\" --config profile.release.lto=\"fat\"",
        defined: &[],
        steps: 2,
    },
];

const COMPILER: &str = "arm-none-eabi-gcc";

/// Links the example in C with the C interface for the target, and runs it. Returns a part of the
/// summary.
fn firmware_in_c() -> Result<String, Failure> {
    if !works(&mut program(COMPILER, "--version")) {
        say("WARNING: the firmware in C is untested: apt-get install gcc-arm-none-eabi");
        return Ok("no firmware in C: gcc-arm-none-eabi is missing".to_owned());
    }
    let [all, least] = &FIRMWARE;
    let (all, least) = (run_firmware(all)?, run_firmware(least)?);
    Ok(format!("a firmware in C, of {all} bytes, and {least} with P-256 alone"))
}

/// Returns the command that builds the C interface for a firmware.
fn library_build(Firmware { folder, options, .. }: &Firmware) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let library = "rustc --release --locked -p cycloid-c --lib --crate-type staticlib";
    let mut build = program(&cargo, &format!("{library} {options}"));
    build.args(["--target", TARGET, "--target-dir", &format!("{BUILT}/{folder}")]);
    build.env_remove("CARGO_TARGET_DIR");
    build
}

/// Builds and runs a firmware. Returns its bytes of code and constants.
fn run_firmware(description: &Firmware) -> Result<usize, Failure> {
    let Firmware { folder, defined, steps, .. } = description;
    run_program(&mut library_build(description))?;
    let built = format!("{BUILT}/{folder}");
    let firmware = format!("{built}/firmware");
    let mut link = program(COMPILER, "-O2 -Wall -Wextra -Werror -mcpu=cortex-m4 -mthumb");
    link.args(["-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-nostartfiles", "-specs=nosys.specs"]);
    link.arg("-Wl,--gc-sections").args(*defined);
    link.args(["-I", "crates/cycloid-c/include", "-T", &format!("{FOLDER}/c/memory.ld")]);
    link.args(["-o", &firmware, &format!("{FOLDER}/c/firmware.c")]);
    run_program(link.arg(format!("{built}/{TARGET}/release/libcycloid_c.a")))?;
    let text = emulate_program(&firmware, "firmware", "", &[])?;
    if text.lines().filter(|line| line.ends_with(": signed and verified")).count() != *steps {
        return Err(Failure::new(format!("the firmware in C wrote '{text}'")));
    }
    // "   text    data     bss     dec     hex filename", and the numbers.
    let sizes = output(program("arm-none-eabi-size", "").arg(&firmware))?;
    let mut numbers = sizes.lines().nth(1).unwrap_or_default().split_whitespace();
    let mut next = || numbers.next().and_then(|number| number.parse::<usize>().ok());
    next().zip(next()).map(|(text, data)| text + data).ok_or_else(|| Failure::new(sizes.clone()))
}

/// Compares the plugin's counts of sequences with the known ones, and returns their number.
fn timing() -> Result<usize, Failure> {
    let plugin = format!("{BUILT}/cycles.so");
    let mut build = program("gcc", "-O2 -Wall -Wextra -Werror -shared -fPIC -o");
    run_program(build.arg(&plugin).arg(format!("{FOLDER}/plugin/cycles.c")))?;
    let counts = format!("{BUILT}/timing.txt");
    let known = emulate(&LARGE, "timing", "", &["-plugin", &format!("{plugin},out={counts}")])?;
    let counted = fs::read_to_string(&counts)
        .map_err(|error| Failure::new(format!("cannot read {counts}: {error}")))?;
    compare(&known, &counted)
}

/// Compares lines `instructions cycles name` with lines `instructions cycles …` of the plugin.
fn compare(known: &str, counted: &str) -> Result<usize, Failure> {
    let (known, counted): (Vec<&str>, Vec<&str>) =
        (known.lines().collect(), counted.lines().collect());
    if known.is_empty() || known.len() != counted.len() {
        let message = format!("{} sequences, {} counts", known.len(), counted.len());
        return Err(Failure::new(message));
    }
    for (known, counted) in known.iter().zip(&counted) {
        let two = |line: &str| line.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
        if two(known) != two(counted) {
            return Err(Failure::new(format!("known is '{known}', the plugin counts '{counted}'")));
        }
    }
    Ok(known.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_symbols_are_found() {
        let head = "   Num:    Value  Size Type    Bind   Vis      Ndx Name\n";
        let line =
            |name: &str| format!("   233: 00028520  5196 FUNC    LOCAL  DEFAULT    2 {name}\n");
        let check = |name: &str| {
            let listed = head.to_owned() + &line("_ZN7cycloid6scheme3rsa") + &line(name);
            check_names("x", &names(&listed))
        };
        assert!(check("__aeabi_memcpy").is_ok());
        assert!(check("__aeabi_uldivmod").is_err());
        assert!(check("_RNvNtCs7_4core3fmt5write").is_err());
        assert!(check("_RNvCs_7___rustc12___rust_alloc").is_err());
        assert!(check_names("x", &names(head)).is_err());
    }

    #[test]
    fn a_symbol_is_found_in_its_segment() {
        let symbol = "   538: 000019b1    30 FUNC    GLOBAL DEFAULT    2 wipe_pairs";
        let segments = "  Type           Offset   VirtAddr   PhysAddr   FileSiz MemSiz  Flg Align\n  \
                        LOAD           0x000114 0x00000000 0x00000000 0x00400 0x00400 R   0x4\n  \
                        LOAD           0x000514 0x00000400 0x00000400 0x3e198 0x3e198 R E 0x4\n";
        assert_eq!(place(symbol, segments), Some(0x19b0 - 0x400 + 0x514));
        assert_eq!(place(&symbol.replace("0000", "0009"), segments), None);
        assert_eq!(place("", segments), None);
    }

    #[test]
    fn stack_below_the_wiped_part_is_refused() {
        assert!(check_stack("a 0 1000\n", "a 0 900\n").is_ok());
        assert!(check_stack("a 0 1000\n", "a 0 990\n").is_err());
        assert!(check_stack("a 0 1000\n", "").is_err());
        assert!(check_stack("a 0 1000\n", "a 0 x\n").is_err());
    }

    #[test]
    fn other_counts_are_refused() {
        assert_eq!(compare("1 2 load\n", "1 2 0 64\n").ok(), Some(1));
        assert!(compare("1 2 load\n", "1 3 0 64\n").is_err());
        assert!(compare("1 2 load\n", "").is_err());
        assert!(compare("", "").is_err());
    }
}

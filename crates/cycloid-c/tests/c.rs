//! The C interface from C: the programs in `tests/c`, as users compile them, under AddressSanitizer
//! and under valgrind.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Installed, package, succeed};

/// The programs in `tests/c`, and the arguments of each.
fn programs() -> [(&'static str, Vec<PathBuf>); 3] {
    let key = package().join("../cycloid/tests/data/rsa/2048.pem");
    // Keys that are easily mistaken for it.
    let alike = ["same-lowest-limbs", "same-modulus"]
        .map(|name| package().join(format!("tests/data/rsa-2048-{name}.pem")));
    let rsa = [key.clone()].into_iter().chain(alike).collect();
    [("curves", vec![]), ("rsa_dh", rsa), ("lists", vec![key])]
}

/// How a program is compiled and run.
struct Way {
    name: &'static str,
    compiler: &'static [&'static str],
    /// Whether it is linked with the static library.
    fixed: bool,
    runner: &'static [&'static str],
}

const WAYS: [Way; 3] = [
    Way { name: "shared", compiler: &["-O1"], fixed: false, runner: &[] },
    Way {
        name: "sanitized",
        compiler: &["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        fixed: true,
        runner: &[],
    },
    Way {
        name: "valgrind",
        compiler: &["-g"],
        fixed: false,
        runner: &["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"],
    },
];

#[test]
fn programs_in_c_pass_in_every_way() {
    let installed = Installed::new();
    for (name, arguments) in programs() {
        for way in &WAYS {
            let program = installed.path(&format!("{name}-{}", way.name));
            let source = package().join(format!("tests/c/{name}.c"));
            let mut compile = installed.command("cc");
            compile.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE"]);
            compile.args(way.compiler).arg(source).arg("-o").arg(&program);
            compile.arg("-I").arg(installed.path("include"));
            if way.fixed {
                compile.arg(installed.path("lib/libcycloid.a"));
                compile.args(["-lgcc_s", "-lpthread", "-lm", "-ldl"]);
            } else {
                compile.arg("-L").arg(installed.path("lib")).args(["-lcycloid", "-lpthread"]);
            }
            succeed(&mut compile);
            let mut run = match way.runner {
                [] => installed.command(&program),
                [runner, options @ ..] => {
                    let mut command = installed.command(runner);
                    command.args(options).arg(&program);
                    command
                }
            };
            run.args(&arguments);
            if name == "rsa_dh" && way.runner.is_empty() {
                run.arg("generate");
            }
            let output = succeed(&mut run);
            assert_eq!(output, format!("{name}: passed\n"), "{}", way.name);
        }
    }
}

#[test]
fn the_example_compiles_with_one_line() {
    let installed = Installed::new();
    let line = "cc sign.c $(pkg-config --cflags --libs cycloid) -o sign && ./sign";
    let example = package().join("examples/sign.c");
    let text = std::fs::read_to_string(&example).expect("the example is there");
    assert!(text.contains(line), "the example says how");
    std::fs::copy(&example, installed.path("sign.c")).expect("it can be copied");
    let mut shell = installed.command("sh");
    let output = succeed(shell.args(["-c", line]).current_dir(installed.folder.path()));
    assert_eq!(output, "success\n");
}

#[test]
fn a_program_is_linked_statically() {
    let installed = Installed::new();
    let line = "cc -static \"$0\" $(pkg-config --static --cflags --libs cycloid) -o sign && ./sign";
    let mut shell = installed.command("sh");
    shell.args(["-c", line]).arg(package().join("examples/sign.c"));
    shell.current_dir(installed.folder.path()).env_remove("LD_LIBRARY_PATH");
    assert_eq!(succeed(&mut shell), "success\n");
}

#[test]
fn any_prefix_is_found_by_pkg_config() {
    let installed = Installed::new();
    let line = "eval cc '\"$0\"' $(pkg-config --cflags --libs cycloid) -o sign && ./sign";
    for prefix in ["relative", "with a space", "a|b&c"] {
        installed.install(Path::new(prefix));
        let lib = installed.path(prefix).join("lib");
        let mut shell = installed.command("sh");
        shell.args(["-c", line]).arg(package().join("examples/sign.c"));
        shell.current_dir(installed.folder.path()).env("LD_LIBRARY_PATH", &lib);
        shell.env("PKG_CONFIG_PATH", lib.join("pkgconfig"));
        assert_eq!(succeed(&mut shell), "success\n", "{prefix}");
    }
}

#[test]
fn every_symbol_of_the_shared_library_has_the_prefix_and_a_version() {
    let installed = Installed::new();
    let mut list = Command::new("nm");
    list.args(["-D", "--defined-only", "--with-symbol-versions"]);
    let symbols = succeed(list.arg(installed.path("lib/libcycloid.so")));
    let names: Vec<&str> = symbols.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    assert!(names.len() > 50, "{symbols}");
    for name in names.iter().filter(|name| !name.starts_with("CYCLOID_")) {
        assert!(name.starts_with("cycloid_") && name.ends_with("@@CYCLOID_0.1"), "{name}");
    }
    let header = std::fs::read_to_string(installed.path("include/cycloid.h")).expect("a header");
    for name in names.iter().filter(|name| name.starts_with("cycloid_")) {
        let name = name.split('@').next().unwrap_or_default();
        assert!(header.contains(&format!("{name}(")), "{name} is not in the header");
    }
}

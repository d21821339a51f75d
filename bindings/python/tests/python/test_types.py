"""The types say what the package has, and what it accepts."""

import importlib.metadata
import pathlib
import subprocess
import sys

import cycloid

HERE = pathlib.Path(__file__).parent


def test_stubs_fit_the_package():
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "cycloid", "--allowlist", HERE / "allowed.txt"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_programs_are_checked(tmp_path):
    """A correct program passes; each line marked as wrong is found, and no other."""
    program = HERE / "typed_program.py"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    lines = enumerate(program.read_text().splitlines(), 1)
    expected = {number for number, line in lines if line.endswith("# wrong")}
    assert expected and found == expected, done.stdout + done.stderr


def test_the_version_is_that_of_the_wheel():
    assert cycloid.__version__ == importlib.metadata.version("cycloid")


def test_everything_has_a_docstring():
    modules = [cycloid.ec, cycloid.ed25519, cycloid.x25519, cycloid.rsa, cycloid.dh]
    modules += [cycloid.bls.min_pk, cycloid.bls.min_sig]
    for module in modules:
        assert module.__doc__
        for name in module.__all__:
            value = getattr(module, name)
            assert value.__doc__, (module, name)
            members = vars(value).items() if isinstance(value, type) else ()
            for member, found in members:
                assert member.startswith("_") or found.__doc__, (module, name, member)
    assert cycloid.cpu_level() in ("portable", "adx", "avx512", "ifma")

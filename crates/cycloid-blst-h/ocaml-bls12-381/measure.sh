#!/bin/sh
# Builds ocaml-bls12-381 with its own blst and with a libblst on Cycloid's arithmetic, and measures
# the operations of its benchmark with both in turns.
#
# usage: measure.sh SOURCE FF PREFIX [SECONDS]
#   SOURCE  https://github.com/dannywillems/ocaml-bls12-381, August 2022
#   FF      the source of ff-sig 0.6.2, https://github.com/dannywillems/ocaml-ff
#   PREFIX  that of `cargo xtask install --blst --prefix PREFIX`
#   SECONDS for each row
# Needs dune, zarith, hex and integers: apt-get install ocaml-dune libzarith-ocaml-dev
# libhex-ocaml-dev libintegers-ocaml-dev
set -eu

if [ $# -lt 3 ]; then
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
fi
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
source=$(CDPATH= cd -- "$1" && pwd)
ff=$(CDPATH= cd -- "$2" && pwd)
prefix=$(CDPATH= cd -- "$3" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for library in blst cycloid; do
    folder=$work/$library
    mkdir -p "$folder/ff" "$folder/bench"
    cp -r "$source/src" "$source/common" "$source/bls12-381.opam" "$ff/ff-sig.opam" "$folder"
    echo '(lang dune 2.7)' >"$folder/dune-project"
    cp "$ff/src/Ff_sig.ml" "$folder/ff/ff_sig.ml"
    echo '(library (public_name ff-sig) (name ff_sig) (libraries zarith))' >"$folder/ff/dune"
    cp "$here/worker.ml" "$here/turns.ml" "$folder/bench"
    cat >"$folder/bench/dune" <<'END'
(executable (name worker) (modules worker) (libraries bls12-381))
(executable (name turns) (modules turns) (libraries unix))
END
done
# As docs/blst.md says.
cat >"$work/cycloid/src/libblst/build.sh" <<END
#!/bin/sh -e
cp "$prefix/lib/libblst.a" "$prefix/lib/libblst.so" .
END
for library in blst cycloid; do
    (cd "$work/$library" &&
        dune build --root . --profile release bench/worker.exe bench/turns.exe >log 2>&1) || {
        cat "$work/$library/log" >&2
        exit 1
    }
done
built=_build/default/bench
taskset -c 1 "$work/blst/$built/turns.exe" "$work/blst/$built/worker.exe" \
    "$work/cycloid/$built/worker.exe" "${4:-1}"

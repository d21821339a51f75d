#!/bin/sh
# Installs Cycloid's libblst below PREFIX: blst's headers, both libraries and the file for pkg-config.
# `cargo xtask install --blst --prefix PREFIX` builds ARCHIVE, finds HEADERS and calls this.
#
# usage: install.sh ARCHIVE HEADERS PREFIX
set -eu

if [ $# != 3 ]; then
    echo "usage: $0 ARCHIVE HEADERS PREFIX" >&2
    exit 2
fi
archive=$1
headers=$2
prefix=$3
source=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The symbols that C sees are those with the crate's prefix. readelf, because nm passes objects to
# LLVM's plugin where that is installed, which fails on the bitcode in Rust's standard library.
"${READELF:-readelf}" -sW "$archive" 2>/dev/null |
    awk '$5 == "GLOBAL" && $7 != "UND" && $8 ~ /^cycloid_(blst_|BLS12_381_)/ { print $8 }' |
    sort -u >"$work/exported"
if ! [ -s "$work/exported" ]; then
    echo "error: $archive exports no function of blst.h" >&2
    exit 1
fi
sed 's/^/-u /' "$work/exported" >"$work/roots"
sed 's/^cycloid_//' "$work/exported" >"$work/names"
sed 's/^cycloid_\(.*\)/& \1/' "$work/exported" >"$work/renamed"

# One object of what these functions need, in which they are the only global symbols: programs in
# Rust bring a standard library of their own. The reference to the personality function is in a
# section that linkers merge by name with the program's.
"${LD:-ld}" -r --gc-sections -o "$work/whole.o" "@$work/roots" "$archive"
"${OBJCOPY:-objcopy}" --strip-unneeded --keep-symbols="$work/exported" \
    --remove-section=.llvmbc --remove-section=.llvmcmd "$work/whole.o" "$work/stripped.o"
"${OBJCOPY:-objcopy}" --redefine-syms="$work/renamed" \
    --redefine-sym DW.ref.rust_eh_personality=DW.ref.cycloid_blst_eh_personality \
    "$work/stripped.o" "$work/renamed.o"
# Programs written for blst before it had the `sizeof` functions define them themselves.
"${OBJCOPY:-objcopy}" --keep-global-symbols="$work/names" --wildcard \
    --weaken-symbol='blst_p[12]_*sizeof' --weaken-symbol=blst_fp12_sizeof \
    "$work/renamed.o" "$work/libblst.o"

mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
prefix=$(CDPATH= cd -- "$prefix" && pwd)
cp "$headers/blst.h" "$headers/blst_aux.h" "$headers/blst.hpp" "$prefix/include/"
rm -f "$prefix/lib/libblst.a"
"${AR:-ar}" rcs "$prefix/lib/libblst.a" "$work/libblst.o"
"${CC:-cc}" -shared -o "$prefix/lib/libblst.so" "$work/libblst.o" \
    -Wl,-soname,libblst.so -Wl,-Bsymbolic -Wl,--gc-sections -Wl,--as-needed \
    -Wl,-z,relro,-z,now -Wl,-z,noexecstack -lgcc_s -lpthread -lm -ldl -lc
# Spaces are escaped for pkg-config, and the characters of sed's replacements for sed.
escaped=$(printf '%s\n' "$prefix" | sed -e 's/ /\\ /g' -e 's/[\\&|]/\\&/g')
sed -e "s|@PREFIX@|$escaped|" "$source/libblst.pc.in" >"$prefix/lib/pkgconfig/libblst.pc"

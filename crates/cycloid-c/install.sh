#!/bin/sh
# Installs libcycloid below PREFIX: the header, both libraries and the file for pkg-config.
# `cargo xtask install --prefix PREFIX` builds ARCHIVE and calls this.
#
# usage: install.sh ARCHIVE VERSION PREFIX
set -eu

if [ $# != 3 ]; then
    echo "usage: $0 ARCHIVE VERSION PREFIX" >&2
    exit 2
fi
archive=$1
version=$2
prefix=$3
source=$(dirname "$0")
soname=libcycloid.so.${version%%.*}

mkdir -p "$prefix/include" "$prefix/lib/pkgconfig"
prefix=$(CDPATH= cd -- "$prefix" && pwd)
cp "$source/include/cycloid.h" "$prefix/include/cycloid.h"
cp "$archive" "$prefix/lib/libcycloid.a"
"${STRIP:-strip}" --strip-debug "$prefix/lib/libcycloid.a"
# Rust's own link of a shared library has a version script without a name, which cannot be combined
# with one that has a name; hence this link.
"${CC:-cc}" -shared -o "$prefix/lib/libcycloid.so.$version" \
    -Wl,--whole-archive "$prefix/lib/libcycloid.a" -Wl,--no-whole-archive \
    -Wl,--gc-sections -Wl,--as-needed -Wl,-z,relro,-z,now -Wl,-z,noexecstack \
    -Wl,-soname,"$soname" -Wl,--version-script="$source/cycloid.map" \
    -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
ln -sf "libcycloid.so.$version" "$prefix/lib/$soname"
ln -sf "$soname" "$prefix/lib/libcycloid.so"
# Spaces are escaped for pkg-config, and the characters of sed's replacements for sed.
escaped=$(printf '%s\n' "$prefix" | sed -e 's/ /\\ /g' -e 's/[\\&|]/\\&/g')
sed -e "s|@PREFIX@|$escaped|" -e "s|@VERSION@|$version|" "$source/cycloid.pc.in" \
    >"$prefix/lib/pkgconfig/cycloid.pc"

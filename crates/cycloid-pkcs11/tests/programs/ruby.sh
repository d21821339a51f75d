#!/bin/bash
# Runs the tests of the Ruby gem pkcs11 with a PKCS #11 module, one after the other, and prints which
# fail. The tests are unchanged; ruby/test/helper.rb replaces the file that opens NSS.
#
# Usage: ruby.sh MODULE TOKEN PIN GEM
#
# GEM is the gem's unpacked folder, with its extension built: lib/pkcs11_ext.so.

export CYCLOID_RUBY_MODULE=$1 CYCLOID_RUBY_TOKEN=$2 CYCLOID_RUBY_PIN=$3
gem=$4
here=$(cd "$(dirname "$0")" && pwd)
passed=0 failed=0
for file in "$gem"/test/test_*.rb; do
    names=$(sed -n 's/^ *def \(test_[A-Za-z0-9_]*\).*/\1/p' "$file")
    for name in $names; do
        # The folder of the helper comes first. A test may crash or wait, so each has a process.
        output=$(timeout -k 1 60 ruby -W0 -I "$here/ruby" -I "$gem/lib" -I "$gem" "$file" -n "$name" 2>&1)
        if [ $? -eq 0 ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            reason=$(grep -m1 -E 'CKR_|NoMethodError|ArgumentError|Expected|BUG' <<<"$output" | cut -c1-110)
            echo "fails: $(basename "$file" .rb) $name: $reason"
        fi
    done
done
echo "$passed of $((passed + failed)) pass"

#!/bin/sh
# Checks the Debian packages in a fresh Debian: installs them, uses every program, the module, the
# units, the manual and the completions, and removes the packages. `cargo xtask packages --install`
# runs it as root of the fresh system, with the packages in /packages.
set -eux

export DEBIAN_FRONTEND=noninteractive
apt-get install --yes --no-install-recommends /packages/*.deb
# The units of the VPN reload with it.
test -x /bin/kill
apt-get install --yes --no-install-recommends \
    bash-completion dbus fish man-db opensc p11-kit systemd zsh

# Programs, manual and completions.
for program in cycloid cycloid-hsm cycloid-vpn; do
    $program --version
    $program --help >/dev/null
    man $program | grep -q NAME
    complete="source /usr/share/bash-completion/completions/$program
        COMP_WORDS=($program --ver) COMP_CWORD=1
        \$(complete -p $program | sed 's/.* -F \([^ ]*\) .*/\1/') $program --ver ''
        test \"\${COMPREPLY[*]}\" = --version"
    bash -euc "$complete"
    zsh --no-exec /usr/share/zsh/vendor-completions/_$program
    fish --no-execute /usr/share/fish/vendor_completions.d/$program.fish
done
for command in hsm-init hsm-key-generate vpn-pki-client bench-rsa; do
    man cycloid-$command >/dev/null
done
cycloid hsm --version
cycloid vpn --version
cycloid bench modexp --quick --peers none --bits 512 | grep -q 512
cycloid bench bls --quick --part fr | grep -q zkcrypto

# Units. No man page of OpenVPN is installed here.
systemd-analyze verify --man=no /usr/lib/systemd/system/cycloid-hsm.service
for role in client server; do
    systemd-analyze verify --man=no "/usr/lib/systemd/system/cycloid-vpn-$role@office.service"
done

# The VPN's tools.
cd "$(mktemp -d)"
cycloid-vpn pki init
cycloid-vpn pki server gate --host vpn.example
cycloid-vpn pki client alice
cycloid-vpn check pki/gate.conf
cycloid-vpn check pki/alice.ovpn

# A keystore, and the daemon as the unit starts it.
test "$(stat -c '%U:%G %a' /var/lib/cycloid-hsm)" = 'cycloid-hsm:cycloid-hsm 700'
export CYCLOID_HSM_HOME=/var/lib/cycloid-hsm CYCLOID_HSM_SOCKET=/run/cycloid-hsm/socket
printf 12345678 >/tmp/pin
start() {
    install -d -o cycloid-hsm -g cycloid-hsm -m 755 /run/cycloid-hsm
    setpriv --reuid cycloid-hsm --regid cycloid-hsm --clear-groups --no-new-privs \
        cycloid-hsm serve &
    daemon=$!
    until cycloid-hsm status; do
        kill -0 $daemon
        sleep 0.1
    done
}
stop() {
    kill $daemon
    wait $daemon
}
as() { runuser -u cycloid-hsm -- "$@"; }
as cycloid-hsm init --label office --officer-pin-file /tmp/pin --pin-file /tmp/pin
start
cycloid-hsm key generate p-256 --label ca --pin-file /tmp/pin

# The module, by its path and through p11-kit.
module=/usr/lib/cycloid/libcycloid_pkcs11.so
pkcs11-tool --module $module --login --pin 12345678 --list-objects | grep 'label: *ca'
echo message >/tmp/message
pkcs11-tool --module $module --login --pin 12345678 --sign --mechanism ECDSA-SHA256 --label ca \
    --input-file /tmp/message --output-file /tmp/signature
pkcs11-tool --module $module --verify --mechanism ECDSA-SHA256 --label ca \
    --input-file /tmp/message --signature-file /tmp/signature
p11-kit list-modules | grep office
stop

# Keys and user outlive the package, and serve the next one.
sum=$(sha256sum /var/lib/cycloid-hsm/*)
apt-get remove --yes cycloid-hsm
test "$(sha256sum /var/lib/cycloid-hsm/*)" = "$sum"
test ! -e /usr/lib/systemd/system/cycloid-hsm.service
apt-get install --yes --no-install-recommends /packages/cycloid-hsm_*.deb
start
pkcs11-tool --module $module --login --pin 12345678 --list-objects | grep 'label: *ca'
stop
sum=$(sha256sum /var/lib/cycloid-hsm/*)
apt-get purge --yes cycloid cycloid-hsm cycloid-vpn
test "$(sha256sum /var/lib/cycloid-hsm/*)" = "$sum"
getent passwd cycloid-hsm
for program in cycloid cycloid-hsm cycloid-vpn; do
    test ! -e /usr/bin/$program
done

#!/bin/bash
# Runs commands of OpenSC, GnuTLS, OpenSSH and NSS with a PKCS #11 module, one after the other, and
# prints which succeed. Results that another program can check are compared with OpenSSL's.
#
# Usage: commands.sh MODULE TOKEN PIN OFFICER_PIN
#
# The token is empty, of the module's first slot with a token of that label, and filled with keys.
# It must have no keys on curves that OpenSSH does not know when its turn comes, so that comes first.

module=$1 token=$2 pin=$3 officer=$4
export GNUTLS_PIN=$pin GNUTLS_SO_PIN=$officer
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory" || exit 1

passed=0 failed=0
group() {
    [ -n "$group" ] && echo "$group: $passed of $((passed + failed)) succeed"
    group=$1 passed=0 failed=0
}
try() {
    local name=$1
    shift
    # Another shell, because the command may be a function.
    if timeout 120 bash -c '"$@"' bash "$@" >output 2>&1 </dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "fails: $name: $(grep -iE 'error|CKR_|fail' output | head -1 | cut -c1-140)"
    fi
}
public() { pkcs11-tool --module "$module" --token-label "$token" "$@"; }
tool() { public --login --pin "$pin" "$@"; }
export module token pin
export -f public tool

echo data >data
openssl dgst -sha256 -binary data >digest
head -c 32 /dev/urandom >key32
head -c 64 /dev/urandom >noise
openssl req -x509 -newkey rsa:2048 -nodes -keyout rsa.pem -out rsa.crt -subj /CN=x -days 3 2>/dev/null
openssl x509 -in rsa.crt -outform DER -out rsa-crt.der
openssl rsa -in rsa.pem -outform DER -out rsa.der 2>/dev/null
openssl rsa -in rsa.pem -pubout -out rsa-pub.pem 2>/dev/null
openssl rsa -in rsa.pem -pubout -outform DER -out rsa-pub.der 2>/dev/null
openssl ecparam -name prime256v1 -genkey -noout -out ec.pem
openssl ec -in ec.pem -pubout -outform DER -out ec-pub.der 2>/dev/null

group "OpenSSH"
number=0
for kind in rsa:2048 rsa:3072 EC:prime256v1 EC:secp384r1 EC:secp521r1; do
    number=$((number + 1))
    tool --keypairgen --key-type $kind --id 0$number --label "ssh $kind" >/dev/null 2>&1
done
printf '#!/bin/sh\necho %s\n' "$pin" >ask
chmod +x ask
export SSH_ASKPASS=$directory/ask SSH_ASKPASS_REQUIRE=force DISPLAY=:9
try "ssh-keygen -D" ssh-keygen -D "$module"
eval "$(ssh-agent -P '*')" >/dev/null
try "ssh-add -s" ssh-add -s "$module"
ssh-add -L >keys 2>/dev/null
while read -r kind key _; do
    echo "$kind $key x" >ssh.pub
    echo "x $kind $key" >allowed
    rm -f data.sig
    try "ssh-keygen -Y sign, $kind" ssh-keygen -Y sign -f ssh.pub -n test data
    try "ssh-keygen -Y verify, $kind" \
        bash -c "ssh-keygen -Y verify -f allowed -I x -n test -s data.sig <data"
done <keys
try "ssh-add -e" ssh-add -e "$module"
kill "$SSH_AGENT_PID"

group "OpenSC, pkcs11-tool"
try "--show-info" public --show-info
try "--list-slots" public --list-slots
try "--list-mechanisms" public --list-mechanisms
number=10
for kind in rsa:2048 rsa:4096 EC:prime256v1 EC:secp384r1 EC:secp521r1 EC:secp256k1 \
    EC:edwards25519 EC:curve25519; do
    number=$((number + 1))
    try "--keypairgen $kind" tool --keypairgen --key-type $kind --id $number --label "$kind"
done
for kind in AES:16 AES:24 AES:32 GENERIC:32 GENERIC:64; do
    try "--keygen $kind" tool --keygen --key-type $kind --id 21 --label "$kind" --extractable
done
try "--list-objects" tool --list-objects
for mechanism in RSA-PKCS SHA224-RSA-PKCS SHA256-RSA-PKCS SHA384-RSA-PKCS SHA512-RSA-PKCS \
    SHA256-RSA-PKCS-PSS SHA384-RSA-PKCS-PSS SHA512-RSA-PKCS-PSS; do
    input=data
    [ $mechanism = RSA-PKCS ] && input=digest
    try "--sign $mechanism" tool --sign -m $mechanism --id 11 -i $input -o signature
    try "--verify $mechanism" \
        tool --verify -m $mechanism --id 11 -i $input --signature-file signature
done
pss=(-m RSA-PKCS-PSS --hash-algorithm SHA256 --mgf MGF1-SHA256 --id 11 -i digest)
try "--sign RSA-PKCS-PSS" tool --sign "${pss[@]}" -o signature
try "--verify RSA-PKCS-PSS" tool --verify "${pss[@]}" --signature-file signature
try "--salt-len" tool --sign -m SHA256-RSA-PKCS-PSS --salt-len 20 --id 11 -i data -o signature
for mechanism in ECDSA ECDSA-SHA224 ECDSA-SHA256 ECDSA-SHA384 ECDSA-SHA512; do
    input=data
    [ $mechanism = ECDSA ] && input=digest
    common=(-m $mechanism --id 13 -i $input --signature-format openssl)
    try "--sign $mechanism" tool --sign "${common[@]}" -o signature
    try "--verify $mechanism" tool --verify "${common[@]}" --signature-file signature
done
try "--sign EDDSA" tool --sign -m EDDSA --id 17 -i data -o signature
try "--verify EDDSA" tool --verify -m EDDSA --id 17 -i data --signature-file signature
for number in 11 13 17; do
    try "--read-object $number" tool --read-object --type pubkey --id $number -o public-$number.der
done
tool --sign -m SHA256-RSA-PKCS --id 11 -i data -o signature >/dev/null 2>&1
try "OpenSSL verifies" openssl dgst -sha256 -keyform DER -verify public-11.der \
    -signature signature data
try "--write-object, private RSA" tool --write-object rsa.der --type privkey --id 31 --label rsa \
    --usage-decrypt --usage-sign
try "--write-object, public RSA" tool --write-object rsa-pub.der --type pubkey --id 31 --label rsa
try "--write-object, certificate" tool --write-object rsa-crt.der --type cert --id 31 --label rsa
try "--write-object, private EC" tool --write-object ec.pem --type privkey --id 32 --label ec
try "--write-object, data" tool --write-object data --type data --label d --application-label app
try "--write-object, AES" tool --write-object key32 --type secrkey --key-type AES:32 --id 33 \
    --label aes --extractable
try "--read-object, certificate" tool --read-object --type cert --id 31 -o read
try "the same certificate" cmp rsa-crt.der read
try "--read-object, data" tool --read-object --type data --label d --application-label app -o read
try "the same data" cmp data read
for hash in sha1 sha224 sha256 sha384 sha512; do
    for mask in $(printf '%s\n' sha1 $hash | sort -u); do
        openssl pkeyutl -encrypt -pubin -inkey rsa-pub.pem -pkeyopt rsa_padding_mode:oaep \
            -pkeyopt rsa_oaep_md:$hash -pkeyopt rsa_mgf1_md:$mask -in data -out encrypted
        name=${hash^^}
        [ $hash = sha1 ] && name=SHA-1
        rm -f decrypted
        try "--decrypt RSA-PKCS-OAEP, $hash, $mask" tool --decrypt -m RSA-PKCS-OAEP \
            --hash-algorithm $name --mgf MGF1-${mask^^} --id 31 -i encrypted -o decrypted
        try "the same text" cmp data decrypted
    done
done
openssl pkeyutl -encrypt -pubin -inkey rsa-pub.pem -in data -out encrypted
try "--decrypt RSA-PKCS" tool --decrypt -m RSA-PKCS --id 31 -i encrypted -o decrypted
try "the same text" cmp data decrypted
try "--derive ECDH1-DERIVE" tool --derive -m ECDH1-DERIVE --id 13 -i ec-pub.der -o secret
openssl pkey -pubin -inform DER -in public-13.der -out public-13.pem
openssl pkeyutl -derive -inkey ec.pem -peerkey public-13.pem -out expected
try "the same secret" cmp secret expected
try "--keygen, a wrapping key" tool --keygen --key-type AES:32 --id 34 --label wraps --usage-wrap
try "--wrap AES-KEY-WRAP" tool --wrap -m AES-KEY-WRAP --id 34 --application-id 33 -o wrapped
try "--unwrap AES-KEY-WRAP" tool --unwrap -m AES-KEY-WRAP --id 34 -i wrapped --key-type AES: \
    --application-id 35 --application-label unwrapped
try "--wrap RSA-PKCS" tool --wrap -m RSA-PKCS --id 11 --application-id 33 -o wrapped
try "--unwrap RSA-PKCS" tool --unwrap -m RSA-PKCS --id 11 -i wrapped --key-type AES: \
    --application-id 36
cbc=(-m AES-CBC-PAD --iv 00000000000000000000000000000000 --id 33)
try "--encrypt AES-CBC-PAD" tool --encrypt "${cbc[@]}" -i data -o encrypted
try "--decrypt AES-CBC-PAD" tool --decrypt "${cbc[@]}" -i encrypted -o decrypted
try "the same text" cmp data decrypted
try "--encrypt AES-ECB" tool --encrypt -m AES-ECB --id 33 -i key32 -o encrypted
try "--hash" public --hash -m SHA256 -i data -o read
try "the same digest" cmp digest read
try "--generate-random" public --generate-random 100 -o random
try "--set-id" tool --set-id 39 --type cert --id 31
try "--delete-object" tool --delete-object --type cert --id 39
try "--test" tool --test
try "--test-threads" tool --test-threads IN --test-threads ILGISLT0
try "--test-fork" tool --test-fork
try "--change-pin" tool --change-pin --new-pin "$pin-2"
try "--change-pin, back" public --login --pin "$pin-2" --change-pin --new-pin "$pin"
try "--init-pin" public --login --login-type so --so-pin "$officer" --init-pin --new-pin "$pin"

group "GnuTLS, p11tool and certtool"
url="pkcs11:token=$token"
gnutls() { p11tool --provider "$module" --login --batch "$@"; }
export -f gnutls
try "--list-tokens" p11tool --provider "$module" --list-tokens
try "--list-mechanisms" p11tool --provider "$module" --list-mechanisms "$url"
try "--list-token-urls" p11tool --provider "$module" --list-token-urls
for pair in "rsa --bits 2048" "ecdsa --curve secp256r1" "ecdsa --curve secp384r1" \
    "ecdsa --curve secp521r1"; do
    name=${pair##* }
    # The pair is words.
    # shellcheck disable=SC2086
    try "--generate-privkey $pair" gnutls --generate-privkey $pair --label "g$name" "$url"
    key="$url;object=g$name;type=private"
    try "--test-sign $name" gnutls --test-sign "$key"
    try "--export-pubkey $name" gnutls --export-pubkey "$key"
    try "--info $name" gnutls --info "$key"
done
key="$url;object=g2048;type=private"
try "--test-sign rsa-pss" gnutls --test-sign --sign-params rsa-pss "$key"
try "--test-sign --hash sha512" gnutls --test-sign --hash sha512 "$key"
for list in list-all list-all-privkeys list-privkeys list-keys; do
    try "--$list" gnutls --$list "$url"
done
printf '%s\n' 'cn = "x"' 'expiration_days = 10' tls_www_server signing_key encryption_key >template
for name in 2048 secp256r1; do
    halves=(--load-privkey "$url;object=g$name;type=private;pin-value=$pin"
        --load-pubkey "$url;object=g$name;type=public;pin-value=$pin" --template template)
    try "certtool --generate-self-signed $name" certtool --provider "$module" \
        --generate-self-signed "${halves[@]}" --outfile $name.crt
    try "certtool --generate-request $name" certtool --provider "$module" \
        --generate-request "${halves[@]}" --outfile $name.csr
    try "--write --load-certificate $name" gnutls --write --load-certificate $name.crt \
        --label "g$name" "$url"
done
try "--write --mark-trusted" p11tool --provider "$module" --so-login --batch --write \
    --mark-trusted --load-certificate secp256r1.crt --label trusted "$url"
try "--export-chain" gnutls --export-chain "$url;object=g2048;type=cert"
certtool --generate-privkey --key-type ecdsa --curve secp256r1 --outfile gec.pem >/dev/null 2>&1
try "--write --load-privkey, RSA" gnutls --write --load-privkey rsa.pem --label written "$url"
try "--write --load-privkey, EC" gnutls --write --load-privkey gec.pem --label written-ec "$url"
try "--write --load-pubkey" gnutls --write --load-pubkey rsa-pub.pem --label written "$url"
try "--write --secret-key" gnutls --write --secret-key 000102030405060708090a0b0c0d0e0f \
    --label secret "$url"
try "--set-id" gnutls --set-id 616161 "$url;object=g2048;type=cert"
try "--set-label" gnutls --set-label renamed "$url;object=gsecp256r1;type=cert"
try "--generate-random" gnutls --generate-random 32 "$url"
try "--delete, certificate" gnutls --delete "$url;object=renamed;type=cert"
try "--delete, secret" gnutls --delete "$url;object=secret"
try "--delete, private" gnutls --delete "$url;object=written;type=private"
serve() {
    gnutls-serv --provider "$module" --x509certfile 2048.crt --http -q -p 4455 \
        --x509keyfile "$1;pin-value=$pin" >server 2>&1 &
    local server=$!
    sleep 2
    echo | timeout 10 gnutls-cli --no-ca-verification -p 4455 127.0.0.1 >client 2>&1
    kill $server
    grep -q "Handshake was completed" client
}
export -f serve
try "gnutls-serv and gnutls-cli" bash -c "serve '$key'"

group "NSS, modutil, certutil, pk12util and cmsutil"
mkdir nss
echo "$pin" >pin
nss=(-d sql:nss)
on=(-h "$token" -f pin "${nss[@]}")
try "certutil -N" certutil -N --empty-password "${nss[@]}"
try "modutil -add" modutil -force -add hsm -libfile "$module" -dbdir sql:nss
try "modutil -list" modutil -list hsm -dbdir sql:nss
try "certutil -K" certutil -K "${on[@]}"
try "certutil -L" certutil -L "${on[@]}"
issue=(-x -t "C,C,C" "${on[@]}" -z noise)
try "certutil -S, RSA" certutil -S -s CN=nss -n nss-rsa -k rsa -g 2048 -m 1234 "${issue[@]}"
try "certutil -S, EC" certutil -S -s CN=nssec -n nss-ec -k ec -q nistp256 -m 1235 "${issue[@]}"
try "certutil -R" certutil -R -s CN=r -k rsa -g 2048 -o request.der -z noise "${on[@]}"
try "certutil -G, RSA" certutil -G -k rsa -g 2048 -z noise "${on[@]}"
try "certutil -G, EC" certutil -G -k ec -q nistp384 -z noise "${on[@]}"
try "cmsutil" bash -c "cmsutil -S -d sql:nss -f pin -N '$token:nss-rsa' -i data -o data.p7 &&
    cmsutil -D -d sql:nss -f pin -i data.p7 | grep -q data"
openssl pkcs12 -export -inkey rsa.pem -in rsa.crt -out rsa.p12 -passout pass:x -name p12 2>/dev/null
try "pk12util -i" pk12util -i rsa.p12 -W x -h "$token" -k pin "${nss[@]}"
try "certutil -D" certutil -D -n "$token:nss-ec" -f pin "${nss[@]}"
try "certutil -F" certutil -F -n "$token:nss-rsa" -f pin "${nss[@]}"
try "modutil -delete" modutil -force -delete hsm -dbdir sql:nss
group ""

//! Directives for TLS, the data channel and timing.

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

use super::connection::key_direction;
use super::entry::{Entry, ignored, refused, used};
use crate::config::draft::Draft;
use crate::config::error::Problem;
use crate::config::material::Material;
use crate::config::place::{BOTH, PER_CLIENT, PUSHED, SERVER, Scope};
use crate::config::tls::{
    CertificateProfile, ClientCertificate, DATA_CIPHERS, PeerName, Revoked, TlsVersion,
};
use crate::config::values::{Call, Result, fingerprint, name_field};
use crate::proto::Role;
use crate::proto::data::{Cipher, Digest, Framing};
use crate::proto::tls::{Choice, NameField, UnusableNames, groups, tls12_suites, tls13_suites};

/// The warning for a directive that asks for compression.
const NEVER_COMPRESSED: &str = "packets have its framing but are never compressed, because \
     compression leaks plaintext (VORACLE); packets that the peer compresses are dropped, except \
     with allow-compression asym";

pub(super) const TABLE: &[Entry] = &[
    used("ca", BOTH, 1, 1, |draft, call| {
        draft.common.tls.ca = Some(call.material()?);
        Ok(())
    })
    .or_block(),
    used("cert", BOTH, 1, 1, |draft, call| {
        draft.common.tls.certificate = Some(call.material()?);
        Ok(())
    })
    .or_block(),
    used("extra-certs", BOTH, 1, 1, |draft, call| {
        draft.common.tls.extra_certificates = Some(call.material()?);
        Ok(())
    })
    .or_block(),
    used("key", BOTH, 1, 1, |draft, call| {
        draft.common.tls.key = Some(call.material()?);
        Ok(())
    })
    .or_block(),
    used("askpass", BOTH, 0, 1, |draft, call| {
        draft.common.tls.key_passphrase = Some(call.get(0).map(|_| call.path(0)));
        Ok(())
    }),
    used("pkcs12", BOTH, 1, 1, |draft, call| {
        draft.common.tls.pkcs12 = Some(match &call.directive.block {
            Some(block) => Material::Inline(base64(block)?),
            None => call.material()?,
        });
        Ok(())
    })
    .or_block(),
    used("capath", BOTH, 1, 1, |draft, call| {
        draft.common.tls.ca_directory = Some(call.path(0));
        Ok(())
    }),
    refused("cryptoapicert", "this is for Windows", "set cert and key to files"),
    refused(
        "management-external-key",
        "keys from the management interface are not supported",
        "set cert and key to files",
    ),
    refused(
        "management-external-cert",
        "certificates from the management interface are not supported",
        "set cert and key to files",
    ),
    used("crl-verify", BOTH, 1, 2, |draft, call| {
        draft.common.tls.revoked = Some(match call.get(1) {
            Some(_) => {
                call.choice(1, &[("dir", ())])?;
                Revoked::Directory(call.path(0))
            }
            None => Revoked::List(call.material()?),
        });
        Ok(())
    })
    .or_block(),
    used("tls-version-min", BOTH, 1, 2, |draft, call| {
        if matches!(call.text(0), "1.0" | "1.1") {
            draft.warn(call.directive, "TLS before 1.2 is never used: the minimum is 1.2");
        } else {
            let highest = call.get(1).is_some_and(|word| word == "or-highest");
            draft.common.tls.version_min = match version(call) {
                Err(_) if highest => TlsVersion::V1_3,
                version => version?,
            };
        }
        Ok(())
    }),
    used("tls-version-max", BOTH, 1, 1, |draft, call| {
        if matches!(call.text(0), "1.0" | "1.1") {
            return Err(Problem::new(
                "TLS before 1.2 is broken and never used",
                "remove tls-version-max; the peer needs TLS 1.2 or 1.3",
            ));
        }
        draft.common.tls.version_max = version(call)?;
        Ok(())
    }),
    used("tls-cipher", BOTH, 1, 1, |draft, call| {
        let choice = tls12_suites(call.text(0));
        let names = call.list(0);
        let mut named = names.iter().filter(|name| !name.starts_with(['!', '-', '+', '@']));
        let some = named.clone().next().is_some();
        if choice.is_err() && some && named.all(|name| is_old_suite(name)) {
            let message = "TLS 1.2 is off: none of the listed cipher suites is supported; \
                           TLS 1.3 has its own";
            draft.warn(call.directive, message);
            draft.without_tls12 = true;
            return Ok(());
        }
        draft.common.tls.cipher_suites_1_2 = chosen(draft, call, choice)?;
        Ok(())
    }),
    used("tls-ciphersuites", BOTH, 1, 1, |draft, call| {
        draft.common.tls.cipher_suites_1_3 = chosen(draft, call, tls13_suites(call.text(0)))?;
        Ok(())
    }),
    used("tls-groups", BOTH, 1, 1, tls_groups),
    used("ecdh-curve", BOTH, 1, 1, |draft, call| {
        if groups(call.text(0)).is_err() {
            let message = format!(
                "the curve {} is not supported: the default groups are used, which tls-groups \
                 can limit",
                call.text(0)
            );
            draft.warn(call.directive, message);
            return Ok(());
        }
        tls_groups(draft, call)
    }),
    used("tls-cert-profile", BOTH, 1, 1, |draft, call| {
        let choices = [
            ("insecure", CertificateProfile::Insecure),
            ("legacy", CertificateProfile::Legacy),
            ("preferred", CertificateProfile::Preferred),
            ("suiteb", CertificateProfile::SuiteB),
        ];
        let profile = call.choice(0, &choices)?;
        if profile == CertificateProfile::Insecure {
            let message = "the profile insecure has the effect of preferred: certificates with \
                           SHA-1, or with RSA keys of fewer than 2048 bits, are refused";
            draft.warn(call.directive, message);
        }
        draft.common.tls.certificate_profile = profile;
        Ok(())
    }),
    used("verify-x509-name", BOTH, 1, 2, |draft, call| {
        let choices = [
            ("subject", PeerName::Subject as fn(String) -> _),
            ("name", PeerName::Name),
            ("name-prefix", PeerName::Prefix),
        ];
        let make = if call.get(1).is_some() { call.choice(1, &choices)? } else { choices[0].1 };
        if call.text(0).is_empty() {
            return Err(Problem::new("an empty name matches nothing", "set the peer's name"));
        }
        draft.common.tls.peer_name = Some(make(call.owned(0)));
        Ok(())
    }),
    used("x509-username-field", BOTH, 1, 16, |draft, call| {
        let fields: Result<Vec<NameField>> = call.all().iter().map(|it| name_field(it)).collect();
        draft.common.tls.name_fields = fields?;
        Ok(())
    }),
    used("remote-cert-tls", BOTH, 1, 1, |draft, call| {
        let role = call.choice(0, &[("server", Role::Server), ("client", Role::Client)])?;
        draft.common.tls.peer_role = Some(role);
        Ok(())
    }),
    used("remote-cert-ku", BOTH, 0, 16, |draft, call| {
        let usages = call.all().iter().map(|text| {
            let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
            u16::from_str_radix(digits.unwrap_or(text), 16).map_err(|_| {
                Problem::new(format!("'{text}' is not a key usage"), "write it in hex, like a0")
            })
        });
        let mut usages: Vec<u16> = usages.collect::<Result<_>>()?;
        if usages.is_empty() {
            // Any usage matches, but the extension must be present.
            usages.push(0);
        }
        draft.common.tls.peer_key_usages = usages;
        Ok(())
    }),
    used("remote-cert-eku", BOTH, 1, 1, |draft, call| {
        draft.common.tls.peer_extended_key_usage = Some(call.owned(0));
        Ok(())
    }),
    used("peer-fingerprint", BOTH, 1, 1, |draft, call| {
        let text = match &call.directive.block {
            Some(block) => String::from_utf8_lossy(block).into_owned(),
            None => call.owned(0),
        };
        for line in text.lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with(['#', ';']) {
                draft.common.tls.peer_fingerprints.push(fingerprint(line)?);
            }
        }
        Ok(())
    })
    .or_block(),
    refused(
        "verify-hash",
        "authority fingerprints are not supported",
        "use peer-fingerprint for the peer's certificate, or ca for the authority",
    ),
    used("ns-cert-type", BOTH, 1, 1, |draft, call| {
        let role = call.choice(0, &[("server", Role::Server), ("client", Role::Client)])?;
        draft.common.tls.peer_role = Some(role);
        draft.warn(
            call.directive,
            "it has the effect of remote-cert-tls: the peer's certificate needs the extended key \
             usage, and its Netscape type is not read",
        );
        Ok(())
    }),
    used("verify-client-cert", SERVER, 0, 1, |draft, call| {
        let choices = [
            ("require", ClientCertificate::Require),
            ("optional", ClientCertificate::Optional),
            ("none", ClientCertificate::None),
        ];
        let choice = if call.get(0).is_some() { call.choice(0, &choices)? } else { choices[0].1 };
        draft.common.tls.client_certificate = choice;
        Ok(())
    }),
    used("client-cert-not-required", SERVER, 0, 0, |draft, _| {
        draft.common.tls.client_certificate = ClientCertificate::None;
        Ok(())
    }),
    ignored(
        "tls-exit",
        BOTH,
        "after a failed negotiation, a client tries again, and a server waits",
    ),
    used("dh", BOTH, 1, 1, |draft, call| {
        // OpenVPN's servers need the line `dh none`, which says what always holds here.
        if call.directive.block.is_some() || call.text(0) != "none" {
            let message = "dh is ignored: key agreement always uses ephemeral elliptic curve keys";
            draft.warn(call.directive, message);
        }
        Ok(())
    })
    .or_block(),
    ignored("key-method", BOTH, "only key method 2 exists"),
    // The data channel.
    used("data-ciphers", BOTH, 1, 1, data_ciphers),
    used("ncp-ciphers", BOTH, 1, 1, data_ciphers),
    used("data-ciphers-fallback", BOTH, 1, 1, |draft, call| {
        draft.common.data.fallback =
            Some(cipher(call.text(0)).ok_or_else(|| no_cipher(call.text(0)))?);
        Ok(())
    }),
    used("cipher", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.data.cipher = cipher(call.text(0));
        if draft.common.data.cipher.is_none() {
            let name = call.text(0);
            draft.warn(call.directive, format!("the cipher {name} is too weak and never used"));
        }
        Ok(())
    }),
    used("auth", BOTH, 1, 1, |draft, call| {
        draft.no_digest = call.text(0).eq_ignore_ascii_case("none");
        if draft.no_digest {
            return Ok(());
        }
        match Digest::from_name(call.text(0)) {
            Some(digest) => draft.common.data.digest = digest,
            None if is_other_digest(call.text(0)) => {
                let message =
                    format!("the digest {} is not supported; AEAD ciphers need none", call.text(0));
                draft.warn(call.directive, message);
                draft.no_digest = true;
            }
            None => {
                return Err(Problem::new(
                    format!("the digest {} is not supported", call.text(0)),
                    "use SHA256 or SHA512 at both ends; AEAD ciphers need no digest",
                ));
            }
        }
        Ok(())
    }),
    used("comp-lzo", BOTH | PUSHED, 0, 1, |draft, call| {
        let choices = [("no", false), ("yes", true), ("adaptive", true)];
        if call.get(0).is_none() || call.choice(0, &choices)? {
            draft.warn(call.directive, NEVER_COMPRESSED);
        }
        draft.common.data.framing = Framing::Prefix;
        Ok(())
    }),
    used("compress", BOTH | PUSHED, 0, 1, |draft, call| {
        let choices = [
            ("stub", (Framing::Swap, false)),
            ("stub-v2", (Framing::StubV2, false)),
            ("migrate", (Framing::None, false)),
            ("lzo", (Framing::Prefix, true)),
            ("lz4", (Framing::Swap, true)),
            ("lz4-v2", (Framing::StubV2, true)),
        ];
        let (framing, compresses) = match call.get(0) {
            Some(_) => call.choice(0, &choices)?,
            None => choices[0].1,
        };
        if compresses {
            draft.warn(call.directive, NEVER_COMPRESSED);
        }
        draft.common.data.framing = framing;
        Ok(())
    }),
    used("allow-compression", BOTH, 1, 1, |draft, call| {
        draft.common.data.decompress =
            call.choice(0, &[("no", false), ("yes", true), ("asym", true)])?;
        if draft.common.data.decompress {
            draft.warn(
                call.directive,
                "packets that the peer compresses are accepted, although its compression leaks \
                 plaintext (VORACLE); this end never compresses",
            );
        }
        Ok(())
    }),
    ignored("comp-noadapt", BOTH, "nothing is compressed"),
    used("replay-window", BOTH, 1, 2, |draft, call| {
        draft.common.data.replay_window = call.number(0, 1..=65536)?;
        if call.get(1).is_some() {
            call.seconds(1)?;
            let message = "the time of replay-window is ignored: a packet in the window may be late \
                           by any time";
            draft.warn(call.directive, message);
        }
        Ok(())
    }),
    refused(
        "no-replay",
        "without replay protection, old packets could be sent again",
        "remove it at both ends",
    ),
    refused("no-iv", "without an IV, encryption is broken", "remove it at both ends"),
    refused(
        "tls-remote",
        "names are checked by another directive",
        "replace it with `verify-x509-name NAME name`, or with the type subject for the whole subject",
    ),
    refused(
        "ncp-disable",
        "ciphers are always negotiated",
        "remove it; to force a cipher, list only it in data-ciphers",
    ),
    used("secret", BOTH, 1, 2, |draft, call| {
        let direction = match call.get(1) {
            Some(_) => Some(key_direction(call, 1)?),
            None => None,
        };
        draft.static_key = Some((call.material()?, direction));
        Ok(())
    })
    .or_block(),
    used("allow-deprecated-insecure-static-crypto", BOTH, 0, 0, |_, _| Ok(())),
    refused(
        "keysize",
        "cipher key sizes are fixed",
        "remove it: the cipher's name has the size, as in AES-256-GCM",
    ),
    // Times.
    used("reneg-sec", BOTH, 1, 2, |draft, call| {
        draft.common.timing.renegotiate_after = call.seconds_or_never(0)?;
        if call.get(1).is_some() {
            draft.common.timing.renegotiate_not_before = call.seconds_or_never(1)?;
        }
        Ok(())
    }),
    used("reneg-bytes", BOTH, 1, 1, |draft, call| {
        let bytes = call.number(0, 0..=u64::MAX)?;
        draft.common.timing.renegotiate_bytes = Some(bytes).filter(|bytes| *bytes > 0);
        Ok(())
    }),
    used("reneg-pkts", BOTH, 1, 1, |draft, call| {
        let packets = call.number(0, 0..=u64::MAX)?;
        draft.common.timing.renegotiate_packets = Some(packets).filter(|packets| *packets > 0);
        Ok(())
    }),
    used("hand-window", BOTH, 1, 1, |draft, call| {
        draft.common.timing.hand_window = at_least_one(call)?;
        Ok(())
    }),
    used("tran-window", BOTH, 1, 1, |draft, call| {
        draft.common.timing.transition_window = call.seconds(0)?;
        Ok(())
    }),
    ignored(
        "tls-timeout",
        BOTH,
        "a control packet is sent again after 2 seconds, or once later ones were acknowledged",
    ),
    used("keepalive", BOTH, 2, 2, |draft, call| {
        let (interval, timeout) = (call.number(0, 0..=86400)?, call.number(1, 0..=86400)?);
        if interval > 0 && timeout < 2 * interval {
            return Err(Problem::new(
                "one lost packet would end the connection",
                "set the second number to at least twice the first, like keepalive 10 60",
            ));
        }
        draft.keepalive = Some((interval, timeout));
        Ok(())
    }),
    used("ping", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.timing.ping = call.seconds_or_never(0)?;
        Ok(())
    }),
    used("ping-restart", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.timing.ping_restart = call.seconds_or_never(0)?;
        Ok(())
    }),
    used("ping-exit", BOTH | PUSHED, 1, 1, |draft, call| {
        draft.common.timing.ping_exit = call.seconds_or_never(0)?;
        Ok(())
    }),
    used("ping-timer-rem", BOTH, 0, 0, |draft, _| {
        draft.common.timing.ping_timer_needs_peer = true;
        Ok(())
    }),
    used("inactive", BOTH | PUSHED, 1, 2, |draft, call| {
        let bytes = match call.get(1) {
            Some(_) => call.number(1, 0..=u64::MAX)?,
            None => 0,
        };
        draft.common.timing.inactive = call.seconds_or_never(0)?.map(|time| (time, bytes));
        Ok(())
    }),
    used("session-timeout", BOTH | PUSHED | PER_CLIENT, 1, 1, |draft, call| {
        match call.scope {
            Scope::PerClient => draft.per_client.session_timeout = Some(call.seconds(0)?),
            _ => draft.common.timing.session_timeout = call.seconds_or_never(0)?,
        }
        Ok(())
    }),
];

fn tls_groups(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    draft.common.tls.groups = chosen(draft, call, groups(call.text(0)))?;
    Ok(())
}

/// Returns the supported entries of a list of names, and warns of the others.
fn chosen<T>(
    draft: &mut Draft,
    call: &Call<'_>,
    choice: std::result::Result<Choice<T>, UnusableNames>,
) -> Result<Vec<T>> {
    let choice = choice.map_err(|error| Problem::new(error.message, error.hint))?;
    if !choice.ignored.is_empty() {
        let message = format!("not supported and left out: {}", choice.ignored.join(", "));
        draft.warn(call.directive, message);
    }
    Ok(choice.entries)
}

fn version(call: &Call<'_>) -> Result<TlsVersion> {
    call.choice(0, &[("1.2", TlsVersion::V1_2), ("1.3", TlsVersion::V1_3)])
}

fn at_least_one(call: &Call<'_>) -> Result<std::time::Duration> {
    Ok(std::time::Duration::from_secs(call.number(0, 1..=86400)?))
}

/// Returns whether a name is that of a cipher suite with RSA or finite-field Diffie-Hellman, in the
/// form of IANA or of OpenSSL, or OpenSSL's word for the suites of an old version.
fn is_old_suite(name: &str) -> bool {
    let iana = ["TLS-DHE-", "TLS-RSA-", "TLS-DH-"];
    let openssl = ["DHE-", "EDH-", "AES128-", "AES256-", "CAMELLIA128-", "CAMELLIA256-", "DES-"];
    ["SSLv3", "TLSv1", "TLSv1.0"].contains(&name)
        || iana.iter().chain(&openssl).any(|prefix| name.starts_with(prefix))
}

/// Returns whether OpenVPN knows a digest that is not supported here.
fn is_other_digest(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // Some files name the cipher once more.
    cipher(&name).is_some()
        || ["MD4", "MD5", "MD5-SHA1", "RIPEMD160", "RMD160", "WHIRLPOOL", "SM3"]
            .contains(&name.as_str())
        || ["SHA3-", "BLAKE2", "SHA512-", "SHA224"].iter().any(|it| name.starts_with(it))
}

/// Returns a supported cipher by name, ignoring case. `finish` sets the digest of CBC ciphers.
fn cipher(name: &str) -> Option<Cipher> {
    Cipher::from_name(name, Digest::Sha1)
}

fn no_cipher(name: &str) -> Problem {
    Problem::new(
        format!("the cipher {name} is not supported"),
        "use AES-256-GCM, AES-192-GCM, AES-128-GCM, CHACHA20-POLY1305, or AES-256-CBC, \
         AES-192-CBC and AES-128-CBC for old peers; a ? before a name makes it optional",
    )
}

/// Returns whether OpenVPN has a cipher with this name that is too weak or too slow to be used.
fn is_weak_cipher(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let of = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    name == "NONE"
        || of(&["BF-", "DES-", "CAST5-", "RC2-", "SEED-", "IDEA-", "CAMELLIA-", "ARIA-", "SM4-"])
        || (of(&["AES-"]) && ["-CFB", "-OFB", "-CTR"].iter().any(|mode| name.contains(mode)))
}

fn data_ciphers(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let mut ciphers = Vec::new();
    let mut weak = Vec::new();
    for name in call.list(0) {
        let (name, optional) = match name.strip_prefix('?') {
            Some(name) => (name, true),
            None => (&*name, false),
        };
        if name == "DEFAULT" {
            ciphers.extend_from_slice(&DATA_CIPHERS);
            continue;
        }
        match cipher(name) {
            Some(known) => ciphers.push(known),
            None if optional => {}
            None if is_weak_cipher(name) => weak.push(name.to_owned()),
            None => return Err(no_cipher(name)),
        }
    }
    let mut seen = Vec::new();
    ciphers.retain(|name| {
        !seen.contains(name) && {
            seen.push(*name);
            true
        }
    });
    if ciphers.is_empty() {
        return Err(Problem::new("no cipher is left", "add AES-256-GCM"));
    }
    if !weak.is_empty() {
        draft.warn(call.directive, format!("too weak and left out: {}", weak.join(", ")));
    }
    draft.common.data.ciphers = ciphers;
    Ok(())
}

/// Decodes the Base64 of a block, on any number of lines.
fn base64(block: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let letters = block.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    let letters: Zeroizing<Vec<u8>> = Zeroizing::new(letters.collect());
    let mut bytes = Zeroizing::new(vec![0; letters.len() / 4 * 3 + 3]);
    match Base64::decode(&*letters, &mut bytes) {
        Ok(decoded) if !decoded.is_empty() => {
            let length = decoded.len();
            bytes.truncate(length);
            Ok(bytes)
        }
        _ => Err(Problem::new(
            "the block is not Base64",
            "fill it with the output of `openssl base64 -in FILE`",
        )),
    }
}

//! Java: keytool and jarsigner with the provider SunPKCS11.

use crate::support::{TestBed, USER_PIN, contains, module};

#[test]
fn archives_signed_by_keys_that_keytool_generates() {
    let bed = TestBed::new();
    let configuration =
        format!("name = Cycloid\nlibrary = {}\nslotListIndex = 0\n", module().display());
    bed.write("provider.cfg", configuration);
    bed.write("file", "content\n");
    let store = format!(
        "-storetype PKCS11 -keystore NONE -storepass {USER_PIN} -addprovider SunPKCS11 \
         -providerArg provider.cfg"
    );
    let kinds = [
        "RSA -keysize 2048 -sigalg SHA256withRSA",
        "RSA -keysize 3072 -sigalg RSASSA-PSS",
        "EC -groupname secp256r1 -sigalg SHA256withECDSA",
        "EC -groupname secp384r1 -sigalg SHA384withECDSA",
    ];
    for (at, kind) in kinds.into_iter().enumerate() {
        let generate = format!("-genkeypair -keyalg {kind} -alias key{at} -dname CN=test {store}");
        bed.must("keytool", &generate);
        bed.must("jar", "--create --file archive.jar file");
        bed.must("jarsigner", &format!("{store} archive.jar key{at}"));
        contains(&bed.must("jarsigner", "-verify archive.jar"), &["jar verified"]);
    }
    assert_eq!(bed.private_keys(), kinds.len());
    contains(&bed.must("keytool", &format!("-list {store}")), &["key3, PrivateKeyEntry"]);
}

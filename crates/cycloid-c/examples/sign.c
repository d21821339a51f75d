/* Signs a message with a new key on P-256, and verifies the signature.
 *
 * cc sign.c $(pkg-config --cflags --libs cycloid) -o sign && ./sign
 */
#include <cycloid.h>
#include <stdio.h>

int main(void) {
    static const uint8_t message[] = "as agreed";
    cycloid_ec_private_key key;
    cycloid_ec_public_key public_key;
    uint8_t signature[CYCLOID_ECDSA_MAX_BYTES];
    size_t length = 2 * cycloid_ec_bytes(CYCLOID_P256);

    cycloid_error error = cycloid_ec_generate(&key, CYCLOID_P256, NULL);
    if (!error)
        error = cycloid_ecdsa_sign(&key, CYCLOID_SHA256, message, sizeof message, signature, length);
    if (!error)
        error = cycloid_ec_private_key_public(&key, &public_key);
    cycloid_ec_private_key_wipe(&key);
    if (!error)
        error = cycloid_ecdsa_verify(&public_key, CYCLOID_SHA256, message, sizeof message, signature,
                                     length);
    puts(cycloid_error_text(error));
    return error;
}

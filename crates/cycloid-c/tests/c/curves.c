/* Keys, signatures, agreement and points on the curves: what works, and what is refused. */
#include "checks.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint32_t CURVES[] = {CYCLOID_P224, CYCLOID_P256, CYCLOID_P384, CYCLOID_P521};
static const uint8_t MESSAGE[] = "sample";

/* RFC 6979, appendix A.2.5: P-256 with SHA-256, message "sample". */
static const uint8_t RFC_KEY[32] = {0xc9, 0xaf, 0xa9, 0xd8, 0x45, 0xba, 0x75, 0x16, 0x6b, 0x5c, 0x21,
                                    0x57, 0x67, 0xb1, 0xd6, 0x93, 0x4e, 0x50, 0xc3, 0xdb, 0x36, 0xe8,
                                    0x9b, 0x12, 0x7b, 0x8a, 0x62, 0x2b, 0x12, 0x0f, 0x67, 0x21};
static const uint8_t RFC_R[32] = {0xef, 0xd4, 0x8b, 0x2a, 0xac, 0xb6, 0xa8, 0xfd, 0x11, 0x40, 0xdd,
                                  0x9c, 0xd4, 0x5e, 0x81, 0xd6, 0x9d, 0x2c, 0x87, 0x7b, 0x56, 0xaa,
                                  0xf9, 0x91, 0xc3, 0x4d, 0x0e, 0xa8, 0x4e, 0xaf, 0x37, 0x16};
static const uint8_t RFC_S[32] = {0xf7, 0xcb, 0x1c, 0x94, 0x2d, 0x65, 0x7c, 0x41, 0xd4, 0x36, 0xc7,
                                  0xa1, 0xb6, 0xe2, 0x9f, 0x65, 0xf3, 0xe9, 0x00, 0xdb, 0xb9, 0xaf,
                                  0xf4, 0x06, 0x4d, 0xc4, 0xab, 0x2f, 0x84, 0x3a, 0xcd, 0xa8};
static const uint8_t RFC_K[32] = {0xa6, 0xe3, 0xc5, 0x7d, 0xd0, 0x1a, 0xbe, 0x90, 0x08, 0x65, 0x38,
                                  0x39, 0x83, 0x55, 0xdd, 0x4c, 0x3b, 0x17, 0xaa, 0x87, 0x33, 0x82,
                                  0xb0, 0xf2, 0x4d, 0x61, 0x29, 0x49, 0x3d, 0x8a, 0xad, 0x60};
/* SHA-256 of "sample". */
static const uint8_t DIGEST[32] = {0xaf, 0x2b, 0xdb, 0xe1, 0xaa, 0x9b, 0x6e, 0xc1, 0xe2, 0xad, 0xe1,
                                   0xd6, 0x94, 0xf4, 0x1f, 0xc7, 0x1a, 0x83, 0x1d, 0x02, 0x68, 0xe9,
                                   0x89, 0x15, 0x62, 0x11, 0x3d, 0x8a, 0x62, 0xad, 0xd1, 0xbf};

static void vectors(void) {
    cycloid_ec_private_key key;
    uint8_t signature[64], nonce[32];
    OK(cycloid_ec_private_key_from_bytes(&key, CYCLOID_P256, RFC_KEY, 32));
    OK(cycloid_ecdsa_sign(&key, CYCLOID_SHA256, MESSAGE, 6, signature, 64));
    EXPECT(memcmp(signature, RFC_R, 32) == 0 && memcmp(signature + 32, RFC_S, 32) == 0);
    OK(cycloid_hazardous_ecdsa_nonce(&key, CYCLOID_SHA256, DIGEST, 32, nonce, 32));
    EXPECT(memcmp(nonce, RFC_K, 32) == 0);
    memset(signature, 0, 64);
    OK(cycloid_hazardous_ecdsa_sign_with_nonce(&key, DIGEST, 32, nonce, 32, signature, 64));
    EXPECT(memcmp(signature, RFC_R, 32) == 0 && memcmp(signature + 32, RFC_S, 32) == 0);
    /* In place: the digest and the signature share memory. */
    memcpy(signature, DIGEST, 32);
    OK(cycloid_ecdsa_sign_prehashed(&key, CYCLOID_SHA256, signature, 32, signature, 64));
    EXPECT(memcmp(signature, RFC_R, 32) == 0);
    memset(nonce, 0, 32);
    CODE(CYCLOID_ERROR_RANGE,
         cycloid_hazardous_ecdsa_sign_with_nonce(&key, DIGEST, 32, nonce, 32, signature, 64));
}

static void every_curve(void) {
    for (size_t i = 0; i < 4; i++) {
        uint32_t curve = CURVES[i];
        size_t bytes = cycloid_ec_bytes(curve), length;
        cycloid_ec_private_key a, b, read;
        cycloid_ec_public_key pub_a, pub_b, pub_read, sum, product;
        uint8_t signature[CYCLOID_ECDSA_MAX_BYTES], again[CYCLOID_ECDSA_MAX_BYTES];
        uint8_t der[CYCLOID_EC_MAX_PRIVATE_DER_BYTES], secret[66], other[66], point[133];
        EXPECT(bytes <= CYCLOID_EC_MAX_BYTES);
        OK(cycloid_ec_generate(&a, curve, NULL));
        OK(cycloid_ec_generate(&b, curve, NULL));
        EXPECT(cycloid_ec_private_key_curve(&a) == curve);
        OK(cycloid_ec_private_key_public(&a, &pub_a));
        OK(cycloid_ec_private_key_public(&b, &pub_b));

        OK(cycloid_ecdsa_sign(&a, CYCLOID_SHA384, MESSAGE, sizeof MESSAGE, signature, 2 * bytes));
        OK(cycloid_ecdsa_verify(&pub_a, CYCLOID_SHA384, MESSAGE, sizeof MESSAGE, signature, 2 * bytes));
        CODE(CYCLOID_ERROR_VERIFICATION, cycloid_ecdsa_verify(&pub_b, CYCLOID_SHA384, MESSAGE,
                                                              sizeof MESSAGE, signature, 2 * bytes));
        OK(cycloid_ecdsa_sign_hedged(&a, CYCLOID_SHA256, DIGEST, 32, NULL, signature, 2 * bytes));
        OK(cycloid_ecdsa_sign_hedged(&a, CYCLOID_SHA256, DIGEST, 32, NULL, again, 2 * bytes));
        EXPECT(memcmp(signature, again, 2 * bytes) != 0);
        OK(cycloid_ecdsa_verify_prehashed(&pub_a, DIGEST, 32, signature, 2 * bytes));
        OK(cycloid_ecdsa_signature_to_der(curve, signature, 2 * bytes, der, sizeof der, &length));
        EXPECT(length <= CYCLOID_ECDSA_MAX_DER_BYTES);
        OK(cycloid_ecdsa_signature_from_der(curve, der, length, again, 2 * bytes));
        EXPECT(memcmp(signature, again, 2 * bytes) == 0);
        signature[bytes] ^= 1;
        CODE(CYCLOID_ERROR_VERIFICATION,
             cycloid_ecdsa_verify_prehashed(&pub_a, DIGEST, 32, signature, 2 * bytes));

        OK(cycloid_ecdh_agree(&a, &pub_b, secret, bytes));
        OK(cycloid_ecdh_agree(&b, &pub_a, other, bytes));
        EXPECT(memcmp(secret, other, bytes) == 0);

        OK(cycloid_ec_private_key_to_der(&a, der, sizeof der, &length));
        OK(cycloid_ec_private_key_from_file(&read, der, length));
        EXPECT(cycloid_ec_private_key_curve(&read) == curve);
        OK(cycloid_ec_private_key_to_bytes(&read, secret, bytes));
        OK(cycloid_ec_private_key_to_bytes(&a, other, bytes));
        EXPECT(memcmp(secret, other, bytes) == 0);
        CODE(CYCLOID_ERROR_OUTPUT_TOO_SMALL, cycloid_ec_private_key_to_der(&a, der, 10, &length));
        OK(cycloid_ec_public_key_to_der(&pub_a, der, CYCLOID_EC_MAX_PUBLIC_DER_BYTES, &length));
        OK(cycloid_ec_public_key_from_file(&pub_read, der, length));
        EXPECT(cycloid_ec_public_key_curve(&pub_read) == curve);
        for (int compressed = 0; compressed < 2; compressed++) {
            OK(cycloid_ec_public_key_to_sec1(&pub_read, compressed, point, sizeof point, &length));
            EXPECT(length == 1 + (compressed ? bytes : 2 * bytes));
            OK(cycloid_ec_public_key_from_sec1(&pub_read, curve, point, length));
            CODE(CYCLOID_ERROR_OUTPUT_TOO_SMALL,
                 cycloid_ec_public_key_to_sec1(&pub_read, compressed, point, bytes, &length));
        }

        /* a·G is the public key, and 2·(a·G) = a·G + a·G; the output may be an input. */
        OK(cycloid_ec_generator(&product, curve));
        OK(cycloid_ec_multiply(&product, &a, &product));
        EXPECT(memcmp(&product, &pub_a, sizeof product) == 0);
        memset(other, 0, bytes);
        other[bytes - 1] = 2;
        OK(cycloid_ec_private_key_from_bytes(&read, curve, other, bytes));
        OK(cycloid_ec_multiply(&product, &read, &pub_a));
        OK(cycloid_ec_add(&sum, &pub_a, &pub_a));
        EXPECT(memcmp(&product, &sum, sizeof sum) == 0);
        OK(cycloid_ec_public_key_to_sec1(&pub_a, 1, point, sizeof point, &length));
        point[0] ^= 1;
        OK(cycloid_ec_public_key_from_sec1(&pub_read, curve, point, length));
        CODE(CYCLOID_ERROR_INFINITY, cycloid_ec_add(&sum, &pub_a, &pub_read));
        EXPECT(cycloid_ec_public_key_curve(&sum) == 0);
        OK(cycloid_ec_private_key_wipe(&a));
        OK(cycloid_ec_private_key_wipe(&b));
    }
}

static int failing(void *state, uint8_t *bytes, size_t length) {
    (void)bytes, (void)length;
    ++*(int *)state;
    return 1;
}

static int stuck(void *state, uint8_t *bytes, size_t length) {
    (void)state;
    memset(bytes, 7, length);
    return 0;
}

static int counting(void *state, uint8_t *bytes, size_t length) {
    uint64_t *at = state;
    for (size_t i = 0; i < length; i++) {
        *at = *at * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = *at >> 56;
    }
    return 0;
}

static void refusals(void) {
    cycloid_ec_private_key key, other, copy;
    cycloid_ec_public_key pub, pub384;
    uint8_t signature[64], secret[32], bytes[128] = {0};
    size_t length;
    int calls = 0;
    uint64_t seed = 1;
    cycloid_random bad = {failing, &calls}, same = {stuck, NULL}, none = {NULL, NULL},
                   good = {counting, &seed};

    memset(&key, 0xff, sizeof key);
    CODE(CYCLOID_ERROR_KEY, cycloid_ecdsa_sign(&key, CYCLOID_SHA256, NULL, 0, signature, 64));
    EXPECT(cycloid_ec_private_key_curve(&key) == 0 && cycloid_ec_private_key_curve(NULL) == 0);
    CODE(CYCLOID_ERROR_CURVE, cycloid_ec_generate(&key, 0, NULL));
    CODE(CYCLOID_ERROR_CURVE, cycloid_ec_generate(&key, 99, NULL));
    CODE(CYCLOID_ERROR_NULL, cycloid_ec_generate(NULL, CYCLOID_P256, NULL));
    CODE(CYCLOID_ERROR_RANDOM, cycloid_ec_generate(&key, CYCLOID_P256, &bad));
    EXPECT(calls == 1);
    CODE(CYCLOID_ERROR_RANDOM, cycloid_ec_generate(&key, CYCLOID_P256, &same));
    CODE(CYCLOID_ERROR_NULL, cycloid_ec_generate(&key, CYCLOID_P256, &none));
    EXPECT(cycloid_ec_private_key_curve(&key) == 0);
    OK(cycloid_ec_generate(&key, CYCLOID_P256, &good));
    seed = 1;
    OK(cycloid_ec_generate(&other, CYCLOID_P256, &good));
    EXPECT(memcmp(&key, &other, sizeof key) == 0);
    OK(cycloid_ec_generate(&other, CYCLOID_P384, &good));

    CODE(CYCLOID_ERROR_LENGTH, cycloid_ecdsa_sign(&key, CYCLOID_SHA256, MESSAGE, 6, signature, 63));
    CODE(CYCLOID_ERROR_NULL, cycloid_ecdsa_sign(&key, CYCLOID_SHA256, MESSAGE, 6, NULL, 64));
    CODE(CYCLOID_ERROR_NULL, cycloid_ecdsa_sign(&key, CYCLOID_SHA256, NULL, 6, signature, 64));
    OK(cycloid_ecdsa_sign(&key, CYCLOID_SHA256, NULL, 0, signature, 64));
    CODE(CYCLOID_ERROR_HASH, cycloid_ecdsa_sign(&key, 77, MESSAGE, 6, signature, 64));
    CODE(CYCLOID_ERROR_LENGTH,
         cycloid_ecdsa_sign(&key, CYCLOID_SHA256, MESSAGE, (size_t)-1, signature, 64));
    CODE(CYCLOID_ERROR_ALIGNMENT,
         cycloid_ecdsa_sign((void *)((char *)&key + 1), CYCLOID_SHA256, MESSAGE, 6, signature, 64));
    CODE(CYCLOID_ERROR_RANDOM,
         cycloid_ecdsa_sign_hedged(&key, CYCLOID_SHA256, DIGEST, 32, &bad, signature, 64));
    CODE(CYCLOID_ERROR_OVERLAP,
         cycloid_hazardous_ecdsa_nonce(&key, CYCLOID_SHA256, bytes, 32, bytes + 31, 32));

    OK(cycloid_ec_private_key_public(&key, &pub));
    OK(cycloid_ec_private_key_public(&other, &pub384));
    CODE(CYCLOID_ERROR_CURVE, cycloid_ecdh_agree(&key, &pub384, secret, 32));
    CODE(CYCLOID_ERROR_CURVE, cycloid_ec_add(&pub, &pub, &pub384));
    CODE(CYCLOID_ERROR_CURVE, cycloid_ec_multiply(&pub, &key, &pub384));
    CODE(CYCLOID_ERROR_LENGTH, cycloid_ecdh_agree(&key, &pub, secret, 31));
    /* A public key is not a private one, nor the other way. */
    CODE(CYCLOID_ERROR_KEY, cycloid_ecdh_agree(&key, (void *)&key, secret, 32));
    memcpy(&copy, &pub, sizeof pub);
    CODE(CYCLOID_ERROR_KEY, cycloid_ecdsa_sign(&copy, CYCLOID_SHA256, MESSAGE, 6, signature, 64));

    CODE(CYCLOID_ERROR_ENCODING, cycloid_ec_public_key_from_sec1(&pub, CYCLOID_P256, NULL, 0));
    CODE(CYCLOID_ERROR_INFINITY, cycloid_ec_public_key_from_sec1(&pub, CYCLOID_P256, bytes, 1));
    bytes[0] = 4;
    CODE(CYCLOID_ERROR_NOT_ON_CURVE, cycloid_ec_public_key_from_sec1(&pub, CYCLOID_P256, bytes, 65));
    CODE(CYCLOID_ERROR_ENCODING, cycloid_ec_public_key_from_sec1(&pub, CYCLOID_P256, bytes, 64));
    EXPECT(cycloid_ec_public_key_curve(&pub) == 0);
    memset(bytes, 0xff, sizeof bytes);
    bytes[0] = 4;
    CODE(CYCLOID_ERROR_RANGE, cycloid_ec_public_key_from_sec1(&pub, CYCLOID_P256, bytes, 65));
    CODE(CYCLOID_ERROR_RANGE, cycloid_ec_private_key_from_bytes(&other, CYCLOID_P256, bytes + 1, 32));
    memset(bytes, 0, sizeof bytes);
    CODE(CYCLOID_ERROR_RANGE, cycloid_ec_private_key_from_bytes(&other, CYCLOID_P256, bytes, 32));
    CODE(CYCLOID_ERROR_LENGTH, cycloid_ec_private_key_from_bytes(&other, CYCLOID_P256, bytes, 31));
    CODE(CYCLOID_ERROR_FILE, cycloid_ec_private_key_from_file(&other, bytes, sizeof bytes));
    CODE(CYCLOID_ERROR_FILE, cycloid_ec_public_key_from_file(&pub, bytes, 0));
    CODE(CYCLOID_ERROR_RANGE, cycloid_ecdsa_signature_to_der(CYCLOID_P256, bytes, 64, bytes + 64, 64, &length));
    CODE(CYCLOID_ERROR_ENCODING, cycloid_ecdsa_signature_from_der(CYCLOID_P256, bytes, 64, signature, 64));

    /* A copy is a key; after the wipe neither memory holds a word of it. */
    copy = key;
    OK(cycloid_ecdsa_sign(&copy, CYCLOID_SHA256, MESSAGE, 6, signature, 64));
    OK(cycloid_ec_private_key_wipe(&copy));
    OK(cycloid_ec_private_key_wipe(&key));
    for (size_t i = 0; i < sizeof key; i++)
        EXPECT(((uint8_t *)&key)[i] == 0 && ((uint8_t *)&copy)[i] == 0);
    CODE(CYCLOID_ERROR_KEY, cycloid_ecdsa_sign(&key, CYCLOID_SHA256, MESSAGE, 6, signature, 64));
    CODE(CYCLOID_ERROR_KEY, cycloid_ecdh_agree(&key, &pub384, secret, 32));
    CODE(CYCLOID_ERROR_NULL, cycloid_ec_private_key_wipe(NULL));
}

static void curve25519(void) {
    cycloid_ed25519_private_key key;
    cycloid_ed25519_public_key pub;
    uint8_t seed[32], bytes[32], signature[64], a[32], b[32], pub_a[32], pub_b[32], s[32], t[32];
    OK(cycloid_ed25519_generate(&key, NULL));
    OK(cycloid_ed25519_private_key_to_seed(&key, seed));
    OK(cycloid_ed25519_private_key_from_seed(&key, seed));
    OK(cycloid_ed25519_private_key_public(&key, &pub));
    OK(cycloid_ed25519_sign(&key, MESSAGE, sizeof MESSAGE, signature));
    OK(cycloid_ed25519_public_key_to_bytes(&pub, bytes));
    OK(cycloid_ed25519_public_key_from_bytes(&pub, bytes));
    for (uint32_t rule = 0; rule < 3; rule++)
        OK(cycloid_ed25519_verify(&pub, rule, MESSAGE, sizeof MESSAGE, signature));
    CODE(CYCLOID_ERROR_PARAMETER, cycloid_ed25519_verify(&pub, 3, MESSAGE, sizeof MESSAGE, signature));
    signature[0] ^= 1;
    CODE(CYCLOID_ERROR_VERIFICATION, cycloid_ed25519_verify(&pub, 0, MESSAGE, sizeof MESSAGE, signature));
    memset(bytes, 0, 32);
    bytes[0] = 2;
    CODE(CYCLOID_ERROR_NOT_ON_CURVE, cycloid_ed25519_public_key_from_bytes(&pub, bytes));
    CODE(CYCLOID_ERROR_KEY, cycloid_ed25519_verify(&pub, 0, MESSAGE, sizeof MESSAGE, signature));
    CODE(CYCLOID_ERROR_NULL, cycloid_ed25519_sign(NULL, MESSAGE, 1, signature));
    CODE(CYCLOID_ERROR_NULL, cycloid_ed25519_private_key_from_seed(&key, NULL));
    OK(cycloid_ed25519_private_key_wipe(&key));
    CODE(CYCLOID_ERROR_KEY, cycloid_ed25519_sign(&key, MESSAGE, 1, signature));

    OK(cycloid_x25519_generate(a, NULL));
    OK(cycloid_x25519_generate(b, NULL));
    OK(cycloid_x25519_public_key(a, pub_a));
    OK(cycloid_x25519_public_key(b, pub_b));
    OK(cycloid_x25519_agree(a, pub_b, s));
    OK(cycloid_x25519_agree(b, pub_a, t));
    EXPECT(memcmp(s, t, 32) == 0);
    memset(bytes, 0, 32);
    CODE(CYCLOID_ERROR_SMALL_ORDER, cycloid_x25519_agree(a, bytes, s));
    CODE(CYCLOID_ERROR_NULL, cycloid_x25519_agree(a, NULL, s));
}

/* One key, eight threads, and then a fork: hedged signatures of both processes differ. */

static cycloid_ec_private_key shared;
static cycloid_ec_public_key shared_public;

static void *sign_many(void *unused) {
    uint8_t signature[64];
    (void)unused;
    for (int i = 0; i < 5; i++) {
        OK(cycloid_ecdsa_sign(&shared, CYCLOID_SHA256, MESSAGE, 6, signature, 64));
        OK(cycloid_ecdsa_verify(&shared_public, CYCLOID_SHA256, MESSAGE, 6, signature, 64));
    }
    return NULL;
}

static void threads_and_forks(void) {
    pthread_t threads[8];
    uint8_t mine[64], theirs[64];
    int channel[2], status;
    OK(cycloid_ec_generate(&shared, CYCLOID_P256, NULL));
    OK(cycloid_ec_private_key_public(&shared, &shared_public));
    for (int i = 0; i < 8; i++)
        EXPECT(pthread_create(&threads[i], NULL, sign_many, NULL) == 0);
    for (int i = 0; i < 8; i++)
        EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(pipe(channel) == 0);
    pid_t child = fork();
    EXPECT(child >= 0);
    OK(cycloid_ecdsa_sign_hedged(&shared, CYCLOID_SHA256, DIGEST, 32, NULL, mine, 64));
    if (child == 0)
        _exit(write(channel[1], mine, 64) == 64 ? 0 : 1);
    EXPECT(read(channel[0], theirs, 64) == 64);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    OK(cycloid_ecdsa_verify_prehashed(&shared_public, DIGEST, 32, theirs, 64));
    EXPECT(memcmp(mine, theirs, 64) != 0);
}

int main(void) {
    vectors();
    every_curve();
    refusals();
    curve25519();
    threads_and_forks();
    for (int code = -1; code < 40; code++)
        EXPECT(cycloid_error_text(code) != NULL);
    EXPECT(strcmp(cycloid_error_text(CYCLOID_OK), "success") == 0);
    puts("curves: passed");
    return 0;
}

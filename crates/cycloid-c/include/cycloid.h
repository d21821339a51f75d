/* libcycloid: constant-time cryptography, in the caller's memory. docs/c.md is the guide.
 *
 * Made from the sources of crates/cycloid-c by cargo xtask tables; do not edit.
 *
 * Every function is safe to call from several threads at the same time, as long as none changes what
 * another uses. None allocates, and there is no global state. A function returns CYCLOID_OK or an
 * error; on an error, its outputs hold nothing of use. Lengths are in bytes. A pointer to zero bytes
 * may be null. Null where a pointer is required, and misaligned keys and scratch, are errors.
 * Inputs stay the caller's, and nothing keeps a pointer to them, except where a function says so.
 */

#ifndef CYCLOID_H
#define CYCLOID_H

#include <stddef.h>
#include <stdint.h>

/* Memory for keys of RSA of a number of bits, as an expression that is constant. Memory is aligned
 * to 8 bytes: uint64_t memory[CYCLOID_RSA_PRIVATE_KEY_SIZE(2048) / 8]. */
#define CYCLOID_RSA_PUBLIC_KEY_SIZE(bits) ((((bits) + 63) / 64 * 2 + 48) * 8)
#define CYCLOID_RSA_PRIVATE_KEY_SIZE(bits) ((((bits) + 63) / 64 * 3 + ((bits) / 2 + 64) / 64 * 7 + 48) * 8)
#define CYCLOID_RSA_CONTEXT_SIZE(bits) ((((bits) + 63) / 64 * 78 + 128) * 8)
#define CYCLOID_RSA_SCRATCH_SIZE(bits) ((((bits) + 63) / 64 * 264 + 256) * 8)

/* The salt of a signature of RSASSA-PSS may have any length. */
#define CYCLOID_RSA_ANY_SALT SIZE_MAX

// Success.
#define CYCLOID_OK 0

// A pointer that the function needs is null.
#define CYCLOID_ERROR_NULL 1

// A key, a context or scratch memory is not aligned to 8 bytes.
#define CYCLOID_ERROR_ALIGNMENT 2

// An input or an output of fixed length has another length.
#define CYCLOID_ERROR_LENGTH 3

// The output is too small for the result.
#define CYCLOID_ERROR_OUTPUT_TOO_SMALL 4

// The memory for a key, a context or the scratch is too small.
#define CYCLOID_ERROR_MEMORY_TOO_SMALL 5

// The memory does not hold a key or context of this kind: it was never made, has been wiped, is
// of another kind, or was moved although it must stay where it was made.
#define CYCLOID_ERROR_KEY 6

// The curve is unknown, or two keys are on different curves.
#define CYCLOID_ERROR_CURVE 7

// The hash function is unknown, or the scheme does not use it.
#define CYCLOID_ERROR_HASH 8

// The random generator fails or repeats itself.
#define CYCLOID_ERROR_RANDOM 9

// A number is out of range: a private key, a scalar, a nonce, r or s, a public value.
#define CYCLOID_ERROR_RANGE 10

// The encoding of a point or of a signature is malformed.
#define CYCLOID_ERROR_ENCODING 11

// The point is not on the curve.
#define CYCLOID_ERROR_NOT_ON_CURVE 12

// The point is infinity.
#define CYCLOID_ERROR_INFINITY 13

// The file is not a key of this kind, in DER or in PEM.
#define CYCLOID_ERROR_FILE 14

// The file is encrypted.
#define CYCLOID_ERROR_ENCRYPTED 15

// The signature is not valid for this message and key.
#define CYCLOID_ERROR_VERIFICATION 16

// The ciphertext is not valid for this key and these parameters.
#define CYCLOID_ERROR_DECRYPTION 17

// A result failed its check, a hardware fault. Nothing was released.
#define CYCLOID_ERROR_FAULT 18

// The message is too long for the key and the padding.
#define CYCLOID_ERROR_MESSAGE_TOO_LONG 19

// The numbers are not an RSA key, or keys of this length are not supported.
#define CYCLOID_ERROR_NUMBERS 20

// The peer's key has a small order, so the shared secret would be known.
#define CYCLOID_ERROR_SMALL_ORDER 21

// A selector has no such value.
#define CYCLOID_ERROR_PARAMETER 22

// The key is restricted to other operations or parameters.
#define CYCLOID_ERROR_RESTRICTED 23

// The point is not in the group.
#define CYCLOID_ERROR_NOT_IN_GROUP 24

// A list is empty, or two messages are equal where the scheme forbids it.
#define CYCLOID_ERROR_LIST 25

// The job has not been run.
#define CYCLOID_ERROR_NOT_DONE 26

// An output or scratch overlaps another argument.
#define CYCLOID_ERROR_OVERLAP 27

// A defect of the library.
#define CYCLOID_ERROR_INTERNAL 28

// SHA-1: for old signatures, and for OAEP. RSA refuses to sign with it.
#define CYCLOID_SHA1 1

// SHA-224.
#define CYCLOID_SHA224 2

// SHA-256.
#define CYCLOID_SHA256 3

// SHA-384.
#define CYCLOID_SHA384 4

// SHA-512.
#define CYCLOID_SHA512 5

// SHA-512/224.
#define CYCLOID_SHA512_224 6

// SHA-512/256.
#define CYCLOID_SHA512_256 7

// SHA3-224.
#define CYCLOID_SHA3_224 8

// SHA3-256.
#define CYCLOID_SHA3_256 9

// SHA3-384.
#define CYCLOID_SHA3_384 10

// SHA3-512.
#define CYCLOID_SHA3_512 11

// P-224, secp224r1.
#define CYCLOID_P224 1

// P-256, secp256r1 or prime256v1.
#define CYCLOID_P256 2

// P-384, secp384r1.
#define CYCLOID_P384 3

// P-521, secp521r1.
#define CYCLOID_P521 4

// The most bytes of a coordinate or scalar.
#define CYCLOID_EC_MAX_BYTES 66

// The most bytes of an encoded point.
#define CYCLOID_EC_MAX_POINT_BYTES 133

// The most bytes of a private key in a file in DER.
#define CYCLOID_EC_MAX_PRIVATE_DER_BYTES 256

// The most bytes of a public key in a file in DER.
#define CYCLOID_EC_MAX_PUBLIC_DER_BYTES 176

// The most bytes of a signature with fixed width.
#define CYCLOID_ECDSA_MAX_BYTES 132

// The most bytes of a signature in DER.
#define CYCLOID_ECDSA_MAX_DER_BYTES 141

// The bytes of a private key's seed and of a public key.
#define CYCLOID_ED25519_KEY_BYTES 32

// The bytes of a signature.
#define CYCLOID_ED25519_SIGNATURE_BYTES 64

// The equation of RFC 8032 without the cofactor, which most implementations verify.
#define CYCLOID_ED25519_COFACTORLESS 0

// As without a rule, and refuses points of small order.
#define CYCLOID_ED25519_STRICT 1

// The equation with the cofactor (ZIP 215).
#define CYCLOID_ED25519_COFACTORED 2

// The bytes of a private key, a public key and a shared secret.
#define CYCLOID_X25519_BYTES 32

// The fewest bits of a modulus.
#define CYCLOID_RSA_MIN_BITS 2041

// The most bits of a modulus.
#define CYCLOID_RSA_MAX_BITS 16384

// RSASSA-PKCS1-v1_5.
#define CYCLOID_RSA_PKCS1V15 1

// RSASSA-PSS, with the hash function of the digest also for the mask.
#define CYCLOID_RSA_PSS 2

// The group ffdhe2048 of RFC 7919.
#define CYCLOID_FFDHE2048 1

// The group ffdhe3072 of RFC 7919.
#define CYCLOID_FFDHE3072 2

// The group ffdhe4096 of RFC 7919.
#define CYCLOID_FFDHE4096 3

// The group ffdhe6144 of RFC 7919.
#define CYCLOID_FFDHE6144 4

// The group ffdhe8192 of RFC 7919.
#define CYCLOID_FFDHE8192 5

// Group 14 of RFC 3526, of 2048 bits.
#define CYCLOID_MODP2048 6

// Group 15 of RFC 3526, of 3072 bits.
#define CYCLOID_MODP3072 7

// Group 16 of RFC 3526, of 4096 bits.
#define CYCLOID_MODP4096 8

// Group 17 of RFC 3526, of 6144 bits.
#define CYCLOID_MODP6144 9

// Group 18 of RFC 3526, of 8192 bits.
#define CYCLOID_MODP8192 10

// The bytes of a private key.
#define CYCLOID_BLS_PRIVATE_KEY_BYTES 32

// The bytes of a public key, and of a compressed point of G1.
#define CYCLOID_BLS_PUBLIC_KEY_BYTES 48

// The bytes of a signature, and of a compressed point of G2.
#define CYCLOID_BLS_SIGNATURE_BYTES 96

// The scheme whose messages differ (basic).
#define CYCLOID_BLS_BASIC 0

// The scheme that signs the public key with the message (message augmentation).
#define CYCLOID_BLS_AUGMENTATION 1

// The scheme whose keys come with a proof of possession, such as Ethereum's.
#define CYCLOID_BLS_POSSESSION 2

// A private exponent in memory of cycloid_dh_private_key_size bytes, which must stay in place.
typedef struct cycloid_dh_private_key cycloid_dh_private_key;

// The state of one thread's batches, in memory of cycloid_rsa_batch_size bytes, which must stay
// in place: blindings, a random generator and working memory.
typedef struct cycloid_rsa_batch cycloid_rsa_batch;

// The state of one thread's operations with a private key, in memory of
// cycloid_rsa_context_size bytes, which must stay in place: the public key, the blinding, a random
// generator and working memory.
typedef struct cycloid_rsa_context cycloid_rsa_context;

// A private key in memory of cycloid_rsa_private_key_size bytes, which must stay in place.
typedef struct cycloid_rsa_private_key cycloid_rsa_private_key;

// A public key in memory of cycloid_rsa_public_key_size bytes, which must stay in place.
typedef struct cycloid_rsa_public_key cycloid_rsa_public_key;

// The outcome of a function: CYCLOID_OK, or the code of an error.
typedef int cycloid_error;

// A hash function: one of CYCLOID_SHA256 and so on.
typedef uint32_t cycloid_hash;

// A curve: one of CYCLOID_P256 and so on.
typedef uint32_t cycloid_curve;

// A private key on a NIST curve, with its public key. A plain value: it may be copied and moved,
// and each copy must be wiped.
typedef struct cycloid_ec_private_key {
    // The key.
    uint64_t opaque[32];
} cycloid_ec_private_key;

// A source of randomness. Where a function takes a pointer to one, null stands for the system's:
// without an operating system, for none, so that the function fails.
//
// fill writes length random bytes to bytes and returns 0, or another number if it cannot.
// It gets state with every call, is called on the calling thread only, and neither unwinds nor
// jumps out. Functions that run on several threads at the same time call it at the same time.
typedef struct cycloid_random {
    // Fills memory with random bytes.
    int (*fill)(void *state, uint8_t *bytes, size_t length);
    // Passed to fill.
    void *state;
} cycloid_random;

// A public key on a NIST curve. A plain value, which may be copied and moved.
typedef struct cycloid_ec_public_key {
    // The key.
    uint64_t opaque[24];
} cycloid_ec_public_key;

// A private key, with its public key. A plain value: it may be copied and moved, and each copy
// must be wiped.
typedef struct cycloid_ed25519_private_key {
    // The key.
    uint64_t opaque[64];
} cycloid_ed25519_private_key;

// A public key. A plain value, which may be copied and moved.
typedef struct cycloid_ed25519_public_key {
    // The key.
    uint64_t opaque[32];
} cycloid_ed25519_public_key;

// A signature of a digest, as cycloid_rsa_sign_pkcs1v15_prehashed and
// cycloid_rsa_sign_pss_prehashed make it.
typedef struct cycloid_rsa_sign_job {
    // A private key, as long as the batch demands.
    const struct cycloid_rsa_private_key *key;
    // CYCLOID_RSA_PKCS1V15 or CYCLOID_RSA_PSS.
    uint32_t scheme;
    // The hash function of the digest.
    cycloid_hash hash;
    // The bytes of the salt, for PSS.
    size_t salt_length;
    // The digest.
    const uint8_t *digest;
    // The bytes of the digest.
    size_t digest_length;
    // The signature, to write.
    uint8_t *signature;
    // The bytes of the signature.
    size_t signature_length;
    // The outcome, which cycloid_rsa_sign_batch writes.
    cycloid_error error;
} cycloid_rsa_sign_job;

// The verification of a signature of a digest, as cycloid_rsa_verify_pkcs1v15_prehashed and
// cycloid_rsa_verify_pss_prehashed do it.
typedef struct cycloid_rsa_verify_job {
    // A public key.
    const struct cycloid_rsa_public_key *key;
    // CYCLOID_RSA_PKCS1V15 or CYCLOID_RSA_PSS.
    uint32_t scheme;
    // The hash function of the digest.
    cycloid_hash hash;
    // The bytes of the salt, for PSS, or CYCLOID_RSA_ANY_SALT.
    size_t salt_length;
    // The digest.
    const uint8_t *digest;
    // The bytes of the digest.
    size_t digest_length;
    // The signature.
    const uint8_t *signature;
    // The bytes of the signature.
    size_t signature_length;
    // The outcome, which cycloid_rsa_verify_batch writes.
    cycloid_error error;
} cycloid_rsa_verify_job;

// A group: one of CYCLOID_FFDHE2048 and so on.
typedef uint32_t cycloid_dh_group;

// A private key. A plain value: it may be copied and moved, and each copy must be wiped.
typedef struct cycloid_bls_private_key {
    // The key.
    uint64_t opaque[8];
} cycloid_bls_private_key;

// A public key, in the group and not infinity. A plain value, which may be copied and moved.
typedef struct cycloid_bls_public_key {
    // The key.
    uint64_t opaque[20];
} cycloid_bls_public_key;

// A signature, in the group. A plain value, which may be copied and moved.
typedef struct cycloid_bls_signature {
    // The signature.
    uint64_t opaque[40];
} cycloid_bls_signature;

// A message.
typedef struct cycloid_message {
    // Its bytes.
    const uint8_t *bytes;
    // Their number.
    size_t length;
} cycloid_message;

// The signature of a digest by ECDSA, deterministic, as cycloid_ecdsa_sign_prehashed makes it.
typedef struct cycloid_ecdsa_sign_job {
    // A private key.
    const struct cycloid_ec_private_key *key;
    // The hash function of the nonce.
    cycloid_hash hash;
    // The outcome, which cycloid_ecdsa_sign_batch writes.
    cycloid_error error;
    // The digest.
    const uint8_t *digest;
    // The bytes of the digest.
    size_t digest_length;
    // The signature, to write.
    uint8_t *signature;
    // The bytes of the signature.
    size_t signature_length;
} cycloid_ecdsa_sign_job;

// The verification of a signature of a digest by ECDSA, as cycloid_ecdsa_verify_prehashed does
// it.
typedef struct cycloid_ecdsa_verify_job {
    // A public key.
    const struct cycloid_ec_public_key *key;
    // The digest.
    const uint8_t *digest;
    // The bytes of the digest.
    size_t digest_length;
    // The signature.
    const uint8_t *signature;
    // The bytes of the signature.
    size_t signature_length;
    // The outcome, which cycloid_ecdsa_verify_batch writes.
    cycloid_error error;
} cycloid_ecdsa_verify_job;

// An agreement by ECDH, as cycloid_ecdh_agree does it.
typedef struct cycloid_ecdh_job {
    // A private key.
    const struct cycloid_ec_private_key *key;
    // The peer's public key.
    const struct cycloid_ec_public_key *peer;
    // The shared secret, to write.
    uint8_t *secret;
    // The bytes of the shared secret.
    size_t length;
    // The outcome, which cycloid_ecdh_batch writes.
    cycloid_error error;
} cycloid_ecdh_job;

// An agreement by X25519, as cycloid_x25519_agree does it.
typedef struct cycloid_x25519_job {
    // A private key of 32 bytes.
    const uint8_t *private_key;
    // The peer's public key of 32 bytes.
    const uint8_t *peer;
    // The shared secret of 32 bytes, to write.
    uint8_t *secret;
    // The outcome, which cycloid_x25519_batch writes.
    cycloid_error error;
} cycloid_x25519_job;

// A signature of Ed25519, as cycloid_ed25519_sign makes it.
typedef struct cycloid_ed25519_sign_job {
    // A private key.
    const struct cycloid_ed25519_private_key *key;
    // The message.
    const uint8_t *message;
    // The bytes of the message.
    size_t message_length;
    // The signature of 64 bytes, to write.
    uint8_t *signature;
    // The outcome, which cycloid_ed25519_sign_batch writes.
    cycloid_error error;
} cycloid_ed25519_sign_job;

// The verification of a signature of Ed25519, as cycloid_ed25519_verify does it.
typedef struct cycloid_ed25519_verify_job {
    // A public key.
    const struct cycloid_ed25519_public_key *key;
    // The rule, such as CYCLOID_ED25519_COFACTORLESS.
    uint32_t rule;
    // The outcome, which cycloid_ed25519_verify_batch writes.
    cycloid_error error;
    // The message.
    const uint8_t *message;
    // The bytes of the message.
    size_t message_length;
    // The signature of 64 bytes.
    const uint8_t *signature;
} cycloid_ed25519_verify_job;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the text of an error code: a static string that is never null.
const char *cycloid_error_text(cycloid_error error);

// Returns the length of a hash function's digest in bytes; 0 for an unknown number.
size_t cycloid_hash_length(cycloid_hash hash);

// Returns the bytes of a coordinate and of a scalar on a curve; 0 for an unknown curve.
size_t cycloid_ec_bytes(cycloid_curve curve);

// Generates a private key.
//
// Errors: CYCLOID_ERROR_CURVE, CYCLOID_ERROR_RANDOM.
//
// Requirements:
// key is memory for a key, which need not be initialised. random is null or a source.
cycloid_error cycloid_ec_generate(struct cycloid_ec_private_key *key,
                                  cycloid_curve curve,
                                  const struct cycloid_random *random);

// Reads a private key from its scalar: big-endian, cycloid_ec_bytes(curve) bytes.
//
// Errors: CYCLOID_ERROR_CURVE, CYCLOID_ERROR_LENGTH, CYCLOID_ERROR_RANGE.
//
// Requirements:
// key is memory for a key, which need not be initialised. bytes has length bytes.
cycloid_error cycloid_ec_private_key_from_bytes(struct cycloid_ec_private_key *key,
                                                cycloid_curve curve,
                                                const uint8_t *bytes,
                                                size_t length);

// Reads a private key from a file's contents: PKCS #8 or SEC 1, in DER or in PEM. The file names
// the curve.
//
// Errors: CYCLOID_ERROR_FILE, CYCLOID_ERROR_ENCRYPTED, CYCLOID_ERROR_RANGE,
// CYCLOID_ERROR_CURVE.
//
// Requirements:
// key is memory for a key, which need not be initialised. file has length bytes.
cycloid_error cycloid_ec_private_key_from_file(struct cycloid_ec_private_key *key,
                                               const uint8_t *file,
                                               size_t length);

// Writes the scalar of a private key: big-endian, exactly cycloid_ec_bytes(curve) bytes.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_LENGTH.
//
// Requirements:
// key is a key. bytes has length bytes to write.
cycloid_error cycloid_ec_private_key_to_bytes(const struct cycloid_ec_private_key *key,
                                              uint8_t *bytes,
                                              size_t length);

// Writes a private key as PKCS #8 in DER to the start of der, and its length to *length. At
// most CYCLOID_EC_MAX_PRIVATE_DER_BYTES are written.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_OUTPUT_TOO_SMALL.
//
// Requirements:
// key is a key. der has capacity bytes to write, and length is a number to write.
cycloid_error cycloid_ec_private_key_to_der(const struct cycloid_ec_private_key *key,
                                            uint8_t *der,
                                            size_t capacity,
                                            size_t *length);

// Returns the curve of a private key; 0 for null and for memory that holds none.
//
// Requirements:
// key is null or initialised memory of its type.
cycloid_curve cycloid_ec_private_key_curve(const struct cycloid_ec_private_key *key);

// Copies the public key out of a private key.
//
// Errors: CYCLOID_ERROR_KEY.
//
// Requirements:
// key is a key, and public_key memory for one, which need not be initialised.
cycloid_error cycloid_ec_private_key_public(const struct cycloid_ec_private_key *key,
                                            struct cycloid_ec_public_key *public_key);

// Wipes a private key, or whatever the memory holds.
//
// Requirements:
// key is memory of its type.
cycloid_error cycloid_ec_private_key_wipe(struct cycloid_ec_private_key *key);

// Reads and validates a public key: a point in the compressed or uncompressed form of SEC 1.
//
// Errors: CYCLOID_ERROR_CURVE, CYCLOID_ERROR_ENCODING, CYCLOID_ERROR_INFINITY,
// CYCLOID_ERROR_RANGE, CYCLOID_ERROR_NOT_ON_CURVE.
//
// Requirements:
// key is memory for a key, which need not be initialised. point has length bytes.
cycloid_error cycloid_ec_public_key_from_sec1(struct cycloid_ec_public_key *key,
                                              cycloid_curve curve,
                                              const uint8_t *point,
                                              size_t length);

// Reads and validates a public key from a file's contents: SubjectPublicKeyInfo, in DER or in PEM.
// The file names the curve.
//
// Errors: CYCLOID_ERROR_FILE, CYCLOID_ERROR_CURVE, and those of
// cycloid_ec_public_key_from_sec1.
//
// Requirements:
// key is memory for a key, which need not be initialised. file has length bytes.
cycloid_error cycloid_ec_public_key_from_file(struct cycloid_ec_public_key *key,
                                              const uint8_t *file,
                                              size_t length);

// Writes a public key's point in the form of SEC 1 to the start of point, and its length to
// *length: 1 + cycloid_ec_bytes(curve) bytes if compressed is not 0, else 1 + twice as many.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_OUTPUT_TOO_SMALL.
//
// Requirements:
// key is a key. point has capacity bytes to write, and length is a number to write.
cycloid_error cycloid_ec_public_key_to_sec1(const struct cycloid_ec_public_key *key,
                                            int compressed,
                                            uint8_t *point,
                                            size_t capacity,
                                            size_t *length);

// Writes a public key as SubjectPublicKeyInfo in DER to the start of der, and its length to
// *length. At most CYCLOID_EC_MAX_PUBLIC_DER_BYTES are written.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_OUTPUT_TOO_SMALL.
//
// Requirements:
// key is a key. der has capacity bytes to write, and length is a number to write.
cycloid_error cycloid_ec_public_key_to_der(const struct cycloid_ec_public_key *key,
                                           uint8_t *der,
                                           size_t capacity,
                                           size_t *length);

// Returns the curve of a public key; 0 for null and for memory that holds none.
//
// Requirements:
// key is null or initialised memory of its type.
cycloid_curve cycloid_ec_public_key_curve(const struct cycloid_ec_public_key *key);

// Signs a message, deterministically (RFC 6979), with the hash function.
//
// Writes r and s, each with cycloid_ec_bytes(curve) big-endian bytes, so signature_length is
// twice that. Time does not depend on the key.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_HASH, CYCLOID_ERROR_LENGTH.
//
// Requirements:
// key is a key. message has message_length bytes, and signature signature_length to
// write.
cycloid_error cycloid_ecdsa_sign(const struct cycloid_ec_private_key *key,
                                 cycloid_hash hash,
                                 const uint8_t *message,
                                 size_t message_length,
                                 uint8_t *signature,
                                 size_t signature_length);

// Signs a digest of any length, deterministically (RFC 6979). hash is the function of the nonce,
// usually that of the digest. Otherwise as cycloid_ecdsa_sign.
//
// Requirements:
// As for cycloid_ecdsa_sign.
cycloid_error cycloid_ecdsa_sign_prehashed(const struct cycloid_ec_private_key *key,
                                           cycloid_hash hash,
                                           const uint8_t *digest,
                                           size_t digest_length,
                                           uint8_t *signature,
                                           size_t signature_length);

// Signs a digest with 32 random bytes in the nonce (RFC 6979, section 3.6): unlike deterministic
// signatures, two of the same digest differ. Otherwise as cycloid_ecdsa_sign_prehashed.
//
// Errors: also CYCLOID_ERROR_RANDOM.
//
// Requirements:
// As for cycloid_ecdsa_sign; random is null or a source.
cycloid_error cycloid_ecdsa_sign_hedged(const struct cycloid_ec_private_key *key,
                                        cycloid_hash hash,
                                        const uint8_t *digest,
                                        size_t digest_length,
                                        const struct cycloid_random *random,
                                        uint8_t *signature,
                                        size_t signature_length);

// Signs a digest of any length with a given nonce: cycloid_ec_bytes(curve) big-endian bytes.
//
// Hazardous: two signatures with one nonce, or one with a nonce of which someone knows a few bits,
// reveal the private key. For protocols and test vectors that prescribe nonces.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_LENGTH; CYCLOID_ERROR_RANGE for a nonce that is
// 0, not less than the order, or gives no signature.
//
// Requirements:
// key is a key. digest has digest_length bytes, nonce nonce_length, and signature
// signature_length to write.
cycloid_error cycloid_hazardous_ecdsa_sign_with_nonce(const struct cycloid_ec_private_key *key,
                                                      const uint8_t *digest,
                                                      size_t digest_length,
                                                      const uint8_t *nonce,
                                                      size_t nonce_length,
                                                      uint8_t *signature,
                                                      size_t signature_length);

// Writes the nonce with which a digest is signed deterministically (RFC 6979): exactly
// cycloid_ec_bytes(curve) big-endian bytes.
//
// Hazardous: the nonce of a signature reveals the private key.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_HASH, CYCLOID_ERROR_LENGTH.
//
// Requirements:
// key is a key. digest has digest_length bytes, and nonce nonce_length to write.
cycloid_error cycloid_hazardous_ecdsa_nonce(const struct cycloid_ec_private_key *key,
                                            cycloid_hash hash,
                                            const uint8_t *digest,
                                            size_t digest_length,
                                            uint8_t *nonce,
                                            size_t nonce_length);

// Verifies a signature of a message with the hash function: r and s of fixed width, as
// cycloid_ecdsa_sign writes them. Time depends on the arguments, which are public.
//
// Errors: CYCLOID_ERROR_VERIFICATION, also for r or s out of range; CYCLOID_ERROR_LENGTH,
// CYCLOID_ERROR_KEY, CYCLOID_ERROR_HASH.
//
// Requirements:
// key is a key. message has message_length bytes, and signature signature_length.
cycloid_error cycloid_ecdsa_verify(const struct cycloid_ec_public_key *key,
                                   cycloid_hash hash,
                                   const uint8_t *message,
                                   size_t message_length,
                                   const uint8_t *signature,
                                   size_t signature_length);

// Verifies a signature of a digest of any length. Otherwise as cycloid_ecdsa_verify.
//
// Requirements:
// key is a key. digest has digest_length bytes, and signature signature_length.
cycloid_error cycloid_ecdsa_verify_prehashed(const struct cycloid_ec_public_key *key,
                                             const uint8_t *digest,
                                             size_t digest_length,
                                             const uint8_t *signature,
                                             size_t signature_length);

// Converts a signature of fixed width to DER: writes it to the start of der, and its length to
// *der_length. At most CYCLOID_ECDSA_MAX_DER_BYTES are written.
//
// Errors: CYCLOID_ERROR_CURVE, CYCLOID_ERROR_LENGTH, CYCLOID_ERROR_RANGE,
// CYCLOID_ERROR_OUTPUT_TOO_SMALL.
//
// Requirements:
// signature has signature_length bytes. der has capacity bytes to write, and der_length
// is a number to write.
cycloid_error cycloid_ecdsa_signature_to_der(cycloid_curve curve,
                                             const uint8_t *signature,
                                             size_t signature_length,
                                             uint8_t *der,
                                             size_t capacity,
                                             size_t *der_length);

// Converts a signature in DER to fixed width: exactly twice cycloid_ec_bytes(curve) bytes.
//
// Errors: CYCLOID_ERROR_CURVE, CYCLOID_ERROR_ENCODING, CYCLOID_ERROR_RANGE,
// CYCLOID_ERROR_LENGTH.
//
// Requirements:
// der has der_length bytes, and signature signature_length to write.
cycloid_error cycloid_ecdsa_signature_from_der(cycloid_curve curve,
                                               const uint8_t *der,
                                               size_t der_length,
                                               uint8_t *signature,
                                               size_t signature_length);

// Computes the secret shared with the holder of peer: the x coordinate of the product, exactly
// cycloid_ec_bytes(curve) big-endian bytes (SP 800-56A, section 5.7.1.2). Time does not depend
// on the key.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_CURVE, CYCLOID_ERROR_LENGTH.
//
// Requirements:
// key and peer are keys. secret has length bytes to write.
cycloid_error cycloid_ecdh_agree(const struct cycloid_ec_private_key *key,
                                 const struct cycloid_ec_public_key *peer,
                                 uint8_t *secret,
                                 size_t length);

// Writes the generator of a curve.
//
// Errors: CYCLOID_ERROR_CURVE.
//
// Requirements:
// point is memory for a key, which need not be initialised.
cycloid_error cycloid_ec_generator(struct cycloid_ec_public_key *point, cycloid_curve curve);

// Computes *sum = *a + *b. The three may be the same. Time does not depend on the points.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_CURVE, CYCLOID_ERROR_INFINITY.
//
// Requirements:
// a and b are keys, and sum is memory for one, which need not be initialised.
cycloid_error cycloid_ec_add(struct cycloid_ec_public_key *sum,
                             const struct cycloid_ec_public_key *a,
                             const struct cycloid_ec_public_key *b);

// Computes *product = scalar · *point, with a private key as the scalar. product and point
// may be the same. Time does not depend on the scalar or the point.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_CURVE.
//
// Requirements:
// scalar and point are keys, and product is memory for one, which need not be initialised.
cycloid_error cycloid_ec_multiply(struct cycloid_ec_public_key *product,
                                  const struct cycloid_ec_private_key *scalar,
                                  const struct cycloid_ec_public_key *point);

// Generates a private key.
//
// Errors: CYCLOID_ERROR_RANDOM.
//
// Requirements:
// key is memory for a key, which need not be initialised. random is null or a source.
cycloid_error cycloid_ed25519_generate(struct cycloid_ed25519_private_key *key,
                                       const struct cycloid_random *random);

// Makes a private key from its seed of 32 bytes.
//
// Requirements:
// key is memory for a key, which need not be initialised. seed has 32 bytes.
cycloid_error cycloid_ed25519_private_key_from_seed(struct cycloid_ed25519_private_key *key,
                                                    const uint8_t *seed);

// Writes the seed of a private key, 32 bytes.
//
// Errors: CYCLOID_ERROR_KEY.
//
// Requirements:
// key is a key. seed has 32 bytes to write.
cycloid_error cycloid_ed25519_private_key_to_seed(const struct cycloid_ed25519_private_key *key,
                                                  uint8_t *seed);

// Copies the public key out of a private key.
//
// Errors: CYCLOID_ERROR_KEY.
//
// Requirements:
// key is a key, and public_key memory for one, which need not be initialised.
cycloid_error cycloid_ed25519_private_key_public(const struct cycloid_ed25519_private_key *key,
                                                 struct cycloid_ed25519_public_key *public_key);

// Wipes a private key, or whatever the memory holds.
//
// Requirements:
// key is memory of its type.
cycloid_error cycloid_ed25519_private_key_wipe(struct cycloid_ed25519_private_key *key);

// Reads a public key from its 32 bytes.
//
// Errors: CYCLOID_ERROR_NOT_ON_CURVE.
//
// Requirements:
// key is memory for a key, which need not be initialised. bytes has 32 bytes.
cycloid_error cycloid_ed25519_public_key_from_bytes(struct cycloid_ed25519_public_key *key,
                                                    const uint8_t *bytes);

// Writes the 32 bytes of a public key.
//
// Errors: CYCLOID_ERROR_KEY.
//
// Requirements:
// key is a key. bytes has 32 bytes to write.
cycloid_error cycloid_ed25519_public_key_to_bytes(const struct cycloid_ed25519_public_key *key,
                                                  uint8_t *bytes);

// Signs a message: writes 64 bytes. Time does not depend on the key.
//
// Errors: CYCLOID_ERROR_KEY.
//
// Requirements:
// key is a key. message has message_length bytes, and signature 64 to write.
cycloid_error cycloid_ed25519_sign(const struct cycloid_ed25519_private_key *key,
                                   const uint8_t *message,
                                   size_t message_length,
                                   uint8_t *signature);

// Verifies a signature of 64 bytes, by rule, such as CYCLOID_ED25519_COFACTORLESS. Time
// depends on the arguments, which are public.
//
// Errors: CYCLOID_ERROR_VERIFICATION; CYCLOID_ERROR_SMALL_ORDER for a public key of small
// order by the strict rule; CYCLOID_ERROR_KEY, CYCLOID_ERROR_PARAMETER.
//
// Requirements:
// key is a key. message has message_length bytes, and signature 64.
cycloid_error cycloid_ed25519_verify(const struct cycloid_ed25519_public_key *key,
                                     uint32_t rule,
                                     const uint8_t *message,
                                     size_t message_length,
                                     const uint8_t *signature);

// Generates a private key of 32 bytes. The caller wipes it.
//
// Errors: CYCLOID_ERROR_RANDOM.
//
// Requirements:
// private_key has 32 bytes to write. random is null or a source.
cycloid_error cycloid_x25519_generate(uint8_t *private_key, const struct cycloid_random *random);

// Computes the public key of a private key. Both have 32 bytes; any 32 bytes are a private key.
//
// Requirements:
// private_key has 32 bytes, and public_key 32 to write. They may be the same.
cycloid_error cycloid_x25519_public_key(const uint8_t *private_key, uint8_t *public_key);

// Computes the secret of 32 bytes shared with the holder of peer. Time does not depend on the
// key.
//
// Errors: CYCLOID_ERROR_SMALL_ORDER if the secret is all zeros, whatever the private key is;
// nothing is written then.
//
// Requirements:
// private_key and peer have 32 bytes, and secret 32 to write.
cycloid_error cycloid_x25519_agree(const uint8_t *private_key,
                                   const uint8_t *peer,
                                   uint8_t *secret);

// Returns the bytes of a private key of bits bits: at most CYCLOID_RSA_PRIVATE_KEY_SIZE(bits).
// 0 if keys of this length are not supported.
size_t cycloid_rsa_private_key_size(size_t bits);

// Returns the bytes of a public key of bits bits: at most CYCLOID_RSA_PUBLIC_KEY_SIZE(bits). 0
// if keys of this length are not supported.
size_t cycloid_rsa_public_key_size(size_t bits);

// Returns the bytes of a context for a key of bits bits with which it is fastest: at most
// CYCLOID_RSA_CONTEXT_SIZE(bits). 0 if keys of this length are not supported.
size_t cycloid_rsa_context_size(size_t bits);

// Returns the bytes of a context for a key of bits bits with which it still works, more slowly.
// 0 if keys of this length are not supported.
size_t cycloid_rsa_context_minimum_size(size_t bits);

// Returns the bytes of scratch for any function that takes scratch, with a key of up to bits
// bits: at most CYCLOID_RSA_SCRATCH_SIZE(bits). 0 if keys of this length are not supported.
size_t cycloid_rsa_scratch_size(size_t bits);

// Generates a private key of bits bits, an even number from 2048, with an odd public exponent of
// at least 65537.
//
// key has size bytes, at least cycloid_rsa_private_key_size(bits), and scratch
// scratch_size, at least cycloid_rsa_scratch_size(bits), which is wiped. Both are aligned to 8
// bytes. The key must stay in place until it is wiped.
//
// Errors: CYCLOID_ERROR_NUMBERS, CYCLOID_ERROR_MEMORY_TOO_SMALL, CYCLOID_ERROR_RANDOM.
//
// Requirements:
// key and scratch are separate memory of these sizes, which need not be initialised. random
// is null or a source.
cycloid_error cycloid_rsa_generate(struct cycloid_rsa_private_key *key,
                                   size_t size,
                                   size_t bits,
                                   uint32_t public_exponent,
                                   const struct cycloid_random *random,
                                   void *scratch,
                                   size_t scratch_size);

// Reads a private key from a file's contents: PKCS #8 or PKCS #1, in DER or in PEM.
//
// key has size bytes, at least cycloid_rsa_private_key_size of the key's bits, and scratch
// scratch_size, at least cycloid_rsa_scratch_size of the same, which is wiped. Both are
// aligned to 8 bytes. The parts are checked against each other; the primes are not tested. The key
// must stay in place until it is wiped.
//
// Errors: CYCLOID_ERROR_FILE, CYCLOID_ERROR_ENCRYPTED, CYCLOID_ERROR_NUMBERS,
// CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// key and scratch are separate memory of these sizes, which need not be initialised. file has
// length bytes.
cycloid_error cycloid_rsa_private_key_from_file(struct cycloid_rsa_private_key *key,
                                                size_t size,
                                                const uint8_t *file,
                                                size_t length,
                                                void *scratch,
                                                size_t scratch_size);

// Writes a private key as PKCS #8 in DER to the start of der, and its length to *length. A key
// of n bits takes at most n/8·5 + 128 bytes.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_OUTPUT_TOO_SMALL.
//
// Requirements:
// key is a key. der has capacity bytes to write, and length is a number to write.
cycloid_error cycloid_rsa_private_key_to_der(const struct cycloid_rsa_private_key *key,
                                             uint8_t *der,
                                             size_t capacity,
                                             size_t *length);

// Returns the bits of a private key's modulus; 0 for null and for memory that holds no key.
//
// Requirements:
// key is null or initialised memory of at least 64 bytes.
size_t cycloid_rsa_private_key_bits(const struct cycloid_rsa_private_key *key);

// Makes the public key of a private key.
//
// public_key has size bytes, at least cycloid_rsa_public_key_size of the key's bits, and
// scratch scratch_size, at least cycloid_rsa_scratch_size of the same. Both are aligned to 8
// bytes.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// key is a key. public_key and scratch are separate memory of these sizes, which need not be
// initialised.
cycloid_error cycloid_rsa_private_key_public(const struct cycloid_rsa_private_key *key,
                                             struct cycloid_rsa_public_key *public_key,
                                             size_t size,
                                             void *scratch,
                                             size_t scratch_size);

// Wipes a private key.
//
// Errors: CYCLOID_ERROR_KEY if the memory holds none; nothing is written then.
//
// Requirements:
// key is initialised memory of at least 64 bytes, which nothing else uses meanwhile.
cycloid_error cycloid_rsa_private_key_wipe(struct cycloid_rsa_private_key *key);

// Makes a public key from the modulus and the public exponent, both big-endian.
//
// key has size bytes, at least cycloid_rsa_public_key_size of the key's bits, and scratch
// scratch_size, at least cycloid_rsa_scratch_size of the same. Both are aligned to 8 bytes.
// The key must stay in place.
//
// Errors: CYCLOID_ERROR_NUMBERS, CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// key and scratch are separate memory of these sizes, which need not be initialised. modulus
// has modulus_length bytes, and exponent exponent_length.
cycloid_error cycloid_rsa_public_key_from_numbers(struct cycloid_rsa_public_key *key,
                                                  size_t size,
                                                  const uint8_t *modulus,
                                                  size_t modulus_length,
                                                  const uint8_t *exponent,
                                                  size_t exponent_length,
                                                  void *scratch,
                                                  size_t scratch_size);

// Reads a public key from a file's contents: SubjectPublicKeyInfo or PKCS #1, in DER or in PEM.
// Memory is as for cycloid_rsa_public_key_from_numbers.
//
// Errors: CYCLOID_ERROR_FILE, CYCLOID_ERROR_NUMBERS, CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// key and scratch are separate memory of these sizes, which need not be initialised. file has
// length bytes.
cycloid_error cycloid_rsa_public_key_from_file(struct cycloid_rsa_public_key *key,
                                               size_t size,
                                               const uint8_t *file,
                                               size_t length,
                                               void *scratch,
                                               size_t scratch_size);

// Writes a public key as SubjectPublicKeyInfo in DER to the start of der, and its length to
// *length. A key of n bits takes at most n/8 + 128 bytes.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_OUTPUT_TOO_SMALL.
//
// Requirements:
// key is a key. der has capacity bytes to write, and length is a number to write.
cycloid_error cycloid_rsa_public_key_to_der(const struct cycloid_rsa_public_key *key,
                                            uint8_t *der,
                                            size_t capacity,
                                            size_t *length);

// Returns the bits of a public key's modulus; 0 for null and for memory that holds no key.
//
// Requirements:
// key is null or initialised memory of at least 64 bytes.
size_t cycloid_rsa_public_key_bits(const struct cycloid_rsa_public_key *key);

// Makes a context for a private key.
//
// context has size bytes: at best cycloid_rsa_context_size of the key's bits, and at least
// cycloid_rsa_context_minimum_size, with which operations are slower. It is aligned to 8 bytes
// and must stay in place until it is wiped; so must the key. The context keeps the modulus and the
// public exponent, and each operation compares them with those of the key: another key in the same
// memory is CYCLOID_ERROR_KEY. One thread at a time uses a context, any number of them a key.
// After a fork, parent and child make contexts of their own, or they share their blindings.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// context is memory of this size, which need not be initialised. key is a key. random is null
// or a source whose callback works until the context is wiped.
cycloid_error cycloid_rsa_context_new(struct cycloid_rsa_context *context,
                                      size_t size,
                                      const struct cycloid_rsa_private_key *key,
                                      const struct cycloid_random *random);

// Wipes a context.
//
// Errors: CYCLOID_ERROR_KEY if the memory holds none; nothing is written then.
//
// Requirements:
// context is initialised memory of at least 128 bytes, which nothing else uses meanwhile.
cycloid_error cycloid_rsa_context_wipe(struct cycloid_rsa_context *context);

// Signs a message by RSASSA-PKCS1-v1_5 with the hash function. signature has exactly as many
// bytes as the modulus. Time does not depend on the key.
//
// Errors: CYCLOID_ERROR_KEY, also if the context's key has been wiped or replaced by another;
// CYCLOID_ERROR_HASH, CYCLOID_ERROR_LENGTH, CYCLOID_ERROR_RANDOM,
// CYCLOID_ERROR_RESTRICTED, CYCLOID_ERROR_FAULT, CYCLOID_ERROR_OVERLAP.
//
// Requirements:
// context is a context that nothing else uses meanwhile. message has message_length bytes,
// and signature signature_length to write.
cycloid_error cycloid_rsa_sign_pkcs1v15(struct cycloid_rsa_context *context,
                                        cycloid_hash hash,
                                        const uint8_t *message,
                                        size_t message_length,
                                        uint8_t *signature,
                                        size_t signature_length);

// Signs a digest by RSASSA-PKCS1-v1_5. Otherwise as cycloid_rsa_sign_pkcs1v15.
//
// Requirements:
// As for cycloid_rsa_sign_pkcs1v15.
cycloid_error cycloid_rsa_sign_pkcs1v15_prehashed(struct cycloid_rsa_context *context,
                                                  cycloid_hash hash,
                                                  const uint8_t *digest,
                                                  size_t digest_length,
                                                  uint8_t *signature,
                                                  size_t signature_length);

// Signs a message by RSASSA-PSS with the hash function, also for the mask, and a salt as long as
// the digest. Otherwise as cycloid_rsa_sign_pkcs1v15.
//
// Requirements:
// As for cycloid_rsa_sign_pkcs1v15.
cycloid_error cycloid_rsa_sign_pss(struct cycloid_rsa_context *context,
                                   cycloid_hash hash,
                                   const uint8_t *message,
                                   size_t message_length,
                                   uint8_t *signature,
                                   size_t signature_length);

// Signs a digest by RSASSA-PSS, with a salt of salt_length bytes. Otherwise as
// cycloid_rsa_sign_pss.
//
// Requirements:
// As for cycloid_rsa_sign_pkcs1v15.
cycloid_error cycloid_rsa_sign_pss_prehashed(struct cycloid_rsa_context *context,
                                             cycloid_hash hash,
                                             const uint8_t *digest,
                                             size_t digest_length,
                                             size_t salt_length,
                                             uint8_t *signature,
                                             size_t signature_length);

// Verifies a signature of a message by RSASSA-PKCS1-v1_5 with the hash function.
//
// scratch has scratch_size bytes, at least cycloid_rsa_scratch_size of the key's bits, and
// is aligned to 8 bytes. Time depends on the arguments, which are public.
//
// Errors: CYCLOID_ERROR_VERIFICATION, also for a signature that is not as long as the modulus;
// CYCLOID_ERROR_KEY, CYCLOID_ERROR_HASH, CYCLOID_ERROR_RESTRICTED,
// CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// key is a key. message has message_length bytes, and signature signature_length.
// scratch is memory of this size, which need not be initialised.
cycloid_error cycloid_rsa_verify_pkcs1v15(const struct cycloid_rsa_public_key *key,
                                          cycloid_hash hash,
                                          const uint8_t *message,
                                          size_t message_length,
                                          const uint8_t *signature,
                                          size_t signature_length,
                                          void *scratch,
                                          size_t scratch_size);

// Verifies a signature of a digest by RSASSA-PKCS1-v1_5. Otherwise as
// cycloid_rsa_verify_pkcs1v15.
//
// Requirements:
// As for cycloid_rsa_verify_pkcs1v15.
cycloid_error cycloid_rsa_verify_pkcs1v15_prehashed(const struct cycloid_rsa_public_key *key,
                                                    cycloid_hash hash,
                                                    const uint8_t *digest,
                                                    size_t digest_length,
                                                    const uint8_t *signature,
                                                    size_t signature_length,
                                                    void *scratch,
                                                    size_t scratch_size);

// Verifies a signature of a message by RSASSA-PSS with the hash function, also for the mask, and a
// salt as long as the digest. Otherwise as cycloid_rsa_verify_pkcs1v15.
//
// Requirements:
// As for cycloid_rsa_verify_pkcs1v15.
cycloid_error cycloid_rsa_verify_pss(const struct cycloid_rsa_public_key *key,
                                     cycloid_hash hash,
                                     const uint8_t *message,
                                     size_t message_length,
                                     const uint8_t *signature,
                                     size_t signature_length,
                                     void *scratch,
                                     size_t scratch_size);

// Verifies a signature of a digest by RSASSA-PSS, with a salt of salt_length bytes, or of any
// length for CYCLOID_RSA_ANY_SALT. Otherwise as cycloid_rsa_verify_pss.
//
// Requirements:
// As for cycloid_rsa_verify_pkcs1v15.
cycloid_error cycloid_rsa_verify_pss_prehashed(const struct cycloid_rsa_public_key *key,
                                               cycloid_hash hash,
                                               const uint8_t *digest,
                                               size_t digest_length,
                                               size_t salt_length,
                                               const uint8_t *signature,
                                               size_t signature_length,
                                               void *scratch,
                                               size_t scratch_size);

// Encrypts a message by RSAES-OAEP with the hash function, also for the mask, and a label, which
// may be empty. ciphertext has exactly as many bytes as the modulus; the longest message has as
// many less two digests and 2.
//
// scratch has scratch_size bytes, at least cycloid_rsa_scratch_size of the key's bits, is
// aligned to 8 bytes, and is wiped.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_HASH, CYCLOID_ERROR_LENGTH,
// CYCLOID_ERROR_MESSAGE_TOO_LONG, CYCLOID_ERROR_RANDOM, CYCLOID_ERROR_RESTRICTED,
// CYCLOID_ERROR_MEMORY_TOO_SMALL, CYCLOID_ERROR_OVERLAP.
//
// Requirements:
// key is a key. label has label_length bytes, message message_length, and ciphertext
// ciphertext_length to write. random is null or a source. scratch is memory of this size,
// which need not be initialised.
cycloid_error cycloid_rsa_encrypt_oaep(const struct cycloid_rsa_public_key *key,
                                       cycloid_hash hash,
                                       const uint8_t *label,
                                       size_t label_length,
                                       const uint8_t *message,
                                       size_t message_length,
                                       const struct cycloid_random *random,
                                       uint8_t *ciphertext,
                                       size_t ciphertext_length,
                                       void *scratch,
                                       size_t scratch_size);

// Decrypts a ciphertext by RSAES-OAEP: writes the message to the start of message, and its
// length to *message_length. capacity is at least the length of the longest message, whatever
// the ciphertext holds. Time depends neither on the key nor on the message.
//
// Errors: CYCLOID_ERROR_DECRYPTION, which does not say what is wrong; CYCLOID_ERROR_KEY, also
// if the context's key has been wiped or replaced; CYCLOID_ERROR_HASH, CYCLOID_ERROR_LENGTH,
// CYCLOID_ERROR_OUTPUT_TOO_SMALL, CYCLOID_ERROR_RANDOM, CYCLOID_ERROR_OVERLAP.
//
// Requirements:
// context is a context that nothing else uses meanwhile. label has label_length bytes,
// ciphertext ciphertext_length, and message capacity to write. message_length is a number
// to write.
cycloid_error cycloid_rsa_decrypt_oaep(struct cycloid_rsa_context *context,
                                       cycloid_hash hash,
                                       const uint8_t *label,
                                       size_t label_length,
                                       const uint8_t *ciphertext,
                                       size_t ciphertext_length,
                                       uint8_t *message,
                                       size_t capacity,
                                       size_t *message_length);

// Returns the bytes of a batch for keys of bits bits; 0 if keys of this length are not
// supported.
size_t cycloid_rsa_batch_size(size_t bits);

// Returns the bytes of scratch for cycloid_rsa_verify_batch with keys of up to bits bits; 0 if
// keys of this length are not supported.
size_t cycloid_rsa_verify_batch_scratch_size(size_t bits);

// Makes a batch for keys of exactly bits bits.
//
// batch has size bytes, at least cycloid_rsa_batch_size(bits). It is aligned to 8 bytes and
// must stay in place until it is wiped. One thread at a time uses it.
//
// Errors: CYCLOID_ERROR_MEMORY_TOO_SMALL, CYCLOID_ERROR_NUMBERS.
//
// Requirements:
// batch is memory of this size, which need not be initialised. random is null or a source whose
// callback works until the batch is wiped.
cycloid_error cycloid_rsa_batch_new(struct cycloid_rsa_batch *batch,
                                    size_t size,
                                    size_t bits,
                                    const struct cycloid_random *random);

// Wipes a batch.
//
// Errors: CYCLOID_ERROR_KEY if the memory holds none; nothing is written then.
//
// Requirements:
// batch is initialised memory of at least 128 bytes, which nothing else uses meanwhile.
cycloid_error cycloid_rsa_batch_wipe(struct cycloid_rsa_batch *batch);

// Signs digests. Writes the outcome of each job, and returns the first that is an error. Jobs run
// in groups of 16: if the random generator fails, every job of its group has that error.
//
// Requirements:
// batch is a batch that nothing else uses meanwhile. jobs has count jobs, and each is as for
// cycloid_rsa_sign_pss_prehashed. No output of a job overlaps anything else of the jobs.
cycloid_error cycloid_rsa_sign_batch(struct cycloid_rsa_batch *batch,
                                     struct cycloid_rsa_sign_job *jobs,
                                     size_t count);

// Verifies signatures of digests. Writes the outcome of each job, and returns the first that is an
// error.
//
// scratch has scratch_size bytes, at least cycloid_rsa_verify_batch_scratch_size of the
// longest key's bits, and is aligned to 8 bytes.
//
// Requirements:
// jobs has count jobs, and each is as for cycloid_rsa_verify_pss_prehashed. scratch is memory
// of this size, which need not be initialised.
cycloid_error cycloid_rsa_verify_batch(struct cycloid_rsa_verify_job *jobs,
                                       size_t count,
                                       void *scratch,
                                       size_t scratch_size);

// Returns the bytes of a public value and of a shared secret; 0 for an unknown group.
size_t cycloid_dh_bytes(cycloid_dh_group group);

// Returns the bytes of a private key; 0 for an unknown group.
size_t cycloid_dh_private_key_size(cycloid_dh_group group);

// Returns the bytes of scratch; 0 for an unknown group.
size_t cycloid_dh_scratch_size(cycloid_dh_group group);

// Generates a private key.
//
// key has size bytes, at least cycloid_dh_private_key_size(group), and is aligned to 8
// bytes. It must stay in place until it is wiped.
//
// Errors: CYCLOID_ERROR_PARAMETER for an unknown group, CYCLOID_ERROR_MEMORY_TOO_SMALL,
// CYCLOID_ERROR_RANDOM.
//
// Requirements:
// key is memory of this size, which need not be initialised. random is null or a source.
cycloid_error cycloid_dh_generate(struct cycloid_dh_private_key *key,
                                  size_t size,
                                  cycloid_dh_group group,
                                  const struct cycloid_random *random);

// Reads a private exponent, big-endian. Its length, including leading zeros, is public. Memory is
// as for cycloid_dh_generate.
//
// Errors: CYCLOID_ERROR_PARAMETER, CYCLOID_ERROR_RANGE, CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// key is memory of this size, which need not be initialised. exponent has length bytes.
cycloid_error cycloid_dh_private_key_from_bytes(struct cycloid_dh_private_key *key,
                                                size_t size,
                                                cycloid_dh_group group,
                                                const uint8_t *exponent,
                                                size_t length);

// Computes the public value of a private key: exactly cycloid_dh_bytes(group) big-endian bytes.
//
// scratch has scratch_size bytes, at best cycloid_dh_scratch_size(group), is aligned to 8
// bytes, and is wiped.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_LENGTH, CYCLOID_ERROR_MEMORY_TOO_SMALL,
// CYCLOID_ERROR_OVERLAP.
//
// Requirements:
// key is a key. value has length bytes to write. scratch is memory of this size, which need
// not be initialised.
cycloid_error cycloid_dh_public_value(const struct cycloid_dh_private_key *key,
                                      uint8_t *value,
                                      size_t length,
                                      void *scratch,
                                      size_t scratch_size);

// Computes the secret shared with the holder of the public value peer, big-endian: exactly
// cycloid_dh_bytes(group) bytes. The peer's value is checked to be in the group. Scratch is as
// for cycloid_dh_public_value. Time does not depend on the key.
//
// Errors: CYCLOID_ERROR_RANGE and CYCLOID_ERROR_NOT_IN_GROUP for the peer's value;
// CYCLOID_ERROR_SMALL_ORDER, CYCLOID_ERROR_KEY, CYCLOID_ERROR_LENGTH,
// CYCLOID_ERROR_MEMORY_TOO_SMALL, CYCLOID_ERROR_OVERLAP.
//
// Requirements:
// key is a key. peer has peer_length bytes, and secret length to write. scratch is
// memory of this size, which need not be initialised.
cycloid_error cycloid_dh_agree(const struct cycloid_dh_private_key *key,
                               const uint8_t *peer,
                               size_t peer_length,
                               uint8_t *secret,
                               size_t length,
                               void *scratch,
                               size_t scratch_size);

// Wipes a private key.
//
// Errors: CYCLOID_ERROR_KEY if the memory holds none; nothing is written then.
//
// Requirements:
// key is initialised memory of at least 64 bytes, which nothing else uses meanwhile.
cycloid_error cycloid_dh_private_key_wipe(struct cycloid_dh_private_key *key);

// Generates a private key.
//
// Errors: CYCLOID_ERROR_RANDOM.
//
// Requirements:
// key is memory for a key, which need not be initialised. random is null or a source.
cycloid_error cycloid_bls_generate(struct cycloid_bls_private_key *key,
                                   const struct cycloid_random *random);

// Derives a private key from secret key material of at least 32 bytes (KeyGen of the IETF's
// draft).
//
// Errors: CYCLOID_ERROR_LENGTH.
//
// Requirements:
// key is memory for a key, which need not be initialised. material has material_length bytes,
// and info info_length.
cycloid_error cycloid_bls_private_key_derive(struct cycloid_bls_private_key *key,
                                             const uint8_t *material,
                                             size_t material_length,
                                             const uint8_t *info,
                                             size_t info_length);

// Reads a private key: 32 big-endian bytes.
//
// Errors: CYCLOID_ERROR_LENGTH, CYCLOID_ERROR_RANGE.
//
// Requirements:
// key is memory for a key, which need not be initialised. bytes has length bytes.
cycloid_error cycloid_bls_private_key_from_bytes(struct cycloid_bls_private_key *key,
                                                 const uint8_t *bytes,
                                                 size_t length);

// Writes a private key: exactly 32 big-endian bytes.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_LENGTH.
//
// Requirements:
// key is a key. bytes has length bytes to write.
cycloid_error cycloid_bls_private_key_to_bytes(const struct cycloid_bls_private_key *key,
                                               uint8_t *bytes,
                                               size_t length);

// Computes the public key of a private key.
//
// Errors: CYCLOID_ERROR_KEY.
//
// Requirements:
// key is a key, and public_key memory for one, which need not be initialised.
cycloid_error cycloid_bls_private_key_public(const struct cycloid_bls_private_key *key,
                                             struct cycloid_bls_public_key *public_key);

// Wipes a private key, or whatever the memory holds.
//
// Requirements:
// key is memory of its type.
cycloid_error cycloid_bls_private_key_wipe(struct cycloid_bls_private_key *key);

// Reads a public key, compressed or not, and checks that it is in the group and not infinity.
//
// Errors: CYCLOID_ERROR_LENGTH, CYCLOID_ERROR_ENCODING, CYCLOID_ERROR_RANGE,
// CYCLOID_ERROR_NOT_ON_CURVE, CYCLOID_ERROR_NOT_IN_GROUP, CYCLOID_ERROR_INFINITY.
//
// Requirements:
// key is memory for a key, which need not be initialised. bytes has length bytes.
cycloid_error cycloid_bls_public_key_from_bytes(struct cycloid_bls_public_key *key,
                                                const uint8_t *bytes,
                                                size_t length);

// Writes a public key, compressed: exactly 48 bytes.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_LENGTH.
//
// Requirements:
// key is a key. bytes has length bytes to write.
cycloid_error cycloid_bls_public_key_to_bytes(const struct cycloid_bls_public_key *key,
                                              uint8_t *bytes,
                                              size_t length);

// Reads a signature, compressed or not, and checks that it is in the group.
//
// Errors: as for cycloid_bls_public_key_from_bytes, except for infinity.
//
// Requirements:
// signature is memory for a signature, which need not be initialised. bytes has length bytes.
cycloid_error cycloid_bls_signature_from_bytes(struct cycloid_bls_signature *signature,
                                               const uint8_t *bytes,
                                               size_t length);

// Writes a signature, compressed: exactly 96 bytes.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_LENGTH.
//
// Requirements:
// signature is a signature. bytes has length bytes to write.
cycloid_error cycloid_bls_signature_to_bytes(const struct cycloid_bls_signature *signature,
                                             uint8_t *bytes,
                                             size_t length);

// Signs a message. Time does not depend on the key.
//
// Errors: CYCLOID_ERROR_KEY, CYCLOID_ERROR_PARAMETER for an unknown scheme.
//
// Requirements:
// key is a key. message has message_length bytes. signature is memory for a signature, which
// need not be initialised.
cycloid_error cycloid_bls_sign(const struct cycloid_bls_private_key *key,
                               uint32_t scheme,
                               const uint8_t *message,
                               size_t message_length,
                               struct cycloid_bls_signature *signature);

// Verifies a signature of a message. Time depends on the arguments, which are public.
//
// Errors: CYCLOID_ERROR_VERIFICATION, CYCLOID_ERROR_KEY, CYCLOID_ERROR_PARAMETER.
//
// Requirements:
// key is a key, and signature a signature. message has message_length bytes.
cycloid_error cycloid_bls_verify(const struct cycloid_bls_public_key *key,
                                 uint32_t scheme,
                                 const uint8_t *message,
                                 size_t message_length,
                                 const struct cycloid_bls_signature *signature);

// Proves possession of a private key.
//
// Errors: CYCLOID_ERROR_KEY.
//
// Requirements:
// key is a key. proof is memory for a signature, which need not be initialised.
cycloid_error cycloid_bls_prove_possession(const struct cycloid_bls_private_key *key,
                                           struct cycloid_bls_signature *proof);

// Verifies a proof of possession.
//
// Errors: CYCLOID_ERROR_VERIFICATION, CYCLOID_ERROR_KEY.
//
// Requirements:
// key is a key, and proof a signature.
cycloid_error cycloid_bls_verify_possession(const struct cycloid_bls_public_key *key,
                                            const struct cycloid_bls_signature *proof);

// Returns the bytes of scratch for a list of count keys, signatures, messages or pairs of
// points; 0 for more than can be.
size_t cycloid_bls_scratch_size(size_t count);

// Adds signatures up.
//
// scratch has scratch_size bytes, at least cycloid_bls_scratch_size(count), and is aligned
// to 8 bytes.
//
// Errors: CYCLOID_ERROR_LIST for an empty list; CYCLOID_ERROR_KEY,
// CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// signatures has count signatures. sum is memory for a signature, and scratch memory of its
// size; neither need be initialised.
cycloid_error cycloid_bls_aggregate_signatures(struct cycloid_bls_signature *sum,
                                               const struct cycloid_bls_signature *signatures,
                                               size_t count,
                                               void *scratch,
                                               size_t scratch_size);

// Adds public keys up. Otherwise as cycloid_bls_aggregate_signatures.
//
// Errors: also CYCLOID_ERROR_INFINITY for a sum that is infinity.
//
// Requirements:
// keys has count keys. sum is memory for a key, and scratch memory of its size; neither need
// be initialised.
cycloid_error cycloid_bls_aggregate_public_keys(struct cycloid_bls_public_key *sum,
                                                const struct cycloid_bls_public_key *keys,
                                                size_t count,
                                                void *scratch,
                                                size_t scratch_size);

// Verifies an aggregate of signatures of one message, by keys whose possession has been proved.
// Scratch is as for cycloid_bls_aggregate_signatures.
//
// Errors: CYCLOID_ERROR_VERIFICATION, CYCLOID_ERROR_LIST, CYCLOID_ERROR_KEY,
// CYCLOID_ERROR_INFINITY, CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// keys has count keys. message has message_length bytes. signature is a signature, and
// scratch memory of its size, which need not be initialised.
cycloid_error cycloid_bls_fast_aggregate_verify(const struct cycloid_bls_public_key *keys,
                                                size_t count,
                                                const uint8_t *message,
                                                size_t message_length,
                                                const struct cycloid_bls_signature *signature,
                                                void *scratch,
                                                size_t scratch_size);

// Verifies an aggregate of signatures, of one message by each key. Scratch is as for
// cycloid_bls_aggregate_signatures.
//
// Errors: CYCLOID_ERROR_VERIFICATION; CYCLOID_ERROR_LIST for an empty list, and for equal
// messages in the basic scheme; CYCLOID_ERROR_KEY, CYCLOID_ERROR_PARAMETER,
// CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// keys has count keys, and list as many messages. signature is a signature, and scratch
// memory of its size, which need not be initialised.
cycloid_error cycloid_bls_aggregate_verify(uint32_t scheme,
                                           const struct cycloid_bls_public_key *keys,
                                           const struct cycloid_message *list,
                                           size_t count,
                                           const struct cycloid_bls_signature *signature,
                                           void *scratch,
                                           size_t scratch_size);

// Verifies many signatures at once, each of its own message by its own key, with random weights.
// One that is invalid makes the whole list invalid. Scratch is as for
// cycloid_bls_aggregate_signatures.
//
// Errors: as for cycloid_bls_aggregate_verify, and CYCLOID_ERROR_RANDOM.
//
// Requirements:
// keys has count keys, list as many messages, and signatures as many signatures. random is
// null or a source. scratch is memory of its size, which need not be initialised.
cycloid_error cycloid_bls_batch_verify(uint32_t scheme,
                                       const struct cycloid_bls_public_key *keys,
                                       const struct cycloid_message *list,
                                       const struct cycloid_bls_signature *signatures,
                                       size_t count,
                                       const struct cycloid_random *random,
                                       void *scratch,
                                       size_t scratch_size);

// Computes a multiple of a point of G1: compressed points of 48 bytes, and a scalar of 32
// big-endian bytes, less than the order. Time does not depend on the scalar.
//
// Errors: those of reading the point; CYCLOID_ERROR_RANGE for the scalar.
//
// Requirements:
// point has 48 bytes, scalar 32, and product 48 to write.
cycloid_error cycloid_bls_g1_multiply(uint8_t *product,
                                      const uint8_t *point,
                                      const uint8_t *scalar);

// Computes a multiple of a point of G2: compressed points of 96 bytes. Otherwise as
// cycloid_bls_g1_multiply.
//
// Requirements:
// point has 96 bytes, scalar 32, and product 96 to write.
cycloid_error cycloid_bls_g2_multiply(uint8_t *product,
                                      const uint8_t *point,
                                      const uint8_t *scalar);

// Checks that the product of the pairings of count pairs of points is 1. Points are compressed:
// 48 bytes each in g1, one after the other, and 96 each in g2. Scratch is as for
// cycloid_bls_aggregate_signatures.
//
// Errors: CYCLOID_ERROR_VERIFICATION if it is not 1; those of reading points;
// CYCLOID_ERROR_MEMORY_TOO_SMALL.
//
// Requirements:
// g1 has 48·count bytes, and g2 96·count. scratch is memory of its size, which need not be
// initialised.
cycloid_error cycloid_bls_pairing_check(const uint8_t *g1,
                                        const uint8_t *g2,
                                        size_t count,
                                        void *scratch,
                                        size_t scratch_size);

// Signs digests by ECDSA. Writes the outcome of each job, and returns the first that is an error.
//
// Requirements:
// jobs has count jobs, and each is as for cycloid_ecdsa_sign_prehashed. No output of a job
// overlaps anything else of the jobs.
cycloid_error cycloid_ecdsa_sign_batch(struct cycloid_ecdsa_sign_job *jobs, size_t count);

// Verifies signatures of digests by ECDSA. Writes the outcome of each job, and returns the first
// that is an error.
//
// Requirements:
// jobs has count jobs, and each is as for cycloid_ecdsa_verify_prehashed.
cycloid_error cycloid_ecdsa_verify_batch(struct cycloid_ecdsa_verify_job *jobs, size_t count);

// Computes shared secrets by ECDH. Writes the outcome of each job, and returns the first that is
// an error.
//
// Requirements:
// jobs has count jobs, and each is as for cycloid_ecdh_agree. No output of a job overlaps
// anything else of the jobs.
cycloid_error cycloid_ecdh_batch(struct cycloid_ecdh_job *jobs, size_t count);

// Computes shared secrets by X25519. Writes the outcome of each job, and returns the first that is
// an error.
//
// Requirements:
// jobs has count jobs, and each is as for cycloid_x25519_agree. No output of a job overlaps
// anything else of the jobs.
cycloid_error cycloid_x25519_batch(struct cycloid_x25519_job *jobs, size_t count);

// Signs messages by Ed25519. Writes the outcome of each job, and returns the first that is an
// error.
//
// Requirements:
// jobs has count jobs, and each is as for cycloid_ed25519_sign. No output of a job overlaps
// anything else of the jobs.
cycloid_error cycloid_ed25519_sign_batch(struct cycloid_ed25519_sign_job *jobs, size_t count);

// Verifies signatures of Ed25519. Writes the outcome of each job, and returns the first that is an
// error.
//
// Requirements:
// jobs has count jobs, and each is as for cycloid_ed25519_verify.
cycloid_error cycloid_ed25519_verify_batch(struct cycloid_ed25519_verify_job *jobs, size_t count);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CYCLOID_H */

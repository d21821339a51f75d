/* RSA and Diffie-Hellman in the caller's memory: what works, and what is refused. */
#include "checks.h"

#include <sys/wait.h>
#include <unistd.h>

#define BITS 2048

static const uint8_t MESSAGE[] = "sample";
static uint64_t key_memory[CYCLOID_RSA_PRIVATE_KEY_SIZE(BITS) / 8];
static uint64_t moved[CYCLOID_RSA_PRIVATE_KEY_SIZE(BITS) / 8];
static uint64_t public_memory[CYCLOID_RSA_PUBLIC_KEY_SIZE(BITS) / 8];
static uint64_t context_memory[CYCLOID_RSA_CONTEXT_SIZE(BITS) / 8];
static uint64_t scratch[CYCLOID_RSA_SCRATCH_SIZE(BITS) / 8];

static int failing(void *state, uint8_t *bytes, size_t length) {
    (void)state, (void)bytes, (void)length;
    return 1;
}

/* The constants are no less than what the functions return, for every length. */
static void sizes(void) {
    for (size_t bits = CYCLOID_RSA_MIN_BITS; bits <= CYCLOID_RSA_MAX_BITS; bits++) {
        EXPECT(CYCLOID_RSA_PUBLIC_KEY_SIZE(bits) >= cycloid_rsa_public_key_size(bits));
        EXPECT(CYCLOID_RSA_PRIVATE_KEY_SIZE(bits) >= cycloid_rsa_private_key_size(bits));
        EXPECT(CYCLOID_RSA_CONTEXT_SIZE(bits) >= cycloid_rsa_context_size(bits));
        EXPECT(CYCLOID_RSA_SCRATCH_SIZE(bits) >= cycloid_rsa_scratch_size(bits));
        EXPECT(cycloid_rsa_context_minimum_size(bits) <= cycloid_rsa_context_size(bits));
    }
    EXPECT(cycloid_rsa_private_key_size(CYCLOID_RSA_MIN_BITS - 1) == 0);
    EXPECT(cycloid_rsa_private_key_size((size_t)-1) == 0);
}

static void read_key(const char *path, cycloid_rsa_private_key *key, size_t size) {
    static uint8_t file[8192];
    FILE *stream = fopen(path, "rb");
    EXPECT(stream != NULL);
    size_t length = fread(file, 1, sizeof file, stream);
    fclose(stream);
    CODE(CYCLOID_ERROR_MEMORY_TOO_SMALL,
         cycloid_rsa_private_key_from_file(key, size / 2, file, length, scratch, sizeof scratch));
    EXPECT(cycloid_rsa_private_key_bits(key) == 0);
    CODE(CYCLOID_ERROR_MEMORY_TOO_SMALL,
         cycloid_rsa_private_key_from_file(key, size, file, length, scratch, 64));
    CODE(CYCLOID_ERROR_NULL, cycloid_rsa_private_key_from_file(key, size, file, length, NULL, 0));
    CODE(CYCLOID_ERROR_ALIGNMENT, cycloid_rsa_private_key_from_file(key, size, file, length,
                                                                    (char *)scratch + 4, 4096));
    CODE(CYCLOID_ERROR_ALIGNMENT, cycloid_rsa_private_key_from_file((void *)((char *)key + 4), size - 8,
                                                                    file, length, scratch, sizeof scratch));
    CODE(CYCLOID_ERROR_FILE,
         cycloid_rsa_private_key_from_file(key, size, file, length / 2, scratch, sizeof scratch));
    OK(cycloid_rsa_private_key_from_file(key, size, file, length, scratch, sizeof scratch));
}

static void rsa(const char *path) {
    cycloid_rsa_private_key *key = (void *)key_memory;
    cycloid_rsa_public_key *pub = (void *)public_memory;
    cycloid_rsa_context *context = (void *)context_memory;
    uint8_t signature[BITS / 8], again[BITS / 8], out[BITS / 8], der[2048];
    size_t length;
    cycloid_random bad = {failing, NULL};

    memset(key_memory, 0xff, sizeof key_memory);
    EXPECT(cycloid_rsa_private_key_bits(key) == 0 && cycloid_rsa_private_key_bits(NULL) == 0);
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_private_key_wipe(key));
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_context_new(context, sizeof context_memory, key, NULL));
    read_key(path, key, sizeof key_memory);
    EXPECT(cycloid_rsa_private_key_bits(key) == BITS);
    OK(cycloid_rsa_private_key_public(key, pub, sizeof public_memory, scratch, sizeof scratch));
    EXPECT(cycloid_rsa_public_key_bits(pub) == BITS);
    OK(cycloid_rsa_private_key_to_der(key, der, sizeof der, &length));
    EXPECT(length <= BITS / 8 * 5 + 128);
    CODE(CYCLOID_ERROR_OUTPUT_TOO_SMALL, cycloid_rsa_private_key_to_der(key, der, 100, &length));
    OK(cycloid_rsa_public_key_to_der(pub, der, sizeof der, &length));
    EXPECT(length <= BITS / 8 + 128);
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_rsa_public_key_to_der(pub, (uint8_t *)&length, 600, &length));
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_rsa_public_key_from_file(pub, sizeof public_memory, (uint8_t *)scratch,
                                                                 length, scratch, sizeof scratch));
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_rsa_encrypt_oaep(pub, CYCLOID_SHA256, NULL, 0, MESSAGE, 6, NULL,
                                                         (uint8_t *)scratch, sizeof signature, scratch,
                                                         sizeof scratch));
    OK(cycloid_rsa_public_key_from_file(pub, sizeof public_memory, der, length, scratch, sizeof scratch));

    CODE(CYCLOID_ERROR_MEMORY_TOO_SMALL, cycloid_rsa_context_new(context, 128, key, NULL));
    /* The least memory works as well. */
    OK(cycloid_rsa_context_new(context, cycloid_rsa_context_minimum_size(BITS), key, NULL));
    OK(cycloid_rsa_sign_pkcs1v15(context, CYCLOID_SHA256, MESSAGE, 6, again, sizeof again));
    OK(cycloid_rsa_context_new(context, sizeof context_memory, key, NULL));
    for (int i = 0; i < 3; i++) {
        OK(cycloid_rsa_sign_pkcs1v15(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature));
        EXPECT(memcmp(signature, again, sizeof again) == 0);
    }
    OK(cycloid_rsa_verify_pkcs1v15(pub, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature, scratch,
                                   sizeof scratch));
    CODE(CYCLOID_ERROR_VERIFICATION,
         cycloid_rsa_verify_pkcs1v15(pub, CYCLOID_SHA384, MESSAGE, 6, signature, sizeof signature,
                                     scratch, sizeof scratch));
    CODE(CYCLOID_ERROR_VERIFICATION, cycloid_rsa_verify_pkcs1v15(pub, CYCLOID_SHA256, MESSAGE, 6, signature,
                                                           255, scratch, sizeof scratch));
    OK(cycloid_rsa_sign_pss(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature));
    OK(cycloid_rsa_sign_pss(context, CYCLOID_SHA256, MESSAGE, 6, again, sizeof again));
    EXPECT(memcmp(signature, again, sizeof again) != 0);
    OK(cycloid_rsa_verify_pss(pub, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature, scratch,
                              sizeof scratch));
    OK(cycloid_rsa_sign_pss_prehashed(context, CYCLOID_SHA384, der, 48, 20, signature, sizeof signature));
    OK(cycloid_rsa_verify_pss_prehashed(pub, CYCLOID_SHA384, der, 48, 20, signature, sizeof signature,
                                        scratch, sizeof scratch));
    OK(cycloid_rsa_verify_pss_prehashed(pub, CYCLOID_SHA384, der, 48, CYCLOID_RSA_ANY_SALT, signature,
                                        sizeof signature, scratch, sizeof scratch));
    CODE(CYCLOID_ERROR_VERIFICATION,
         cycloid_rsa_verify_pss_prehashed(pub, CYCLOID_SHA384, der, 48, 21, signature, sizeof signature,
                                          scratch, sizeof scratch));
    CODE(CYCLOID_ERROR_LENGTH,
         cycloid_rsa_sign_pkcs1v15_prehashed(context, CYCLOID_SHA256, der, 31, signature, sizeof signature));
    CODE(CYCLOID_ERROR_LENGTH,
         cycloid_rsa_sign_pkcs1v15(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature - 1));
    CODE(CYCLOID_ERROR_HASH, cycloid_rsa_sign_pkcs1v15(context, 0, MESSAGE, 6, signature, sizeof signature));
    CODE(CYCLOID_ERROR_HASH,
         cycloid_rsa_sign_pkcs1v15(context, CYCLOID_SHA1, MESSAGE, 6, signature, sizeof signature));
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_rsa_sign_pkcs1v15(context, CYCLOID_SHA256, signature, 6, signature,
                                                          sizeof signature));

    OK(cycloid_rsa_encrypt_oaep(pub, CYCLOID_SHA256, MESSAGE, 3, MESSAGE, 6, NULL, signature,
                                sizeof signature, scratch, sizeof scratch));
    OK(cycloid_rsa_decrypt_oaep(context, CYCLOID_SHA256, MESSAGE, 3, signature, sizeof signature, out,
                                sizeof out, &length));
    EXPECT(length == 6 && memcmp(out, MESSAGE, 6) == 0);
    CODE(CYCLOID_ERROR_DECRYPTION, cycloid_rsa_decrypt_oaep(context, CYCLOID_SHA256, MESSAGE, 2, signature,
                                                            sizeof signature, out, sizeof out, &length));
    EXPECT(length == 0);
    CODE(CYCLOID_ERROR_OUTPUT_TOO_SMALL, cycloid_rsa_decrypt_oaep(context, CYCLOID_SHA256, MESSAGE, 3,
                                                                  signature, sizeof signature, out, 6, &length));
    CODE(CYCLOID_ERROR_MESSAGE_TOO_LONG,
         cycloid_rsa_encrypt_oaep(pub, CYCLOID_SHA256, NULL, 0, der, BITS / 8 - 65, NULL, signature,
                                  sizeof signature, scratch, sizeof scratch));
    CODE(CYCLOID_ERROR_RANDOM,
         cycloid_rsa_encrypt_oaep(pub, CYCLOID_SHA256, NULL, 0, der, 1, &bad, signature, sizeof signature,
                                  scratch, sizeof scratch));

    /* The random generator fails: nothing is released. */
    OK(cycloid_rsa_context_new(context, sizeof context_memory, key, &bad));
    CODE(CYCLOID_ERROR_RANDOM,
         cycloid_rsa_sign_pss(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature));
    for (size_t i = 0; i < sizeof signature; i++)
        EXPECT(signature[i] == 0);
    CODE(CYCLOID_ERROR_RANDOM, cycloid_rsa_generate((void *)moved, sizeof moved, BITS, 65537, &bad, scratch,
                                                    sizeof scratch));
    EXPECT(cycloid_rsa_private_key_bits((void *)moved) == 0);

    /* A copy in other memory is not a key, and a context does not outlive its key. */
    memcpy(moved, key_memory, sizeof moved);
    EXPECT(cycloid_rsa_private_key_bits((void *)moved) == 0);
    OK(cycloid_rsa_context_new(context, sizeof context_memory, key, NULL));
    OK(cycloid_rsa_sign_pss(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature));
    OK(cycloid_rsa_private_key_wipe(key));
    for (size_t i = 0; i < sizeof key_memory; i++)
        EXPECT(((uint8_t *)key_memory)[i] == 0);
    CODE(CYCLOID_ERROR_KEY,
         cycloid_rsa_sign_pss(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature));
    OK(cycloid_rsa_context_wipe(context));
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_context_wipe(context));
    CODE(CYCLOID_ERROR_KEY,
         cycloid_rsa_sign_pss(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature));
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_public_key_to_der((void *)key_memory, der, sizeof der, &length));
    CODE(CYCLOID_ERROR_NUMBERS,
         cycloid_rsa_public_key_from_numbers(pub, sizeof public_memory, MESSAGE, 6, MESSAGE, 3, scratch,
                                             sizeof scratch));
}

/* A context is for the key that it was made with. A key that takes its place in the same memory is
 * refused by every operation, however alike the two are, and nothing is written. */
static void replaced(const char *path, const char *other_path) {
    cycloid_rsa_private_key *key = (void *)key_memory;
    cycloid_rsa_public_key *pub = (void *)public_memory;
    cycloid_rsa_context *context = (void *)context_memory;
    uint8_t signature[BITS / 8], again[BITS / 8], zeros[BITS / 8] = {0}, ciphertext[BITS / 8];
    size_t length = 7;
    read_key(path, key, sizeof key_memory);
    OK(cycloid_rsa_context_new(context, sizeof context_memory, key, NULL));
    /* Now the context has a blinding. */
    OK(cycloid_rsa_sign_pkcs1v15(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature));

    read_key(other_path, key, sizeof key_memory);
    EXPECT(cycloid_rsa_private_key_bits(key) == BITS);
    OK(cycloid_rsa_private_key_public(key, pub, sizeof public_memory, scratch, sizeof scratch));
    OK(cycloid_rsa_encrypt_oaep(pub, CYCLOID_SHA256, NULL, 0, MESSAGE, 6, NULL, ciphertext,
                                sizeof ciphertext, scratch, sizeof scratch));
    memset(again, 0, sizeof again);
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_sign_pkcs1v15(context, CYCLOID_SHA256, MESSAGE, 6, again, sizeof again));
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_sign_pkcs1v15_prehashed(context, CYCLOID_SHA256, signature, 32, again,
                                                                sizeof again));
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_sign_pss(context, CYCLOID_SHA256, MESSAGE, 6, again, sizeof again));
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_sign_pss_prehashed(context, CYCLOID_SHA256, signature, 32, 32, again,
                                                           sizeof again));
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_decrypt_oaep(context, CYCLOID_SHA256, NULL, 0, ciphertext,
                                                     sizeof ciphertext, again, sizeof again, &length));
    EXPECT(memcmp(again, zeros, sizeof again) == 0);

    /* The same key, read again, is the context's key. */
    read_key(path, key, sizeof key_memory);
    OK(cycloid_rsa_sign_pkcs1v15(context, CYCLOID_SHA256, MESSAGE, 6, again, sizeof again));
    EXPECT(memcmp(signature, again, sizeof again) == 0);
    OK(cycloid_rsa_context_wipe(context));
    OK(cycloid_rsa_private_key_wipe(key));
}

static void generated(void) {
    cycloid_rsa_private_key *key = (void *)key_memory;
    CODE(CYCLOID_ERROR_NUMBERS, cycloid_rsa_generate(key, sizeof key_memory, 1024, 65537, NULL, scratch,
                                                     sizeof scratch));
    CODE(CYCLOID_ERROR_NUMBERS, cycloid_rsa_generate(key, sizeof key_memory, BITS, 4, NULL, scratch,
                                                     sizeof scratch));
    cycloid_rsa_context *context = (void *)context_memory;
    uint8_t signature[BITS / 8];
    OK(cycloid_rsa_generate(key, sizeof key_memory, BITS, 65537, NULL, scratch, sizeof scratch));
    OK(cycloid_rsa_context_new(context, sizeof context_memory, key, NULL));
    OK(cycloid_rsa_sign_pss(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature));
    OK(cycloid_rsa_generate(key, sizeof key_memory, BITS, 65537, NULL, scratch, sizeof scratch));
    CODE(CYCLOID_ERROR_KEY,
         cycloid_rsa_sign_pss(context, CYCLOID_SHA256, MESSAGE, 6, signature, sizeof signature));
    CODE(CYCLOID_ERROR_MEMORY_TOO_SMALL,
         cycloid_rsa_generate(key, sizeof key_memory, 4096, 65537, NULL, scratch, sizeof scratch));
    OK(cycloid_rsa_generate(key, sizeof key_memory, BITS, 65537, NULL, scratch, sizeof scratch));
    EXPECT(cycloid_rsa_private_key_bits(key) == BITS);
    OK(cycloid_rsa_private_key_wipe(key));
}

static void dh(void) {
    uint32_t group = CYCLOID_FFDHE2048;
    size_t bytes = cycloid_dh_bytes(group), size = cycloid_dh_private_key_size(group),
           scratch_size = cycloid_dh_scratch_size(group);
    uint8_t value_a[256], value_b[256], secret[256], other[256];
    void *a = malloc(size), *b = malloc(size), *work = malloc(scratch_size);
    EXPECT(bytes == 256 && cycloid_dh_bytes(0) == 0 && cycloid_dh_scratch_size(11) == 0);
    CODE(CYCLOID_ERROR_PARAMETER, cycloid_dh_generate(a, size, 11, NULL));
    CODE(CYCLOID_ERROR_MEMORY_TOO_SMALL, cycloid_dh_generate(a, 72, group, NULL));
    /* Sizes that were negative numbers. */
    CODE(CYCLOID_ERROR_LENGTH, cycloid_dh_generate(a, (size_t)-1, group, NULL));
    CODE(CYCLOID_ERROR_LENGTH, cycloid_dh_generate(a, (size_t)-64, group, NULL));
    OK(cycloid_dh_generate(a, size, group, NULL));
    OK(cycloid_dh_generate(b, size, group, NULL));
    OK(cycloid_dh_public_value(a, value_a, bytes, work, scratch_size));
    OK(cycloid_dh_public_value(b, value_b, bytes, work, scratch_size));
    OK(cycloid_dh_agree(a, value_b, bytes, secret, bytes, work, scratch_size));
    OK(cycloid_dh_agree(b, value_a, bytes, other, bytes, work, scratch_size));
    EXPECT(memcmp(secret, other, bytes) == 0);
    CODE(CYCLOID_ERROR_LENGTH, cycloid_dh_agree(a, value_b, bytes, secret, 255, work, scratch_size));
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_dh_agree(a, value_b, bytes, value_b, bytes, work, scratch_size));
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_dh_agree(a, value_b, bytes, work, bytes, work, scratch_size));
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_dh_agree(a, work, bytes, secret, bytes, work, scratch_size));
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_dh_public_value(a, work, bytes, work, scratch_size));
    memset(value_b, 0xff, bytes);
    CODE(CYCLOID_ERROR_RANGE, cycloid_dh_agree(a, value_b, bytes, secret, bytes, work, scratch_size));
    OK(cycloid_dh_private_key_wipe(a));
    CODE(CYCLOID_ERROR_KEY, cycloid_dh_agree(a, value_a, bytes, secret, bytes, work, scratch_size));
    OK(cycloid_dh_private_key_wipe(b));
    free(a), free(b), free(work);
}

int main(int count, char **arguments) {
    EXPECT(count == 4 || count == 5);
    sizes();
    rsa(arguments[1]);
    replaced(arguments[1], arguments[2]);
    replaced(arguments[1], arguments[3]);
    /* Not under valgrind, where it takes long. */
    if (count == 5)
        generated();
    dh();
    puts("rsa_dh: passed");
    return 0;
}

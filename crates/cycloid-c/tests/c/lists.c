/* BLS12-381 and batches: every job has its own outcome, and equals the single operation. */
#include "checks.h"

#define COUNT 37
#define BITS 2048

static const uint32_t CURVES[] = {CYCLOID_P224, CYCLOID_P256, CYCLOID_P384, CYCLOID_P521};

static cycloid_ec_private_key keys[COUNT];
static cycloid_ec_public_key publics[COUNT];
static uint8_t digests[COUNT][32], signatures[COUNT][132], secrets[COUNT][66];

static void curves(void) {
    static cycloid_ecdsa_sign_job sign[COUNT];
    static cycloid_ecdsa_verify_job verify[COUNT];
    static cycloid_ecdh_job agree[COUNT];
    uint8_t expected[132];
    for (size_t i = 0; i < COUNT; i++) {
        size_t bytes = cycloid_ec_bytes(CURVES[i % 4]);
        OK(cycloid_ec_generate(&keys[i], CURVES[i % 4], NULL));
        OK(cycloid_ec_private_key_public(&keys[i], &publics[i]));
        memset(digests[i], (int)i, 32);
        sign[i] = (cycloid_ecdsa_sign_job){.key = &keys[i], .hash = CYCLOID_SHA256, .digest = digests[i],
                                           .digest_length = 32, .signature = signatures[i],
                                           .signature_length = 2 * bytes};
        verify[i] = (cycloid_ecdsa_verify_job){.key = &publics[i], .digest = digests[i], .digest_length = 32,
                                               .signature = signatures[i], .signature_length = 2 * bytes};
        agree[i] = (cycloid_ecdh_job){.key = &keys[i], .peer = &publics[i % 4], .secret = secrets[i],
                                      .length = bytes};
    }
    OK(cycloid_ecdsa_sign_batch(sign, COUNT));
    OK(cycloid_ecdsa_verify_batch(verify, COUNT));
    OK(cycloid_ecdh_batch(agree, COUNT));
    for (size_t i = 0; i < COUNT; i++) {
        size_t bytes = cycloid_ec_bytes(CURVES[i % 4]);
        OK(sign[i].error);
        OK(verify[i].error);
        OK(cycloid_ecdsa_sign_prehashed(&keys[i], CYCLOID_SHA256, digests[i], 32, expected, 2 * bytes));
        EXPECT(memcmp(expected, signatures[i], 2 * bytes) == 0);
        OK(cycloid_ecdh_agree(&keys[i], agree[i].peer, expected, bytes));
        EXPECT(memcmp(expected, secrets[i], bytes) == 0);
    }

    /* Bad jobs, and their neighbours. */
    signatures[3][0] ^= 1;
    memset(signatures[4], 0xff, 132);
    verify[5].signature_length--;
    verify[6].key = NULL;
    verify[7].key = &publics[8];
    verify[8].digest = NULL;
    verify[9].signature = NULL;
    CODE(CYCLOID_ERROR_VERIFICATION, cycloid_ecdsa_verify_batch(verify, COUNT));
    CODE(CYCLOID_ERROR_VERIFICATION, verify[3].error);
    CODE(CYCLOID_ERROR_VERIFICATION, verify[4].error);
    CODE(CYCLOID_ERROR_LENGTH, verify[5].error);
    CODE(CYCLOID_ERROR_NULL, verify[6].error);
    CODE(CYCLOID_ERROR_LENGTH, verify[7].error);
    CODE(CYCLOID_ERROR_NULL, verify[8].error);
    CODE(CYCLOID_ERROR_NULL, verify[9].error);
    for (size_t i = 10; i < COUNT; i++)
        OK(verify[i].error);
    sign[1].key = NULL;
    sign[2].hash = 0;
    sign[3].signature_length = 1;
    sign[4].signature = NULL;
    OK(cycloid_ec_private_key_wipe(&keys[5]));
    CODE(CYCLOID_ERROR_NULL, cycloid_ecdsa_sign_batch(sign, COUNT));
    CODE(CYCLOID_ERROR_NULL, sign[1].error);
    CODE(CYCLOID_ERROR_HASH, sign[2].error);
    CODE(CYCLOID_ERROR_LENGTH, sign[3].error);
    CODE(CYCLOID_ERROR_NULL, sign[4].error);
    CODE(CYCLOID_ERROR_KEY, sign[5].error);
    OK(sign[0].error);
    OK(sign[6].error);
    agree[6].peer = &publics[7];
    agree[7].length = 1;
    agree[8].peer = NULL;
    CODE(CYCLOID_ERROR_KEY, cycloid_ecdh_batch(agree, COUNT));
    CODE(CYCLOID_ERROR_KEY, agree[5].error);
    CODE(CYCLOID_ERROR_CURVE, agree[6].error);
    CODE(CYCLOID_ERROR_LENGTH, agree[7].error);
    CODE(CYCLOID_ERROR_NULL, agree[8].error);
    OK(agree[9].error);
    OK(cycloid_ecdsa_sign_batch(NULL, 0));
    CODE(CYCLOID_ERROR_NULL, cycloid_ecdsa_sign_batch(NULL, 1));
    CODE(CYCLOID_ERROR_ALIGNMENT, cycloid_ecdsa_sign_batch((void *)((char *)sign + 1), 1));
}

static void curve25519(void) {
    static uint8_t privates[COUNT][32], shares[COUNT][32], shared[COUNT][32], made[COUNT][64];
    static cycloid_x25519_job agree[COUNT];
    static cycloid_ed25519_private_key signers[COUNT];
    static cycloid_ed25519_public_key verifiers[COUNT];
    static cycloid_ed25519_sign_job sign[COUNT];
    static cycloid_ed25519_verify_job verify[COUNT];
    uint8_t expected[64], zeros[32] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        OK(cycloid_x25519_generate(privates[i], NULL));
        OK(cycloid_x25519_public_key(privates[i], shares[i]));
        agree[i] = (cycloid_x25519_job){.private_key = privates[i], .peer = shares[0], .secret = shared[i]};
        OK(cycloid_ed25519_private_key_from_seed(&signers[i], privates[i]));
        OK(cycloid_ed25519_private_key_public(&signers[i], &verifiers[i]));
        sign[i] = (cycloid_ed25519_sign_job){.key = &signers[i], .message = digests[i],
                                             .message_length = i % 32, .signature = made[i]};
        verify[i] = (cycloid_ed25519_verify_job){.key = &verifiers[i], .message = digests[i],
                                                 .message_length = i % 32, .signature = made[i]};
    }
    agree[3].peer = zeros;
    agree[4].peer = NULL;
    agree[5].private_key = NULL;
    agree[6].secret = NULL;
    CODE(CYCLOID_ERROR_SMALL_ORDER, cycloid_x25519_batch(agree, COUNT));
    CODE(CYCLOID_ERROR_SMALL_ORDER, agree[3].error);
    CODE(CYCLOID_ERROR_NULL, agree[4].error);
    CODE(CYCLOID_ERROR_NULL, agree[5].error);
    CODE(CYCLOID_ERROR_NULL, agree[6].error);
    for (size_t i = 7; i < COUNT; i++) {
        OK(agree[i].error);
        OK(cycloid_x25519_agree(privates[i], shares[0], expected));
        EXPECT(memcmp(expected, shared[i], 32) == 0);
    }
    OK(cycloid_ed25519_sign_batch(sign, COUNT));
    OK(cycloid_ed25519_verify_batch(verify, COUNT));
    for (size_t i = 0; i < COUNT; i++) {
        OK(cycloid_ed25519_sign(&signers[i], digests[i], i % 32, expected));
        EXPECT(memcmp(expected, made[i], 64) == 0);
    }
    verify[2].rule = 9;
    verify[3].key = NULL;
    verify[4].signature = made[5];
    CODE(CYCLOID_ERROR_PARAMETER, cycloid_ed25519_verify_batch(verify, COUNT));
    CODE(CYCLOID_ERROR_NULL, verify[3].error);
    CODE(CYCLOID_ERROR_VERIFICATION, verify[4].error);
    OK(verify[5].error);
    OK(cycloid_ed25519_private_key_wipe(&signers[1]));
    sign[2].signature = NULL;
    CODE(CYCLOID_ERROR_KEY, cycloid_ed25519_sign_batch(sign, COUNT));
    CODE(CYCLOID_ERROR_NULL, sign[2].error);
    OK(sign[3].error);
}

static int failing(void *state, uint8_t *bytes, size_t length) {
    (void)state, (void)bytes, (void)length;
    return 1;
}

static void rsa(const char *path) {
    static uint64_t key_memory[CYCLOID_RSA_PRIVATE_KEY_SIZE(BITS) / 8],
        public_memory[CYCLOID_RSA_PUBLIC_KEY_SIZE(BITS) / 8], scratch[CYCLOID_RSA_SCRATCH_SIZE(BITS) / 8];
    static uint8_t file[8192], made[9][BITS / 8];
    cycloid_rsa_private_key *key = (void *)key_memory;
    cycloid_rsa_public_key *pub = (void *)public_memory;
    cycloid_rsa_sign_job sign[9];
    cycloid_rsa_verify_job verify[9];
    cycloid_random bad = {failing, NULL};
    size_t size = cycloid_rsa_batch_size(BITS), verify_size = cycloid_rsa_verify_batch_scratch_size(BITS);
    void *batch = malloc(size), *work = malloc(verify_size);
    FILE *stream = fopen(path, "rb");
    EXPECT(stream != NULL);
    size_t length = fread(file, 1, sizeof file, stream);
    fclose(stream);
    OK(cycloid_rsa_private_key_from_file(key, sizeof key_memory, file, length, scratch, sizeof scratch));
    OK(cycloid_rsa_private_key_public(key, pub, sizeof public_memory, scratch, sizeof scratch));
    for (size_t i = 0; i < 9; i++) {
        uint32_t scheme = i % 2 ? CYCLOID_RSA_PSS : CYCLOID_RSA_PKCS1V15;
        sign[i] = (cycloid_rsa_sign_job){.key = key, .scheme = scheme, .hash = CYCLOID_SHA256,
                                         .salt_length = 32, .digest = digests[i], .digest_length = 32,
                                         .signature = made[i], .signature_length = sizeof made[i]};
        verify[i] = (cycloid_rsa_verify_job){.key = pub, .scheme = scheme, .hash = CYCLOID_SHA256,
                                             .salt_length = 32, .digest = digests[i], .digest_length = 32,
                                             .signature = made[i], .signature_length = sizeof made[i]};
    }
    CODE(CYCLOID_ERROR_MEMORY_TOO_SMALL, cycloid_rsa_batch_new(batch, 200, BITS, NULL));
    OK(cycloid_rsa_batch_new(batch, size, BITS, NULL));
    OK(cycloid_rsa_sign_batch(batch, sign, 9));
    OK(cycloid_rsa_verify_batch(verify, 9, work, verify_size));
    CODE(CYCLOID_ERROR_NULL, cycloid_rsa_verify_batch(verify, 9, NULL, 0));
    sign[2].scheme = 0;
    sign[3].digest_length = 31;
    sign[4].signature_length--;
    sign[5].key = NULL;
    made[6][9] ^= 1;
    CODE(CYCLOID_ERROR_VERIFICATION, cycloid_rsa_verify_batch(verify, 9, work, verify_size));
    CODE(CYCLOID_ERROR_VERIFICATION, verify[6].error);
    OK(verify[7].error);
    CODE(CYCLOID_ERROR_PARAMETER, cycloid_rsa_sign_batch(batch, sign, 9));
    CODE(CYCLOID_ERROR_LENGTH, sign[3].error);
    CODE(CYCLOID_ERROR_LENGTH, sign[4].error);
    CODE(CYCLOID_ERROR_NULL, sign[5].error);
    OK(sign[6].error);
    OK(cycloid_rsa_batch_new(batch, size, BITS, &bad));
    CODE(CYCLOID_ERROR_RANDOM, cycloid_rsa_sign_batch(batch, sign + 7, 2));
    for (size_t i = 0; i < sizeof made[7]; i++)
        EXPECT(made[7][i] == 0);
    OK(cycloid_rsa_batch_wipe(batch));
    CODE(CYCLOID_ERROR_KEY, cycloid_rsa_sign_batch(batch, sign, 9));
    OK(cycloid_rsa_private_key_wipe(key));
    free(batch), free(work);
}

static void bls(void) {
    enum { N = 5 };
    static cycloid_bls_private_key signers[N];
    static cycloid_bls_public_key verifiers[N], all;
    static cycloid_bls_signature made[N], same[N], sum;
    static uint8_t points[2 * 48], images[2 * 96];
    cycloid_message messages[N];
    uint8_t bytes[96], scalar[32] = {0};
    size_t size = cycloid_bls_scratch_size(N);
    void *scratch = malloc(size);
    EXPECT(cycloid_bls_scratch_size((size_t)-1) == 0);
    for (size_t i = 0; i < N; i++) {
        OK(cycloid_bls_generate(&signers[i], NULL));
        OK(cycloid_bls_private_key_public(&signers[i], &verifiers[i]));
        messages[i] = (cycloid_message){digests[i], 32};
        for (uint32_t scheme = 0; scheme < 3; scheme++) {
            OK(cycloid_bls_sign(&signers[i], scheme, digests[i], 32, &made[i]));
            OK(cycloid_bls_verify(&verifiers[i], scheme, digests[i], 32, &made[i]));
            CODE(CYCLOID_ERROR_VERIFICATION, cycloid_bls_verify(&verifiers[i], scheme, digests[i], 31, &made[i]));
        }
        OK(cycloid_bls_sign(&signers[i], CYCLOID_BLS_POSSESSION, digests[0], 32, &same[i]));
    }
    OK(cycloid_bls_prove_possession(&signers[0], &sum));
    OK(cycloid_bls_verify_possession(&verifiers[0], &sum));
    CODE(CYCLOID_ERROR_VERIFICATION, cycloid_bls_verify_possession(&verifiers[1], &sum));
    OK(cycloid_bls_batch_verify(CYCLOID_BLS_POSSESSION, verifiers, messages, made, N, NULL, scratch, size));
    CODE(CYCLOID_ERROR_VERIFICATION, cycloid_bls_batch_verify(CYCLOID_BLS_POSSESSION, verifiers, messages,
                                                              same, N, NULL, scratch, size));
    CODE(CYCLOID_ERROR_MEMORY_TOO_SMALL, cycloid_bls_batch_verify(CYCLOID_BLS_POSSESSION, verifiers, messages,
                                                                  made, N, NULL, scratch, size - 8));
    OK(cycloid_bls_aggregate_signatures(&sum, made, N, scratch, size));
    OK(cycloid_bls_aggregate_verify(CYCLOID_BLS_POSSESSION, verifiers, messages, N, &sum, scratch, size));
    CODE(CYCLOID_ERROR_LIST, cycloid_bls_aggregate_signatures(&sum, made, 0, scratch, size));
    CODE(CYCLOID_ERROR_KEY, cycloid_bls_aggregate_verify(CYCLOID_BLS_POSSESSION, verifiers, messages, N, &sum,
                                                         scratch, size));
    OK(cycloid_bls_aggregate_signatures(&sum, same, N, scratch, size));
    OK(cycloid_bls_fast_aggregate_verify(verifiers, N, digests[0], 32, &sum, scratch, size));
    OK(cycloid_bls_aggregate_public_keys(&all, verifiers, N, scratch, size));
    OK(cycloid_bls_verify(&all, CYCLOID_BLS_POSSESSION, digests[0], 32, &sum));
    CODE(CYCLOID_ERROR_PARAMETER, cycloid_bls_verify(&all, 3, digests[0], 32, &sum));
    OK(cycloid_bls_public_key_to_bytes(&all, bytes, 48));
    OK(cycloid_bls_public_key_from_bytes(&all, bytes, 48));
    CODE(CYCLOID_ERROR_LENGTH, cycloid_bls_public_key_from_bytes(&all, bytes, 47));
    OK(cycloid_bls_signature_to_bytes(&sum, bytes, 96));
    OK(cycloid_bls_signature_from_bytes(&sum, bytes, 96));
    bytes[0] = 0xc0;
    memset(bytes + 1, 0, 95);
    CODE(CYCLOID_ERROR_INFINITY, cycloid_bls_public_key_from_bytes(&all, bytes, 48));
    CODE(CYCLOID_ERROR_RANGE, cycloid_bls_private_key_from_bytes(&signers[0], scalar, 32));
    CODE(CYCLOID_ERROR_KEY, cycloid_bls_sign(&signers[0], 0, NULL, 0, &sum));
    CODE(CYCLOID_ERROR_LENGTH, cycloid_bls_private_key_derive(&signers[0], digests[0], 31, NULL, 0));
    OK(cycloid_bls_private_key_derive(&signers[0], digests[1], 32, NULL, 0));

    /* e(P, 3·Q) · e(−3·P, Q) = 1, with a public key as P and a signature as Q. */
    OK(cycloid_bls_public_key_to_bytes(&verifiers[1], points, 48));
    OK(cycloid_bls_signature_to_bytes(&made[1], images + 96, 96));
    scalar[31] = 3;
    OK(cycloid_bls_g1_multiply(points + 48, points, scalar));
    points[48] ^= 0x20;
    OK(cycloid_bls_g2_multiply(images, images + 96, scalar));
    OK(cycloid_bls_pairing_check(points, images, 2, scratch, size));
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_bls_pairing_check(points, scratch, 2, scratch, size));
    CODE(CYCLOID_ERROR_OVERLAP, cycloid_bls_aggregate_signatures(scratch, made, N, scratch, size));
    points[48] ^= 0x20;
    CODE(CYCLOID_ERROR_VERIFICATION, cycloid_bls_pairing_check(points, images, 2, scratch, size));
    memset(scalar, 0xff, 32);
    CODE(CYCLOID_ERROR_RANGE, cycloid_bls_g1_multiply(points, points + 48, scalar));
    for (size_t i = 0; i < N; i++)
        OK(cycloid_bls_private_key_wipe(&signers[i]));
    free(scratch);
}

int main(int count, char **arguments) {
    EXPECT(count >= 2);
    curves();
    curve25519();
    rsa(arguments[1]);
    bls();
    puts("lists: passed");
    return 0;
}

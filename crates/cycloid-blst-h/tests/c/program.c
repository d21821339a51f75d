/* Uses libblst as programs do, and prints every result as hexadecimal digits: with any library that
   has blst's interface, the output is the same. */
#include <blst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 13

static const byte DST[] = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
#define DST_LENGTH (sizeof DST - 1)

static void print(const char *name, const void *bytes, size_t length) {
    printf("%s ", name);
    for (size_t i = 0; i < length; i++) {
        printf("%02x", ((const byte *)bytes)[i]);
    }
    printf("\n");
}

static void print_number(const char *name, int number) {
    printf("%s %d\n", name, number);
}

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL) {
        exit(2);
    }
    return memory;
}

static blst_scalar key(int i) {
    byte material[32];
    blst_scalar sk;
    memset(material, i + 1, sizeof material);
    blst_keygen(&sk, material, sizeof material, NULL, 0);
    return sk;
}

static void keys_and_signatures(void) {
    blst_scalar sk = key(0), child;
    blst_p1 pk;
    blst_p2 hash, signature;
    blst_p1_affine flat_pk, decoded;
    blst_p2_affine flat_signature;
    byte bytes[192];
    blst_bendian_from_scalar(bytes, &sk);
    print("key", bytes, 32);
    blst_derive_child_eip2333(&child, &sk, 3);
    print("child", child.b, 32);
    blst_sk_to_pk_in_g1(&pk, &sk);
    blst_p1_compress(bytes, &pk);
    print("public key", bytes, 48);
    print_number("decoded", blst_p1_uncompress(&decoded, bytes));
    print_number("in the group", blst_p1_affine_in_g1(&decoded));
    bytes[47] ^= 1;
    print_number("damaged", blst_p1_uncompress(&decoded, bytes));
    bytes[0] = 0xff;
    print_number("no encoding", blst_p1_uncompress(&decoded, bytes));
    blst_hash_to_g2(&hash, (const byte *)"message", 7, DST, DST_LENGTH, NULL, 0);
    blst_p2_serialize(bytes, &hash);
    print("hash", bytes, 192);
    blst_sign_pk_in_g1(&signature, &hash, &sk);
    blst_p2_compress(bytes, &signature);
    print("signature", bytes, 96);
    blst_p1_to_affine(&flat_pk, &pk);
    blst_p2_to_affine(&flat_signature, &signature);
    for (size_t length = 6; length < 8; length++) {
        print_number("verified", blst_core_verify_pk_in_g1(&flat_pk, &flat_signature, 1,
                                                           (const byte *)"message", length, DST,
                                                           DST_LENGTH, NULL, 0));
    }
}

static void context(void) {
    blst_pairing *all = allocate(blst_pairing_sizeof());
    blst_p2 sum;
    blst_p2_affine flat_sum;
    blst_fp12 signature;
    blst_pairing_init(all, 1, DST, DST_LENGTH);
    for (int i = 0; i < COUNT; i++) {
        blst_scalar sk = key(i);
        blst_p1 pk;
        blst_p1_affine flat_pk;
        blst_p2 hash;
        byte message[4] = {(byte)i, 1, 2, 3}, wire[96];
        blst_sk_to_pk_in_g1(&pk, &sk);
        blst_p1_to_affine(&flat_pk, &pk);
        blst_hash_to_g2(&hash, message, sizeof message, DST, DST_LENGTH, NULL, 0);
        blst_sign_pk_in_g1(&hash, &hash, &sk);
        blst_p2_compress(wire, &hash);
        print_number("aggregated", blst_aggregate_in_g2(&sum, i == 0 ? NULL : &sum, wire));
        print_number("added", blst_pairing_aggregate_pk_in_g1(all, &flat_pk, NULL, message,
                                                              sizeof message, NULL, 0));
    }
    blst_pairing_commit(all);
    blst_p2_to_affine(&flat_sum, &sum);
    blst_aggregated_in_g2(&signature, &flat_sum);
    print_number("all", blst_pairing_finalverify(all, &signature));
    blst_aggregated_in_g2(&signature, blst_p2_affine_generator());
    print_number("another", blst_pairing_finalverify(all, &signature));
    free(all);
}

static void lists(void) {
    blst_p1 points[COUNT], sum;
    blst_p1_affine flat[COUNT];
    blst_scalar scalars[COUNT];
    const blst_p1 *list[2] = {points, NULL};
    const blst_p1_affine *flat_list[2] = {flat, NULL};
    const byte *scalar_list[2] = {scalars[0].b, NULL};
    byte bytes[96];
    limb_t *scratch = allocate(blst_p1s_mult_pippenger_scratch_sizeof(COUNT));
    for (int i = 0; i < COUNT; i++) {
        scalars[i] = key(i);
        blst_p1_mult(&points[i], blst_p1_generator(), scalars[i].b, 77);
    }
    blst_p1s_to_affine(flat, list, COUNT);
    blst_p1s_add(&sum, flat_list, COUNT);
    blst_p1_serialize(bytes, &sum);
    print("sum", bytes, 96);
    blst_p1s_mult_pippenger(&sum, flat_list, COUNT, scalar_list, 255, scratch);
    blst_p1_serialize(bytes, &sum);
    print("sum of multiples", bytes, 96);
    free(scratch);
}

static void pairing(void) {
    blst_fp12 value, line_value;
    blst_fp6 *lines = allocate(68 * sizeof *lines);
    byte bytes[576];
    blst_miller_loop(&value, blst_p2_affine_generator(), blst_p1_affine_generator());
    blst_final_exp(&value, &value);
    blst_bendian_from_fp12(bytes, &value);
    print("pairing", bytes, 576);
    print_number("in the group", blst_fp12_in_group(&value));
    blst_precompute_lines(lines, &BLS12_381_G2);
    blst_miller_loop_lines(&line_value, lines, &BLS12_381_NEG_G1);
    blst_final_exp(&line_value, &line_value);
    blst_fp12_mul(&value, &value, &line_value);
    print_number("inverse", blst_fp12_is_one(&value));
    free(lines);
}

static void unique(void) {
    blst_uniq *tree = allocate(blst_uniq_sizeof(3));
    blst_uniq_init(tree);
    for (int i = 0; i < 3; i++) {
        print_number("unique", blst_uniq_test(tree, (const byte *)"aba" + i, 1));
    }
    free(tree);
}

int main(void) {
    keys_and_signatures();
    context();
    lists();
    pairing();
    unique();
    return 0;
}

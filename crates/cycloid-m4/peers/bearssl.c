/*
 * BearSSL's operations with its code for 32-bit processors (i31, m31), which is faster here than
 * the code for processors without a long multiplication (i15, m15).
 */

#include "program.h"

#include <bearssl.h>
#include <string.h>

static unsigned char hash[32], number[256], point[65];
static uint32_t result;

static void digest(void)
{
    br_sha256_context context;
    br_sha256_init(&context);
    br_sha256_update(&context, "sample", 6);
    br_sha256_out(&context, hash);
}

static const br_rsa_private_key rsa_private = {
    2048, (unsigned char *)PRIME_1, sizeof PRIME_1, (unsigned char *)PRIME_2, sizeof PRIME_2,
    (unsigned char *)EXPONENT_1, sizeof EXPONENT_1, (unsigned char *)EXPONENT_2, sizeof EXPONENT_2,
    (unsigned char *)COEFFICIENT, sizeof COEFFICIENT,
};
static const br_rsa_public_key rsa_public = {
    (unsigned char *)MODULUS, sizeof MODULUS, (unsigned char[]){1, 0, 1}, 3,
};
static const br_ec_private_key p256_private = {
    BR_EC_secp256r1, (unsigned char *)P256_PRIVATE, sizeof P256_PRIVATE,
};
static const br_ec_public_key p256_public = {
    BR_EC_secp256r1, (unsigned char *)P256_PUBLIC, sizeof P256_PUBLIC,
};

static void rsa_sign(void)
{
    digest();
    result = br_rsa_i31_pkcs1_sign(BR_HASH_OID_SHA256, hash, sizeof hash, &rsa_private, number);
}

static void rsa_verify(void)
{
    digest();
    result = br_rsa_i31_pkcs1_vrfy(RSA_SIGNATURE, sizeof RSA_SIGNATURE, BR_HASH_OID_SHA256,
                                   sizeof hash, &rsa_public, number)
        && !memcmp(number, hash, sizeof hash);
}

static void p256_key(void)
{
    result = br_ec_p256_m31.mulgen(point, P256_PRIVATE, 32, BR_EC_secp256r1) == 65;
}

static void p256_sign(void)
{
    digest();
    result = br_ecdsa_i31_sign_raw(&br_ec_p256_m31, &br_sha256_vtable, hash, &p256_private, number)
        == 64;
}

static void p256_verify(void)
{
    digest();
    result = br_ecdsa_i31_vrfy_raw(&br_ec_p256_m31, hash, sizeof hash, &p256_public,
                                   P256_SIGNATURE, sizeof P256_SIGNATURE);
}

static void p256_agree(void)
{
    result = br_ec_p256_m31.mul(point, 65, P256_PRIVATE, 32, BR_EC_secp256r1);
}

static void x25519_key(void)
{
    result = br_ec_c25519_m31.mulgen(point, X25519_PRIVATE, 32, BR_EC_curve25519) == 32;
}

static void x25519_agree(void)
{
    result = br_ec_c25519_m31.mul(point, 32, X25519_PRIVATE, 32, BR_EC_curve25519);
}

static bool is_done(void (*operation)(void))
{
    count(operation);
    return result;
}

static bool rsa_is_signed(void)
{
    return is_done(rsa_sign) && !memcmp(number, RSA_SIGNATURE, sizeof RSA_SIGNATURE);
}

static bool rsa_is_verified(void)
{
    return is_done(rsa_verify);
}

static bool p256_key_is_made(void)
{
    return is_done(p256_key) && !memcmp(point, P256_PUBLIC, sizeof P256_PUBLIC);
}

static bool p256_is_signed(void)
{
    return is_done(p256_sign) && !memcmp(number, P256_SIGNATURE, sizeof P256_SIGNATURE);
}

static bool p256_is_verified(void)
{
    return is_done(p256_verify);
}

static bool p256_is_agreed(void)
{
    memcpy(point, P256_PEER, sizeof P256_PEER);
    return is_done(p256_agree) && !memcmp(point + 1, P256_SHARED, sizeof P256_SHARED);
}

static bool x25519_key_is_made(void)
{
    return is_done(x25519_key);
}

static bool x25519_is_agreed(void)
{
    memcpy(point, X25519_PEER, sizeof X25519_PEER);
    return is_done(x25519_agree) && !memcmp(point, X25519_SHARED, sizeof X25519_SHARED);
}

const struct operation operations[] = {
    {"rsa-sign", rsa_is_signed},
    {"rsa-verify", rsa_is_verified},
    {"p256-key", p256_key_is_made},
    {"p256-sign", p256_is_signed},
    {"p256-verify", p256_is_verified},
    {"p256-agree", p256_is_agreed},
    {"x25519-key", x25519_key_is_made},
    {"x25519-agree", x25519_is_agreed},
    {0},
};

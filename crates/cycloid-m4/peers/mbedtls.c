/* The operations of mbed TLS 2.28. Private operations are blinded, as its documentation advises. */

#include "program.h"

#include <mbedtls/ecdh.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/rsa.h>
#include <mbedtls/sha256.h>
#include <string.h>

static unsigned char hash[32], number[256];
static int result;

static mbedtls_rsa_context rsa;
static mbedtls_ecp_group group;
static mbedtls_mpi scalar, r, s;
static mbedtls_ecp_point point, made;

static void digest(void)
{
    mbedtls_sha256_ret((const unsigned char *)"sample", 6, hash, 0);
}

static void rsa_sign(void)
{
    digest();
    result = mbedtls_rsa_pkcs1_sign(&rsa, repeatable, NULL, MBEDTLS_RSA_PRIVATE, MBEDTLS_MD_SHA256,
                                    0, hash, number);
}

static void rsa_verify(void)
{
    digest();
    result = mbedtls_rsa_pkcs1_verify(&rsa, NULL, NULL, MBEDTLS_RSA_PUBLIC, MBEDTLS_MD_SHA256, 0,
                                      hash, RSA_SIGNATURE);
}

static void make_key(void)
{
    result = mbedtls_ecp_mul(&group, &made, &scalar, &group.G, repeatable, NULL);
}

static void p256_sign(void)
{
    digest();
    result = mbedtls_ecdsa_sign_det_ext(&group, &r, &s, &scalar, hash, sizeof hash,
                                        MBEDTLS_MD_SHA256, repeatable, NULL);
}

static void p256_verify(void)
{
    digest();
    result = mbedtls_ecdsa_verify(&group, hash, sizeof hash, &point, &r, &s);
}

static void agree(void)
{
    result = mbedtls_ecdh_compute_shared(&group, &r, &point, &scalar, repeatable, NULL);
}

static bool is_done(void (*operation)(void))
{
    count(operation);
    return result == 0;
}

static bool rsa_is_loaded(void)
{
    static const unsigned char exponent[] = {1, 0, 1};
    if (mbedtls_mpi_size(&rsa.N))
        return true;
    mbedtls_rsa_init(&rsa, MBEDTLS_RSA_PKCS_V15, 0);
    return !mbedtls_rsa_import_raw(&rsa, MODULUS, sizeof MODULUS, PRIME_1, sizeof PRIME_1, PRIME_2,
                                   sizeof PRIME_2, PRIVATE_EXPONENT, sizeof PRIVATE_EXPONENT,
                                   exponent, sizeof exponent)
        && !mbedtls_rsa_complete(&rsa);
}

/* The first signature of a context draws the blinding: the second one counts. */
static bool rsa_is_signed(void)
{
    if (!rsa_is_loaded())
        return false;
    rsa_sign();
    memset(number, 0, sizeof number);
    return is_done(rsa_sign) && !memcmp(number, RSA_SIGNATURE, sizeof RSA_SIGNATURE);
}

static bool rsa_is_verified(void)
{
    if (!rsa_is_loaded())
        return false;
    rsa_verify();
    return is_done(rsa_verify);
}

/* Loads a curve, a private key, and the public key of a peer. */
static bool curve_is_loaded(mbedtls_ecp_group_id id, const unsigned char *private_key,
                            const unsigned char *peer, size_t length)
{
    mbedtls_ecp_point_free(&made);
    mbedtls_ecp_point_free(&point);
    mbedtls_ecp_group_free(&group);
    return !mbedtls_ecp_group_load(&group, id)
        && !(id == MBEDTLS_ECP_DP_CURVE25519 ? mbedtls_mpi_read_binary_le(&scalar, private_key, 32)
                                             : mbedtls_mpi_read_binary(&scalar, private_key, 32))
        && !mbedtls_ecp_point_read_binary(&group, &point, peer, length);
}

static bool p256_is_loaded(const unsigned char *peer)
{
    return curve_is_loaded(MBEDTLS_ECP_DP_SECP256R1, P256_PRIVATE, peer, 65);
}

/* The first multiple of the generator makes a table, which the group keeps. */
static bool p256_key_is_made(void)
{
    if (!p256_is_loaded(P256_PUBLIC))
        return false;
    make_key();
    return is_done(make_key) && !mbedtls_ecp_point_cmp(&made, &point);
}

static bool p256_is_signed(void)
{
    unsigned char signature[64];
    if (!p256_is_loaded(P256_PUBLIC))
        return false;
    p256_sign();
    return is_done(p256_sign) && !mbedtls_mpi_write_binary(&r, signature, 32)
        && !mbedtls_mpi_write_binary(&s, signature + 32, 32)
        && !memcmp(signature, P256_SIGNATURE, sizeof signature);
}

static bool p256_is_verified(void)
{
    if (!p256_is_loaded(P256_PUBLIC) || mbedtls_mpi_read_binary(&r, P256_SIGNATURE, 32)
        || mbedtls_mpi_read_binary(&s, P256_SIGNATURE + 32, 32))
        return false;
    p256_verify();
    return is_done(p256_verify);
}

static bool p256_is_agreed(void)
{
    return p256_is_loaded(P256_PEER) && is_done(agree)
        && !mbedtls_mpi_write_binary(&r, number, 32) && !memcmp(number, P256_SHARED, 32);
}

static bool x25519_is_loaded(void)
{
    static unsigned char clamped[32], peer[32];
    memcpy(clamped, X25519_PRIVATE, 32);
    memcpy(peer, X25519_PEER, 32);
    clamped[0] &= 0xf8;
    clamped[31] = (clamped[31] & 0x7f) | 0x40;
    return curve_is_loaded(MBEDTLS_ECP_DP_CURVE25519, clamped, peer, 32);
}

static bool x25519_key_is_made(void)
{
    return x25519_is_loaded() && is_done(make_key);
}

static bool x25519_is_agreed(void)
{
    return x25519_is_loaded() && is_done(agree) && !mbedtls_mpi_write_binary_le(&r, number, 32)
        && !memcmp(number, X25519_SHARED, 32);
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

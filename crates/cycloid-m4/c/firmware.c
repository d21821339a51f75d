/*
 * An example of a firmware in C: keys in flash, signatures by P-256 and RSA-2048, deterministic and
 * with randomness, and their verification. docs/embedded.md has the commands that build and run it.
 * Without RSA_KEY it is for P-256 alone.
 */

#include <cycloid.h>
#include <stdbool.h>
#include <string.h>

/* A driver of the device's: it writes true random bytes and returns 0, or another number. */
static int random_bytes(void *state, uint8_t *bytes, size_t length)
{
    /* The emulated device has no source: a counter, which is not random. */
    uint32_t *word = state;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)((*word += 0x9e3779b9) >> 24);
    return 0;
}

static uint32_t state = 1;
static const cycloid_random source = {random_bytes, &state};

/* The digest of an image, which the device has computed. */
static const uint8_t digest[32] = {0x5a, 0x17};

/* A private key on P-256: any number below the order. */
static const uint8_t p256_key[32] = {1, 2, 3, 4, 5, 6, 7, 8};

#ifdef RSA_KEY
static const uint8_t message[] = "firmware 1.0";

/* A private key of RSA-2048 in DER, from the file RSA_KEY. */
__asm__(".section .rodata\n"
        "rsa_key:\n.incbin \"" RSA_KEY "\"\n"
        "rsa_key_end:\n"
        ".section .note.GNU-stack, \"\", %progbits\n"
        ".text\n");
extern const uint8_t rsa_key[], rsa_key_end[];
#endif

static cycloid_error p256(bool hedged)
{
    cycloid_ec_private_key key;
    cycloid_ec_public_key public_key;
    uint8_t signature[64];
    cycloid_error error =
        cycloid_ec_private_key_from_bytes(&key, CYCLOID_P256, p256_key, sizeof p256_key);
    if (error)
        return error;
    error = cycloid_ec_private_key_public(&key, &public_key);
    if (!error && hedged)
        error = cycloid_ecdsa_sign_hedged(&key, CYCLOID_SHA256, digest, sizeof digest, &source,
                                          signature, sizeof signature);
    else if (!error)
        error = cycloid_ecdsa_sign_prehashed(&key, CYCLOID_SHA256, digest, sizeof digest, signature,
                                             sizeof signature);
    cycloid_ec_private_key_wipe(&key);
    if (!error)
        error = cycloid_ecdsa_verify_prehashed(&public_key, digest, sizeof digest, signature,
                                               sizeof signature);
    if (error)
        return error;
    /* A changed signature is refused. */
    signature[63] ^= 1;
    error = cycloid_ecdsa_verify_prehashed(&public_key, digest, sizeof digest, signature,
                                           sizeof signature);
    return error == CYCLOID_ERROR_VERIFICATION ? CYCLOID_OK : CYCLOID_ERROR_INTERNAL;
}

#ifdef RSA_KEY
static cycloid_error rsa_2048(void)
{
    static uint64_t key_memory[CYCLOID_RSA_PRIVATE_KEY_SIZE(2048) / 8];
    static uint64_t public_memory[CYCLOID_RSA_PUBLIC_KEY_SIZE(2048) / 8];
    static uint64_t context_memory[CYCLOID_RSA_CONTEXT_SIZE(2048) / 8];
    static uint64_t scratch[CYCLOID_RSA_SCRATCH_SIZE(2048) / 8];
    static uint8_t signature[256];
    cycloid_rsa_private_key *key = (cycloid_rsa_private_key *)key_memory;
    cycloid_rsa_public_key *public_key = (cycloid_rsa_public_key *)public_memory;
    cycloid_rsa_context *context = (cycloid_rsa_context *)context_memory;
    cycloid_error error =
        cycloid_rsa_private_key_from_file(key, sizeof key_memory, rsa_key,
                                          (size_t)(rsa_key_end - rsa_key), scratch, sizeof scratch);
    if (error)
        return error;
    error = cycloid_rsa_private_key_public(key, public_key, sizeof public_memory, scratch,
                                           sizeof scratch);
    if (!error)
        error = cycloid_rsa_context_new(context, sizeof context_memory, key, &source);
    if (!error) {
        error = cycloid_rsa_sign_pkcs1v15(context, CYCLOID_SHA256, message, sizeof message,
                                          signature, sizeof signature);
        cycloid_rsa_context_wipe(context);
    }
    cycloid_rsa_private_key_wipe(key);
    if (!error)
        error = cycloid_rsa_verify_pkcs1v15(public_key, CYCLOID_SHA256, message, sizeof message,
                                            signature, sizeof signature, scratch, sizeof scratch);
    return error;
}
#endif

/* What follows belongs to the device: output and exit by semihosting, and the start. */

enum { WRITE0 = 0x04, EXIT = 0x18, SUCCESS = 0x20026, FAILURE = 0x20023 };

static void request(int number, const void *argument)
{
    register int result __asm__("r0") = number;
    register const void *given __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(result) : "r"(given) : "memory");
}

static void quit(bool success)
{
    for (;;)
        request(EXIT, (const void *)(uintptr_t)(success ? SUCCESS : FAILURE));
}

static void report(const char *step, cycloid_error error)
{
    request(WRITE0, step);
    request(WRITE0, error ? cycloid_error_text(error) : "signed and verified");
    request(WRITE0, "\n");
    if (error)
        quit(false);
}

static void fault(void)
{
    request(WRITE0, "fault\n");
    quit(false);
}

extern char initial_values[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];

void start(void);

void start(void)
{
    /* Turns the floating-point unit on: the library is compiled for it. */
    *(volatile uint32_t *)0xe000ed88 |= 0xf << 20;
    __asm__ volatile("dsb\nisb");
    memcpy(data_start, initial_values, (size_t)(data_end - data_start));
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
    report("P-256, deterministic: ", p256(false));
    report("P-256, hedged: ", p256(true));
#ifdef RSA_KEY
    report("RSA-2048: ", rsa_2048());
#endif
    quit(true);
}

/* The initial stack pointer, the entry point, and the handlers of faults. */
__attribute__((section(".vectors"), used))
static const void *const vectors[16] = {
    stack_top, start, fault, fault, fault, fault, fault, NULL,
    NULL, NULL, NULL, fault, fault, NULL, fault, fault,
};

/* Stubs of cycloid-ec over libcycloid.

   A buffer is a string, bytes, or a bigarray of bytes, with an offset; it is read and written in
   place. A stub neither allocates in OCaml's heap nor runs OCaml code, so nothing moves meanwhile.

   Where `release` is true, the operation takes more than 100 us and other OCaml threads run
   meanwhile. The heap may move then, so the inputs, a few hundred bytes of public values, are copied
   to the stack, and a private key lives outside of the heap. */

#define CAML_NAME_SPACE
#include <caml/alloc.h>
#include <caml/bigarray.h>
#include <caml/custom.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cycloid.h>

/* The code of a message longer than the order, beyond the codes of libcycloid. */
#define TOO_LONG 100

#define POINT_MAX CYCLOID_EC_MAX_POINT_BYTES
#define SCALAR_MAX CYCLOID_EC_MAX_BYTES

static uint8_t *at(value buffer, value offset) {
  uint8_t *start = Tag_val(buffer) == String_tag ? Bytes_val(buffer)
                                                 : (uint8_t *)Caml_ba_data_val(buffer);
  return start + Long_val(offset);
}

/* Private keys: outside of the heap, where no collection copies them, and wiped when they die. */

#define EC_KEY(v) (*(cycloid_ec_private_key **)Data_custom_val(v))
#define ED_KEY(v) (*(cycloid_ed25519_private_key **)Data_custom_val(v))

static void ec_finalize(value v) {
  cycloid_ec_private_key_wipe(EC_KEY(v));
  free(EC_KEY(v));
}

static void ed_finalize(value v) {
  cycloid_ed25519_private_key_wipe(ED_KEY(v));
  free(ED_KEY(v));
}

/* Private keys compare and hash as their public keys do, so time depends on public values only. They
   are not marshalled. */

static cycloid_ec_public_key ec_public(value v) {
  cycloid_ec_public_key pub;
  memset(&pub, 0, sizeof pub);
  cycloid_ec_private_key_public(EC_KEY(v), &pub);
  return pub;
}

static cycloid_ed25519_public_key ed_public(value v) {
  cycloid_ed25519_public_key pub;
  memset(&pub, 0, sizeof pub);
  cycloid_ed25519_private_key_public(ED_KEY(v), &pub);
  return pub;
}

static int ec_compare(value a, value b) {
  cycloid_ec_public_key left = ec_public(a), right = ec_public(b);
  return memcmp(&left, &right, sizeof left);
}

static int ed_compare(value a, value b) {
  cycloid_ed25519_public_key left = ed_public(a), right = ed_public(b);
  return memcmp(&left, &right, sizeof left);
}

static intnat hash_of(const void *bytes, size_t length) {
  uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
  return (intnat)(hash ^ hash >> 32);
}

static intnat ec_hash(value v) {
  cycloid_ec_public_key pub = ec_public(v);
  return hash_of(&pub, sizeof pub);
}

static intnat ed_hash(value v) {
  cycloid_ed25519_public_key pub = ed_public(v);
  return hash_of(&pub, sizeof pub);
}

static struct custom_operations ec_operations = {
    "cycloid.ec.private",       ec_finalize,
    ec_compare,                 ec_hash,
    custom_serialize_default,   custom_deserialize_default,
    custom_compare_ext_default, custom_fixed_length_default};

static struct custom_operations ed_operations = {
    "cycloid.ed25519.private",  ed_finalize,
    ed_compare,                 ed_hash,
    custom_serialize_default,   custom_deserialize_default,
    custom_compare_ext_default, custom_fixed_length_default};

static value key_alloc(struct custom_operations *operations, size_t size) {
  void *key = calloc(1, size);
  if (key == NULL)
    caml_raise_out_of_memory();
  value v = caml_alloc_custom_mem(operations, sizeof(void *), size);
  *(void **)Data_custom_val(v) = key;
  return v;
}

value cycloid_ocaml_ec_private(value unit) {
  (void)unit;
  return key_alloc(&ec_operations, sizeof(cycloid_ec_private_key));
}

value cycloid_ocaml_ed_private(value unit) {
  (void)unit;
  return key_alloc(&ed_operations, sizeof(cycloid_ed25519_private_key));
}

/* Public keys are values in the heap: bytes of this size. */

#define EC_PUB(v) ((cycloid_ec_public_key *)Bytes_val(v))
#define ED_PUB(v) ((cycloid_ed25519_public_key *)Bytes_val(v))

value cycloid_ocaml_ec_public_size(value unit) {
  (void)unit;
  return Val_long(sizeof(cycloid_ec_public_key));
}

value cycloid_ocaml_ed_public_size(value unit) {
  (void)unit;
  return Val_long(sizeof(cycloid_ed25519_public_key));
}

/* Keys on the NIST curves. */

value cycloid_ocaml_ec_private_of_bytes(value key, value curve, value buffer, value offset,
                                        value length) {
  return Val_long(cycloid_ec_private_key_from_bytes(EC_KEY(key), Long_val(curve),
                                                    at(buffer, offset), Long_val(length)));
}

value cycloid_ocaml_ec_private_to_bytes(value key, value buffer, value offset, value length) {
  return Val_long(
      cycloid_ec_private_key_to_bytes(EC_KEY(key), at(buffer, offset), Long_val(length)));
}

value cycloid_ocaml_ec_public_of_private(value key, value pub) {
  return Val_long(cycloid_ec_private_key_public(EC_KEY(key), EC_PUB(pub)));
}

value cycloid_ocaml_ec_public_of_sec1(value pub, value curve, value buffer, value offset,
                                      value length) {
  return Val_long(cycloid_ec_public_key_from_sec1(EC_PUB(pub), Long_val(curve),
                                                  at(buffer, offset), Long_val(length)));
}

value cycloid_ocaml_ec_public_to_sec1(value pub, value compress, value buffer, value offset,
                                      value capacity) {
  size_t length;
  return Val_long(cycloid_ec_public_key_to_sec1(EC_PUB(pub), Bool_val(compress),
                                                at(buffer, offset), Long_val(capacity), &length));
}

/* Digests are numbers: at most as long as the order, and padded with zeros in front. ECDSA takes the
   leftmost bits, so a number as long as the order of P-521, which has 521 bits in 66 bytes, moves to
   the left. */

struct digest {
  uint8_t bytes[SCALAR_MAX];
  size_t length;
};

static int digest_of(struct digest *digest, long curve, const uint8_t *bytes, size_t length) {
  size_t most = cycloid_ec_bytes(curve);
  if (length > most)
    return TOO_LONG;
  if (curve == CYCLOID_P521 && length == most) {
    if (bytes[0] > 1)
      return TOO_LONG;
    for (size_t i = 0; i < length; i++)
      digest->bytes[i] = bytes[i] << 7 | (i + 1 < length ? bytes[i + 1] >> 1 : 0);
  } else {
    memcpy(digest->bytes, bytes, length);
  }
  digest->length = length;
  return CYCLOID_OK;
}

/* ECDSA. The hash function of the nonce is a number of libcycloid; with a nonce it is ignored. */

static int sign(const cycloid_ec_private_key *key, long curve, long hash,
                const struct digest *digest, const uint8_t *nonce, long nonce_length,
                uint8_t *signature) {
  size_t length = 2 * cycloid_ec_bytes(curve);
  if (nonce == NULL)
    return cycloid_ecdsa_sign_prehashed(key, hash, digest->bytes, digest->length, signature,
                                        length);
  return cycloid_hazardous_ecdsa_sign_with_nonce(key, digest->bytes, digest->length, nonce,
                                                 nonce_length, signature, length);
}

value cycloid_ocaml_ecdsa_sign(value key, value curve, value hash, value buffer, value offset,
                               value length, value r, value r_offset, value s, value s_offset,
                               value release) {
  CAMLparam3(key, r, s);
  struct digest digest;
  uint8_t signature[2 * SCALAR_MAX];
  int code = digest_of(&digest, Long_val(curve), at(buffer, offset), Long_val(length));
  if (code == CYCLOID_OK) {
    /* Read before the lock is released: the block that holds the address may move then. */
    const cycloid_ec_private_key *private_key = EC_KEY(key);
    if (Bool_val(release))
      caml_enter_blocking_section();
    code = sign(private_key, Long_val(curve), Long_val(hash), &digest, NULL, 0, signature);
    if (Bool_val(release))
      caml_leave_blocking_section();
  }
  if (code == CYCLOID_OK) {
    size_t half = cycloid_ec_bytes(Long_val(curve));
    memcpy(at(r, r_offset), signature, half);
    memcpy(at(s, s_offset), signature + half, half);
  }
  CAMLreturn(Val_long(code));
}

value cycloid_ocaml_ecdsa_sign_bytecode(value *v, int count) {
  (void)count;
  return cycloid_ocaml_ecdsa_sign(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9],
                                  v[10]);
}

value cycloid_ocaml_ecdsa_sign_with_nonce(value key, value curve, value nonce, value nonce_offset,
                                          value nonce_length, value buffer, value offset,
                                          value length, value r, value r_offset, value s,
                                          value s_offset) {
  struct digest digest;
  uint8_t signature[2 * SCALAR_MAX];
  int code = digest_of(&digest, Long_val(curve), at(buffer, offset), Long_val(length));
  if (code == CYCLOID_OK)
    code = sign(EC_KEY(key), Long_val(curve), 0, &digest, at(nonce, nonce_offset),
                Long_val(nonce_length), signature);
  if (code == CYCLOID_OK) {
    size_t half = cycloid_ec_bytes(Long_val(curve));
    memcpy(at(r, r_offset), signature, half);
    memcpy(at(s, s_offset), signature + half, half);
  }
  return Val_long(code);
}

value cycloid_ocaml_ecdsa_sign_with_nonce_bytecode(value *v, int count) {
  (void)count;
  return cycloid_ocaml_ecdsa_sign_with_nonce(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8],
                                             v[9], v[10], v[11]);
}

value cycloid_ocaml_ecdsa_nonce(value key, value curve, value hash, value buffer, value offset,
                                value length, value nonce, value nonce_offset) {
  struct digest digest;
  int code = digest_of(&digest, Long_val(curve), at(buffer, offset), Long_val(length));
  if (code == CYCLOID_OK)
    code = cycloid_hazardous_ecdsa_nonce(EC_KEY(key), Long_val(hash), digest.bytes, digest.length,
                                         at(nonce, nonce_offset),
                                         cycloid_ec_bytes(Long_val(curve)));
  return Val_long(code);
}

value cycloid_ocaml_ecdsa_nonce_bytecode(value *v, int count) {
  (void)count;
  return cycloid_ocaml_ecdsa_nonce(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
}

/* Copies a number that may be shorter than `width`. */
static int padded(uint8_t *to, size_t width, const uint8_t *from, size_t length) {
  if (length > width)
    return CYCLOID_ERROR_VERIFICATION;
  memset(to, 0, width - length);
  memcpy(to + width - length, from, length);
  return CYCLOID_OK;
}

value cycloid_ocaml_ecdsa_verify(value pub, value curve, value r, value r_offset, value r_length,
                                 value s, value s_offset, value s_length, value buffer,
                                 value offset, value length, value release) {
  struct digest digest;
  uint8_t signature[2 * SCALAR_MAX];
  size_t half = cycloid_ec_bytes(Long_val(curve));
  int code = digest_of(&digest, Long_val(curve), at(buffer, offset), Long_val(length));
  if (code == CYCLOID_OK)
    code = padded(signature, half, at(r, r_offset), Long_val(r_length));
  if (code == CYCLOID_OK)
    code = padded(signature + half, half, at(s, s_offset), Long_val(s_length));
  if (code != CYCLOID_OK)
    return Val_long(code);
  if (!Bool_val(release))
    return Val_long(cycloid_ecdsa_verify_prehashed(EC_PUB(pub), digest.bytes, digest.length,
                                                   signature, 2 * half));
  cycloid_ec_public_key copy = *EC_PUB(pub);
  caml_enter_blocking_section();
  code = cycloid_ecdsa_verify_prehashed(&copy, digest.bytes, digest.length, signature, 2 * half);
  caml_leave_blocking_section();
  return Val_long(code);
}

value cycloid_ocaml_ecdsa_verify_bytecode(value *v, int count) {
  (void)count;
  return cycloid_ocaml_ecdsa_verify(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9],
                                    v[10], v[11]);
}

/* ECDH: the peer's point is validated, and the secret written to the output. */

static int agree(const cycloid_ec_private_key *key, long curve, const uint8_t *point,
                 size_t point_length, uint8_t *secret) {
  cycloid_ec_public_key peer;
  int code = cycloid_ec_public_key_from_sec1(&peer, curve, point, point_length);
  if (code == CYCLOID_OK)
    code = cycloid_ecdh_agree(key, &peer, secret, cycloid_ec_bytes(curve));
  return code;
}

value cycloid_ocaml_ecdh(value key, value curve, value buffer, value offset, value length,
                         value secret, value secret_offset) {
  return Val_long(agree(EC_KEY(key), Long_val(curve), at(buffer, offset), Long_val(length),
                        at(secret, secret_offset)));
}

value cycloid_ocaml_ecdh_bytecode(value *v, int count) {
  (void)count;
  return cycloid_ocaml_ecdh(v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
}

value cycloid_ocaml_ecdh_release(value key, value curve, value buffer, value offset, value length,
                                 value secret, value secret_offset) {
  CAMLparam2(key, secret);
  uint8_t point[POINT_MAX], shared[SCALAR_MAX];
  long number = Long_val(curve), point_length = Long_val(length);
  if (point_length > POINT_MAX)
    CAMLreturn(Val_long(CYCLOID_ERROR_ENCODING));
  memcpy(point, at(buffer, offset), point_length);
  const cycloid_ec_private_key *private_key = EC_KEY(key);
  caml_enter_blocking_section();
  int code = agree(private_key, number, point, point_length, shared);
  caml_leave_blocking_section();
  if (code == CYCLOID_OK)
    memcpy(at(secret, secret_offset), shared, cycloid_ec_bytes(number));
  explicit_bzero(shared, sizeof shared);
  CAMLreturn(Val_long(code));
}

value cycloid_ocaml_ecdh_release_bytecode(value *v, int count) {
  (void)count;
  return cycloid_ocaml_ecdh_release(v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
}

/* Points. */

value cycloid_ocaml_ec_generator(value pub, value curve) {
  return Val_long(cycloid_ec_generator(EC_PUB(pub), Long_val(curve)));
}

value cycloid_ocaml_ec_add(value sum, value a, value b) {
  return Val_long(cycloid_ec_add(EC_PUB(sum), EC_PUB(a), EC_PUB(b)));
}

value cycloid_ocaml_ec_multiply(value product, value key, value pub) {
  return Val_long(cycloid_ec_multiply(EC_PUB(product), EC_KEY(key), EC_PUB(pub)));
}

value cycloid_ocaml_ec_multiply_release(value product, value key, value pub) {
  CAMLparam2(product, key);
  cycloid_ec_public_key copy = *EC_PUB(pub), result;
  const cycloid_ec_private_key *private_key = EC_KEY(key);
  caml_enter_blocking_section();
  int code = cycloid_ec_multiply(&result, private_key, &copy);
  caml_leave_blocking_section();
  if (code == CYCLOID_OK)
    *EC_PUB(product) = result;
  CAMLreturn(Val_long(code));
}

/* X25519: keys are 32 bytes in buffers. */

value cycloid_ocaml_x25519_public(value key, value key_offset, value pub, value offset) {
  return Val_long(cycloid_x25519_public_key(at(key, key_offset), at(pub, offset)));
}

value cycloid_ocaml_x25519_agree(value key, value key_offset, value peer, value peer_offset,
                                 value secret, value offset) {
  return Val_long(
      cycloid_x25519_agree(at(key, key_offset), at(peer, peer_offset), at(secret, offset)));
}

value cycloid_ocaml_x25519_agree_bytecode(value *v, int count) {
  (void)count;
  return cycloid_ocaml_x25519_agree(v[0], v[1], v[2], v[3], v[4], v[5]);
}

/* Ed25519. */

value cycloid_ocaml_ed_private_of_seed(value key, value seed, value offset) {
  return Val_long(cycloid_ed25519_private_key_from_seed(ED_KEY(key), at(seed, offset)));
}

value cycloid_ocaml_ed_private_to_seed(value key, value seed, value offset) {
  return Val_long(cycloid_ed25519_private_key_to_seed(ED_KEY(key), at(seed, offset)));
}

value cycloid_ocaml_ed_public_of_private(value key, value pub) {
  return Val_long(cycloid_ed25519_private_key_public(ED_KEY(key), ED_PUB(pub)));
}

value cycloid_ocaml_ed_public_of_bytes(value pub, value buffer, value offset) {
  return Val_long(cycloid_ed25519_public_key_from_bytes(ED_PUB(pub), at(buffer, offset)));
}

value cycloid_ocaml_ed_public_to_bytes(value pub, value buffer, value offset) {
  return Val_long(cycloid_ed25519_public_key_to_bytes(ED_PUB(pub), at(buffer, offset)));
}

value cycloid_ocaml_ed_sign(value key, value buffer, value offset, value length, value signature,
                            value signature_offset) {
  uint8_t made[CYCLOID_ED25519_SIGNATURE_BYTES];
  int code = cycloid_ed25519_sign(ED_KEY(key), at(buffer, offset), Long_val(length), made);
  if (code == CYCLOID_OK)
    memcpy(at(signature, signature_offset), made, sizeof made);
  return Val_long(code);
}

value cycloid_ocaml_ed_sign_bytecode(value *v, int count) {
  (void)count;
  return cycloid_ocaml_ed_sign(v[0], v[1], v[2], v[3], v[4], v[5]);
}

value cycloid_ocaml_ed_verify(value pub, value signature, value signature_offset, value buffer,
                              value offset, value length) {
  return Val_long(cycloid_ed25519_verify(ED_PUB(pub), CYCLOID_ED25519_COFACTORLESS,
                                         at(buffer, offset), Long_val(length),
                                         at(signature, signature_offset)));
}

value cycloid_ocaml_ed_verify_bytecode(value *v, int count) {
  (void)count;
  return cycloid_ocaml_ed_verify(v[0], v[1], v[2], v[3], v[4], v[5]);
}

/* The system's generator. */

value cycloid_ocaml_random(value buffer, value length) {
  uint8_t *bytes = Bytes_val(buffer);
  for (long done = 0; done < Long_val(length);) {
    long part = Long_val(length) - done < 256 ? Long_val(length) - done : 256;
    if (getentropy(bytes + done, part) != 0)
      return Val_false;
    done += part;
  }
  return Val_true;
}

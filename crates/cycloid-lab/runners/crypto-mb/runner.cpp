// Intel's crypto_mb as a peer of Cycloid's benchmarks: a process performs eight operations at once,
// repeatedly, and reports its time. docs/runners.md specifies the lines.

#include <algorithm>
#include <array>
#include <memory>

#include <sys/random.h>

#include <crypto_mb/ec_nistp256.h>
#include <crypto_mb/ec_nistp384.h>
#include <crypto_mb/ec_nistp521.h>
#include <crypto_mb/ed25519.h>
#include <crypto_mb/exp.h>
#include <crypto_mb/rsa.h>
#include <crypto_mb/x25519.h>

#include "protocol.hpp"

using runner::Bytes;
using runner::Order;
using runner::Way;

// Eight values: each a row of words or bytes, with the pointers that the library takes.
template <class T> struct Eight {
    size_t length;
    std::vector<T> values;
    std::array<T*, 8> pointers;

    explicit Eight(size_t length = 0) : length(length), values(8 * length) {
        for (size_t i = 0; i < 8; i++) pointers[i] = values.data() + i * length;
    }
    Eight(const Eight&) = delete;
    Eight& operator=(const Eight&) = delete;

    T* const* get() { return pointers.data(); }
    T** out() { return pointers.data(); }
};

// Splits eight values that stand one after the other.
static std::array<Bytes, 8> split(const Bytes& bytes) {
    if (bytes.empty() || bytes.size() % 8 != 0) throw std::runtime_error("not eight values");
    std::array<Bytes, 8> values;
    size_t length = bytes.size() / 8;
    for (size_t i = 0; i < 8; i++) {
        values[i] = Bytes(bytes.begin() + i * length, bytes.begin() + (i + 1) * length);
    }
    return values;
}

// Reads a big-endian number into words of 64 bits, the lowest one first.
static void to_words(int64u* words, size_t length, const uint8_t* bytes, size_t size) {
    std::fill(words, words + length, 0);
    for (size_t i = 0; i < size; i++) {
        words[i / 8] |= static_cast<int64u>(bytes[size - 1 - i]) << (8 * (i % 8));
    }
}

static void to_bytes(Bytes& bytes, const int64u* words, size_t size) {
    for (size_t i = size; i-- > 0;) bytes.push_back(static_cast<uint8_t>(words[i / 8] >> (8 * (i % 8))));
}

static void check(mbx_status status) {
    if (status != 0) throw std::runtime_error("a lane is refused");
}

static void random(uint8_t* bytes, size_t length) {
    if (getrandom(bytes, length, 0) != static_cast<ssize_t>(length)) throw std::runtime_error("no randomness");
}

template <class T> static Bytes joined(const Eight<T>& values) {
    return Bytes(values.values.begin(), values.values.end());
}

// The functions and sizes of a NIST curve.
struct P256 {
    static constexpr size_t bytes = 32;
    static constexpr const char* name = "mbx_nistp256";
    static constexpr auto public_key = mbx_nistp256_ecpublic_key_mb8;
    static constexpr auto agree = mbx_nistp256_ecdh_mb8;
    static constexpr auto sign = mbx_nistp256_ecdsa_sign_mb8;
    static constexpr auto verify = mbx_nistp256_ecdsa_verify_mb8;
};

struct P384 {
    static constexpr size_t bytes = 48;
    static constexpr const char* name = "mbx_nistp384";
    static constexpr auto public_key = mbx_nistp384_ecpublic_key_mb8;
    static constexpr auto agree = mbx_nistp384_ecdh_mb8;
    static constexpr auto sign = mbx_nistp384_ecdsa_sign_mb8;
    static constexpr auto verify = mbx_nistp384_ecdsa_verify_mb8;
};

struct P521 {
    static constexpr size_t bytes = 66;
    static constexpr const char* name = "mbx_nistp521";
    static constexpr auto public_key = mbx_nistp521_ecpublic_key_mb8;
    static constexpr auto agree = mbx_nistp521_ecdh_mb8;
    static constexpr auto sign = mbx_nistp521_ecdsa_sign_mb8;
    static constexpr auto verify = mbx_nistp521_ecdsa_verify_mb8;
};

// Keys, digests and results of eight operations on a NIST curve.
template <class Curve> struct Lanes {
    static constexpr size_t size = Curve::bytes;
    static constexpr size_t words = (size + 7) / 8;

    Eight<int64u> secret{words}, nonce{words}, x{words}, y{words}, own_x{words}, own_y{words};
    Eight<int8u> r{size}, s{size}, digest{size}, shared{size};
    std::array<const int8u*, 8> digests;
    bool has_other = false;

    void read_secret(const Bytes& bytes) {
        auto all = split(bytes);
        for (size_t i = 0; i < 8; i++) to_words(secret.pointers[i], words, all[i].data(), all[i].size());
    }

    // Draws numbers below the order of the curve.
    void draw(Eight<int64u>& values) {
        for (size_t i = 0; i < 8; i++) {
            Bytes bytes(size);
            random(bytes.data(), size);
            bytes[0] &= size == 66 ? 0 : 0x7f;
            to_words(values.pointers[i], words, bytes.data(), size);
        }
    }

    void read_points(const Bytes& bytes) {
        auto all = split(bytes);
        for (size_t i = 0; i < 8; i++) {
            const Bytes& point = all[i];
            if (point.size() != 1 + 2 * size || point[0] != 4) throw std::runtime_error("not a point");
            to_words(x.pointers[i], words, point.data() + 1, size);
            to_words(y.pointers[i], words, point.data() + 1 + size, size);
        }
    }

    // Takes the leftmost bytes of a digest that is too long, and sets zeros before a short one.
    void read_digests(const Bytes& bytes) {
        auto all = split(bytes);
        for (size_t i = 0; i < 8; i++) {
            size_t length = all[i].size() < size ? all[i].size() : size;
            std::copy_n(all[i].begin(), length, digest.pointers[i] + (size - length));
            digests[i] = digest.pointers[i];
        }
    }

    void read_signatures(const Bytes& bytes) {
        auto all = split(bytes);
        for (size_t i = 0; i < 8; i++) {
            if (all[i].size() != 2 * size) throw std::runtime_error("not a signature");
            std::copy_n(all[i].begin(), size, r.pointers[i]);
            std::copy_n(all[i].begin() + size, size, s.pointers[i]);
        }
    }

    void sign() {
        check(Curve::sign(r.out(), s.out(), digests.data(), nonce.get(), secret.get(), nullptr));
    }

    void verify() {
        check(Curve::verify(r.get(), s.get(), digests.data(), x.get(), y.get(), nullptr, nullptr));
    }

    void agree() {
        check(Curve::agree(shared.out(), secret.get(), x.get(), y.get(), nullptr, nullptr));
    }

    void make_public() {
        check(Curve::public_key(own_x.out(), own_y.out(), nullptr, secret.get(), nullptr));
    }

    Bytes signatures() const {
        Bytes bytes;
        for (size_t i = 0; i < 8; i++) {
            bytes.insert(bytes.end(), r.pointers[i], r.pointers[i] + size);
            bytes.insert(bytes.end(), s.pointers[i], s.pointers[i] + size);
        }
        return bytes;
    }

    // The public keys, each with the secret that it shares with the other party.
    Bytes proofs() {
        Bytes bytes;
        if (!has_other) return bytes;
        agree();
        for (size_t i = 0; i < 8; i++) {
            bytes.push_back(4);
            to_bytes(bytes, own_x.pointers[i], size);
            to_bytes(bytes, own_y.pointers[i], size);
            bytes.insert(bytes.end(), shared.pointers[i], shared.pointers[i] + size);
        }
        return bytes;
    }
};

template <class Curve> static Way nist(const std::string& operation, const Order& order) {
    auto lanes = std::make_shared<Lanes<Curve>>();
    auto* all = lanes.get();
    Way way;
    way.constant_time = operation != "verify-batch";
    if (operation == "sign-batch") {
        all->read_secret(order.bytes("private"));
        all->draw(all->nonce);
        way.function = std::string(Curve::name) + "_ecdsa_sign_mb8";
        way.note = "omits drawing the nonces, which its caller must supply";
        way.load = [lanes](const Bytes& data) { lanes->read_digests(data); };
        way.run = runner::repeat([all] { all->sign(); });
        way.result = [lanes] { return lanes->signatures(); };
    } else if (operation == "verify-batch") {
        all->read_points(order.bytes("public"));
        all->read_digests(order.bytes("digest"));
        way.function = std::string(Curve::name) + "_ecdsa_verify_mb8";
        way.load = [lanes](const Bytes& data) { lanes->read_signatures(data); };
        way.run = runner::repeat([all] { all->verify(); });
        way.result = [] { return Bytes(); };
    } else if (operation == "agree-batch") {
        all->read_secret(order.bytes("private"));
        way.function = std::string(Curve::name) + "_ecdh_mb8";
        way.note = "takes coordinates, so parsing the keys of other parties is outside of its time";
        way.load = [lanes](const Bytes& data) { lanes->read_points(data); };
        way.run = runner::repeat([all] { all->agree(); });
        way.result = [lanes] { return joined(lanes->shared); };
    } else if (operation == "generate-batch") {
        all->draw(all->secret);
        way.function = std::string(Curve::name) + "_ecpublic_key_mb8";
        way.note = "omits drawing the private keys, which its caller must supply";
        way.load = [lanes](const Bytes& data) {
            lanes->has_other = !data.empty();
            if (lanes->has_other) lanes->read_points(data);
        };
        way.run = runner::repeat([all] {
            if (!all->has_other) all->make_public();
        });
        way.result = [lanes] { return lanes->proofs(); };
    } else {
        throw runner::Unsupported{};
    }
    return way;
}

static Way x25519(const std::string& operation, const Order& order) {
    struct State {
        Eight<int8u> secret{32}, other{32}, own{32}, shared{32};
        bool has_other = false;
    };
    auto state = std::make_shared<State>();
    State* s = state.get();
    auto fill = [](Eight<int8u>& values, const Bytes& bytes) {
        if (bytes.size() != 256) throw std::runtime_error("not eight keys");
        std::copy(bytes.begin(), bytes.end(), values.values.begin());
    };
    Way way;
    way.constant_time = true;
    if (operation == "agree-batch") {
        fill(s->secret, order.bytes("private"));
        way.function = "mbx_x25519_mb8";
        way.load = [state, fill](const Bytes& data) { fill(state->other, data); };
        way.run = runner::repeat([s] { check(mbx_x25519_mb8(s->shared.get(), s->secret.get(), s->other.get())); });
        way.result = [state] { return joined(state->shared); };
    } else if (operation == "generate-batch") {
        random(s->secret.values.data(), 256);
        way.function = "mbx_x25519_public_key_mb8";
        way.note = "omits drawing the private keys, which its caller must supply";
        way.load = [state, fill](const Bytes& data) {
            state->has_other = !data.empty();
            if (state->has_other) fill(state->other, data);
        };
        way.run = runner::repeat([s] {
            if (!s->has_other) check(mbx_x25519_public_key_mb8(s->own.get(), s->secret.get()));
        });
        way.result = [state] {
            Bytes bytes;
            State* s = state.get();
            if (!s->has_other) return bytes;
            check(mbx_x25519_mb8(s->shared.get(), s->secret.get(), s->other.get()));
            for (size_t i = 0; i < 8; i++) {
                bytes.insert(bytes.end(), s->own.pointers[i], s->own.pointers[i] + 32);
                bytes.insert(bytes.end(), s->shared.pointers[i], s->shared.pointers[i] + 32);
            }
            return bytes;
        };
    } else {
        throw runner::Unsupported{};
    }
    return way;
}

// Pointers to eight keys or halves of signatures of 32 bytes.
using Halves = std::array<int8u (*)[32], 8>;

static Halves halves(Eight<int8u>& values) {
    Halves pointers;
    for (size_t i = 0; i < 8; i++) pointers[i] = reinterpret_cast<int8u (*)[32]>(values.pointers[i]);
    return pointers;
}

static Way ed25519(const std::string& operation, const Order& order) {
    struct State {
        Eight<int8u> secret{32}, own{32}, r{32}, s{32};
        Halves secrets = halves(secret), owns = halves(own), rs = halves(r), ss = halves(s);
        std::array<Bytes, 8> messages;
        std::array<const int8u*, 8> texts;
        std::array<int32u, 8> lengths;
    };
    auto state = std::make_shared<State>();
    State* s = state.get();
    s->messages = split(order.bytes("message"));
    for (size_t i = 0; i < 8; i++) {
        s->texts[i] = s->messages[i].data();
        s->lengths[i] = static_cast<int32u>(s->messages[i].size());
    }
    Bytes own = order.bytes("public"), secret = order.bytes("private");
    if (own.size() != 256 || secret.size() != 256) throw std::runtime_error("not eight keys");
    std::copy(own.begin(), own.end(), s->own.values.begin());
    std::copy(secret.begin(), secret.end(), s->secret.values.begin());
    Way way;
    if (operation == "sign-batch") {
        way.constant_time = true;
        way.function = "mbx_ed25519_sign_mb8";
        way.run = runner::repeat([s] {
            check(mbx_ed25519_sign_mb8(s->rs.data(), s->ss.data(), s->texts.data(), s->lengths.data(),
                                       s->secrets.data(), s->owns.data()));
        });
        way.result = [state] {
            Bytes bytes;
            for (size_t i = 0; i < 8; i++) {
                bytes.insert(bytes.end(), state->r.pointers[i], state->r.pointers[i] + 32);
                bytes.insert(bytes.end(), state->s.pointers[i], state->s.pointers[i] + 32);
            }
            return bytes;
        };
    } else if (operation == "verify-batch") {
        way.function = "mbx_ed25519_verify_mb8";
        way.load = [state](const Bytes& data) {
            auto all = split(data);
            for (size_t i = 0; i < 8; i++) {
                if (all[i].size() != 64) throw std::runtime_error("not a signature");
                std::copy(all[i].begin(), all[i].begin() + 32, state->r.pointers[i]);
                std::copy(all[i].begin() + 32, all[i].end(), state->s.pointers[i]);
            }
        };
        way.run = runner::repeat([s] {
            check(mbx_ed25519_verify_mb8(s->rs.data(), s->ss.data(), s->texts.data(), s->lengths.data(),
                                         s->owns.data()));
        });
        way.result = [] { return Bytes(); };
    } else {
        throw runner::Unsupported{};
    }
    return way;
}

// Reads eight numbers as words of 64 bits.
static std::shared_ptr<Eight<int64u>> numbers(const Bytes& bytes, size_t words = 0) {
    auto all = split(bytes);
    if (words == 0) words = (all[0].size() + 7) / 8;
    auto values = std::make_shared<Eight<int64u>>(words);
    for (size_t i = 0; i < 8; i++) {
        if (all[i].size() > 8 * words) throw std::runtime_error("a number is too long");
        to_words(values->pointers[i], words, all[i].data(), all[i].size());
    }
    return values;
}

// Signatures by RSASSA-PKCS1-v1_5: crypto_mb has the private operation, and the runner pads.
static Way rsa_sign(const Order& order) {
    auto p = numbers(order.bytes("prime_p")), q = numbers(order.bytes("prime_q"));
    auto dp = numbers(order.bytes("exponent_p"), p->length), dq = numbers(order.bytes("exponent_q"), p->length);
    auto inverse = numbers(order.bytes("coefficient"), p->length);
    size_t length = split(order.bytes("modulus"))[0].size();
    int bits = static_cast<int>(8 * length);
    const mbx_RSA_Method* method = mbx_RSA_private_crt_Method(bits);
    if (method == nullptr) throw runner::Unsupported{};
    auto buffer = std::make_shared<Bytes>(mbx_RSA_Method_BufSize(method));
    auto from = std::make_shared<Eight<int8u>>(length), to = std::make_shared<Eight<int8u>>(length);
    Way way;
    way.constant_time = true;
    way.function = "mbx_rsa_private_crt_mb8";
    way.note = "omits blinding, and the check of each result with the public exponent; padding is outside of its time";
    way.load = [from, length](const Bytes& data) {
        // RFC 8017, section 9.2, note 1: SHA-256.
        static const uint8_t prefix[] = {0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01,
                                         0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20};
        auto all = split(data);
        for (size_t i = 0; i < 8; i++) {
            if (all[i].size() != 32) throw std::runtime_error("not a digest");
            int8u* block = from->pointers[i];
            std::fill(block, block + length, 0xff);
            block[0] = 0;
            block[1] = 1;
            block[length - 52] = 0;
            std::copy_n(prefix, 19, block + (length - 51));
            std::copy_n(all[i].begin(), 32, block + (length - 32));
        }
    };
    way.run = runner::repeat([=] {
        check(mbx_rsa_private_crt_mb8(from->get(), to->get(), p->get(), q->get(), dp->get(), dq->get(),
                                      inverse->get(), bits, method, buffer->data()));
    });
    way.result = [to] { return joined(*to); };
    return way;
}

static Way modexp(const Order& order) {
    auto exponent = numbers(order.bytes("exponent")), modulus = numbers(order.bytes("modulus"));
    Bytes moduli = order.bytes("modulus");
    size_t size = moduli.size() / 8, words = modulus->length;
    int bits = static_cast<int>(8 * size), exponent_bits = static_cast<int>(64 * exponent->length);
    if (bits < 1024 || bits > 4096 || bits % 1024 != 0) throw runner::Unsupported{};
    auto base = std::make_shared<Eight<int64u>>(words), result = std::make_shared<Eight<int64u>>(words);
    auto buffer = std::make_shared<Bytes>(mbx_exp_BufferSize(bits));
    Way way;
    way.constant_time = true;
    way.function = "mbx_exp_mb8";
    way.note = "includes the constants of the moduli, which it computes in each call";
    way.load = [base, words](const Bytes& data) {
        auto all = split(data);
        for (size_t i = 0; i < 8; i++) to_words(base->pointers[i], words, all[i].data(), all[i].size());
    };
    way.run = runner::repeat([=] {
        check(mbx_exp_mb8(result->get(), base->get(), exponent->get(), exponent_bits, modulus->get(), bits,
                          buffer->data(), static_cast<int>(buffer->size())));
    });
    way.result = [result, size] {
        Bytes bytes;
        for (size_t i = 0; i < 8; i++) to_bytes(bytes, result->pointers[i], size);
        return bytes;
    };
    return way;
}

static Way prepare(const Order& order, uint64_t number) {
    if (number > 0 || !order.has("batch") || order.number("batch") != 8) throw runner::Unsupported{};
    const std::string& operation = order.text("operation");
    if (operation == "rsa-sign-batch") return rsa_sign(order);
    if (operation == "modexp-batch") return modexp(order);
    const std::string& curve = order.text("curve");
    if (curve == "P-256") return nist<P256>(operation, order);
    if (curve == "P-384") return nist<P384>(operation, order);
    if (curve == "P-521") return nist<P521>(operation, order);
    if (curve == "X25519") return x25519(operation, order);
    if (curve == "Ed25519") return ed25519(operation, order);
    throw runner::Unsupported{};
}

int main() { return runner::serve(prepare); }

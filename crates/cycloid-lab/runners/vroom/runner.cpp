// VROOM as a peer of Cycloid's benchmarks: a process performs one operation repeatedly, and reports
// its time. docs/runners.md specifies the lines and the encodings. VROOM has no encodings, so points
// are read and written with GMP, before and after the clock.

#include <array>
#include <memory>

#include "../cpu/precompute/gmp_wrapper.hpp"
extern "C" {
#include "../blst/vect.h"
#include "../blst/fields.h"
#include "../blst/consts.h"
#include "../blst/point.h"
}
#include "pairing.hpp"
#include "bls12_381_ring_params.hpp"
#include "ec.hpp"
#include "fp2.hpp"
#include "scalar_mult.hpp"

#include "protocol.hpp"

using runner::Bytes;
using runner::Order;
using runner::Way;

// The rings of VROOM's own benchmarks: for pairings, and for points.
using Ring = bls12_381_params::BlsRingMatrixNoK;
using PointRing = bls12_381_params::BlsRingMatrixNoKEC;

// The modulus of the curve's field.
static const mpz_class field_modulus(bls12_381_params::BLS12_381_P);

// Elements of Fp2 for reading and writing points: a + b i.
struct Two {
    mpz_class a, b;
};

static mpz_class mod(mpz_class a) {
    a %= field_modulus;
    if (a < 0) a += field_modulus;
    return a;
}

static mpz_class invert(const mpz_class& a) {
    mpz_class inverse;
    mpz_invert(inverse.get_mpz_t(), a.get_mpz_t(), field_modulus.get_mpz_t());
    return inverse;
}

static mpz_class root(const mpz_class& a) {
    mpz_class power = (field_modulus + 1) / 4, r;
    mpz_powm(r.get_mpz_t(), a.get_mpz_t(), power.get_mpz_t(), field_modulus.get_mpz_t());
    if (mod(r * r - a) != 0) throw std::runtime_error("the point is not on the curve");
    return r;
}

static bool has_root(const mpz_class& a) { return mpz_legendre(a.get_mpz_t(), field_modulus.get_mpz_t()) != -1; }

static Two product(const Two& x, const Two& y) {
    return {mod(x.a * y.a - x.b * y.b), mod(x.a * y.b + x.b * y.a)};
}

static Two inverse(const Two& x) {
    mpz_class norm = invert(mod(x.a * x.a + x.b * x.b));
    return {mod(x.a * norm), mod(-x.b * norm)};
}

// The root of an element by that of its norm.
static Two root(const Two& x) {
    mpz_class norm = root(mod(x.a * x.a + x.b * x.b)), half = invert(2);
    mpz_class square = mod((x.a + norm) * half);
    if (!has_root(square)) square = mod((x.a - norm) * half);
    mpz_class a = root(square);
    if (a == 0) return {0, root(mod(-x.a))};
    Two r{a, mod(x.b * half * invert(a))};
    Two again = product(r, r);
    if (again.a != x.a || again.b != x.b) throw std::runtime_error("the point is not on the curve");
    return r;
}

static bool is_larger(const mpz_class& y) { return 2 * y > field_modulus; }

static mpz_class read(const uint8_t* bytes, bool is_first) {
    Bytes copy(bytes, bytes + 48);
    if (is_first) copy[0] &= 0x1f;
    mpz_class value;
    mpz_import(value.get_mpz_t(), 48, 1, 1, 0, 0, copy.data());
    return value;
}

static void write(Bytes& bytes, const mpz_class& value) {
    Bytes padded(48);
    size_t length = (mpz_sizeinbase(value.get_mpz_t(), 2) + 7) / 8;
    mpz_export(padded.data() + 48 - length, nullptr, 1, 1, 0, 0, value.get_mpz_t());
    bytes.insert(bytes.end(), padded.begin(), padded.end());
}

// A point in affine coordinates; those of G1 have no imaginary parts.
struct Point {
    Two x, y;
};

static Point decompress(const uint8_t* bytes, size_t length) {
    bool is_negative = (bytes[0] & 0x20) != 0;
    if ((bytes[0] & 0xc0) != 0x80) throw std::runtime_error("not a compressed point");
    if (length == 48) {
        mpz_class x = read(bytes, true), y = root(mod(x * x * x + 4));
        if (is_larger(y) != is_negative) y = field_modulus - y;
        return {{x, 0}, {y, 0}};
    }
    Two x{read(bytes + 48, false), read(bytes, true)};
    Two cube = product(product(x, x), x);
    Two y = root(Two{mod(cube.a + 4), mod(cube.b + 4)});
    if ((y.b != 0 ? is_larger(y.b) : is_larger(y.a)) != is_negative) y = {mod(-y.a), mod(-y.b)};
    return {x, y};
}

static Bytes compress(const Point& point, size_t length) {
    Bytes bytes;
    bool is_negative = is_larger(point.y.a);
    if (length == 96) {
        write(bytes, point.x.b);
        if (point.y.b != 0) is_negative = is_larger(point.y.b);
    }
    write(bytes, point.x.a);
    bytes[0] |= static_cast<uint8_t>(is_negative ? 0xa0 : 0x80);
    return bytes;
}

template <class R> static auto element(const R& ring, const mpz_class& a) {
    return ring.from_bigint(BigInt(a));
}

template <class R, class E> static mpz_class integer(const R& ring, const E& a) {
    return mod(mpz_class(ring.to_bigint(a).get_mpz()));
}

template <class R> static AffinePoint<typename R::StandardElement> first(const R& ring, const Point& q) {
    return {element(ring, q.x.a), element(ring, q.y.a)};
}

template <class R>
static AffinePoint<typename FP2Ring<R>::StandardElement> second(const R& ring, const Point& q) {
    using E = typename FP2Ring<R>::StandardElement;
    return {E(element(ring, q.x.a), element(ring, q.x.b)), E(element(ring, q.y.a), element(ring, q.y.b))};
}

// Points with X/Z and Y/Z as affine coordinates.
static Bytes encode_first(const PointRing& ring, const G1<PointRing>::ProjPoint& q) {
    mpz_class z = invert(integer(ring, q.z));
    mpz_class x = mod(integer(ring, q.x) * z), y = mod(integer(ring, q.y) * z);
    return compress({{x, 0}, {y, 0}}, 48);
}

static Bytes encode_second(const PointRing& ring, const G2<PointRing>::ProjPoint& q) {
    auto two = [&](const auto& a) { return Two{integer(ring, a.x()), integer(ring, a.y())}; };
    Two z = inverse(two(q.z));
    return compress({product(two(q.x), z), product(two(q.y), z)}, 96);
}

static std::array<uint8_t, 32> little_endian(const Bytes& scalar) {
    if (scalar.size() != 32) throw std::runtime_error("not a scalar");
    std::array<uint8_t, 32> bytes;
    std::copy(scalar.rbegin(), scalar.rend(), bytes.begin());
    return bytes;
}

static const char* const NOTE =
    "no checks of its inputs, and no exceptions for the identity; compiled for the processor at hand";

static Way pairings(const std::string& name, const Order& order) {
    struct State {
        Ring ring{BigInt(field_modulus)};
        FP2Ring<Ring> fp2{ring};
        FP12Ring<Ring> fp12{ring};
        FP12RNS_BLSTInverter<Ring> inverter;
        AffinePoint<Ring::StandardElement> p;
        AffinePoint<FP2Ring<Ring>::StandardElement> q;
        FP12Ring<Ring>::StandardElement raw, value;
    };
    auto state = std::make_shared<State>();
    State* s = state.get();
    Bytes of_first = order.bytes("p"), of_second = order.bytes("q");
    // It has no product of pairings.
    if (of_first.size() != 48 || of_second.size() != 96) throw runner::Unsupported{};
    s->p = first(s->ring, decompress(of_first.data(), 48));
    s->q = second(s->ring, decompress(of_second.data(), 96));
    Way way;
    way.note = NOTE;
    auto encode = [state](const FP12Ring<Ring>::StandardElement& value) {
        Bytes bytes;
        for (int i = 0; i < 12; i++) write(bytes, integer(state->ring, value[i]));
        return bytes;
    };
    way.result = [state, encode] { return encode(state->value); };
    if (name == "miller-loop") {
        way.function = "Miller::miller_loop";
        way.run = runner::repeat([s] {
            Miller<Ring> miller(s->p, s->q, s->ring);
            s->raw = miller.miller_loop(s->ring, s->fp2, s->fp12);
        });
        way.result = [state, encode] {
            return encode(final_exp(state->raw, state->inverter, state->fp12, state->ring));
        };
    } else if (name == "final-exponentiation") {
        Miller<Ring> miller(s->p, s->q, s->ring);
        s->raw = miller.miller_loop(s->ring, s->fp2, s->fp12);
        way.function = "final_exp, FP12RNS_BLSTInverter";
        way.run = runner::repeat([s] { s->value = final_exp(s->raw, s->inverter, s->fp12, s->ring); });
    } else {
        way.function = "pairing, FP12RNS_BLSTInverter";
        way.run = runner::repeat([s] {
            s->value = pairing(s->p, s->q, s->inverter, s->fp2, s->fp12, s->ring);
        });
    }
    return way;
}

// Operations in G1 or G2: `Curve` has the formulas over `Field`, an element of `State`.
template <class State> static Way points(const std::string& name, const Order& order) {
    auto state = std::make_shared<State>();
    State* s = state.get();
    auto one = [state](const Bytes& bytes) {
        if (bytes.size() != State::length) throw std::runtime_error("not one point");
        return state->projective(decompress(bytes.data(), bytes.size()));
    };
    Way way;
    way.note = NOTE;
    way.load = [state, one](const Bytes& data) { state->p = one(data); };
    way.result = [state] { return state->encode(state->c); };
    if (name == "multiply") {
        s->p = one(order.bytes("point"));
        way.load = [state](const Bytes& data) { state->k = little_endian(data); };
        way.function = State::multiply_name;
        way.run = runner::repeat([s] { s->multiply(); });
    } else if (name == "add") {
        s->q = one(order.bytes("second"));
        way.function = "add_point";
        way.run = runner::repeat([s] { s->c = s->curve.add_point(s->p, s->q, s->field()); });
    } else if (name == "add-affine") {
        auto other = order.bytes("second");
        auto affine = state->affine(decompress(other.data(), State::length));
        way.function = "add_mixed_point";
        way.run = runner::repeat([s, affine] {
            s->c = s->curve.add_mixed_point(s->p, affine, s->field());
        });
    } else if (name == "double") {
        way.function = "double_point";
        way.run = runner::repeat([s] { s->c = s->curve.double_point(s->p, s->field()); });
    } else {
        throw runner::Unsupported{};
    }
    return way;
}

struct First {
    static constexpr size_t length = 48;
    static constexpr const char* multiply_name = "GLVMult::multiply";
    PointRing ring{BigInt(field_modulus)};
    G1<PointRing> curve;
    GLVMult<PointRing> multiplier{curve, ring};
    G1<PointRing>::ProjPoint p, q, c;
    std::array<uint8_t, 32> k;

    const PointRing& field() const { return ring; }
    auto affine(const Point& point) const { return first(ring, point); }
    G1<PointRing>::ProjPoint projective(const Point& point) const {
        auto a = affine(point);
        G1<PointRing>::ProjPoint one(a.x, a.y, ring.one());
        return curve.add_point(curve.double_point(one, ring), curve.negate(one, ring), ring);
    }
    Bytes encode(const G1<PointRing>::ProjPoint& point) const { return encode_first(ring, point); }
    void multiply() { c = multiplier.multiply(p, k, ring); }
};

struct Second {
    static constexpr size_t length = 96;
    static constexpr const char* multiply_name = "GLSMult::multiply";
    PointRing ring{BigInt(field_modulus)};
    FP2Ring<PointRing> fp2{ring};
    G2<PointRing> curve;
    GLSMult<PointRing> multiplier{ring};
    G2<PointRing>::ProjPoint p, q, c;
    std::array<uint8_t, 32> k;

    const FP2Ring<PointRing>& field() const { return fp2; }
    auto affine(const Point& point) const { return second(ring, point); }
    G2<PointRing>::ProjPoint projective(const Point& point) const {
        auto a = affine(point);
        G2<PointRing>::ProjPoint one(a.x, a.y, FP2Ring<PointRing>::one(ring));
        G2<PointRing>::ProjPoint minus(
            one.x, FP2Ring<PointRing>::StandardElement(ring.standard_negate(one.y.x()),
                                                       ring.standard_negate(one.y.y())), one.z);
        return curve.add_point(curve.double_point(one, fp2), minus, fp2);
    }
    Bytes encode(const G2<PointRing>::ProjPoint& point) const { return encode_second(ring, point); }
    void multiply() { c = multiplier.multiply(p, k, fp2, curve, ring); }
};

static Way prepare(const Order& order, uint64_t number) {
    if (number > 0) throw runner::Unsupported{};
    const std::string& operation = order.text("operation");
    if (operation.compare(0, 4, "bls-") != 0) throw runner::Unsupported{};
    std::string name = operation.substr(4);
    if (order.has("group")) {
        return order.text("group") == "G1" ? points<First>(name, order) : points<Second>(name, order);
    }
    if (order.has("p")) return pairings(name, order);
    throw runner::Unsupported{};
}

int main() { return runner::serve(prepare); }

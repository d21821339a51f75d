// mcl as a peer of Cycloid's benchmarks: a process performs one operation repeatedly, and reports
// its time. docs/runners.md specifies the lines and the encodings.

#include <cstring>
#include <memory>

#include <mcl/bls12_381.hpp>

#include "protocol.hpp"

using namespace mcl::bn;
using runner::Bytes;
using runner::Order;
using runner::Way;

static Bytes append(Bytes bytes, const Bytes& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return bytes;
}

// Encodes a value, 32, 48 or 96 bytes: big-endian, and points compressed.
template <class T> static Bytes encode(const T& value) {
    Bytes bytes(96);
    size_t length = value.serialize(bytes.data(), bytes.size());
    if (length == 0) throw std::runtime_error("a value cannot be encoded");
    bytes.resize(length);
    return bytes;
}

template <class T> static T decode(const uint8_t* bytes, size_t length) {
    T value;
    if (value.deserialize(bytes, length) != length) throw std::runtime_error("malformed value");
    return value;
}

template <class T> static std::vector<T> decode_all(const Bytes& bytes, size_t each) {
    if (bytes.size() % each != 0) throw std::runtime_error("incomplete value");
    std::vector<T> values;
    for (size_t i = 0; i < bytes.size(); i += each) {
        values.push_back(decode<T>(bytes.data() + i, each));
    }
    return values;
}

static Bytes truth(bool value) { return Bytes{static_cast<uint8_t>(value)}; }

// Encodes a member of the target group: twelve coordinates, each big-endian.
static Bytes target(const Fp12& member) {
    Bytes bytes;
    for (const Fp6* six : {&member.a, &member.b}) {
        for (const Fp2* two : {&six->a, &six->b, &six->c}) {
            bytes = append(append(bytes, encode(two->a)), encode(two->b));
        }
    }
    return bytes;
}

static Way scalars(const std::string& name, const Order& order) {
    struct State {
        std::vector<Fr> a, b, c = std::vector<Fr>(1);
    };
    auto state = std::make_shared<State>();
    state->b = decode_all<Fr>(order.bytes("second"), 32);
    Way way;
    way.load = [state](const Bytes& data) {
        state->a = decode_all<Fr>(data, 32);
        if (state->a.empty()) throw std::runtime_error("there is no element");
        state->c.resize(state->a.size());
    };
    way.result = [state] { return encode(state->c[0]); };
    State* s = state.get();
    if (name == "multiply") {
        way.function = "Fr::mul";
        way.run = runner::repeat([s] { Fr::mul(s->c[0], s->a[0], s->b[0]); });
    } else if (name == "square") {
        way.function = "Fr::sqr";
        way.run = runner::repeat([s] { Fr::sqr(s->c[0], s->a[0]); });
    } else if (name == "invert") {
        way.function = "Fr::inv";
        way.run = runner::repeat([s] { Fr::inv(s->c[0], s->a[0]); });
    } else if (name == "square-root") {
        way.function = "Fr::squareRoot";
        way.run = runner::repeat([s] {
            if (!Fr::squareRoot(s->c[0], s->a[0])) throw std::runtime_error("there is no root");
        });
    } else if (name == "invert-many") {
        way.function = "invVec";
        way.run = runner::repeat([s] { mcl::invVec(s->c.data(), s->a.data(), s->a.size()); });
    } else {
        throw runner::Unsupported{};
    }
    return way;
}

// What is different in G1 and G2.
template <class G> struct Group;

template <> struct Group<G1> {
    static constexpr size_t length = 48;
    static constexpr const char* hash_name = "hashAndMapToG1";
    static void verify_order(bool is_on) { verifyOrderG1(is_on); }
    static void hash(G1& p, const Bytes& message, const std::string& tag) {
        hashAndMapToG1(p, message.data(), message.size(), tag.data(), tag.size());
    }
    static std::string named(const char* function) { return std::string("G1::") + function; }
};

template <> struct Group<G2> {
    static constexpr size_t length = 96;
    static constexpr const char* hash_name = "hashAndMapToG2";
    static void verify_order(bool is_on) { verifyOrderG2(is_on); }
    static void hash(G2& p, const Bytes& message, const std::string& tag) {
        hashAndMapToG2(p, message.data(), message.size(), tag.data(), tag.size());
    }
    static std::string named(const char* function) { return std::string("G2::") + function; }
};

// Returns the point with a third coordinate other than 1.
template <class G> static G projective(const G& point) {
    G twice, result;
    G::dbl(twice, point);
    G::sub(result, twice, point);
    return result;
}

template <class G> static Way points(const std::string& name, const Order& order, uint64_t number) {
    using Of = Group<G>;
    struct State {
        G p, q, c;
        Fr k;
        std::vector<G> many, kept;
        std::vector<Fr> scalars;
        Bytes bytes;
        std::string tag;
        bool is = false;
    };
    auto state = std::make_shared<State>();
    State* s = state.get();
    auto list = [&](const char* member) {
        return decode_all<G>(order.bytes(member), Of::length);
    };
    auto one = [&](const char* member) {
        std::vector<G> points = list(member);
        if (points.size() != 1) throw std::runtime_error("not one point");
        return points[0];
    };
    const bool has_variants = name == "multiply";
    if (number > (has_variants ? 1 : 0)) throw runner::Unsupported{};
    Way way;
    way.load = [state](const Bytes& data) {
        state->p = projective(decode<G>(data.data(), data.size()));
    };
    way.result = [state] { return encode(state->c); };
    auto load_scalar = [state](const Bytes& data) {
        state->k = decode<Fr>(data.data(), data.size());
    };
    auto load_bytes = [state](const Bytes& data) { state->bytes = data; };
    auto load_scalars = [state](const Bytes& data) {
        state->scalars = decode_all<Fr>(data, 32);
        if (state->scalars.size() != state->many.size()) {
            throw std::runtime_error("as many scalars as points are needed");
        }
    };
    if (name == "add" || name == "add-affine") {
        s->q = one("second");
        if (name == "add") s->q = projective(s->q);
        way.function = Of::named("add");
        way.run = runner::repeat([s] { G::add(s->c, s->p, s->q); });
    } else if (name == "double") {
        way.function = Of::named("dbl");
        way.run = runner::repeat([s] { G::dbl(s->c, s->p); });
    } else if (name == "to-affine") {
        way.function = Of::named("normalize");
        way.run = runner::repeat([s] {
            s->c = s->p;
            s->c.normalize();
        });
    } else if (name == "multiply") {
        s->p = projective(one("point"));
        way.load = load_scalar;
        if (number == 0) {
            way.function = Of::named("mul");
            way.run = runner::repeat([s] { G::mul(s->c, s->p, s->k); });
        } else {
            way.label = "mulCT";
            way.function = Of::named("mulCT");
            way.note = "its source calls it both CT and not constant time";
            way.run = runner::repeat([s] { G::mulCT(s->c, s->p, s->k); });
        }
    } else if (name == "multiply-many") {
        s->many = list("points");
        way.load = load_scalars;
        way.function = Of::named("mulEach");
        way.run = runner::repeat([s] {
            s->kept = s->many;
            G::mulEach(s->kept.data(), s->scalars.data(), s->kept.size());
        });
        way.result = [state] {
            Bytes bytes;
            for (const G& point : state->kept) bytes = append(bytes, encode(point));
            return bytes;
        };
    } else if (name == "sum-of-multiples") {
        s->many = list("points");
        way.load = load_scalars;
        way.function = Of::named("mulVec");
        way.run = runner::repeat([s] {
            G::mulVec(s->c, s->many.data(), s->scalars.data(), s->many.size());
        });
    } else if (name == "is-member") {
        way.load = [state](const Bytes& data) { state->p = decode<G>(data.data(), data.size()); };
        way.function = Of::named("isValidOrder");
        way.run = runner::repeat([s] { s->is = s->p.isValidOrder(); });
        way.result = [state] { return truth(state->is); };
    } else if (name == "compress") {
        way.load = [state](const Bytes& data) { state->p = decode<G>(data.data(), data.size()); };
        way.function = Of::named("serialize");
        s->bytes.resize(Of::length);
        way.run = runner::repeat([s] { s->p.serialize(s->bytes.data(), s->bytes.size()); });
        way.result = [state] { return state->bytes; };
    } else if (name == "decompress" || name == "decompress-unchecked") {
        Of::verify_order(name == "decompress");
        way.load = load_bytes;
        way.function = Of::named("deserialize");
        way.note = name == "decompress" ? "with verifyOrder" : "without verifyOrder";
        way.run = runner::repeat([s] {
            if (s->c.deserialize(s->bytes.data(), s->bytes.size()) == 0) {
                throw std::runtime_error("not a member");
            }
        });
    } else if (name == "hash") {
        Bytes tag = order.bytes("tag");
        s->tag = std::string(tag.begin(), tag.end());
        way.load = load_bytes;
        way.function = Of::hash_name;
        way.run = runner::repeat([s] { Of::hash(s->c, s->bytes, s->tag); });
    } else {
        throw runner::Unsupported{};
    }
    return way;
}

static Way pairings(const std::string& name, const Order& order) {
    struct State {
        std::vector<G1> p;
        std::vector<G2> q;
        Fp12 raw, value;
    };
    auto state = std::make_shared<State>();
    State* s = state.get();
    s->p = decode_all<G1>(order.bytes("p"), 48);
    s->q = decode_all<G2>(order.bytes("q"), 96);
    if (s->p.size() != s->q.size() || s->p.empty()) throw std::runtime_error("not pairs");
    Way way;
    way.result = [state] { return target(state->value); };
    if (name == "miller-loop") {
        way.function = "millerLoopVec";
        way.run = runner::repeat([s] {
            millerLoopVec(s->raw, s->p.data(), s->q.data(), s->p.size());
        });
        way.result = [state] {
            finalExp(state->value, state->raw);
            return target(state->value);
        };
    } else if (name == "final-exponentiation") {
        millerLoopVec(s->raw, s->p.data(), s->q.data(), s->p.size());
        way.function = "finalExp";
        way.run = runner::repeat([s] { finalExp(s->value, s->raw); });
    } else if (s->p.size() == 1) {
        way.function = "pairing";
        way.run = runner::repeat([s] { pairing(s->value, s->p[0], s->q[0]); });
    } else {
        way.function = "millerLoopVec, finalExp";
        way.run = runner::repeat([s] {
            millerLoopVec(s->raw, s->p.data(), s->q.data(), s->p.size());
            finalExp(s->value, s->raw);
        });
    }
    return way;
}

static Way prepare(const Order& order, uint64_t number) {
    initPairing(mcl::BLS12_381);
    Fp::setETHserialization(true);
    Fr::setETHserialization(true);
    setMapToMode(MCL_MAP_TO_MODE_HASH_TO_CURVE_07);
    verifyOrderG1(false);
    verifyOrderG2(false);
    const std::string& operation = order.text("operation");
    auto is = [&](const char* start) { return operation.compare(0, strlen(start), start) == 0; };
    if (!is("bls-")) throw runner::Unsupported{};
    if (order.has("group")) {
        std::string name = operation.substr(4);
        return order.text("group") == "G1" ? points<G1>(name, order, number)
                                           : points<G2>(name, order, number);
    }
    if (number > 0) throw runner::Unsupported{};
    if (is("bls-fr-")) return scalars(operation.substr(7), order);
    if (order.has("p")) return pairings(operation.substr(4), order);
    throw runner::Unsupported{};
}

int main() { return runner::serve(prepare); }

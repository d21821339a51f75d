// The lines of a runner in C++: see docs/runners.md.

#pragma once

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <time.h>

namespace runner {

using Bytes = std::vector<uint8_t>;

// Thrown for an operation that the library lacks, or for an implementation after the last one.
struct Unsupported {};

inline Bytes from_hex(const std::string& text) {
    auto digit = [](char c) -> int {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        throw std::runtime_error("not hexadecimal");
    };
    if (text.size() % 2 != 0) throw std::runtime_error("an odd number of hexadecimal digits");
    Bytes bytes(text.size() / 2);
    for (size_t i = 0; i < bytes.size(); i++) {
        bytes[i] = static_cast<uint8_t>(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    }
    return bytes;
}

inline std::string to_hex(const Bytes& bytes) {
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

// A line: a flat JSON object, whose strings have no escapes.
class Order {
    std::map<std::string, std::string> members;

public:
    explicit Order(const std::string& line) {
        size_t at = 0;
        auto peek = [&]() -> char {
            while (at < line.size() && line[at] == ' ') at++;
            if (at == line.size()) throw std::runtime_error("a line ends early");
            return line[at];
        };
        auto expect = [&](char c) {
            if (peek() != c) throw std::runtime_error(std::string("a line lacks ") + c);
            at++;
        };
        auto text = [&]() {
            expect('"');
            size_t end = line.find('"', at);
            if (end == std::string::npos) throw std::runtime_error("a string does not end");
            std::string value = line.substr(at, end - at);
            at = end + 1;
            return value;
        };
        auto word = [&]() {
            size_t end = line.find_first_of(",} ", at);
            std::string value = line.substr(at, end - at);
            at = end;
            return value;
        };
        expect('{');
        if (peek() == '}') return;
        for (;;) {
            std::string name = text();
            expect(':');
            members[name] = peek() == '"' ? text() : word();
            if (peek() == '}') return;
            expect(',');
        }
    }

    bool has(const std::string& name) const { return members.count(name) != 0; }

    // Returns a member as it is; one that is missing is unsupported.
    const std::string& text(const std::string& name) const {
        auto found = members.find(name);
        if (found == members.end()) throw Unsupported{};
        return found->second;
    }

    Bytes bytes(const std::string& name) const { return from_hex(text(name)); }

    uint64_t number(const std::string& name) const { return std::stoull(text(name)); }
};

// An implementation of an operation, ready to run.
struct Way {
    std::string label;
    std::string function;
    std::string note;
    bool constant_time = false;
    // Decodes the input of the next runs, before the clock starts.
    std::function<void(const Bytes&)> load = [](const Bytes&) {};
    // Performs a number of runs. An exception means that an input is refused.
    std::function<void(uint64_t)> run;
    // Encodes the result of the last run, after the clock has stopped.
    std::function<Bytes()> result;
};

// Returns a function that repeats `once`.
template <class Once> std::function<void(uint64_t)> repeat(Once once) {
    return [once](uint64_t runs) mutable {
        for (; runs > 0; runs--) {
            once();
            // The next run may not use what this one has computed.
            asm volatile("" ::: "memory");
        }
    };
}

// Returns the processor time of this thread.
inline uint64_t nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

inline void failed(const char* why) {
    std::string text = why;
    for (char& c : text) {
        if (c == '"' || c == '\\' || c == '\n') c = ' ';
    }
    std::cout << "{\"failed\":\"" << text << "\"}" << std::endl;
}

// Answers the lines of standard input until it ends.
inline int serve(const std::function<Way(const Order&, uint64_t)>& prepare) {
    std::ios::sync_with_stdio(false);
    std::string line;
    if (!std::getline(std::cin, line)) return 0;
    Way way;
    try {
        Order order(line);
        way = prepare(order, order.number("way"));
        way.load(order.bytes("data"));
    } catch (const Unsupported&) {
        std::cout << "{\"unsupported\":\"the library does not have the operation\"}" << std::endl;
        return 0;
    } catch (const std::exception& error) {
        failed(error.what());
        return 0;
    }
    std::cout << "{\"label\":\"" << way.label << "\",\"function\":\"" << way.function
              << "\",\"constant_time\":" << (way.constant_time ? "true" : "false")
              << ",\"note\":\"" << way.note << "\"}" << std::endl;
    while (std::getline(std::cin, line)) {
        try {
            Order order(line);
            if (order.has("data")) way.load(order.bytes("data"));
            uint64_t start = nanoseconds();
            way.run(order.number("runs"));
            uint64_t time = nanoseconds() - start;
            std::cout << "{\"nanoseconds\":" << time << ",\"result\":\"" << to_hex(way.result())
                      << "\"}" << std::endl;
        } catch (const std::exception& error) {
            failed(error.what());
        } catch (const Unsupported&) {
            failed("a member is missing");
        }
    }
    return 0;
}

}

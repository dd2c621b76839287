// An adapter: a UTF-8 decoder behind two pipes. Change `decode`, and add its "version" to the greeting.
// Build:   c++ -std=c++17 -O2 -o adapter adapter.cpp
// Certify: overlong certify -- ./adapter        (--subject FILE before -- names a file of your decoder, too)
// As written it puts std::codecvt under test. That of libstdc++ (GCC 12) is NOT CONFORMANT: it accepts surrogates.
#include <cstdint>
#include <cwchar>
#include <exception>
#include <iostream>
#include <locale>
#include <string>

struct Refused { std::uint32_t offset; }; // of the flaw; 0xFFFFFFFF if the decoder does not say

// YOUR DECODER HERE: it returns code points, or throws Refused. Other exceptions are taken for bugs of the decoder.
static std::u32string decode(const std::string &octets) {
    using Codec = std::codecvt<char32_t, char, std::mbstate_t>; // of C++11 to C++23
    std::u32string points(octets.size(), 0);
    std::mbstate_t state{};
    const char *begin = octets.data(), *end = begin + octets.size(), *from = begin;
    char32_t *to = points.data();
    auto result = std::use_facet<Codec>(std::locale::classic())
        .in(state, begin, end, from, points.data(), points.data() + points.size(), to);
    if (result == std::codecvt_base::error || from != end) throw Refused{std::uint32_t(from - begin)};
    points.resize(std::size_t(to - points.data()));
    return points;
}

static std::string u32(std::uint32_t n) { return {char(n >> 24), char(n >> 16), char(n >> 8), char(n)}; }

static std::uint32_t number(const char *at, std::uint32_t n = 0) {
    for (int i = 0; i < 4; i++) n = n << 8 | static_cast<unsigned char>(at[i]);
    return n;
}

// P echoes, V validates, D decodes.
static std::string respond(char operation, const std::string &payload) {
    if (operation == 'P') return "A" + payload;
    if (operation != 'V' && operation != 'D') return "U"; // not offered. B saves time: 'overlong docs protocol'
    std::string response = "A";
    try {
        for (char32_t point : decode(payload)) if (operation == 'D') response += u32(point);
        return response;
    } catch (const Refused &refused) {
        return "R" + u32(refused.offset);
    } catch (const std::exception &bug) {
        return std::string("X") + bug.what();
    }
}

int main() {
    std::ios::sync_with_stdio(false); // faster
    std::cout << R"({"overlong": 1, "language": "C++", "operations": "PVD"})" "\n";
    for (char head[8]; std::cout.flush() && std::cin.read(head, 8);) {
        std::string body(number(head) - 4, '\0');
        std::cin.read(body.data(), std::streamsize(body.size()));
        const std::string response = respond(body[0], body.substr(1));
        std::cout << u32(std::uint32_t(response.size() + 4)) << std::string(head + 4, 4) << response;
    }
}

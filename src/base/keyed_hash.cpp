#include <callsign/base/assert.hpp>
#include <callsign/base/keyed_hash.hpp>

#include <bit>
#include <cerrno>
#include <cstring>
#include <sys/random.h>

namespace callsign {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie");

sip_key draw_key() noexcept {
    sip_key key;
    // getrandom() returns so few bytes at once; a signal can interrupt it only before that.
    ssize_t got = -1;
    while (got < 0) {
        got = getrandom(&key, sizeof key, 0);
        CALLSIGN_ASSERT(got >= 0 || errno == EINTR);
    }
    CALLSIGN_ASSERT(got == ssize_t{sizeof key});
    return key;
}

const sip_key& key_of_process() noexcept {
    static const sip_key key = draw_key();
    return key;
}

struct sip_state {
    std::uint64_t a, b, c, d;

    void round() noexcept {
        a += b;
        c += d;
        b = std::rotl(b, 13) ^ a;
        d = std::rotl(d, 16) ^ c;
        a = std::rotl(a, 32);
        c += b;
        a += d;
        b = std::rotl(b, 17) ^ c;
        d = std::rotl(d, 21) ^ a;
        c = std::rotl(c, 32);
    }

    void take(std::uint64_t word) noexcept {
        d ^= word;
        round();
        a ^= word;
    }
};

// `size` is a constant in all calls but those for text, so that the compiler unrolls the loops.
inline std::uint64_t sip_hash_of(const sip_key& key, const std::uint8_t* at,
                                 std::size_t size) noexcept {
    sip_state s{key.low ^ 0x736f6d6570736575ULL, key.high ^ 0x646f72616e646f6dULL,
                key.low ^ 0x6c7967656e657261ULL, key.high ^ 0x7465646279746573ULL};
    std::uint64_t last = std::uint64_t{size} << 56;
    for (; size >= sizeof(std::uint64_t); size -= sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, sizeof word);
        s.take(word);
        at += sizeof word;
    }
    for (std::size_t i = 0; i < size; ++i) last |= std::uint64_t{at[i]} << (8 * i);
    s.take(last);
    s.c ^= 0xff;
    s.round();
    s.round();
    s.round();
    return s.a ^ s.b ^ s.c ^ s.d;
}

}  // namespace

std::uint64_t sip_hash(const sip_key& key, std::span<const std::uint8_t> bytes) noexcept {
    return sip_hash_of(key, bytes.data(), bytes.size());
}

std::size_t keyed_hash::operator()(std::string_view text) const noexcept {
    return sip_hash_of(key_of_process(), reinterpret_cast<const std::uint8_t*>(text.data()),
                       text.size());
}

std::size_t keyed_hash::operator()(const uuid& id) const noexcept {
    return sip_hash_of(key_of_process(), id.data, sizeof id.data);
}

std::size_t keyed_hash::operator()(const std::array<std::uint8_t, 16>& bytes) const noexcept {
    return sip_hash_of(key_of_process(), bytes.data(), bytes.size());
}

std::size_t keyed_hash::operator()(std::uint64_t number) const noexcept {
    std::array<std::uint8_t, sizeof number> bytes{};
    std::memcpy(bytes.data(), &number, sizeof number);
    return sip_hash_of(key_of_process(), bytes.data(), bytes.size());
}

}  // namespace callsign

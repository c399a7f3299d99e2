#pragma once
// A store opened without a server, for programs that write to it directly: the clock, IDs and
// account that rules need.

#include <callsign/base/sha256.hpp>
#include <callsign/rules/rules.hpp>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <variant>

namespace callsign::bench {

inline time_point wall_time() {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

// Generates UUIDv7s in order, as the server does, but from a seed.
class seeded_ids final : public rules::id_source {
  public:
    explicit seeded_ids(std::uint64_t seed) : random_(seed) {}

    uuid next(time_point now) override {
        counter_ = now > at_ ? 0 : counter_ + 1;
        // More IDs than fit into a millisecond: continues with the next one.
        if (counter_ == 1u << 18) {
            counter_ = 0;
            now = at_ + milliseconds{1};
        }
        at_ = std::max(at_, now);
        return make_uuid_v7(at_, counter_, random_());
    }

  private:
    std::mt19937_64 random_;
    time_point at_{};
    std::uint32_t counter_ = 0;
};

// A random UUIDv4, as clients use for keys.
inline std::string random_key(std::mt19937_64& random) {
    const std::uint64_t halves[2] = {random(), random()};
    uuid id;
    std::memcpy(id.data, halves, sizeof halves);
    id.data[6] = static_cast<std::uint8_t>((id.data[6] & 0x0F) | 0x40);
    id.data[8] = static_cast<std::uint8_t>((id.data[8] & 0x3F) | 0x80);
    return to_string(id);
}

struct local_account {
    account_id id;
    std::string token;
};

// Creates an account as the server does. Throws std::bad_variant_access if the name is taken.
inline local_account make_account(store& s, rules::id_source& ids, const std::string& name,
                                  const std::string& prefix) {
    // The store is deleted after the measurement, so the secret can be known.
    std::string token = "cs_bench_" + name;
    const auto tx = s.begin_write();
    const create_account command{name, prefix, "default", sha256(token)};
    const auto made =
        rules::apply(*tx, command, {std::max(wall_time(), s.totals()->last_moment), ids});
    tx->commit();
    return {std::get<account>(made).id, std::move(token)};
}

// A typical description; all have the same length.
inline std::string description_of(std::uint64_t n) {
    std::string digits = std::to_string(n);
    digits.insert(0, digits.size() < 12 ? 12 - digits.size() : 0, '0');
    return "Mend the tap in the corridor, visit " + digits;
}

}  // namespace callsign::bench

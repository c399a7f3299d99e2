#include <callsign/seal/envelope.hpp>
#include <callsign/wire/envelope.hpp>

#include <utility>

namespace callsign::wire {
namespace {

template <class Content, class Decode>
std::variant<Content, unreadable> open(const seal::key& key, const uuid& version,
                                       std::string_view envelope, std::string_view what,
                                       const Decode& decode) {
    const auto opened = seal::open_body(key, version, envelope);
    if (const auto* const error = std::get_if<seal::open_error>(&opened)) {
        return unreadable{*error == seal::open_error::does_not_open,
                          std::string(to_string(*error))};
    }
    auto decoded = decode(std::get<std::string>(opened));
    if (const auto* const error = std::get_if<malformed>(&decoded)) {
        return unreadable{false,
                          "the " + std::string(what) + " cannot be parsed: " + error->detail};
    }
    return std::get<Content>(std::move(decoded));
}

}  // namespace

opened_segment open_segment(const seal::key& key, const uuid& parent, std::string_view envelope,
                            const segment_limits& limits) {
    return open<std::vector<operation>>(
        key, parent, envelope, "segment",
        [&](const std::string& text) { return decode_segment(text, limits); });
}

opened_snapshot open_snapshot(const seal::key& key, const uuid& version, std::string_view envelope,
                              const snapshot_limits& limits) {
    return open<task_map>(key, version, envelope, "snapshot", [&](const std::string& packed) {
        return decode_snapshot(packed, limits);
    });
}

}  // namespace callsign::wire

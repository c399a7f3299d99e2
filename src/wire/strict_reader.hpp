#pragma once
// Common part of the readers of segments and snapshots: a handler of Boost.JSON's push parser that
// stops at the first error and reports its position. A reader derives from it and defines
// `open_object`, `open_array`, `close_object`, `close_array`, `take_key`, `take_text` and
// `take_null`, each of which returns true or `fault(...)`, and `path`.

#include "fault.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace callsign::wire {

template <class Reader>
class strict_reader {
  public:
    using error_code = boost::json::error_code;

    // The size of the whole input is limited by the caller.
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

    bool on_object_begin(error_code& ec) { return go_on(self().open_object(), ec); }
    bool on_object_end(std::size_t, error_code& ec) { return go_on(self().close_object(), ec); }
    bool on_array_begin(error_code& ec) { return go_on(self().open_array(), ec); }
    bool on_array_end(std::size_t, error_code& ec) { return go_on(self().close_array(), ec); }

    bool on_key_part(std::string_view part, std::size_t, error_code&) { return add(part); }
    bool on_key(std::string_view rest, std::size_t, error_code& ec) {
        const bool good = self().take_key(joined(rest));
        pieces_.clear();
        return go_on(good, ec);
    }
    bool on_string_part(std::string_view part, std::size_t, error_code&) { return add(part); }
    bool on_string(std::string_view rest, std::size_t, error_code& ec) {
        const bool good = self().take_text(joined(rest));
        pieces_.clear();
        return go_on(good, ec);
    }
    bool on_null(error_code& ec) { return go_on(self().take_null(), ec); }
    bool on_int64(std::int64_t, std::string_view, error_code& ec) { return go_on(misplaced(), ec); }
    bool on_uint64(std::uint64_t, std::string_view, error_code& ec) {
        return go_on(misplaced(), ec);
    }
    bool on_double(double, std::string_view, error_code& ec) { return go_on(misplaced(), ec); }
    bool on_bool(bool, error_code& ec) { return go_on(misplaced(), ec); }

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_number_part(std::string_view, error_code&) { return true; }
    bool on_comment_part(std::string_view, error_code&) { return true; }
    bool on_comment(std::string_view, error_code&) { return true; }

    // Empty: no error so far.
    const std::string& found() const noexcept { return fault_; }

  protected:
    bool fault(std::string_view why) {
        fault_ = self().path();
        if (!fault_.empty()) fault_.append(": ");
        fault_.append(why);
        return false;
    }
    bool misplaced() { return fault("unexpected type of value."); }
    bool unknown(std::string_view name) {
        return fault(std::string("\"").append(shortened(name)).append("\" is unknown."));
    }
    bool twice(std::string_view name) {
        return fault(std::string("\"").append(shortened(name)).append("\" is given twice."));
    }

  private:
    Reader& self() noexcept { return static_cast<Reader&>(*this); }

    bool add(std::string_view part) {
        pieces_.append(part);
        return true;
    }
    std::string_view joined(std::string_view rest) {
        if (pieces_.empty()) return rest;
        pieces_.append(rest);
        return pieces_;
    }
    // The parser needs some error code to stop.
    static bool go_on(bool good, error_code& ec) {
        if (!good) ec = boost::json::error::extra_data;
        return good;
    }

    std::string pieces_;  // parts of a key or string that has escapes
    std::string fault_;
};

// Reads `json` with a Reader constructed from `arguments`. Returns the error, or an empty text.
// Nesting deeper than `depth_max` is an error.
template <class Reader, class... Arguments>
std::string read_strictly(std::string_view json, std::size_t depth_max, Arguments&&... arguments) {
    boost::json::parse_options options;
    options.max_depth = depth_max;
    boost::json::basic_parser<Reader> parser(options, std::forward<Arguments>(arguments)...);
    boost::json::error_code ec;
    const std::size_t used = parser.write_some(false, json.data(), json.size(), ec);
    if (!ec && used < json.size()) ec = boost::json::error::extra_data;
    if (!ec || !parser.handler().found().empty()) return parser.handler().found();
    return "Malformed JSON: " + ec.message() + " at byte " + std::to_string(used) + ".";
}

}  // namespace callsign::wire

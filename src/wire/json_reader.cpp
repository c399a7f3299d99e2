// A handler of Boost.JSON's push parser that sets fields as their values arrive. Without a document
// nothing is copied, and repeated names are detected, of which a document would keep the last.
//
// Protobuf's own JSON reader reports the first error only, where clients want all of them with
// their paths, and it does not support merge patches.

#include "fault.hpp"
#include "json.hpp"
#include "plan.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/base/keyed_hash.hpp>
#include <callsign/base/text.hpp>
#include <callsign/base/time.hpp>

#include <boost/container/static_vector.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <google/protobuf/timestamp.pb.h>
#include <limits>
#include <span>
#include <unordered_set>

namespace callsign::wire {
namespace {

using boost::json::error_code;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Our messages nest at most half as deep.
constexpr std::size_t depth_max = 16;

// Where a value is stored: in a field of a message, in a list or in a map.
struct frame {
    enum class container : std::uint8_t { message, list, map };

    container kind = container::message;
    Message* message = nullptr;
    const message_plan* plan = nullptr;
    const field_plan* field = nullptr;  // of a message: for the next value; null: it is skipped
    std::uint64_t seen = 0;
    std::size_t index = 0;
    bool is_wrapper = false;  // a message that is a list, written as an object
};

class json_reader {
  public:
    // The size of the whole body is limited by the caller.
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

    json_reader(Message& out, field_errors& found, std::size_t most, std::size_t values)
        : out_(out), found_(found), most_(most), values_left_(values) {}

    // The parser stops when a callback returns false: at enough errors or too many values.
    bool on_object_begin(error_code& ec) {
        if (!count_value(ec)) return false;
        if (skipped_ > 0 || !open_object()) ++skipped_;
        return go_on(ec);
    }
    bool on_object_end(std::size_t, error_code& ec) { return end_of_nested(ec); }
    bool on_array_begin(error_code& ec) {
        if (!count_value(ec)) return false;
        if (skipped_ > 0 || !open_list()) ++skipped_;
        return go_on(ec);
    }
    bool on_array_end(std::size_t, error_code& ec) { return end_of_nested(ec); }

    bool on_key_part(std::string_view part, std::size_t, error_code&) {
        if (skipped_ == 0) pieces_.append(part);
        return true;
    }
    bool on_key(std::string_view rest, std::size_t, error_code& ec) {
        if (skipped_ == 0) take_key(joined(rest));
        pieces_.clear();
        return go_on(ec);
    }
    bool on_string_part(std::string_view part, std::size_t, error_code&) {
        if (skipped_ == 0) pieces_.append(part);
        return true;
    }
    bool on_string(std::string_view rest, std::size_t, error_code& ec) {
        if (!count_value(ec)) return false;
        if (skipped_ == 0) take_text(joined(rest));
        pieces_.clear();
        return end_of_scalar(ec);
    }
    bool on_int64(std::int64_t value, std::string_view, error_code& ec) {
        if (!count_value(ec)) return false;
        if (skipped_ == 0) take_whole(value);
        return end_of_scalar(ec);
    }
    bool on_uint64(std::uint64_t, std::string_view, error_code& ec) {
        if (!count_value(ec)) return false;
        if (skipped_ == 0) take_other_number("is too large");
        return end_of_scalar(ec);
    }
    bool on_double(double, std::string_view, error_code& ec) {
        if (!count_value(ec)) return false;
        if (skipped_ == 0) take_other_number("must be a whole number");
        return end_of_scalar(ec);
    }
    bool on_bool(bool value, error_code& ec) {
        if (!count_value(ec)) return false;
        if (skipped_ == 0) take_bool(value);
        return end_of_scalar(ec);
    }
    bool on_null(error_code& ec) {
        if (!count_value(ec)) return false;
        if (skipped_ == 0) take_null();
        return end_of_scalar(ec);
    }
    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_number_part(std::string_view, error_code&) { return true; }
    bool on_comment_part(std::string_view, error_code&) { return true; }
    bool on_comment(std::string_view, error_code&) { return true; }

    bool full() const noexcept { return found_.size() >= most_; }
    bool has_too_many() const noexcept { return has_too_many_; }

  private:
    frame& top() noexcept { return frames_.back(); }

    void say(std::string field, std::string_view code, std::string detail) {
        add_error(found_, {std::move(field), std::string(code), std::move(detail)}, most_);
    }

    std::string_view joined(std::string_view rest) {
        if (pieces_.empty()) return rest;
        pieces_.append(rest);
        return pieces_;
    }

    bool count_value(error_code& ec) {
        if (values_left_ > 0) {
            --values_left_;
            return true;
        }
        has_too_many_ = true;
        ec = boost::json::error::extra_data;
        return false;
    }
    bool go_on(error_code& ec) const {
        if (!full()) return true;
        ec = boost::json::error::extra_data;
        return false;
    }
    bool end_of_scalar(error_code& ec) {
        if (skipped_ == 0 && !frames_.empty()) ++top().index;
        return go_on(ec);
    }
    bool end_of_nested(error_code& ec) {
        if (skipped_ > 0) {
            --skipped_;
        } else {
            const bool lacks_list = top().is_wrapper && top().seen == 0;
            frames_.pop_back();
            // An object of another kind, such as a set's, must not become an empty list.
            if (lacks_list) wrong_type(*top().field);
        }
        return end_of_scalar(ec);
    }

    // ---- names ----

    void take_key(std::string_view key) {
        frame& in = top();
        if (in.kind == frame::container::map) {
            map_key_.assign(key);
            map_key_is_new_ = false;
            // The error was reported at the first entry too many; further ones are skipped.
            if (map_keys_.size() > map_entries_max) return;
            if (!map_keys_.insert(map_key_).second) return add_duplicate();
            if (map_keys_.size() > map_entries_max) {
                return say(path_to(frames_.size() - 1), "too-many",
                           "Must have at most " + std::to_string(map_entries_max) + " entries.");
            }
            map_key_is_new_ = true;
            return;
        }
        in.field = in.plan->find(key);
        if (in.field == nullptr) {
            std::string where = path();
            if (!where.empty()) where += '.';
            where += shortened(key);
            say(std::move(where), "unknown-field", "Unknown field.");
        } else if ((in.seen & in.field->bit) != 0) {
            add_duplicate();
            in.field = nullptr;
        } else {
            in.seen |= in.field->bit;
        }
    }

    void add_duplicate() { say(path(), "duplicate-field", "Must be given once."); }

    std::string path() const { return path_to(frames_.size()); }

    // Returns the path of the first `depth` frames.
    std::string path_to(std::size_t depth) const {
        std::string out;
        for (const frame& f : std::span(frames_.data(), depth)) {
            if (f.kind == frame::container::list) {
                out.append("[").append(std::to_string(f.index)).append("]");
            } else if (f.kind == frame::container::map) {
                out.append(".").append(shortened(map_key_));
            } else if (f.field != nullptr) {
                if (!out.empty()) out += '.';
                out += f.field->name;
            }
        }
        return out;
    }

    // ---- nested values: false if there is no place for one; the error was reported then ----

    bool open_object() {
        if (frames_.empty()) return push_message(out_, plan_of(*out_.GetDescriptor()));
        const frame& in = top();
        if (in.field == nullptr) return false;
        const Reflection& access = *in.message->GetReflection();
        const field_plan& f = *in.field;
        if (in.kind == frame::container::message && f.is_map) {
            map_keys_.clear();
            map_key_.clear();
            frames_.push_back({frame::container::map, in.message, in.plan, &f, 0, 0});
            return true;
        }
        if (f.kind == value_kind::message && !f.is_list && in.kind == frame::container::message) {
            push_message(*access.MutableMessage(in.message, f.field), *f.nested);
            top().is_wrapper = f.is_wrapped_list;
            return true;
        }
        if (f.kind == value_kind::message && in.kind == frame::container::list) {
            return push_message(*access.AddMessage(in.message, f.field), *f.nested);
        }
        return wrong_type(f);
    }

    bool open_list() {
        if (frames_.empty()) return wrong_root();
        const frame& in = top();
        if (in.field == nullptr) return false;
        const field_plan& f = *in.field;
        if (in.kind == frame::container::message && f.is_wrapped_list) {
            Message& wrapper = *in.message->GetReflection()->MutableMessage(in.message, f.field);
            frames_.push_back(
                {frame::container::list, &wrapper, nullptr, &f.nested->fields.front(), 0, 0});
            return true;
        }
        if (in.kind != frame::container::message || !f.is_list) return wrong_type(f);
        frames_.push_back({frame::container::list, in.message, nullptr, &f, 0, 0});
        return true;
    }

    bool push_message(Message& message, const message_plan& plan) {
        frames_.push_back({frame::container::message, &message, &plan, nullptr, 0, 0});
        return true;
    }

    // ---- scalars ----

    // Returns the field for a value of `kind`; nullptr if there is none, which was reported then.
    const field_plan* place_for(value_kind kind) {
        if (frames_.empty()) {
            wrong_root();
            return nullptr;
        }
        const frame& in = top();
        if (in.field == nullptr) return nullptr;
        const field_plan& f = *in.field;
        const bool wants_scalar = in.kind != frame::container::message || (!f.is_list && !f.is_map);
        const bool same =
            f.kind == kind || (kind == value_kind::text && f.kind == value_kind::timestamp);
        if (wants_scalar && same) return &f;
        wrong_type(f);
        return nullptr;
    }

    void take_text(std::string_view text) {
        const field_plan* const its = frames_.empty() ? nullptr : top().field;
        if (its != nullptr && its->kind == value_kind::whole) {
            if (const auto value = parse_integer(text)) return take_whole(*value);
        }
        const field_plan* f = place_for(value_kind::text);
        if (f == nullptr) return;
        if (f->kind == value_kind::timestamp) return take_timestamp(*f, text);
        const frame& in = top();
        const Reflection& access = *in.message->GetReflection();
        if (in.kind == frame::container::map) {
            if (!map_key_is_new_) return;
            Message& entry = *access.AddMessage(in.message, f->field);
            const auto& type = *f->field->message_type();
            entry.GetReflection()->SetString(&entry, type.map_key(), map_key_);
            entry.GetReflection()->SetString(&entry, type.map_value(), std::string(text));
        } else if (in.kind == frame::container::list) {
            access.AddString(in.message, f->field, std::string(text));
        } else {
            access.SetString(in.message, f->field, std::string(text));
        }
    }

    void take_timestamp(const field_plan& f, std::string_view text) {
        const std::optional<time_point> at = parse_rfc3339(text);
        if (!at) {
            say(path(), "malformed",
                "Must be an RFC 3339 date and time of the years 1 to 9999, such as "
                "2026-11-20T12:48:00Z.");
            return;
        }
        const frame& in = top();
        const Reflection& access = *in.message->GetReflection();
        // Every Timestamp in a generated message is a generated Timestamp.
        Message& stamp = in.kind == frame::container::list
                             ? *access.AddMessage(in.message, f.field)
                             : *access.MutableMessage(in.message, f.field);
        set_timestamp(static_cast<google::protobuf::Timestamp&>(stamp), *at);
    }

    void take_whole(std::int64_t value) {
        const field_plan* f = place_for(value_kind::whole);
        if (f == nullptr) return;
        const frame& in = top();
        const Reflection& access = *in.message->GetReflection();
        if (in.kind == frame::container::list) {
            access.AddInt64(in.message, f->field, value);
        } else {
            access.SetInt64(in.message, f->field, value);
        }
    }

    void take_other_number(std::string_view why) {
        if (place_for(value_kind::whole) == nullptr) return;
        say(path(), "invalid", std::string("The number ").append(why).append("."));
    }

    void take_bool(bool value) {
        const field_plan* f = place_for(value_kind::boolean);
        if (f == nullptr) return;
        const frame& in = top();
        const Reflection& access = *in.message->GetReflection();
        if (in.kind == frame::container::list) {
            access.AddBool(in.message, f->field, value);
        } else {
            access.SetBool(in.message, f->field, value);
        }
    }

    // In a merge patch null removes a field or map entry; in others a field is then not given.
    void take_null() {
        if (frames_.empty()) {
            wrong_root();
            return;
        }
        const frame& in = top();
        if (in.kind == frame::container::message) {
            if (in.is_wrapper && in.field != nullptr) {
                wrong_type(*in.field);
                return;
            }
            const bool is_patched = in.field != nullptr && in.plan->clear;
            if (is_patched && in.field != &*in.plan->clear) add_clear(in, in.field->name);
        } else if (in.kind == frame::container::map && in.plan->clear) {
            if (map_key_is_new_) add_clear(in, in.field->name + "." + map_key_);
        } else {
            wrong_type(*in.field);
        }
    }

    static void add_clear(const frame& in, std::string name) {
        in.message->GetReflection()->AddString(in.message, in.plan->clear->field, std::move(name));
    }

    // ---- errors ----

    bool wrong_root() {
        say("", "wrong-type", "The body must be a JSON object.");
        return false;
    }

    bool wrong_type(const field_plan& f) {
        const bool whole_field = top().kind == frame::container::message;
        std::string_view wanted;
        if (whole_field && (f.is_list || f.is_wrapped_list)) {
            wanted = "Must be an array.";
        } else if (whole_field && f.is_map) {
            wanted = "Must be an object of strings.";
        } else if (f.kind == value_kind::text) {
            wanted = "Must be a string.";
        } else if (f.kind == value_kind::whole) {
            wanted = "Must be a whole number.";
        } else if (f.kind == value_kind::boolean) {
            wanted = "Must be true or false.";
        } else if (f.kind == value_kind::timestamp) {
            wanted = "Must be a string with an RFC 3339 date and time.";
        } else {
            wanted = "Must be an object.";
        }
        say(path(), "wrong-type", std::string(wanted));
        return false;
    }

    Message& out_;
    field_errors& found_;
    boost::container::static_vector<frame, depth_max + 1> frames_;
    const std::size_t most_;  // errors
    std::size_t values_left_;
    bool has_too_many_ = false;
    std::size_t skipped_ = 0;  // levels below a skipped value
    std::string pieces_;       // parts of a key or string that has escapes
    // Maps hold strings only, so one map is open at a time.
    std::string map_key_;
    bool map_key_is_new_ = false;
    std::unordered_set<std::string, keyed_hash> map_keys_;
};

}  // namespace

void read_json(std::string_view bytes, Message& out, field_errors& found, std::size_t most,
               std::size_t values) {
    boost::json::parse_options options;
    options.max_depth = depth_max;
    boost::json::basic_parser<json_reader> parser(options, out, found, most, values);
    error_code ec;
    const std::size_t used = parser.write_some(false, bytes.data(), bytes.size(), ec);
    if (!ec && used < bytes.size()) ec = boost::json::error::extra_data;
    if (parser.handler().has_too_many()) return add_too_many_values(found, values, most);
    if (!ec || parser.handler().full()) return;
    add_error(found,
              {"", "malformed",
               "The body is not well-formed JSON: " + ec.message() + " at byte " +
                   std::to_string(used) + "."},
              most);
}

}  // namespace callsign::wire

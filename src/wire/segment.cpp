#include "json_text.hpp"
#include "strict_reader.hpp"

#include <callsign/wire/segment.hpp>

#include <array>
#include <cstdint>

namespace callsign::wire {
namespace {

// {"operations":[{"Create":{ and one more level, so that an error there gets its path.
constexpr std::size_t segment_depth_max = 5;

struct form {
    operation_kind kind;
    std::string_view name;
};
constexpr std::array<form, 3> forms{{{operation_kind::create, "Create"},
                                     {operation_kind::remove, "Delete"},
                                     {operation_kind::update, "Update"}}};

std::string_view name_of(operation_kind kind) {
    return forms[static_cast<std::size_t>(kind) - 1].name;
}

// The members of an operation; a create or remove has only the first.
constexpr std::array<std::string_view, 4> members{"uuid", "property", "value", "timestamp"};
enum member : std::size_t { uuid_member, property_member, value_member, timestamp_member };

constexpr std::size_t members_of(operation_kind kind) noexcept {
    return kind == operation_kind::update ? members.size() : 1;
}

class segment_reader : public strict_reader<segment_reader> {
  public:
    segment_reader(const segment_limits& limits, std::vector<operation>& out)
        : limits_(limits), out_(out) {}

    bool open_object() {
        switch (level_) {
        case level::document: level_ = level::root; return true;
        case level::list: return open_operation();
        case level::operation: level_ = level::members; return true;
        default: return misplaced();
        }
    }

    bool close_object() {
        switch (level_) {
        case level::members: return close_members();
        case level::operation:
            if (!named_)
                return fault(
                    "an operation must have a member \"Create\", \"Delete\" or \"Update\".");
            named_ = false;
            level_ = level::list;
            return true;
        default: level_ = level::document; return listed_ || fault("\"operations\" is missing.");
        }
    }

    bool open_array() {
        if (level_ != level::root) return misplaced();
        level_ = level::list;
        return true;
    }

    bool close_array() {
        level_ = level::root;
        return true;
    }

    bool take_key(std::string_view name) {
        switch (level_) {
        case level::root:
            if (name != "operations") return unknown(name);
            if (listed_) return twice(name);
            return listed_ = true;
        case level::operation: return take_form(name);
        default: return take_member(name);
        }
    }

    bool take_text(std::string_view text) {
        if (level_ != level::members) return misplaced();
        operation& o = out_.back();
        switch (member_) {
        case uuid_member: return take_uuid(text);
        case property_member: o.property = text; return true;
        case value_member: o.value = text; return true;
        default: return take_timestamp(text);
        }
    }

    bool take_null() {
        if (level_ != level::members || member_ != value_member) return misplaced();
        return true;
    }

    // Such as operations[3].Update.timestamp.
    std::string path() const {
        if (level_ == level::document || level_ == level::root) return {};
        std::string where = "operations";
        if (level_ == level::list) return where;
        where.append("[").append(std::to_string(out_.size() - 1)).append("]");
        if (level_ != level::members) return where;
        where.append(".").append(name_of(out_.back().kind));
        if (in_member_) where.append(".").append(members[member_]);
        return where;
    }

  private:
    enum class level : std::uint8_t { document, root, list, operation, members };

    bool open_operation() {
        if (out_.size() >= limits_.operations_max) return fault("too many operations.");
        out_.emplace_back();
        level_ = level::operation;
        return true;
    }

    bool take_form(std::string_view name) {
        if (named_)
            return fault(
                "an operation must have one member: \"Create\", \"Delete\" or \"Update\".");
        for (const form& f : forms) {
            if (f.name != name) continue;
            out_.back().kind = f.kind;
            return named_ = true;
        }
        return unknown(name);
    }

    bool take_member(std::string_view name) {
        in_member_ = false;
        for (std::size_t i = 0; i < members_of(out_.back().kind); ++i) {
            if (members[i] != name) continue;
            if ((seen_ & (1U << i)) != 0) return twice(name);
            seen_ |= 1U << i;
            member_ = static_cast<member>(i);
            return in_member_ = true;
        }
        return unknown(name);
    }

    bool take_uuid(std::string_view text) {
        const std::optional<uuid> id = parse_uuid(text);
        if (!id) return fault("must be a UUID.");
        out_.back().uuid = *id;
        return true;
    }

    bool take_timestamp(std::string_view text) {
        const std::optional<precise_time> at = parse_precise_rfc3339(text);
        if (!at) return fault("must be an RFC 3339 time between the years 1678 and 2261.");
        out_.back().at = *at;
        return true;
    }

    bool close_members() {
        in_member_ = false;
        for (std::size_t i = 0; i < members_of(out_.back().kind); ++i) {
            if ((seen_ & (1U << i)) != 0) continue;
            return fault(std::string("\"").append(members[i]).append("\" is missing."));
        }
        seen_ = 0;
        level_ = level::operation;
        return true;
    }

    const segment_limits& limits_;
    std::vector<operation>& out_;
    level level_ = level::document;
    bool listed_ = false;     // "operations" was read
    bool named_ = false;      // this operation's "Create" or the like was read
    bool in_member_ = false;  // `member_` is the one whose value comes next
    member member_ = uuid_member;
    unsigned seen_ = 0;  // members of this operation
};

void write_quoted(const uuid& id, std::string& out) {
    out.append("\"").append(to_string(id)).append("\"");
}

void write_update(const operation& o, std::string& scratch, std::string& out) {
    out.append(",\"property\":");
    write_text(sound_text(o.property, scratch), out);
    out.append(",\"value\":");
    if (o.value) {
        write_text(sound_text(*o.value, scratch), out);
    } else {
        out.append("null");
    }
    out.append(",\"timestamp\":\"").append(to_precise_rfc3339(o.at)).append("\"");
}

}  // namespace

decoded_segment decode_segment(std::string_view json, const segment_limits& limits) {
    if (json.size() > limits.bytes_max) return malformed{"The segment is too large."};
    std::vector<operation> operations;
    std::string fault = read_strictly<segment_reader>(json, segment_depth_max, limits, operations);
    if (!fault.empty()) return malformed{std::move(fault)};
    return operations;
}

std::string encode_segment(std::span<const operation> operations) {
    std::string out = "{\"operations\":[";
    std::string scratch;
    bool first = true;
    for (const operation& o : operations) {
        out.append(first ? "{\"" : ",{\"").append(name_of(o.kind)).append("\":{\"uuid\":");
        write_quoted(o.uuid, out);
        if (o.kind == operation_kind::update) write_update(o, scratch, out);
        out.append("}}");
        first = false;
    }
    return out.append("]}");
}

}  // namespace callsign::wire

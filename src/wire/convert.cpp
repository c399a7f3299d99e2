// A creation, from its message to TaskChampion's attributes, with every fault of it named.

#include "attribute_names.hpp"
#include "fault.hpp"

#include <callsign/wire/convert.hpp>

#include <algorithm>
#include <array>

namespace callsign::wire {
namespace {

constexpr std::size_t text_bytes_max = 65'536;
constexpr std::size_t name_bytes_max = 255;
constexpr int entries_max = 100;

// What google.protobuf.Timestamp may hold: the years 0001 to 9999.
constexpr std::int64_t stamp_seconds_min = -62'135'596'800;
constexpr std::int64_t stamp_seconds_max = 253'402'300'799;

bool is_control(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

bool has_control(std::string_view text, bool lines_allowed) noexcept {
    return std::any_of(text.begin(), text.end(), [&](char c) {
        return is_control(c) && !(lines_allowed && (c == '\t' || c == '\n'));
    });
}

std::string element(std::string_view list, int index) {
    return std::string(list).append("[").append(std::to_string(index)).append("]");
}

// Reads one CreateTask. A method for each kind of field; each says what it found.
class create_reader {
  public:
    create_reader(const v1::CreateTask& message, decoded_create& out, faults& found)
        : in_(message), out_(out), found_(found) {}

    void read() {
        const int entries = std::min(in_.tags_size(), entries_max) +
                            std::min(in_.annotations_size(), entries_max) +
                            std::min(static_cast<int>(in_.attributes_size()), entries_max);
        out_.attributes.reserve(static_cast<std::size_t>(entries) + 5);
        if (is_text(in_.description(), "description")) put("description", in_.description());
        read_uuid();
        read_prefix();
        read_status();
        if (is_name(in_.project(), "project")) put("project", in_.project());
        if (is_name(in_.priority(), "priority")) put("priority", in_.priority());
        if (in_.has_due()) put_instant("due", in_.due());
        if (in_.has_wait()) put_instant("wait", in_.wait());
        read_tags();
        read_depends();
        read_annotations();
        read_attributes();
    }

  private:
    void put(std::string_view name, std::string_view value) {
        out_.attributes.emplace(name, value);
    }

    void fault(std::string field, std::string_view code, std::string detail) {
        add_fault(found_, std::move(field), code, std::move(detail));
    }

    // ---- kinds of values ----

    // Text of one line or more, which must be there.
    bool is_text(const std::string& text, std::string_view field) {
        if (text.empty()) {
            fault(std::string(field), "required", "Must be given and not be empty.");
            return false;
        }
        return is_value(text, field);
    }

    bool is_value(const std::string& text, std::string_view field) {
        if (text.size() > text_bytes_max) {
            fault(std::string(field), "too-long", "Must have at most 65536 bytes.");
        } else if (has_control(text, true)) {
            fault(std::string(field), "invalid",
                  "Must not have control characters but tab and newline.");
        } else {
            return true;
        }
        return false;
    }

    // A short word or name; empty: not given, which is no fault.
    bool is_name(const std::string& name, std::string_view field) {
        if (name.empty()) return false;
        if (name.size() > name_bytes_max) {
            fault(std::string(field), "too-long", "Must have at most 255 bytes.");
        } else if (has_control(name, false)) {
            fault(std::string(field), "invalid", "Must not have control characters.");
        } else {
            return true;
        }
        return false;
    }

    bool is_few(std::size_t count, std::string_view field) {
        if (count <= static_cast<std::size_t>(entries_max)) return true;
        fault(std::string(field), "too-many", "Must have at most 100 entries.");
        return false;
    }

    // TaskChampion's instants are whole seconds.
    std::optional<std::int64_t> seconds_of(const google::protobuf::Timestamp& at,
                                           const std::string& field) {
        if (at.seconds() >= stamp_seconds_min && at.seconds() <= stamp_seconds_max &&
            at.nanos() >= 0 && at.nanos() < 1'000'000'000) {
            return at.seconds();
        }
        fault(field, "invalid", "Must be an instant of the years 0001 to 9999.");
        return std::nullopt;
    }

    void put_instant(const char* name, const google::protobuf::Timestamp& at) {
        if (const auto seconds = seconds_of(at, name)) put(name, std::to_string(*seconds));
    }

    // ---- fields ----

    void read_uuid() {
        if (in_.uuid().empty()) return;
        const std::optional<uuid> id = parse_uuid(in_.uuid());
        if (!id) {
            fault("uuid", "malformed", "Must be a UUID in its hyphenated form.");
        } else if (id->is_nil()) {
            fault("uuid", "invalid", "Must not be the nil UUID.");
        } else {
            out_.uuid = *id;
        }
    }

    // Keys are read in any case, so is the prefix of one to be made.
    void read_prefix() {
        if (in_.prefix().empty()) return;
        out_.prefix = in_.prefix();
        for (char& c : out_.prefix) {
            if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        }
        if (is_valid_prefix(out_.prefix)) return;
        fault("prefix", "malformed",
              "Must be a letter and up to 9 letters, digits or underscores.");
    }

    void read_status() {
        constexpr std::array<std::string_view, 3> statuses{"pending", "completed", "recurring"};
        const std::string_view status = in_.status().empty() ? statuses[0] : in_.status();
        if (std::find(statuses.begin(), statuses.end(), status) == statuses.end()) {
            fault("status", "invalid", "Must be pending, completed or recurring.");
        } else {
            put("status", status);
        }
    }

    void read_tags() {
        if (!is_few(static_cast<std::size_t>(in_.tags_size()), "tags")) return;
        std::string name;
        for (int i = 0; i < in_.tags_size(); ++i) {
            const std::string& tag = in_.tags(i);
            if (tag.empty()) {
                fault(element("tags", i), "required", "Must not be empty.");
            } else if (tag.size() > name_bytes_max) {
                fault(element("tags", i), "too-long", "Must have at most 255 bytes.");
            } else if (has_control(tag, false) || tag.find(' ') != std::string::npos) {
                fault(element("tags", i), "invalid", "Must not have white space.");
            } else {
                put(name.assign(names::tag).append(tag), "");
            }
        }
    }

    // Sorted by their text and each once: which tasks are named matters, not how often.
    void read_depends() {
        if (!is_few(static_cast<std::size_t>(in_.depends_size()), "depends")) return;
        for (int i = 0; i < in_.depends_size(); ++i) {
            std::optional<task_ref> ref = parse_task_ref(in_.depends(i));
            if (!ref) {
                fault(element("depends", i), "malformed-task-ref",
                      "Must be a UUID or a key such as SYN-42.");
            } else if (out_.uuid && *ref == task_ref{*out_.uuid}) {
                fault(element("depends", i), "invalid", "A task cannot depend on itself.");
            } else {
                out_.depends.push_back(std::move(*ref));
            }
        }
        std::sort(out_.depends.begin(), out_.depends.end(),
                  [](const task_ref& a, const task_ref& b) { return to_string(a) < to_string(b); });
        out_.depends.erase(std::unique(out_.depends.begin(), out_.depends.end()),
                           out_.depends.end());
    }

    // An annotation is named by its second, so the later one of a second moves to the next, as
    // Taskwarrior does it.
    void read_annotations() {
        if (!is_few(static_cast<std::size_t>(in_.annotations_size()), "annotations")) return;
        for (int i = 0; i < in_.annotations_size(); ++i) {
            const v1::Annotation& annotation = in_.annotations(i);
            const std::string where = element("annotations", i);
            const bool has_text = is_text(annotation.description(), where + ".description");
            if (!annotation.has_entry()) {
                fault(where + ".entry", "required", "Must be given.");
                continue;
            }
            auto at = seconds_of(annotation.entry(), where + ".entry");
            if (!at || !has_text) continue;
            std::string name = names::annotation + std::to_string(*at);
            while (out_.attributes.contains(name)) {
                name = names::annotation + std::to_string(++*at);
            }
            put(name, annotation.description());
        }
    }

    void read_attributes() {
        if (!is_few(in_.attributes().size(), "attributes")) return;
        for (const auto& [name, value] : in_.attributes()) {
            const std::string where = "attributes." + std::string(shortened(name));
            if (name.size() > name_bytes_max) {
                fault(where, "too-long", "A name must have at most 255 bytes.");
            } else if (!names::is_well_formed(name)) {
                fault(
                    where, "malformed",
                    "A name is a lower-case letter, then lower-case letters, digits, '_', '.' and "
                    "'-'.");
            } else if (names::is_owned(name)) {
                fault(where, "invalid", "This attribute belongs to another field.");
            } else if (is_value(value, where)) {
                put(name, value);
            }
        }
    }

    const v1::CreateTask& in_;
    decoded_create& out_;
    faults& found_;
};

// ---- the fingerprint ----

void put_sized(std::string& out, std::string_view bytes) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        out += static_cast<char>(bytes.size() >> shift & 0xFF);
    }
    out += bytes;
}

// Each part with its length before it, so that no two creations are the same bytes; lists with
// their count. Attributes and dependencies are sorted already. A change of this form is a new
// version of it, or every retry across an upgrade would be told that it is another creation.
digest fingerprint_of(const decoded_create& c) {
    thread_local std::string form;
    form.assign("callsign.create.1\n");
    put_sized(form,
              c.uuid ? std::string_view(reinterpret_cast<const char*>(c.uuid->data), c.uuid->size())
                     : std::string_view());
    put_sized(form, c.prefix);
    put_sized(form, std::to_string(c.attributes.size()));
    for (const auto& [name, value] : c.attributes) {
        put_sized(form, name);
        put_sized(form, value);
    }
    put_sized(form, std::to_string(c.depends.size()));
    for (const task_ref& ref : c.depends) put_sized(form, to_string(ref));
    const digest print = sha256(form);
    // One large creation must not keep its memory for the life of the thread.
    if (form.capacity() > text_bytes_max) std::string().swap(form);
    return print;
}

}  // namespace

std::optional<decoded_create> to_domain(const v1::CreateTask& message, faults& found) {
    std::optional<decoded_create> out(std::in_place);
    create_reader(message, *out, found).read();
    if (!found.empty()) return std::nullopt;
    out->fingerprint = fingerprint_of(*out);
    return out;
}

}  // namespace callsign::wire

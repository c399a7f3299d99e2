// Conversion of a creation to TaskChampion's attributes; every error is reported.

#include "attribute_names.hpp"
#include "fault.hpp"
#include "task_fields.hpp"

#include <callsign/base/text.hpp>
#include <callsign/wire/convert.hpp>

#include <algorithm>
#include <array>

namespace callsign::wire {
namespace {

class create_reader {
  public:
    create_reader(const v1::CreateTask& message, decoded_create& out, field_errors& found,
                  std::string_view key_attribute)
        : in_(message),
          out_(out),
          found_(found),
          key_attribute_(key_attribute),
          fields_(out.attributes, found, key_attribute) {}

    void read() {
        constexpr int entries_max = task_fields::entries_max;
        const int entries = std::min(in_.tags_size(), entries_max) +
                            std::min(in_.annotations_size(), entries_max) +
                            std::min(static_cast<int>(in_.attributes_size()), entries_max);
        out_.attributes.reserve(static_cast<std::size_t>(entries) + 11);
        fields_.read_description(in_.description());
        read_uuid();
        read_prefix();
        read_status();
        fields_.read_name("project", in_.project());
        fields_.read_name("priority", in_.priority());
        fields_.read_name("recur", in_.recur());
        fields_.read_instants(in_);
        fields_.read_tags(in_.tags());
        out_.depends = fields_.read_depends(in_.depends(), out_.uuid);
        fields_.read_annotations(in_.annotations());
        fields_.read_attributes(in_.attributes());
        add_errors(found_, faults_of(out_.attributes), key_attribute_);
    }

  private:
    void read_uuid() {
        if (in_.uuid().empty()) return;
        const std::optional<uuid> id = parse_uuid(in_.uuid());
        if (!id) {
            fields_.fault("uuid", "malformed", "Must be a UUID in its hyphenated form.");
        } else if (id->is_nil()) {
            fields_.fault("uuid", "invalid", "Must not be the nil UUID.");
        } else {
            out_.uuid = *id;
        }
    }

    // Keys are read in any case, and so are prefixes.
    void read_prefix() {
        if (in_.prefix().empty()) return;
        out_.prefix = upper(in_.prefix());
        if (is_valid_prefix(out_.prefix)) return;
        fields_.fault("prefix", "malformed",
                      "Must be a letter and up to 9 letters, digits or underscores.");
    }

    void read_status() {
        constexpr std::array<std::string_view, 3> known{"pending", "completed", "recurring"};
        fields_.read_status(in_.status().empty() ? known[0] : in_.status(), known);
    }

    const v1::CreateTask& in_;
    decoded_create& out_;
    field_errors& found_;
    std::string_view key_attribute_;
    task_fields fields_;
};

// ---- the fingerprint ----

void put_sized(std::string& out, std::string_view bytes) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        out += static_cast<char>(bytes.size() >> shift & 0xFF);
    }
    out += bytes;
}

constexpr std::size_t form_bytes_kept = 65'536;

// Each part is preceded by its length and each list by its count, so that different creations have
// different bytes. Attributes and dependencies are sorted already. A change of the form must get a
// new version number, or all retries across an upgrade would be taken for other creations.
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
    // A single large creation must not occupy its memory for the life of the thread.
    if (form.capacity() > form_bytes_kept) std::string().swap(form);
    return print;
}

}  // namespace

void add_errors(field_errors& found, std::span<const task_fault> wrong,
                std::string_view key_attribute) {
    for (const task_fault& fault : wrong) {
        add_error(found, {names::field_of(fault.attribute, key_attribute), std::string(fault.code),
                          std::string(fault.detail)});
    }
}

std::optional<decoded_create> to_domain(const v1::CreateTask& message, field_errors& found,
                                        std::string_view key_attribute) {
    std::optional<decoded_create> out(std::in_place);
    create_reader(message, *out, found, key_attribute).read();
    if (!found.empty()) return std::nullopt;
    out->fingerprint = fingerprint_of(*out);
    return out;
}

}  // namespace callsign::wire

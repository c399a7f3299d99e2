// Conversion of an edit to changes of TaskChampion's attributes; every error is reported.

#include "attribute_names.hpp"
#include "fault.hpp"
#include "task_fields.hpp"

#include <callsign/wire/convert.hpp>

#include <algorithm>
#include <array>

namespace callsign::wire {
namespace {

constexpr std::string_view in_attributes = "attributes.";

class edit_reader {
  public:
    edit_reader(const v1::EditTask& message, decoded_edit& out, field_errors& found,
                std::string_view key_attribute)
        : in_(message), out_(out), fields_(set_, found, key_attribute) {}

    void read() {
        read_clear();
        if (in_.has_description()) fields_.read_description(in_.description());
        if (in_.has_status()) read_status();
        if (in_.has_project()) read_name("project", in_.project());
        if (in_.has_priority()) read_name("priority", in_.priority());
        if (in_.has_recur()) read_name("recur", in_.recur());
        fields_.read_instants(in_);
        if (in_.has_tags()) read_tags();
        if (in_.has_depends()) read_depends();
        if (in_.has_annotations()) read_annotations();
        fields_.read_attributes(in_.attributes());
        for (auto& [name, value] : set_) out_.changes.emplace_back(name, std::move(value));
    }

  private:
    static constexpr const auto& instants = instant_fields<v1::EditTask>;

    // ---- removals ----

    void read_clear() {
        std::size_t attributes = in_.attributes().size();
        for (const std::string& name : in_.clear()) {
            if (std::string_view(name).starts_with(in_attributes)) {
                ++attributes;
                clear_attribute(name.substr(in_attributes.size()));
            } else {
                clear_field(name);
            }
        }
        fields_.is_few(attributes, "attributes");
        std::sort(out_.changes.begin(), out_.changes.end());
        out_.changes.erase(std::unique(out_.changes.begin(), out_.changes.end()),
                           out_.changes.end());
    }

    void clear_field(const std::string& name) {
        if (is_given(name)) {
            fields_.fault(name, "invalid", "Must not be both set and removed.");
        } else if (name == "description" || name == "status" || name == "entry") {
            fields_.fault(name, "required", "Must not be removed.");
        } else if (name == "project" || name == "priority" || name == "recur" || is_instant(name)) {
            remove(name);
        } else if (name == "tags") {
            replace_tags();
        } else if (name == "depends") {
            replace_depends();
        } else if (name == "annotations") {
            out_.replaced.push_back(names::annotation);
        } else if (name == "attributes") {
            fields_.fault(name, "invalid", "Must be removed by name: attributes.NAME.");
        } else {
            fields_.fault(std::string(shortened(name)), "unknown-field", "Unknown field.");
        }
    }

    // A name that a client could not set may exist all the same, from Taskwarrior.
    void clear_attribute(std::string name) {
        const std::string where = std::string(in_attributes).append(shortened(name));
        if (fields_.is_owned(name)) {
            fields_.fault(where, "invalid", "This attribute belongs to another field.");
        } else if (in_.attributes().contains(name) || is_given(name)) {
            fields_.fault(where, "invalid", "Must not be both set and removed.");
        } else {
            remove(std::move(name));
        }
    }

    void remove(std::string name) { out_.changes.emplace_back(std::move(name), std::nullopt); }

    bool is_given(std::string_view name) const {
        return (name == "description" && in_.has_description()) ||
               (name == "status" && in_.has_status()) || (name == "project" && in_.has_project()) ||
               (name == "priority" && in_.has_priority()) || (name == "recur" && in_.has_recur()) ||
               (name == "tags" && in_.has_tags()) || (name == "depends" && in_.has_depends()) ||
               (name == "annotations" && in_.has_annotations()) ||
               std::any_of(instants.begin(), instants.end(), [&](const auto& field) {
                   return name == field.name && (in_.*field.is_given)();
               });
    }

    static bool is_instant(std::string_view name) {
        return std::any_of(instants.begin(), instants.end(),
                           [&](const auto& field) { return name == field.name; });
    }

    // ---- values ----

    void read_name(const char* field, const std::string& name) {
        if (name.empty()) {
            fields_.fault(field, "required", "Must not be empty; null removes it.");
        } else {
            fields_.read_name(field, name);
        }
    }

    void read_status() {
        constexpr std::array<std::string_view, 4> known{"pending", "completed", "deleted",
                                                        "recurring"};
        fields_.read_status(in_.status(), known);
    }

    void read_tags() {
        fields_.read_tags(in_.tags().values());
        replace_tags();
    }

    void read_depends() {
        out_.depends = fields_.read_depends(in_.depends().values(), std::nullopt);
        replace_depends();
    }

    void read_annotations() {
        fields_.read_annotations(in_.annotations().values());
        out_.replaced.push_back(names::annotation);
    }

    // Taskwarrior stores a copy of the list besides the attributes that count, and recreates it.
    void replace_tags() {
        out_.replaced.push_back(names::tag);
        remove("tags");
    }
    void replace_depends() {
        out_.replaced.push_back(names::dependency);
        remove("depends");
    }

    const v1::EditTask& in_;
    decoded_edit& out_;
    attributes set_;
    task_fields fields_;
};

}  // namespace

std::optional<decoded_edit> to_domain(const v1::EditTask& message, field_errors& found,
                                      std::string_view key_attribute) {
    std::optional<decoded_edit> out(std::in_place);
    edit_reader(message, *out, found, key_attribute).read();
    if (!found.empty()) return std::nullopt;
    return out;
}

std::optional<task_action> to_domain(const v1::Annotation& message, task_action::kind verb,
                                     field_errors& found) {
    attributes unused;
    task_fields fields(unused, found, {});
    task_action action{verb, message.description()};
    const bool is_named_by_entry = verb == task_action::kind::denotate && message.has_entry();
    if (!is_named_by_entry || !message.description().empty()) {
        fields.is_text(message.description(), "description");
    }
    if (message.has_entry()) action.entry = fields.read_entry(message.entry(), "entry");
    return found.empty() ? std::optional(std::move(action)) : std::nullopt;
}

}  // namespace callsign::wire

#pragma once
// The fields that creations and edits share: conversion to TaskChampion's attributes; every error
// is reported. Limits: see wire/convert.hpp.

#include "callsign/v1/callsign.pb.h"

#include <callsign/domain/task.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/wire/message.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::wire {

// A field of a message that holds an instant; the attribute has the same name.
template <class Message>
struct instant_field {
    const char* name;
    bool (Message::*is_given)() const;
    const google::protobuf::Timestamp& (Message::*value)() const;
};
template <class Message>
inline constexpr std::array instant_fields{
    instant_field<Message>{"due", &Message::has_due, &Message::due},
    instant_field<Message>{"wait", &Message::has_wait, &Message::wait},
    instant_field<Message>{"scheduled", &Message::has_scheduled, &Message::scheduled},
    instant_field<Message>{"until", &Message::has_until, &Message::until},
    instant_field<Message>{"start", &Message::has_start, &Message::start},
    instant_field<Message>{"end", &Message::has_end, &Message::end},
    instant_field<Message>{"entry", &Message::has_entry, &Message::entry},
};

// Reads field by field into `out`. `out` and `found` must outlive it.
class task_fields {
  public:
    template <class Element>
    using list = google::protobuf::RepeatedPtrField<Element>;

    // Maximum of entries in a list or map.
    static constexpr int entries_max = 100;

    // `key_attribute` must outlive it.
    task_fields(attributes& out, field_errors& found, std::string_view key_attribute)
        : out_(out), found_(found), key_attribute_(key_attribute) {}

    // Requires a text that is not empty.
    void read_description(const std::string& text);
    // Empty: not given, which is no error.
    void read_name(const char* field, const std::string& name);
    void read_status(std::string_view status, std::span<const std::string_view> known);
    template <class Message>
    void read_instants(const Message& in) {
        for (const auto& field : instant_fields<Message>) {
            if ((in.*field.is_given)()) read_instant(field.name, (in.*field.value)());
        }
    }
    void read_tags(const list<std::string>& tags);
    // Sorted by text and without repetitions, which have no meaning.
    std::vector<task_ref> read_depends(const list<std::string>& refs,
                                       const std::optional<uuid>& self);
    void read_annotations(const list<v1::Annotation>& annotations);
    // Returns the second that identifies an annotation; nullopt: an error was reported.
    std::optional<std::int64_t> read_entry(const google::protobuf::Timestamp& entry,
                                           const std::string& field);
    bool is_text(const std::string& text, std::string_view field);
    void read_attributes(const google::protobuf::Map<std::string, std::string>& entries);

    bool is_owned(std::string_view attribute) const;
    void fault(std::string field, std::string_view code, std::string detail);
    bool is_few(std::size_t count, std::string_view field);

  private:
    void read_instant(const char* field, const google::protobuf::Timestamp& at);
    void put(std::string_view name, std::string_view value) { out_.emplace(name, value); }
    bool is_good(const std::optional<value_fault>& wrong, std::string_view field);
    std::optional<std::int64_t> seconds_of(const google::protobuf::Timestamp& at,
                                           const std::string& field);
    void read_instant_text(const std::string& name, const std::string& text,
                           const std::string& field);

    attributes& out_;
    field_errors& found_;
    std::string_view key_attribute_;
};

// Returns "list[3]".
std::string element(std::string_view list, int index);

}  // namespace callsign::wire

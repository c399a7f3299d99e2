// Goal: the JSON and the protobuf form of a creation are equivalent, in any order of fields, and
// every message survives both forms. Method: random valid messages, written in both forms and read
// back; the JSON also with its members shuffled.

#include <callsign/wire/convert.hpp>

#include <algorithm>
#include <boost/json.hpp>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <random>
#include <rapidcheck/gtest.h>

namespace callsign::wire {
namespace {

using google::protobuf::util::MessageDifferencer;

// Text with quotes, escapes, line breaks and characters of each UTF-8 length.
rc::Gen<std::string> any_description() {
    return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                            "a", "Z", "0", " ", "\"", "\\", "/", "\n", "\t", "\xC3\xA9",
                            "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xE2\x80\xA8", "{", "]", "x-y")),
                        [](const std::vector<std::string>& pieces) {
                            std::string text = "t";
                            for (const std::string& piece : pieces) text += piece;
                            return text;
                        });
}

rc::Gen<std::string> any_word() {
    return rc::gen::map(rc::gen::inRange(0, 50), [](int n) { return "w" + std::to_string(n); });
}

// Whole milliseconds, which the JSON form can represent; from 1980 to 2037, valid for all fields.
void set_instant(google::protobuf::Timestamp& out) {
    out.set_seconds(*rc::gen::inRange<std::int64_t>(315'532'800, 2'147'483'648));
    out.set_nanos(*rc::gen::inRange(0, 1000) * 1'000'000);
}

v1::CreateTask any_create() {
    v1::CreateTask m;
    m.set_description(*any_description());
    if (*rc::gen::arbitrary<bool>()) m.set_uuid("01936a5e-7b2c-7000-8000-00000000000f");
    m.set_prefix(*rc::gen::element<std::string>("", "SYN", "syn"));
    m.set_project(*rc::gen::element<std::string>("", "Home", "\xC3\xA9"));
    m.set_status(*rc::gen::element<std::string>("", "pending", "completed", "recurring"));
    m.set_priority(*rc::gen::element<std::string>("", "H", "M", "L"));
    for (const auto& tag : *rc::gen::container<std::vector<std::string>>(any_word())) {
        if (m.tags_size() < 100) m.add_tags(tag);
    }
    for (int n = *rc::gen::inRange(0, 4); n > 0; --n) m.add_depends("SYN-" + std::to_string(n));
    if (*rc::gen::arbitrary<bool>()) set_instant(*m.mutable_due());
    if (*rc::gen::arbitrary<bool>()) set_instant(*m.mutable_wait());
    if (*rc::gen::arbitrary<bool>()) set_instant(*m.mutable_scheduled());
    if (*rc::gen::arbitrary<bool>()) set_instant(*m.mutable_start());
    if (*rc::gen::arbitrary<bool>()) set_instant(*m.mutable_entry());
    for (int n = *rc::gen::inRange(0, 4); n > 0; --n) {
        v1::Annotation& annotation = *m.add_annotations();
        set_instant(*annotation.mutable_entry());
        annotation.set_description(*any_description());
    }
    for (int n = *rc::gen::inRange(0, 6); n > 0; --n) {
        (*m.mutable_attributes())[*any_word()] = *any_description();
    }
    if (m.status() == "recurring") {
        set_instant(*m.mutable_due());
        m.set_recur("weekly");
    }
    return m;
}

v1::CreateTask read_back(format f, std::string_view bytes) {
    v1::CreateTask out;
    field_errors found;
    RC_ASSERT(decode(f, bytes, out, found));
    return out;
}

decoded_create meant_by(const v1::CreateTask& m) {
    field_errors found;
    auto out = to_domain(m, found);
    RC_ASSERT(out.has_value());
    return std::move(*out);
}

std::string shuffled(std::string_view json, unsigned seed) {
    const boost::json::object object = boost::json::parse({json.data(), json.size()}).as_object();
    std::vector<std::string> members;
    for (const auto& member : object) {
        members.push_back(boost::json::serialize(boost::json::string(member.key())) + " : " +
                          boost::json::serialize(member.value()));
    }
    std::shuffle(members.begin(), members.end(), std::mt19937(seed));
    std::string out = "{ ";
    for (const std::string& member : members) {
        if (out.size() > 2) out += " ,\n";
        out += member;
    }
    return out + " }";
}

RC_GTEST_PROP(forms, are_read_back_as_written, ()) {
    const v1::CreateTask m = any_create();
    for (const format f : {format::json, format::protobuf}) {
        RC_ASSERT(MessageDifferencer::Equals(read_back(f, encode(f, m)), m));
    }
}

RC_GTEST_PROP(forms, of_one_creation_have_one_fingerprint, (unsigned seed)) {
    const v1::CreateTask m = any_create();
    const decoded_create plain = meant_by(m);

    const std::string json = encode(format::json, m);
    const std::string protobuf = encode(format::protobuf, m);
    v1::CreateTask reordered = read_back(format::json, shuffled(json, seed));
    std::shuffle(reordered.mutable_tags()->begin(), reordered.mutable_tags()->end(),
                 std::mt19937(seed));
    std::shuffle(reordered.mutable_depends()->begin(), reordered.mutable_depends()->end(),
                 std::mt19937(seed));
    for (const decoded_create& other :
         {meant_by(read_back(format::json, json)), meant_by(read_back(format::protobuf, protobuf)),
          meant_by(reordered)}) {
        RC_ASSERT(other.fingerprint == plain.fingerprint);
        RC_ASSERT(other.attributes == plain.attributes);
        RC_ASSERT(other.depends == plain.depends);
        RC_ASSERT(other.uuid == plain.uuid);
        RC_ASSERT(other.prefix == plain.prefix);
    }
}

// Another JSON parser reads the output with the same content.
RC_GTEST_PROP(forms, are_json_for_others, ()) {
    const v1::CreateTask m = any_create();
    const boost::json::object object = boost::json::parse(encode(format::json, m)).as_object();
    const boost::json::string& text = object.at("description").as_string();
    RC_ASSERT(std::string(text.data(), text.size()) == m.description());
}

// A reader rejects any bytes with an error only. Truncated and altered bodies get furthest.
RC_GTEST_PROP(forms, survive_corruption, ()) {
    const format f = *rc::gen::element(format::json, format::protobuf);
    std::string bytes = encode(f, any_create());
    for (int n = *rc::gen::inRange(0, 4); n > 0 && !bytes.empty(); --n) {
        const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
        bytes[at] = *rc::gen::arbitrary<char>();
    }
    bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));
    v1::CreateTask out;
    field_errors found;
    const bool ok = decode(f, bytes, out, found);
    RC_ASSERT(ok == found.empty());
    to_domain(out, found);
}

}  // namespace
}  // namespace callsign::wire

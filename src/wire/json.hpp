#pragma once
// The JSON form of messages, read and written without an intermediate document.

#include <callsign/wire/message.hpp>

#include <google/protobuf/message.h>
#include <string>
#include <string_view>

namespace callsign::wire {

void read_json(std::string_view bytes, google::protobuf::Message& out, field_errors& found,
               std::size_t most, std::size_t values);

void write_json(const google::protobuf::Message& message, std::string& out,
                const field_choice* only);

}  // namespace callsign::wire

#pragma once
// The columns of bytes: attributes and operations (schema/proto/callsign/store/v1/rows.proto).

#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::sqlite {

std::string encode(const attributes& all);
attributes decode_attributes(std::string_view bytes);

std::string encode(std::span<const operation> operations);
std::vector<operation> decode_operations(std::string_view bytes);

}  // namespace callsign::sqlite

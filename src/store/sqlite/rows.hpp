#pragma once
// The columns of bytes: attributes and operations (schema/proto/callsign/store/v1/rows.proto).
// Reading them trusts nothing: nullopt is what encode() would not have written.

#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::sqlite {

std::string encode(const attributes& all);
std::optional<attributes> decode_attributes(std::string_view bytes);

std::string encode(std::span<const operation> operations);
std::optional<std::vector<operation>> decode_operations(std::string_view bytes);

}  // namespace callsign::sqlite

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

// A side version's `own` and `dropped`; `left_at` is another column's.
std::string encode(const side_version& side);
// Fills them in. False: encode() would not have written this.
bool decode_way(std::string_view bytes, side_version& side);

}  // namespace callsign::sqlite

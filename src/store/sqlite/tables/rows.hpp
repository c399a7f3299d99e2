#pragma once
// The columns of bytes: attributes and operations (schema/proto/callsign/rows/v1/rows.proto).
// Reading them trusts nothing: nullopt is what encode() would not have written.

#include <callsign/domain/retry_times.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::sqlite {

std::string encode(const attributes& set, std::span<const std::string> absent);
std::optional<attribute_diff> decode_attributes(std::string_view bytes);

std::string encode(std::span<const operation> operations);
std::optional<std::vector<operation>> decode_operations(std::string_view bytes);

// A fork version's `own` and `dropped`; `left_at` is another column's.
std::string encode(const fork_version& side);
// Fills them in. False: encode() would not have written this.
bool decode_way(std::string_view bytes, fork_version& side);

std::string encode(const retry_record& record);
// A sound one.
std::optional<retry_record> decode_retry_record(std::string_view bytes);

}  // namespace callsign::sqlite

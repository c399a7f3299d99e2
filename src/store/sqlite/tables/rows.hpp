#pragma once
// Columns of bytes (schema/proto/callsign/rows/v1/rows.proto). Decoders trust nothing: they return
// nullopt for what encode() would not have written.

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

std::string encode(const fork_way& way, std::int64_t left_at);
// Returns nullopt if encode() would not have written this.
std::optional<fork_way> decode_way(std::string_view bytes, std::int64_t left_at);

std::string encode(const retry_record& record);
// Returns a sound record, or nullopt.
std::optional<retry_record> decode_retry_record(std::string_view bytes);

}  // namespace callsign::sqlite

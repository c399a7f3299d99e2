#pragma once
// Columns of bytes (schema/proto/callsign/rows/v1/rows.proto), as every database of ours stores
// them. Decoders trust nothing: they return nullopt for what encode() would not have written.

#include <callsign/ports/table.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::columns {

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

// Encodes values of several parts.
class encoding_sink : public column_sink {
  public:
    void put_attributes(const attributes& set, std::span<const std::string> absent) final;
    void put_operations(std::span<const operation> all) final;
    void put_retry_record(const retry_record& record) final;
    void put_way(std::int64_t left_at, const fork_way& way) final;

    // Puts `count` parts of a key, from number `first`; `key` begins with that part.
    void put_key(const index_info& index, std::size_t first, std::size_t count,
                 std::string_view key);

  protected:
    // Counts `more` bytes of work (domain/work.hpp).
    virtual void worked(std::size_t more) = 0;
};

// Decodes values of several parts.
class decoding_source : public column_source {
  public:
    attribute_diff take_attributes() final;
    std::vector<operation> take_operations() final;
    retry_record take_retry_record() final;
    fork_way take_way(std::int64_t left_at) final;

  protected:
    virtual void worked(std::size_t more) = 0;

  private:
    template <class T>
    T decoded(std::optional<T> from, const char* what) {
        if (!from) damaged(what);
        return *std::move(from);
    }
};

}  // namespace callsign::columns

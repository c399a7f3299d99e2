#include "numbers_file.hpp"

#include "text.hpp"

#include <callsign/base/keyed_hash.hpp>
#include <callsign/base/text.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/task_faults.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

namespace callsign::cli {
namespace {

struct record {
    std::size_t line = 0;
    std::vector<std::string> fields;
    bool is_closed = true;  // false: a quote was never closed
};

// Reads records and their fields: quoted ones may have commas, line breaks and doubled quotes.
class csv_reader {
  public:
    explicit csv_reader(std::string_view text) : rest_(without_byte_order_mark(text)) {}

    // Returns nullopt at the end. Skips empty lines.
    std::optional<record> next() {
        while (!rest_.empty() && (rest_.front() == '\n' || rest_.front() == '\r')) take();
        if (rest_.empty()) return std::nullopt;
        record r{line_, {}, true};
        do {
            r.fields.push_back(field(r.is_closed));
        } while (take_if(','));
        take_if('\r');
        take_if('\n');
        return r;
    }

  private:
    char take() {
        const char c = rest_.front();
        rest_.remove_prefix(1);
        if (c == '\n' || (c == '\r' && !rest_.starts_with('\n'))) ++line_;
        return c;
    }
    bool take_if(char wanted) {
        if (rest_.empty() || rest_.front() != wanted) return false;
        take();
        return true;
    }
    std::string field(bool& is_closed) {
        if (!take_if('"')) {
            std::string plain(rest_.substr(0, rest_.find_first_of(",\r\n")));
            rest_.remove_prefix(plain.size());
            return plain;
        }
        std::string quoted;
        while (!rest_.empty()) {
            const char c = take();
            if (c == '"' && !take_if('"')) return quoted;
            quoted += c;
        }
        is_closed = false;
        return quoted;
    }

    std::string_view rest_;
    std::size_t line_ = 1;
};

constexpr std::array<std::string_view, 5> columns{"prefix", "number", "uuid", "title",
                                                  "created_at"};

class file_reader {
  public:
    explicit file_reader(std::string_view csv) : csv_(csv) {}

    numbers_file read() {
        const auto header = csv_.next();
        if (!header) fault(1, "the file is empty");
        if (!header || !read_header(*header)) return std::move(out_);
        while (const auto r = csv_.next()) read_row(*r);
        return std::move(out_);
    }

  private:
    bool read_header(const record& header) {
        for (const std::string_view name : columns) {
            const auto count = std::count(header.fields.begin(), header.fields.end(), name);
            if (count != 1) {
                fault(header.line,
                      "the first line names each of the columns prefix, number, uuid, "
                      "title and created_at once: " +
                          std::string(name) + (count == 0 ? " is missing" : " is not"));
            }
        }
        if (header.fields.size() > columns.size()) {
            fault(header.line,
                  "there are other columns than prefix, number, uuid, title and "
                  "created_at");
        }
        header_ = header.fields;
        return out_.faults.empty();
    }

    void read_row(const record& r) {
        if (!r.is_closed) return fault(r.line, "missing closing quote");
        if (r.fields.size() != header_.size()) {
            return fault(r.line, "it has " + std::to_string(r.fields.size()) + " fields, not " +
                                     std::to_string(header_.size()));
        }
        const std::size_t faults_before = out_.faults.size();
        numbered_row row;
        row.line = r.line;
        row.prefix = read_prefix(r);
        row.number = read_number(r);
        row.title = read_title(r);
        const auto at = parse_rfc3339(field(r, "created_at"));
        if (!at) {
            fault(r.line, "created_at must be a time such as 2026-11-20T12:48:00Z");
        } else if (*at < time_point{std::chrono::seconds{instant_seconds_min}}) {
            fault(r.line, "created_at must be after 1979");
        }
        const auto id = parse_uuid(field(r, "uuid"));
        if (!id || id->is_nil()) {
            fault(r.line, "uuid must be a UUID");
        } else if (const auto [known, fresh] = lines_.emplace(*id, r.line); !fresh) {
            fault(r.line, "duplicate uuid, see line " + std::to_string(known->second));
        }
        if (out_.faults.size() > faults_before) return;
        row.uuid = *id;
        row.created_at = *at;
        out_.rows.push_back(std::move(row));
    }

    std::string read_prefix(const record& r) {
        const std::string& prefix = field(r, "prefix");
        if (!is_valid_prefix(prefix)) fault(r.line, "prefix must be one such as SYN");
        return prefix;
    }

    // The rules of a description in REST.
    std::string read_title(const record& r) {
        const std::string& title = field(r, "title");
        if (trimmed(title).empty()) {
            fault(r.line, "title must not be empty");
        } else if (!is_utf8(title)) {
            fault(r.line, "title must be UTF-8");
        } else if (title.size() > text_bytes_max) {
            fault(r.line, "title must have at most 65536 bytes");
        } else if (has_control(title, true)) {
            fault(r.line, "title must not contain control characters other than tab and newline");
        }
        return title;
    }

    std::int64_t read_number(const record& r) {
        const std::string& text = field(r, "number");
        const std::int64_t number = parse_integer(text).value_or(0);
        const bool is_good = number >= 1 && number <= number_max && text.front() != '0';
        if (!is_good) fault(r.line, "number must be a positive integer");
        return number;
    }

    const std::string& field(const record& r, std::string_view name) const {
        const auto at = std::find(header_.begin(), header_.end(), name) - header_.begin();
        return r.fields[static_cast<std::size_t>(at)];
    }

    void fault(std::size_t line, const std::string& why) {
        out_.faults.push_back("line " + std::to_string(line) + ": " + why);
    }

    csv_reader csv_;
    std::vector<std::string> header_;
    std::unordered_map<uuid, std::size_t, keyed_hash> lines_;
    numbers_file out_;
};

}  // namespace

numbers_file read_numbers_file(std::string_view csv) {
    return file_reader(csv).read();
}

}  // namespace callsign::cli

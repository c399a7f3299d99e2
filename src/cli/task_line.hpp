#pragma once
// A task as Taskwarrior passes it to hooks: one line of JSON, returned with one attribute changed
// and all other bytes as they were, unknown attributes, order and spelling included. Pure.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::cli {

class task_line {
  public:
    // A longer line is not parsed.
    static constexpr std::size_t bytes_max = std::size_t{8} << 20;

    // Returns nullopt for a line that is no well-formed JSON object, or too long.
    static std::optional<task_line> parse(std::string_view line);

    const std::string& text() const noexcept { return text_; }

    bool has(std::string_view attribute) const;
    // Returns an empty text if there is none, or it is no text.
    std::string text_of(std::string_view attribute) const;

    // Replaces the value, or adds it after all others.
    void set(std::string_view attribute, std::string_view value);
    void remove(std::string_view attribute);
    // Takes over the value in `from`, or removes it if that has none.
    void copy(std::string_view attribute, const task_line& from);

  private:
    // Place of a member in the text.
    struct member {
        std::string name;
        std::size_t begin = 0;  // of the name's quote
        std::size_t value = 0;
        std::size_t end = 0;
    };

    explicit task_line(std::string_view well_formed);
    void read_members();
    const member* find(std::string_view attribute) const;
    std::string_view value_of(const member& m) const;
    void put(std::string_view attribute, std::string_view json);

    std::string text_;
    std::vector<member> members_;
};

}  // namespace callsign::cli

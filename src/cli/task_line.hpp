#pragma once
// A task as Taskwarrior gives it to its hooks, one line of JSON, to be given back with one
// attribute changed and every other byte as it came: what nobody here knows, in the order and the
// spelling it has. Pure.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::cli {

class task_line {
  public:
    // A larger one is not looked into.
    static constexpr std::size_t bytes_max = std::size_t{8} << 20;

    // nullopt: it is no well-formed object of JSON, or too large.
    static std::optional<task_line> parse(std::string_view line);

    const std::string& text() const noexcept { return text_; }

    bool has(std::string_view attribute) const;
    // Empty: there is none, or it is no text.
    std::string text_of(std::string_view attribute) const;

    // Instead of what is there, or after all others.
    void set(std::string_view attribute, std::string_view value);
    void remove(std::string_view attribute);
    // As it is in the other, or none if that has none.
    void copy(std::string_view attribute, const task_line& from);

  private:
    // Where a member is in the text.
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

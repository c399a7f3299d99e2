#include "task_line.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

namespace callsign::cli {
namespace {

constexpr std::string_view json_blank = " \t\r\n";

boost::json::string_view as_json(std::string_view text) {
    return {text.data(), text.size()};
}

// Returns the text between quotes, unescaped; empty for any other value.
std::string unquoted(std::string_view json) {
    if (!json.starts_with('"')) return {};
    const boost::json::value value = boost::json::parse(as_json(json));
    return {value.get_string().data(), value.get_string().size()};
}

std::string quoted(std::string_view text) {
    return boost::json::serialize(as_json(text));
}

// Returns the place after the string that begins at `at`. Here and below: well-formed text only.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
    for (++at; text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
    }
    return at + 1;
}

std::size_t end_of_value(std::string_view text, std::size_t at) {
    int depth = 0;
    do {
        const char c = text[at];
        if (c == '"') {
            at = end_of_quoted(text, at);
        } else if (depth == 0 && c != '{' && c != '[') {
            return text.find_first_of(",} \t\r\n", at);  // a number, true, false or null
        } else {
            if (c == '{' || c == '[') ++depth;
            if (c == '}' || c == ']') --depth;
            ++at;
        }
    } while (depth > 0);
    return at;
}

}  // namespace

std::optional<task_line> task_line::parse(std::string_view line) {
    if (line.size() > bytes_max) return std::nullopt;
    boost::json::error_code error;
    const boost::json::value value = boost::json::parse(as_json(line), error);
    if (error || !value.is_object()) return std::nullopt;
    return task_line(line);
}

task_line::task_line(std::string_view well_formed) : text_(well_formed) {
    read_members();
}

void task_line::read_members() {
    members_.clear();
    const std::string_view text = text_;
    std::size_t at = text.find('{') + 1;
    while (true) {
        at = text.find_first_not_of(json_blank, at);
        if (text[at] == '}') return;
        if (text[at] == ',') at = text.find('"', at);
        member m;
        m.begin = at;
        at = end_of_quoted(text, at);
        m.name = unquoted(text.substr(m.begin, at - m.begin));
        m.value = text.find_first_not_of(json_blank, text.find(':', at) + 1);
        m.end = at = end_of_value(text, m.value);
        members_.push_back(std::move(m));
    }
}

// Returns the last of several, which most programs use.
const task_line::member* task_line::find(std::string_view attribute) const {
    const auto found = std::find_if(members_.rbegin(), members_.rend(),
                                    [&](const member& m) { return m.name == attribute; });
    return found == members_.rend() ? nullptr : &*found;
}

std::string_view task_line::value_of(const member& m) const {
    return std::string_view(text_).substr(m.value, m.end - m.value);
}

bool task_line::has(std::string_view attribute) const {
    return find(attribute) != nullptr;
}

std::string task_line::text_of(std::string_view attribute) const {
    const member* const found = find(attribute);
    return found ? unquoted(value_of(*found)) : std::string();
}

void task_line::set(std::string_view attribute, std::string_view value) {
    put(attribute, quoted(value));
}

void task_line::remove(std::string_view attribute) {
    while (const member* const found = find(attribute)) {
        const std::size_t i = static_cast<std::size_t>(found - members_.data());
        // With the comma before it, or after it if it is the first.
        const bool is_last = i + 1 == members_.size();
        const std::size_t begin = is_last && i > 0 ? members_[i - 1].end : found->begin;
        text_.erase(begin, (is_last ? found->end : members_[i + 1].begin) - begin);
        read_members();
    }
}

void task_line::copy(std::string_view attribute, const task_line& from) {
    const member* const found = from.find(attribute);
    if (!found) return remove(attribute);
    put(attribute, from.value_of(*found));
}

void task_line::put(std::string_view attribute, std::string_view json) {
    bool is_there = false;
    for (auto m = members_.rbegin(); m != members_.rend(); ++m) {
        if (m->name != attribute) continue;
        text_.replace(m->value, m->end - m->value, json);  // earlier members keep their places
        is_there = true;
    }
    if (!is_there) {
        std::string fresh = quoted(attribute) + ":" + std::string(json);
        if (!members_.empty()) fresh.insert(0, ",");
        text_.insert(text_.rfind('}'), fresh);
    }
    read_members();
}

}  // namespace callsign::cli

#pragma once
// Options of the bench programs: `--name value`, `--name=value`, and `--switch` for a bool.
// `--help` lists them with their defaults. Errors end the program with status 2. Also the programs'
// common main().

#include <callsign/base/time.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace callsign::bench {

class options {
  public:
    explicit options(std::string about) : about_(std::move(about)) {}

    // `value` holds the default, and must outlive parse().
    template <class T>
    void add(std::string name, T& value, std::string what) {
        known_.push_back({std::move(name), std::move(what), text_of(value), std::is_same_v<T, bool>,
                          [&value](std::string_view text) { return read(text, value); }});
    }

    void parse(int argc, char** argv) const {
        for (int i = 1; i < argc; ++i) {
            std::string_view word = argv[i];
            if (word == "--help" || word == "-h") show_help();
            const auto equals = word.find('=');
            const option& o = find(word.substr(0, equals));
            std::string_view value = "true";
            if (equals != std::string_view::npos) {
                value = word.substr(equals + 1);
            } else if (!o.is_switch) {
                if (++i == argc) fail(o.name + " requires a value");
                value = argv[i];
            }
            if (!o.set(value)) fail(o.name + " does not accept \"" + std::string(value) + "\"");
        }
    }

    [[noreturn]] static void fail(const std::string& text) {
        std::cerr << text << " (see --help)\n";
        std::exit(2);
    }

  private:
    struct option {
        std::string name;
        std::string what;
        std::string default_text;
        bool is_switch;
        std::function<bool(std::string_view)> set;
    };

    const option& find(std::string_view name) const {
        for (const option& o : known_)
            if (o.name == name) return o;
        fail("unknown option " + std::string(name));
    }

    [[noreturn]] void show_help() const {
        std::cout << about_ << "\n\n";
        for (const option& o : known_) {
            std::printf("  %-16s %s", o.name.c_str(), o.what.c_str());
            if (!o.is_switch && !o.default_text.empty())
                std::printf(" (default: %s)", o.default_text.c_str());
            std::printf("\n");
        }
        std::exit(0);
    }

    static bool read(std::string_view text, std::string& out) {
        out = text;
        return true;
    }
    static bool read(std::string_view text, bool& out) {
        out = text == "true";
        return out || text == "false";
    }
    static bool read(std::string_view text, milliseconds& out) {
        const auto span = parse_duration(text);
        if (span) out = *span;
        return span.has_value();
    }
    template <class Number>
    static bool read(std::string_view text, Number& out) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
        return error == std::errc{} && end == text.data() + text.size() && out >= Number{};
    }

    static std::string text_of(const std::string& value) { return value; }
    static std::string text_of(milliseconds value) { return to_duration_text(value); }
    template <class Number>
    static std::string text_of(Number value) {
        std::string text = std::to_string(value);
        if constexpr (std::is_floating_point_v<Number>) {
            text.erase(text.find_last_not_of('0') + 1);
            if (text.back() == '.') text.pop_back();
        }
        return text;
    }

    std::string about_;
    std::vector<option> known_;
};

// The main() of a program: an exception ends it with its text and status 2.
template <class Run>
int run_program(const char* name, const Run& run) {
    try {
        return run();
    } catch (const std::exception& e) {
        std::cerr << name << ": " << e.what() << "\n";
        return 2;
    }
}

}  // namespace callsign::bench

#pragma once
// A program's man page, and its completions for three shells.

#include "definition.hpp"

#include <string>
#include <string_view>

namespace callsign::pages {

// Text of a page besides the program's definition.
struct page_text {
    char section = '1';
    std::string_view summary{};      // the program in half a line
    std::string_view description{};  // in man(7) markup, as is `rest`
    std::string_view rest{};         // sections after the options
};

struct release {
    std::string version;
    std::string date;  // 2026-11-23
};

std::string man_page(const command& program, const page_text& text, const release& r);

std::string bash_completion(const command& program);
std::string zsh_completion(const command& program);
std::string fish_completion(const command& program);

// Texts of the two programs' pages.
extern const page_text callsign_text;
extern const page_text callsignd_text;

}  // namespace callsign::pages

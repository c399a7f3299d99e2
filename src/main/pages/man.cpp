#include "pages.hpp"

#include <algorithm>

namespace callsign::pages {
namespace {

// Escapes text for roff: hyphens are typed ones, and no line begins with a request.
std::string man_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c;
        }
    }
    if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
    return out;
}

std::string upper(std::string text) {
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return text;
}

std::string bold(std::string_view text) {
    return "\\fB" + man_escaped(text) + "\\fR";
}

std::string italic(std::string_view text) {
    return "\\fI" + man_escaped(text) + "\\fR";
}

// Some help texts name the choices themselves.
bool names_choices(const option& o) {
    return std::all_of(o.choices.begin(), o.choices.end(), [&](const std::string& choice) {
        return o.help.find(choice) != o.help.npos;
    });
}

std::string sentence_of(const option& o) {
    std::string text = man_escaped(o.help);
    if (names_choices(o)) return text + ".";
    text += " (";
    for (std::size_t i = 0; i < o.choices.size(); ++i) {
        text += (i == 0 ? "" : ", ") + bold(o.choices[i]);
    }
    return text + ").";
}

void put_man_options(std::string& out, const std::vector<option>& options) {
    for (const option& o : options) {
        out += ".TP\n" + (o.name.starts_with('-') ? bold(o.name) : italic(o.name));
        if (o.name.starts_with('-') && !o.value_name.empty()) out += " " + italic(o.value_name);
        out += "\n" + sentence_of(o) + "\n";
    }
}

// "callsign account create NAME --prefix TEXT [options]"
std::string usage_of(const std::string& path, const command& c, const std::string& program) {
    std::string out = bold(program + " " + path);
    for (const option& o : c.arguments) {
        out += " " + (o.is_required ? italic(o.name) : "[" + italic(o.name) + "]");
    }
    bool has_more = false;
    for (const option& o : c.options) {
        if (o.is_required) {
            out += " " + bold(o.name) + " " + italic(o.value_name);
        } else {
            has_more = true;
        }
    }
    if (has_more) out += " [" + italic("options") + "]";
    return out;
}

void put_commands(std::string& out, const command& program) {
    out += ".SH COMMANDS\n";
    for (const auto& [path, c] : all_commands(program)) {
        if (path.empty() || !c->commands.empty()) continue;
        out += ".SS \"" + usage_of(path, *c, program.name) + "\"\n";
        out += man_escaped(c->help) + ".\n";
        put_man_options(out, c->arguments);
        put_man_options(out, c->options);
    }
}

}  // namespace

std::string man_page(const command& program, const page_text& text, const release& r) {
    const std::string& name = program.name;
    const char* const manual =
        text.section == '8' ? "System Manager's Manual" : "General Commands Manual";
    std::string out =
        "."
        "\\\" Written from the program's own definitions.\n";
    out += ".TH " + upper(name) + " " + text.section + " \"" + r.date + "\" \"Callsign " +
           man_escaped(r.version) + "\" \"" + manual + "\"\n";
    out += ".SH NAME\n" + name + " \\- " + man_escaped(text.summary) + "\n";
    out += ".SH SYNOPSIS\n" + bold(name) + " [" + italic("options") + "]";
    if (!program.commands.empty()) out += " " + italic("command") + " ...";
    out += "\n.SH DESCRIPTION\n";
    out += text.description;
    out += ".SH OPTIONS\n";
    put_man_options(out, program.options);
    out += ".TP\n" + bold("-h") + ", " + bold("--help") + "\nPrint this help and exit.\n";
    if (!program.commands.empty()) put_commands(out, program);
    out += text.rest;
    return out;
}

}  // namespace callsign::pages

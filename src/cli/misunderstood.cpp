#include "misunderstood.hpp"

#include "text.hpp"

#include <callsign/base/nearest.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace callsign::cli {
namespace {

std::vector<std::string> commands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* const each : app.get_subcommands({})) {
        if (!each->get_name().empty()) names.push_back(each->get_name());
    }
    return names;
}

// Returns a command's own options and those of its groups.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    std::vector<const CLI::Option*> all = app.get_options();
    for (const CLI::App* const each : app.get_subcommands({})) {
        if (!each->get_name().empty()) continue;
        for (const CLI::Option* const one : options_of(*each)) all.push_back(one);
    }
    return all;
}

std::vector<std::string> names_of(const std::vector<const CLI::Option*>& options) {
    std::vector<std::string> names;
    for (const CLI::Option* const each : options) {
        for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : each->get_snames()) names.push_back("-" + name);
    }
    return names;
}

// Reads the words in order, and follows them to a command.
class reader {
  public:
    explicit reader(const CLI::App& app)
        : at_(&app), options_(options_of(app)), path_("callsign") {}

    // Returns the error of this word; empty: none.
    std::string read(const std::string& word) {
        if (is_value_) {
            is_value_ = false;
            return {};
        }
        if (word.size() > 1 && word.front() == '-' && !is_over_) return read_option(word);
        return read_command(word);
    }

    const std::string& path() const noexcept { return path_; }

  private:
    std::string read_option(const std::string& word) {
        if (word == "--") {
            is_over_ = true;
            return {};
        }
        const std::string name = word.substr(0, word.find('='));
        const auto known = names_of(options_);
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            return "unknown option '" + printable(name) + "'" + did_you_mean(name, known);
        }
        const auto found =
            std::find_if(options_.begin(), options_.end(), [&](const CLI::Option* o) {
                const auto its = names_of({o});
                return std::find(its.begin(), its.end(), name) != its.end();
            });
        is_value_ = name == word && (*found)->get_items_expected_max() > 0;
        return {};
    }

    std::string read_command(const std::string& word) {
        const auto known = commands_of(*at_);
        if (known.empty()) return {};  // an argument
        if (std::find(known.begin(), known.end(), word) == known.end()) {
            return "unknown command '" + printable(word) + "'" + did_you_mean(word, known);
        }
        at_ = at_->get_subcommand(word);
        for (const CLI::Option* const each : options_of(*at_)) options_.push_back(each);
        path_ += " " + word;
        return {};
    }

    const CLI::App* at_;
    std::vector<const CLI::Option*> options_;
    std::string path_;
    bool is_value_ = false;  // the next word is a value
    bool is_over_ = false;   // only arguments follow
};

}  // namespace

std::string usage_error(const CLI::App& app, const std::vector<std::string>& words,
                        const std::string& otherwise) {
    reader all(app);
    std::string wrong;
    for (const std::string& word : words) {
        wrong = all.read(word);
        if (!wrong.empty()) break;
    }
    return (wrong.empty() ? otherwise : wrong) + " (" + all.path() + " --help)";
}

}  // namespace callsign::cli

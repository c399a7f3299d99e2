// Goal: every include is a declared dependency. Method: CMakeLists.txt declares each module's
// folder, its public headers and the modules it may include; every #include of every source is
// compared with these declarations.

#include "modules.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace callsign::dependencies {
namespace {

const module_info* owner_of(const std::vector<module_info>& modules, const std::string& header) {
    for (const module_info& r : modules) {
        for (const std::string& each : r.headers) {
            if (header == each || header.starts_with(each + "/")) return &r;
        }
    }
    return nullptr;
}

// Generated from schema/proto.
bool is_generated(const std::string& include) {
    return include.ends_with(".pb.h");
}

// Headers of libraries: the beginning of an include, and the dependencies of which the module must
// declare at least one.
const std::vector<std::pair<std::string, std::set<std::string>>>& libraries() {
    static const std::vector<std::pair<std::string, std::set<std::string>>> all{
        {"sqlite3", {"SQLite::SQLite3"}},
        {"SQLiteCpp/", {"SQLiteCpp"}},
        {"prometheus/", {"prometheus-cpp::core"}},
        {"spdlog/", {"spdlog::spdlog"}},
        {"toml++/", {"tomlplusplus::tomlplusplus"}},
        {"openssl/", {"OpenSSL::Crypto"}},
        {"zlib", {"ZLIB::ZLIB"}},
        {"boost/json", {"callsign_json"}},
        {"boost/url", {"Boost::url", "callsign_net"}},
        {"boost/beast", {"callsign_beast", "callsign_net"}},
        {"boost/asio",
         {"callsign_asio", "callsign_beast", "callsign_ports", "callsign_engine", "callsign_net"}},
        {"google/protobuf", {"callsign_proto", "callsign_wire"}},
        {"callsign/", {"callsign_proto", "callsign_wire"}},  // generated
    };
    return all;
}

// Returns an empty string for an allowed include, otherwise the error.
std::string fault_of(const std::vector<module_info>& modules, const module_info& from,
                     const std::string& include) {
    if (include.starts_with("callsign/") && !is_generated(include)) {
        const module_info* const to = owner_of(modules, include.substr(9));
        if (to == nullptr) return "no module has this public header";
        const bool is_known = to->name == from.name || from.deps.contains("callsign_" + to->name);
        return is_known ? "" : from.name + " may not include " + to->name;
    }
    for (const auto& [begin, any] : libraries()) {
        if (!include.starts_with(begin)) continue;
        const bool is_linked = std::any_of(any.begin(), any.end(), [&](const std::string& each) {
            return from.deps.contains(each);
        });
        return is_linked ? "" : from.name + " does not link the library";
    }
    return {};
}

// Returns the includes of a source with their form: true for "...", false for <...>.
std::vector<std::pair<bool, std::string>> includes_of(const fs::path& source) {
    static const std::regex line(R"re(^#include ([<"])([^>"]+)[>"])re");
    std::vector<std::pair<bool, std::string>> all;
    std::ifstream in(source);
    for (std::string text; std::getline(in, text);) {
        std::smatch found;
        if (std::regex_search(text, found, line)) all.emplace_back(found[1] == "\"", found[2]);
    }
    return all;
}

TEST(dependencies, every_include_is_a_declared_dependency) {
    const auto modules = declared_modules();
    ASSERT_GT(modules.size(), 12u);
    std::size_t seen = 0;
    for (const module_info& r : modules) {
        std::vector<fs::path> sources = sources_in(root / r.folder);
        for (const std::string& each : r.headers) {
            for (const fs::path& header : sources_in(root / "include/callsign" / each)) {
                sources.push_back(header);
            }
        }
        for (const fs::path& source : sources) {
            for (const auto& [is_own, include] : includes_of(source)) {
                ++seen;
                const std::string fault = fault_of(modules, r, include);
                EXPECT_EQ(fault, "") << source << " includes " << include;
                if (!is_own || is_generated(include)) continue;
                const bool is_inside = fs::exists(source.parent_path() / include) ||
                                       fs::exists(root / r.folder / include);
                EXPECT_TRUE(is_inside)
                    << source << " includes \"" << include << "\", which is not in its module";
            }
        }
    }
    EXPECT_GT(seen, 500u);
}

// Returns the index of the layer of a folder; nullopt: it is in none.
std::optional<std::size_t> layer_of(const module_info& r, const std::string& folder) {
    for (std::size_t n = 0; n < r.layers.size(); ++n) {
        if (r.layers[n].contains(folder)) return n;
    }
    return std::nullopt;
}

// Returns an empty string if a folder of the module may include the other, otherwise the error.
std::string fault_inside(const module_info& r, const std::string& from, const std::string& to) {
    if (from == to) return {};
    const auto low = layer_of(r, to);
    const auto high = layer_of(r, from);
    if (!low || !high) return "a folder is in no layer";
    return *low < *high ? "" : from + " may not include " + to;
}

TEST(dependencies, a_folder_includes_only_lower_layers_of_its_module) {
    std::size_t seen = 0;
    for (const module_info& r : declared_modules()) {
        if (r.layers.empty()) continue;
        const fs::path folder = root / r.folder;
        for (const fs::path& source : sources_in(folder)) {
            const std::string from = fs::relative(source.parent_path(), folder).string();
            EXPECT_TRUE(layer_of(r, from)) << source;
            for (const auto& [is_own, include] : includes_of(source)) {
                if (!is_own || is_generated(include)) continue;
                const bool is_beside = fs::exists(source.parent_path() / include);
                const fs::path header = (is_beside ? source.parent_path() : folder) / include;
                const fs::path its = fs::relative(header.parent_path(), folder);
                ++seen;
                EXPECT_EQ(fault_inside(r, from, its.lexically_normal().string()), "")
                    << source << " includes " << include;
            }
        }
    }
    EXPECT_GT(seen, 50u);
}

TEST(dependencies, every_public_header_belongs_to_a_module) {
    const auto modules = declared_modules();
    const fs::path headers = root / "include/callsign";
    for (const fs::path& header : sources_in(headers)) {
        EXPECT_NE(owner_of(modules, fs::relative(header, headers).string()), nullptr) << header;
    }
}

TEST(dependencies, an_undeclared_include_is_found) {
    std::istringstream lines(
        "base|src/base|base|OpenSSL::Crypto\n"
        "store_sqlite|src/store/sqlite|store/sqlite.hpp|callsign_base,SQLiteCpp\n"
        "api|src/api|api|callsign_base,callsign_net|shared,rest sync,front\n");
    const auto modules = read_modules(lines);
    ASSERT_EQ(modules.size(), 3u);
    const module_info& api = modules[2];
    EXPECT_EQ(fault_of(modules, api, "callsign/base/uuid.hpp"), "");
    EXPECT_EQ(fault_of(modules, api, "callsign/api/service.hpp"), "");
    EXPECT_EQ(fault_of(modules, api, "vector"), "");
    EXPECT_NE(fault_of(modules, api, "callsign/store/sqlite.hpp"), "");
    EXPECT_NE(fault_of(modules, modules[0], "callsign/api/service.hpp"), "");
    EXPECT_NE(fault_of(modules, api, "callsign/nowhere/x.hpp"), "");
    EXPECT_NE(fault_of(modules, api, "sqlite3.h"), "");
    EXPECT_EQ(fault_of(modules, modules[1], "SQLiteCpp/Database.h"), "");
    EXPECT_EQ(fault_inside(api, "front", "shared"), "");
    EXPECT_EQ(fault_inside(api, "rest", "rest"), "");
    EXPECT_NE(fault_inside(api, "rest", "sync"), "");
    EXPECT_NE(fault_inside(api, "shared", "rest"), "");
    EXPECT_NE(fault_inside(api, "front", "elsewhere"), "");
}

// ---- hash tables ----

// Returns a source's code without comments, with each sequence of blanks as one blank.
std::string code_of(std::istream& in) {
    std::string code;
    for (std::string line; std::getline(in, line);) code += line.substr(0, line.find("//")) + ' ';
    return std::regex_replace(code, std::regex(R"(\s+)"), " ");
}

// Returns the hash tables declared in `code`, such as `unordered_map<account_id, series>`.
std::vector<std::string> tables_in(const std::string& code) {
    std::vector<std::string> all;
    const std::string_view begin = "unordered_";
    for (std::size_t at = 0; (at = code.find(begin, at)) != std::string::npos;) {
        std::size_t end = code.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
        if (end != std::string::npos && code[end] == '<') {
            int depth = 0;
            do {
                if (code[end] == '<') ++depth;
                if (code[end] == '>') --depth;
            } while (++end < code.size() && depth > 0);
            all.push_back(code.substr(at, end - at));
        }
        at += begin.size();
    }
    return all;
}

// Keys that no client can choose: IDs that the server generates, and pointers. Any other table
// needs a hash keyed per process, an order, or an entry in exceptions().
bool is_safe(const std::string& table) {
    static const std::regex own(
        R"(^unordered_\w+<(const )?(account_id|series_id|slot_id|payer|[\w:]+ ?\*)[,>])");
    static const std::regex keyed(R"([, ](keyed_hash|worked_on_hash|tables::key_hash)>$)");
    return std::regex_search(table, own) || std::regex_search(table, keyed);
}

// Other tables whose keys no client can choose, with the reason.
const std::map<std::string, std::string>& exceptions() {
    static const std::map<std::string, std::string> all{
        {"unordered_map<digest, principal, digest_hash>",
         "SHA-256 of tokens, which the server generates; unknown ones are not cached"},
        {"unordered_map<std::string_view, std::unique_ptr<route_metrics>>",
         "names of routes, which are constants of the code"},
    };
    return all;
}

TEST(tables, what_others_choose_is_hashed_with_a_key) {
    std::set<std::string> excepted;
    std::size_t seen = 0;
    for (const char* const folder : {"include", "src", "reaper"}) {
        for (const fs::path& source : sources_in(root / folder)) {
            std::ifstream in(source);
            const std::string code = code_of(in);
            for (const std::string& table : tables_in(code)) {
                ++seen;
                if (exceptions().contains(table)) {
                    excepted.insert(table);
                    continue;
                }
                EXPECT_TRUE(is_safe(table)) << source << " has " << table << ": see keyed_hash.hpp";
            }
            // Unkeyed hashes of text and UUIDs, whose collisions a client can compute.
            static const std::regex open_hash(
                R"((std|boost)::hash<(const )?(std::(string|string_view)|uuid|address_bytes|digest)>)");
            EXPECT_FALSE(std::regex_search(code, open_hash))
                << source << " hashes without a key: see keyed_hash.hpp";
        }
    }
    EXPECT_GT(seen, 30u);
    EXPECT_EQ(excepted.size(), exceptions().size()) << "an exception without a table";
}

TEST(tables, one_without_a_key_is_found) {
    std::istringstream in(
        "// unordered_map<uuid, x>\n"
        "#include <unordered_map>\n"
        "std::unordered_map<uuid,\n    std::vector<int>> a;\n"
        "std::unordered_set<std::string, keyed_hash> b;\n"
        "boost::unordered_flat_map<std::uint64_t, std::int64_t> c;\n"
        "std::unordered_map<account_id, std::map<int, int>> d;\n"
        "std::unordered_map<uuid, std::unordered_set<x, keyed_hash>> e;\n"
        "std::unordered_map<const char*, int> f;\n");
    const std::vector<std::string> tables = tables_in(code_of(in));
    std::vector<std::string> found;
    for (const std::string& t : tables) {
        if (!is_safe(t)) found.push_back(t);
    }
    EXPECT_EQ(tables.size(), 7u);
    EXPECT_EQ(found, (std::vector<std::string>{
                         "unordered_map<uuid, std::vector<int>>",
                         "unordered_flat_map<std::uint64_t, std::int64_t>",
                         "unordered_map<uuid, std::unordered_set<x, keyed_hash>>",
                     }));
}

// ---- coroutines ----

// Returns the statements of `code` with a co_await that may be skipped: behind &&, || or ?. GCC 12
// miscompiles some of these.
std::vector<std::string> passed_over_in(const std::string& code) {
    std::vector<std::string> all;
    for (std::size_t at = 0; (at = code.find("co_await ", at)) != std::string::npos; ++at) {
        int closed = 0;          // depth of parentheses that close before it
        bool is_beside = false;  // in a later argument of the same call
        for (std::size_t back = at; back-- > 0;) {
            const char c = code[back];
            if (c == ';' || c == '{' || c == '}') break;
            if (c == ')') ++closed;
            if (c == '(' && closed-- == 0) {
                closed = 0;
                is_beside = false;
            }
            if (closed > 0) continue;
            if (c == ',') is_beside = true;
            const std::string_view before = std::string_view(code).substr(back, 4);
            if (!is_beside && (before == " && " || before == " || " || before.starts_with(" ? "))) {
                all.push_back(code.substr(back + 1, code.find(';', back) - back - 1));
                break;
            }
        }
    }
    return all;
}

TEST(coroutines, nothing_is_awaited_where_it_may_be_passed_over) {
    std::size_t seen = 0;
    for (const char* const folder : {"include", "src", "reaper", "tests", "bench"}) {
        for (const fs::path& source : sources_in(root / folder)) {
            if (source.filename() == "dependencies_test.cpp") continue;
            std::ifstream in(source);
            const std::string code = code_of(in);
            if (code.find("co_await ") != std::string::npos) ++seen;
            for (const std::string& statement : passed_over_in(code)) {
                ADD_FAILURE() << source
                              << ": move the co_await into a separate statement: " << statement;
            }
        }
    }
    EXPECT_GT(seen, 40u);
}

TEST(coroutines, one_that_may_be_passed_over_is_found) {
    std::istringstream in(
        "const bool a = b &&\n    co_await c();\n"
        "if (d || !co_await e()) f();\n"
        "g = (h && i(j(1), co_await k()));\n"
        "auto l = m ? co_await n : co_await o;\n"
        // Allowed:
        "if (a && (b || c)) co_await d(e ? f : g);\n"
        "auto&& h = co_await i(j && k, l) && m;\n"
        "n(o && p, co_await q());\n"
        "switch (r ? 1 : 2) { case s::t: co_await u(); }\n");
    EXPECT_EQ(passed_over_in(code_of(in)),
              (std::vector<std::string>{"&& co_await c()", "|| !co_await e()) f()",
                                        "&& i(j(1), co_await k()))", "? co_await n : co_await o",
                                        "? co_await n : co_await o"}));
}

// The scenarios documented for remote accounts are exactly the tests of the suite `between`.
TEST(documents, each_thing_between_two_servers_is_a_test) {
    const auto text_of = [](const char* name) {
        std::ifstream in(fs::path(CALLSIGN_SOURCE_DIR) / name);
        return std::string{std::istreambuf_iterator<char>(in), {}};
    };
    const auto names_in = [](const std::string& text, const std::regex& pattern) {
        std::set<std::string> names;
        for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
            names.insert((*at)[1]);
        }
        return names;
    };
    const auto rows =
        names_in(text_of("docs/remote-accounts.md"), std::regex(R"(\n\| `([a-z_]+)` \|)"));
    const auto tests = names_in(text_of("tests/unit/engine/between_two_servers_test.cpp"),
                                std::regex(R"(TEST_F\(between, ([a-z_]+)\))"));
    EXPECT_FALSE(rows.empty());
    EXPECT_EQ(rows, tests);
}

}  // namespace
}  // namespace callsign::dependencies

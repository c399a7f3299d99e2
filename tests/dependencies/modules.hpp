#pragma once
// The modules as declared in CMakeLists.txt, and their sources.

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace callsign::dependencies {

namespace fs = std::filesystem;

struct module_info {
    std::string name;
    std::string folder;                // of the sources, relative to the root of the repository
    std::vector<std::string> headers;  // public headers: a folder or a file below include/callsign
    std::set<std::string> deps;        // modules and libraries
    // Folders inside the module, the lowest layer first; empty: not declared.
    std::vector<std::set<std::string>> layers{};
};

// Parses CMake's lines: name|folder|header,header|dependency,dependency|folder folder,folder
inline std::vector<module_info> read_modules(std::istream& in) {
    const auto list = [](const std::string& text, char separator = ',') {
        std::vector<std::string> all;
        std::istringstream parts(text);
        for (std::string part; std::getline(parts, part, separator);) all.push_back(part);
        return all;
    };
    std::vector<module_info> modules;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string name, folder, headers, deps, layers;
        std::getline(fields, name, '|');
        std::getline(fields, folder, '|');
        std::getline(fields, headers, '|');
        std::getline(fields, deps, '|');
        std::getline(fields, layers, '|');
        const auto named = list(deps);
        modules.push_back({name, folder, list(headers), {named.begin(), named.end()}});
        for (const std::string& layer : list(layers)) {
            const auto folders = list(layer, ' ');
            modules.back().layers.emplace_back(folders.begin(), folders.end());
        }
    }
    return modules;
}

inline const fs::path root = CALLSIGN_SOURCE_DIR;

inline std::vector<module_info> declared_modules() {
    std::ifstream in(CALLSIGN_MODULES);
    return read_modules(in);
}

inline bool is_code(const fs::path& file) {
    return file.extension() == ".cpp" || file.extension() == ".hpp";
}

inline std::vector<fs::path> sources_in(const fs::path& at) {
    std::vector<fs::path> all;
    if (fs::is_regular_file(at)) all.push_back(at);
    if (!fs::is_directory(at)) return all;
    for (const auto& each : fs::recursive_directory_iterator(at)) {
        if (is_code(each.path())) all.push_back(each.path());
    }
    return all;
}

}  // namespace callsign::dependencies

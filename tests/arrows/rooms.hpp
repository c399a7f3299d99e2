#pragma once
// The modules as declared in CMakeLists.txt, and their sources.

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace callsign::arrows {

namespace fs = std::filesystem;

struct room {
    std::string name;
    std::string folder;              // of the sources, relative to the root of the repository
    std::vector<std::string> doors;  // public headers: a folder or a file below include/callsign
    std::set<std::string> deps;      // modules and libraries
    // Folders inside the module, the lowest layer first; empty: not declared.
    std::vector<std::set<std::string>> layers{};
};

// Parses CMake's lines: name|folder|header,header|dependency,dependency|folder folder,folder
inline std::vector<room> read_rooms(std::istream& in) {
    const auto list = [](const std::string& text, char separator = ',') {
        std::vector<std::string> all;
        std::istringstream parts(text);
        for (std::string part; std::getline(parts, part, separator);) all.push_back(part);
        return all;
    };
    std::vector<room> rooms;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        std::string name, folder, doors, deps, layers;
        std::getline(fields, name, '|');
        std::getline(fields, folder, '|');
        std::getline(fields, doors, '|');
        std::getline(fields, deps, '|');
        std::getline(fields, layers, '|');
        const auto named = list(deps);
        rooms.push_back({name, folder, list(doors), {named.begin(), named.end()}});
        for (const std::string& layer : list(layers)) {
            const auto folders = list(layer, ' ');
            rooms.back().layers.emplace_back(folders.begin(), folders.end());
        }
    }
    return rooms;
}

inline const fs::path root = CALLSIGN_SOURCE_DIR;

inline std::vector<room> rooms_of_the_house() {
    std::ifstream in(CALLSIGN_ROOMS);
    return read_rooms(in);
}

inline std::vector<fs::path> sources_in(const fs::path& at) {
    std::vector<fs::path> all;
    if (fs::is_regular_file(at)) all.push_back(at);
    if (!fs::is_directory(at)) return all;
    for (const auto& each : fs::recursive_directory_iterator(at)) {
        const auto kind = each.path().extension();
        if (kind == ".cpp" || kind == ".hpp") all.push_back(each.path());
    }
    return all;
}

}  // namespace callsign::arrows

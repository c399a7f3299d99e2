#pragma once
// A directory of a test's own, gone at its end.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace callsign::testing {

class temp_dir {
  public:
    temp_dir() {
        std::string name = (std::filesystem::temp_directory_path() / "callsign-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }
    temp_dir(const temp_dir&) = delete;
    temp_dir& operator=(const temp_dir&) = delete;
    ~temp_dir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace callsign::testing

#pragma once
// A new directory, removed by the destructor.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace callsign::testing {

class temp_dir {
  public:
    explicit temp_dir(
        const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
        std::string name = (parent / "callsign-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("no temporary directory in " + parent.string());
        path_ = name;
    }
    ~temp_dir() {
        std::error_code ignored;
        if (!kept_) std::filesystem::remove_all(path_, ignored);
    }
    temp_dir(const temp_dir&) = delete;
    temp_dir& operator=(const temp_dir&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }
    // Keeps the directory for inspection.
    void keep() noexcept { kept_ = true; }

  private:
    std::filesystem::path path_;
    bool kept_ = false;
};

}  // namespace callsign::testing

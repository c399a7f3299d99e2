#pragma once
// A file that is there while the server is.

#include "write_file.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace callsign::setup {

class listen_file {
  public:
    // Throws std::system_error.
    listen_file(std::filesystem::path file, const std::string& url) : file_(std::move(file)) {
        write_file(file_, url + "\n", 0644);
    }
    ~listen_file() {
        std::error_code ignored;
        std::filesystem::remove(file_, ignored);
    }
    listen_file(const listen_file&) = delete;
    listen_file& operator=(const listen_file&) = delete;

  private:
    std::filesystem::path file_;
};

}  // namespace callsign::setup

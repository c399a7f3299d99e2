#pragma once
// A file with the URL of a running server. It is locked from before it has its name until the
// server ends, however it ends: if the file is not locked, the server has ended, and another
// program may have its port.

#include <callsign/platform/log.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace callsign::setup {

class listen_file {
  public:
    // Throws std::system_error.
    listen_file(std::filesystem::path file, const std::string& url);
    ~listen_file();
    listen_file(const listen_file&) = delete;
    listen_file& operator=(const listen_file&) = delete;

  private:
    std::filesystem::path file_;
    int locked_ = -1;
};

// Makes listen.url in the data directory. An error is logged: with a full disk, stored data can
// still be read.
void make_listen_file(std::optional<listen_file>& made, const std::filesystem::path& data_dir,
                      const std::string& url, platform::logger& log);

}  // namespace callsign::setup

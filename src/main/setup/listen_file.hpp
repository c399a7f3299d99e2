#pragma once
// A file that says where the server is, while it is there. It is locked from before it has its name
// until the server ends, however it ends: who finds it without its lock knows that the server has
// gone, and that anyone may have its port by now.

#include <filesystem>
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

}  // namespace callsign::setup

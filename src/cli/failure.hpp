#pragma once
// Ends a command with a sentence for the user and an exit status. Thrown where an error is found
// and caught once, in run(); there is nothing to clean up.

#include <stdexcept>
#include <string>
#include <utility>

namespace callsign::cli {

enum class exit_status { done = 0, failed = 1, not_understood = 2 };

class failure : public std::runtime_error {
  public:
    explicit failure(const std::string& sentence, exit_status status = exit_status::failed)
        : std::runtime_error(sentence), status_(status) {}

    exit_status status() const noexcept { return status_; }

  private:
    exit_status status_;
};

// The timeout passed before there was a complete response.
class too_late : public failure {
  public:
    using failure::failure;
};

// The server rejected this request; others may succeed.
class rejection : public failure {
  public:
    rejection(const std::string& sentence, std::string answer)
        : failure(sentence), answer_(std::move(answer)) {}

    // The problem, as the server sent it.
    const std::string& answer() const noexcept { return answer_; }

  private:
    std::string answer_;
};

}  // namespace callsign::cli

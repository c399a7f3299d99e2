#pragma once
// How a command ends early: with a sentence for people and an exit status. Thrown by whatever finds
// out and caught once, in run(); the program does one thing and has nothing to clean up.

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

// The time given was over before there was a whole answer.
class too_late : public failure {
  public:
    using failure::failure;
};

// The server has understood, and says no: to this, not to everything.
class refusal : public failure {
  public:
    refusal(const std::string& sentence, std::string answer)
        : failure(sentence), answer_(std::move(answer)) {}

    // The problem, as the server wrote it.
    const std::string& answer() const noexcept { return answer_; }

  private:
    std::string answer_;
};

}  // namespace callsign::cli

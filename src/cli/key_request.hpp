#pragma once
// `POST /v1/keys`: the key of a task that the server cannot read.

#include "failure.hpp"
#include "key_settings.hpp"

#include <callsign/base/uuid.hpp>

#include <functional>
#include <string>

namespace callsign::cli {

// The server can read the account's tasks, and their keys come with `task sync`.
class account_is_managed : public failure {
  public:
    account_is_managed();
};

// `project` chooses the series while the task has no number. Throws failure, or rejection if the
// error concerns only this task.
std::string ask_for_key(const std::function<http_answer(const http_call&)>& exchange,
                        const key_server& server, const uuid& task, const std::string& project);

}  // namespace callsign::cli

#pragma once
// `POST /v1/keys`: the key of a task that the server cannot see.

#include "failure.hpp"
#include "key_settings.hpp"

#include <callsign/base/uuid.hpp>

#include <functional>
#include <string>

namespace callsign::cli {

// The server can see the account's tasks, and their keys come with `task sync`.
class account_is_managed : public failure {
  public:
    account_is_managed();
};

// The project says which series the number is of, as long as the task has none. Throws failure; for
// what is wrong with this task alone, refusal.
std::string ask_for_key(const std::function<http_answer(const http_call&)>& exchange,
                        const key_server& server, const uuid& task, const std::string& project);

}  // namespace callsign::cli

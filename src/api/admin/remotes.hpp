#pragma once
// Remote accounts, for operators.

#include "handlers.hpp"
#include "shared/answers.hpp"

#include <callsign/jobs/remote_accounts.hpp>

#include <string>

namespace callsign::api {

// Adds the errors of a remote server's URL. `insecure`: http is allowed beyond loopback addresses.
void check_remote_url(const std::string& url, const std::string& field, bool insecure,
                      wire::field_errors& found);

// Adds the errors of all fields of `remote`.
void check_remote_server(const v1::RemoteServer& at, wire::field_errors& found);

// Includes the account's remote server and its progress.
awaitable<v1::Account> describe_account(admin_context& a, account shown);
awaitable<http_response> answer_account(admin_context& a, request_context& c, unsigned status,
                                        account shown, std::string token);

}  // namespace callsign::api

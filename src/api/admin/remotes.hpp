#pragma once
// Accounts whose tasks live on another server, as operators see and name them.

#include "answers.hpp"
#include "handlers.hpp"

#include <callsign/jobs/remote_accounts.hpp>

#include <string>

namespace callsign::api {

// Adds what is wrong with where a server is said to be. `insecure`: http may go beyond this
// machine.
void check_remote_url(const std::string& url, const std::string& field, bool insecure,
                      wire::faults& found);

// The same of all that is said of it, as the field `remote`.
void check_remote_server(const v1::RemoteServer& at, wire::faults& found);

// Why the server that was named is of no use.
http_response answer_remote_fault(const request_context& c, const jobs::remote_fault& fault);

// With where it lives, and how far it is.
awaitable<v1::Account> describe_account(admin_context& a, account shown);
awaitable<http_response> answer_account(admin_context& a, request_context& c, unsigned status,
                                        account shown, std::string token);

}  // namespace callsign::api

#pragma once
// Imports tasks, one command after another. If the server crashes or is overloaded meanwhile, the
// same request repeated imports the rest.

#include <callsign/jobs/context.hpp>

#include <boost/asio/awaitable.hpp>
#include <string>

namespace callsign::jobs {

// `tasks.account` is ignored: `name` is the account's.
boost::asio::awaitable<result<import_tasks::answer>> import_into(context& with, std::string name,
                                                                 import_tasks tasks, actor by);

}  // namespace callsign::jobs

#pragma once
// Tasks taken over from elsewhere: one command after the other, until all are taken. If the server
// dies on the way, or has too much to do, the same request again takes what is left.

#include <callsign/jobs/context.hpp>

#include <boost/asio/awaitable.hpp>
#include <string>

namespace callsign::jobs {

// `tasks.account` is not looked at: the account is the one of that name.
boost::asio::awaitable<result<import_tasks::answer>> import_into(context& with, std::string name,
                                                                 import_tasks tasks, actor by);

}  // namespace callsign::jobs

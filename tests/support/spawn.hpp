#pragma once
// Spawns coroutines of tests on an executor. co_spawn() is a template of the coroutine and of the
// completion handler, and each instance takes the compiler half a second: here there is one.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace callsign::testing {

// Calls `ended` at the end, with the exception, if any. Never runs `work` before the executor does.
void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> work,
           std::function<void(std::exception_ptr)> ended);
// An exception leaves the executor's run().
void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> work);

// Stores the result of `work` in `*out`.
template <class T>
boost::asio::awaitable<void> put_into(std::shared_ptr<std::optional<T>> out,
                                      boost::asio::awaitable<T> work) {
    out->emplace(co_await std::move(work));
}

// Returns a place for the result; empty until there is one.
template <class T>
std::shared_ptr<std::optional<T>> spawn_for_result(const boost::asio::any_io_executor& executor,
                                                   boost::asio::awaitable<T> work) {
    auto out = std::make_shared<std::optional<T>>();
    spawn(executor, put_into(out, std::move(work)));
    return out;
}

}  // namespace callsign::testing

#pragma once
// Coroutines of tests, begun on an executor. co_spawn() is a template of what it runs and of whom
// it tells, and takes a compiler half a second for each: here it is asked for one.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace callsign::testing {

// `ended` is called at its end, with what it has thrown. It is not run before the executor is.
void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> work,
           std::function<void(std::exception_ptr)> ended);
// What it throws is thrown out of the executor's run().
void spawn(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> work);

// `work`, whose result is put into `*out`, which is kept until then.
template <class T>
boost::asio::awaitable<void> put_into(std::shared_ptr<std::optional<T>> out,
                                      boost::asio::awaitable<T> work) {
    out->emplace(co_await std::move(work));
}

// What its result will be in; empty until then.
template <class T>
std::shared_ptr<std::optional<T>> spawn_for_result(const boost::asio::any_io_executor& executor,
                                                   boost::asio::awaitable<T> work) {
    auto out = std::make_shared<std::optional<T>>();
    spawn(executor, put_into(out, std::move(work)));
    return out;
}

}  // namespace callsign::testing

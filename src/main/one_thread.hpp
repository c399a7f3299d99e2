#pragma once
// An io_context with its own thread, which is joined once all queued work has run.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

namespace callsign {

class one_thread {
  public:
    one_thread() : work_(io_.get_executor()), thread_([this] { io_.run(); }) {}
    ~one_thread() { join(); }
    one_thread(const one_thread&) = delete;
    one_thread& operator=(const one_thread&) = delete;

    boost::asio::any_io_executor executor() { return io_.get_executor(); }

    void join() {
        work_.reset();
        if (thread_.joinable()) thread_.join();
    }

  private:
    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::thread thread_;
};

}  // namespace callsign

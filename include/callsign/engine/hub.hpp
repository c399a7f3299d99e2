#pragma once
// Publishes events. Once a batch is durable, the engine delivers its events, in the order of
// commits and commands, before any of its requests completes: a client that has its response finds
// every subscriber up to date.
//
// A subscriber stores or counts, and does not block; to read the store it wakes a coroutine.
// Threads: the network executor.

#include <callsign/domain/event.hpp>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace callsign {

class hub {
  public:
    using subscriber = std::function<void(const event&)>;

    // Unsubscribes when destroyed. May outlive the hub.
    class subscription {
      public:
        subscription() = default;

      private:
        friend hub;
        explicit subscription(std::shared_ptr<subscriber> own) : own_(std::move(own)) {}
        std::shared_ptr<subscriber> own_;
    };

    // Takes effect with the next delivery.
    [[nodiscard]] subscription subscribe(subscriber tell);

    void deliver(std::span<const event> batch);

  private:
    std::vector<std::weak_ptr<subscriber>> all_;
};

}  // namespace callsign

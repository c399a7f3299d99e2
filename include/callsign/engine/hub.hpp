#pragma once
// Who is told what has happened. After each commit the engine delivers the batch's events, in the
// order of the commits and within them of the commands, before anybody is answered: what follows
// from an answer finds every subscriber up to date.
//
// A subscriber remembers or counts, and does not block; who wants to read the store for it wakes
// somebody who does. Threads: the network executor.

#include <callsign/domain/event.hpp>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace callsign {

class hub {
  public:
    using subscriber = std::function<void(const event&)>;

    // Ends with it. It may outlive the hub.
    class subscription {
      public:
        subscription() = default;

      private:
        friend hub;
        explicit subscription(std::shared_ptr<subscriber> own) : own_(std::move(own)) {}
        std::shared_ptr<subscriber> own_;
    };

    // From the next delivery on.
    [[nodiscard]] subscription subscribe(subscriber tell);

    void deliver(std::span<const event> batch);

  private:
    std::vector<std::weak_ptr<subscriber>> all_;
};

}  // namespace callsign

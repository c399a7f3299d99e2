#include <callsign/engine/hub.hpp>

namespace callsign {

hub::subscription hub::subscribe(subscriber tell) {
    std::erase_if(all_, [](const auto& each) { return each.expired(); });
    auto own = std::make_shared<subscriber>(std::move(tell));
    all_.push_back(own);
    return subscription(std::move(own));
}

// By index: a subscriber may subscribe another.
void hub::deliver(std::span<const event> batch) {
    for (const event& each : batch) {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (const auto subscriber = all_[i].lock()) (*subscriber)(each);
        }
    }
}

}  // namespace callsign

#include "support/postgres_proxy.hpp"

#include <array>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace callsign::testing {
namespace {

sockaddr_un address_of(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    if (text.size() >= sizeof address.sun_path) throw std::runtime_error("the path is too long");
    std::memcpy(address.sun_path, text.data(), text.size());
    return address;
}

int new_socket() {
    const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0) throw std::runtime_error("no socket");
    return made;
}

// Only to look for the end now and then: all waits are for data.
constexpr int poll_ms = 100;

}  // namespace

postgres_proxy::postgres_proxy(std::filesystem::path server)
    : server_(std::move(server)), listener_(new_socket()) {
    const sockaddr_un address = address_of(dir_.path() / ".s.PGSQL.5432");
    const auto* const at = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(listener_, at, sizeof address) != 0 || ::listen(listener_, 16) != 0) {
        throw std::runtime_error("the proxy cannot listen");
    }
    acceptor_ = std::thread([this] { accept(); });
}

postgres_proxy::~postgres_proxy() {
    is_ended_ = true;
    acceptor_.join();
    for (std::thread& each : connections_) each.join();
    ::close(listener_);
}

std::string postgres_proxy::url() const {
    return "postgresql:///postgres?user=postgres&host=" + dir_.path().string();
}

void postgres_proxy::accept() {
    while (!is_ended_) {
        pollfd ready{listener_, POLLIN, 0};
        if (::poll(&ready, 1, poll_ms) <= 0) continue;
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) continue;
        const std::scoped_lock lock(mutex_);
        connections_.emplace_back([this, client] { serve(client); });
    }
}

bool postgres_proxy::pass_on(int from, int to) const {
    std::array<char, 1 << 16> some{};
    const ssize_t got = ::recv(from, some.data(), some.size(), 0);
    if (got <= 0) return false;
    if (to < 0) return true;
    for (ssize_t sent = 0; sent < got;) {
        const ssize_t now =
            ::send(to, some.data() + sent, static_cast<std::size_t>(got - sent), MSG_NOSIGNAL);
        if (now <= 0) return false;
        sent += now;
    }
    return true;
}

void postgres_proxy::serve(int client) {
    const int server = new_socket();
    const sockaddr_un address = address_of(server_);
    bool is_open =
        ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    trip_fate fate = trip_fate::passed;
    while (is_open && !is_ended_) {
        std::array<pollfd, 2> ready{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
        if (::poll(ready.data(), ready.size(), poll_ms) <= 0) continue;
        if (ready[0].revents != 0) {
            if (fate == trip_fate::passed) fate = next_.exchange(trip_fate::passed);
            const bool reaches = fate != trip_fate::swallowed;
            is_open = fate != trip_fate::cut_before && pass_on(client, reaches ? server : -1);
        }
        if (is_open && ready[1].revents != 0) {
            if (fate == trip_fate::late) {
                std::this_thread::sleep_for(lateness);
                fate = trip_fate::passed;
            }
            const bool reaches = fate == trip_fate::passed;
            is_open = pass_on(server, reaches ? client : -1) && fate != trip_fate::cut_after;
        }
    }
    ::close(server);
    ::close(client);
}

}  // namespace callsign::testing

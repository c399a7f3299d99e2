#pragma once
// A stock TaskChampion client, including its bug: after a 409 it restores its operations as they
// were before the pull, although the pulled ones stay applied. A sync consists of steps, one
// request each, so that tests can interleave other clients. Its transform of lists is the client's
// own loop, not the server's, so that each verifies the other.

#include "support/carry_out.hpp"

#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>
#include <callsign/rules/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::testing {

// The requests of a client.
class model_server {
  public:
    struct child {
        uuid id{};
        std::vector<operation> operations;
    };
    struct accepted {
        uuid id{};
        bool wants_snapshot = false;
    };
    // Exception: the response is an error, and the sync ends.
    struct rejected {};
    struct expected {
        uuid parent{};
    };

    virtual ~model_server() = default;
    virtual std::optional<child> child_of(const uuid& parent) = 0;
    virtual std::variant<accepted, expected> add_version(const uuid& parent,
                                                         std::vector<operation> operations) = 0;
    virtual void add_snapshot(const uuid& /*version*/, const task_map& /*tasks*/) {}
};

struct pair_after {
    std::optional<operation> server;
    std::optional<operation> local;
};

inline pair_after client_transform(const operation& server, const operation& local) {
    using kind = operation_kind;
    const pair_after both{server, local}, neither, server_alone{server, {}}, local_alone{{}, local};
    if (server.uuid != local.uuid) return both;
    const auto are = [&](kind s, kind l) { return server.kind == s && local.kind == l; };
    if (are(kind::create, kind::create) || are(kind::remove, kind::remove)) return neither;
    if (are(kind::create, kind::remove)) return server_alone;
    if (are(kind::remove, kind::create)) return local_alone;
    if (are(kind::update, kind::create)) return server_alone;
    if (are(kind::create, kind::update)) return local_alone;
    if (are(kind::update, kind::remove)) return local_alone;
    if (are(kind::remove, kind::update)) return server_alone;
    if (server.property != local.property) return both;
    if (server.value == local.value) return neither;
    return server.at < local.at ? local_alone : server_alone;
}

// Returns the operations of `server` that a replica that has applied `local` must apply, and
// transforms `local`: the client's loop, word for word.
inline std::vector<operation> pull(const std::vector<operation>& server,
                                   std::vector<operation>& local) {
    std::vector<operation> to_apply;
    for (const operation& each : server) {
        std::optional<operation> from_server = each;
        std::vector<operation> rest;
        for (operation& o : local) {
            if (!from_server) {
                rest.push_back(std::move(o));
                continue;
            }
            pair_after pair = client_transform(*from_server, o);
            from_server = std::move(pair.server);
            if (pair.local) rest.push_back(std::move(*pair.local));
        }
        if (from_server) to_apply.push_back(std::move(*from_server));
        local = std::move(rest);
    }
    return to_apply;
}

class model_client {
  public:
    static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

    // `batch_max`: operations sent at a time; real clients count bytes. `piece_max`: a client that
    // is not stock sends a batch in pieces of this size, each behind the previous one, and pulls
    // after the last one only. So it names fork versions, which stock clients never do.
    explicit model_client(model_server& server, std::size_t batch_max = no_limit,
                          std::size_t piece_max = no_limit)
        : server_(server), batch_max_(batch_max), piece_max_(piece_max) {}

    // Requires: no sync in progress; the client's store permits one transaction at a time.
    void edit(const operation& o) {
        carry_out(tasks_, o);
        unsynced_.push_back(o);
    }

    bool syncing() const noexcept { return doing_ != doing::nothing; }
    const task_map& tasks() const noexcept { return tasks_; }
    std::size_t unsynced() const noexcept { return unsynced_.size(); }
    int conflicts() const noexcept { return conflicts_; }

    void begin_sync() {
        sync_tasks_ = tasks_;
        sync_base_ = base_;
        requested_.reset();
        start_over();
    }

    // Sends the next request. With `answer_is_lost` the server processes it, and the sync ends with
    // an error.
    void step(bool answer_is_lost = false) {
        try {
            if (doing_ == doing::pulling) {
                ask_for_child(answer_is_lost);
            } else {
                push(answer_is_lost);
            }
        } catch (const model_server::rejected&) {
            ++rejections_;
            doing_ = doing::nothing;
        }
    }

    // Returns false if the sync was rejected.
    bool sync() {
        const int before = rejections_;
        for (begin_sync(); syncing();) step();
        return rejections_ == before;
    }

  private:
    enum class doing { nothing, pulling, pushing };

    void start_over() {
        taken_ = 0;
        next_batch();
    }

    void next_batch() {
        const std::size_t size = std::min(batch_max_, unsynced_.size() - taken_);
        const auto first = unsynced_.begin() + static_cast<std::ptrdiff_t>(taken_);
        batch_.assign(first, first + static_cast<std::ptrdiff_t>(size));
        taken_ += size;
        doing_ = doing::pulling;
    }

    void ask_for_child(bool answer_is_lost) {
        const auto child = server_.child_of(sync_base_);
        if (answer_is_lost) {
            doing_ = doing::nothing;
        } else if (child) {
            for (const operation& o : pull(child->operations, batch_)) carry_out(sync_tasks_, o);
            sync_base_ = child->id;
        } else if (batch_.empty()) {
            finish();
        } else {
            doing_ = doing::pushing;
        }
    }

    void push(bool answer_is_lost) {
        const auto end =
            batch_.begin() + static_cast<std::ptrdiff_t>(std::min(piece_max_, batch_.size()));
        const auto answer = server_.add_version(sync_base_, {batch_.begin(), end});
        if (answer_is_lost) {
            doing_ = doing::nothing;
        } else if (const auto* accepted = std::get_if<model_server::accepted>(&answer)) {
            sync_base_ = accepted->id;
            // Before it continues to read; the snapshot includes unsent changes.
            if (accepted->wants_snapshot) server_.add_snapshot(sync_base_, sync_tasks_);
            batch_.erase(batch_.begin(), end);
            if (batch_.empty()) next_batch();
        } else {
            start_over_after(std::get<model_server::expected>(answer).parent);
        }
    }

    // The client's bug: `sync_tasks_` and `sync_base_` include the pulled operations, but the local
    // operations are not transformed.
    void start_over_after(const uuid& expected) {
        ++conflicts_;
        const bool again = requested_ == expected;
        requested_ = expected;
        if (again) {
            doing_ = doing::nothing;  // OutOfSync
        } else {
            start_over();
        }
    }

    // The results of a sync are stored only now.
    void finish() {
        tasks_ = sync_tasks_;
        base_ = sync_base_;
        unsynced_.clear();
        doing_ = doing::nothing;
    }

    model_server& server_;
    std::size_t batch_max_;
    std::size_t piece_max_;
    task_map tasks_;
    uuid base_{};
    std::vector<operation> unsynced_;
    int conflicts_ = 0;
    int rejections_ = 0;

    // of the sync in progress
    doing doing_ = doing::nothing;
    task_map sync_tasks_;
    uuid sync_base_{};
    std::vector<operation> batch_;
    std::size_t taken_ = 0;  // of unsynced_, this batch included
    std::optional<uuid> requested_;
};

}  // namespace callsign::testing

#pragma once
// A task store whose transaction cannot be shared: the chain of one account on another TaskChampion
// server (docs of that project: sync-protocol). What is above it knows operations and versions;
// envelopes, HTTP and TLS are the adapter's affair (remote/task_sink.hpp).
//
// add_version() is a compare-and-set: of all versions sent behind one parent the remote takes one,
// and says no to the others. It is not idempotent. After an answer was lost nobody knows whether it
// was taken; what the child of that parent is, tells. What was sent may arrive late, and twice.
//
// Threads: the network executor. One call at a time.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/remote_chain.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <boost/asio/awaitable.hpp>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

// Why the remote gave no answer of its protocol.
struct sink_failure {
    enum class kind {
        unreachable,     // nothing was sent: it is not there, its name is unknown, TLS failed
        lost,            // something was sent, and no answer came: it may have been taken
        unavailable,     // it says that it cannot now (5xx, 429): it may have been taken
        refused,         // it says no to what was sent (4xx): it was not taken
        unknown_client,  // it does not know the client id, or does not let it in
        not_a_server,    // what answers does not speak the protocol
        wrong_secret,    // what it keeps does not open
        unreadable,      // it opens, and is not what clients write, or is too large
        busy,            // this server has no room for it now
    };

    kind why = kind::unreachable;
    std::string text;          // a sentence for an operator; no secret, and nothing of tasks
    milliseconds retry_in{0};  // as the remote asks
};

struct sink_accepted {
    uuid version{};
};
// The parent is not the head.
struct sink_conflict {
    uuid head{};
};
using sink_add_answer = std::variant<sink_accepted, sink_conflict, sink_failure>;

struct sink_child {
    uuid version{};
    std::vector<operation> operations;
};
// Nothing comes after it yet.
struct sink_up_to_date {};
// The remote does not have it, or not any more.
struct sink_gone {};
using sink_child_answer = std::variant<sink_child, sink_up_to_date, sink_gone, sink_failure>;

struct sink_snapshot {
    uuid version{};
    task_map tasks;
};
struct sink_no_snapshot {};
using sink_snapshot_answer = std::variant<sink_snapshot, sink_no_snapshot, sink_failure>;

class task_sink {
  public:
    virtual ~task_sink() = default;

    // `operations` may be empty: then it is a fence.
    virtual boost::asio::awaitable<sink_add_answer> add_version(
        uuid parent, std::vector<operation> operations) = 0;
    virtual boost::asio::awaitable<sink_child_answer> get_child(uuid parent) = 0;
    virtual boost::asio::awaitable<sink_snapshot_answer> get_snapshot() = 0;
    // The call under way ends, with `lost` or `unreachable`, and so does each after it.
    virtual void cancel() = 0;
};

}  // namespace callsign

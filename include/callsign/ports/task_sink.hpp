#pragma once
// A task store that cannot share a transaction: the chain of one account on another TaskChampion
// server (that project's docs: sync-protocol). Callers use operations and versions; the adapter
// (remote/task_sink.hpp) handles envelopes, HTTP and TLS.
//
// add_version() is a compare-and-set: of all versions with one parent the remote accepts one and
// rejects the others. It is not idempotent. If its response is lost, the child of the parent shows
// whether the version was accepted. A request may arrive late, and twice.
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

// Why there is no response of the protocol.
struct sink_failure {
    enum class kind {
        unreachable,     // nothing was sent: no connection, unknown host name, TLS error
        lost,            // sent, but no response: it may have been accepted
        unavailable,     // the remote cannot respond now (5xx, 429, 408): it may have been accepted
        rejected,        // the remote rejected the request (other 4xx): it was not accepted
        unknown_client,  // the remote does not know the client ID, or denies it access
        not_a_server,    // the response is not of the protocol
        wrong_secret,    // the remote's data cannot be decrypted
        unreadable,      // decrypted data is not what clients write, or is too large
        busy,            // this server has not enough memory for it now
    };

    kind why = kind::unreachable;
    std::string text;          // a sentence for the operator, without secrets and task content
    milliseconds retry_in{0};  // as the remote requests
};

struct sink_accepted {
    uuid version{};
};
// The parent is not the last version.
struct sink_conflict {
    uuid head{};
};
using sink_add_answer = std::variant<sink_accepted, sink_conflict, sink_failure>;

struct sink_child {
    uuid version{};
    std::vector<operation> operations;
};
// No version follows yet.
struct sink_up_to_date {};
// The remote does not have the parent, or has deleted it.
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

    // A version without operations is a fence (docs/remote-accounts.md).
    virtual boost::asio::awaitable<sink_add_answer> add_version(
        uuid parent, std::vector<operation> operations) = 0;
    virtual boost::asio::awaitable<sink_child_answer> get_child(uuid parent) = 0;
    virtual boost::asio::awaitable<sink_snapshot_answer> get_snapshot() = 0;
    // Ends the call in progress and all later ones with `lost` or `unreachable`.
    virtual void cancel() = 0;
};

}  // namespace callsign

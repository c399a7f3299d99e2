#pragma once
// The verbs: what each command does to a store. Pure and synchronous: no clock, no chance, no I/O
// but the transaction's. A rule checks first and writes last, so an answer that says no has written
// nothing and needs no savepoint. Thrown store_failures pass through.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/command.hpp>
#include <callsign/ports/store.hpp>

#include <boost/functional/hash.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::rules {

// Draws UUIDv7s that sort in the order they are drawn.
class id_source {
  public:
    virtual ~id_source() = default;
    virtual uuid next(time_point now) = 0;
};

// How old stamps are, by a clock that is never set (engine/store_time.hpp).
class age_source {
  public:
    virtual ~age_source() = default;
    // What is stamped before this has been there for `span`.
    virtual time_point stamped_before(milliseconds span) const = 0;
};

// What comes from outside: the instant of a batch, the ids drawn in it, the settings.
struct moment {
    // What rows are stamped with. Never goes backwards in a store.
    time_point now;
    id_source& ids;
    // The attribute that a task's key is written to, for clients to show. Empty: none.
    std::string_view key_attribute = "key";
    // What the wall clock says: for times that people read, and that replicas compare with their
    // own. May go backwards.
    time_point wall = now;
    // None: by `now` alone.
    const age_source* ages = nullptr;

    time_point stamped_before(milliseconds span) const {
        return ages ? ages->stamped_before(span) : now - span;
    }
};

reserve::answer apply(write_tx& tx, const reserve& c, const moment& m);
fulfil::answer apply(write_tx& tx, const fulfil& c, const moment& m);
reconcile_pending::answer apply(write_tx& tx, const reconcile_pending& c, const moment& m);
forget_settled::answer apply(write_tx& tx, const forget_settled& c, const moment& m);
look_up_slot::answer apply(write_tx& tx, const look_up_slot& c, const moment& m);
create_account::answer apply(write_tx& tx, const create_account& c, const moment& m);
create_token::answer apply(write_tx& tx, const create_token& c, const moment& m);
revoke_token::answer apply(write_tx& tx, const revoke_token& c, const moment& m);
create_series::answer apply(write_tx& tx, const create_series& c, const moment& m);
add_version::answer apply(write_tx& tx, const add_version& c, const moment& m);
edit_task::answer apply(write_tx& tx, const edit_task& c, const moment& m);
manage_account::answer apply(write_tx& tx, const manage_account& c, const moment& m);
add_sealed_version::answer apply(write_tx& tx, const add_sealed_version& c, const moment& m);
add_sealed_snapshot::answer apply(write_tx& tx, const add_sealed_snapshot& c, const moment& m);
register_client::answer apply(write_tx& tx, const register_client& c, const moment& m);
import_sealed_version::answer apply(write_tx& tx, const import_sealed_version& c, const moment& m);
import_sealed_snapshot::answer apply(write_tx& tx, const import_sealed_snapshot& c,
                                     const moment& m);
create_device::answer apply(write_tx& tx, const create_device& c, const moment& m);
revoke_device::answer apply(write_tx& tx, const revoke_device& c, const moment& m);
import_tasks::answer apply(write_tx& tx, const import_tasks& c, const moment& m);

// How many of a device's operations, from the first, one add_version is handed: what it takes if
// nothing is known of their tasks. One at least, if there is one.
std::size_t step_of(std::span<const operation> all);

// What create_device would be answered now, if that is a no: for a caller whose command is costly
// to make. Does not look at `sealed_key`.
std::optional<create_device::answer> refusal_of(read_tx& tx, const create_device& c);

// ---- reading along the chain of a managed account ----

// What comes after `parent`, to whoever has that.
struct next_version {
    uuid id{};
    std::vector<operation> operations;
};
struct up_to_date {};
struct unknown_version {};
using child = std::variant<next_version, up_to_date, unknown_version>;

child find_child(read_tx& tx, account_id account, const uuid& parent);

// All tasks as of the last version, which is named.
struct tasks_at {
    uuid version{};
    task_map tasks;
};

// The same, a step at a time in as many transactions, so that none is held for long: what changes
// while it is read is carried out at the end, operation by operation.
class tasks_reading {
  public:
    tasks_reading(account_id account, std::size_t bytes_max)
        : account_(account), bytes_max_(bytes_max) {}

    // False: that was all, as of this transaction, or it is more than `bytes_max`.
    bool step(read_tx& tx, std::size_t work_max = step_work_max);

    // Names and values so far; more than there are, if they changed meanwhile.
    std::size_t bytes() const noexcept { return bytes_; }

    // Once, after the last step. nullopt: more than `bytes_max`.
    std::optional<tasks_at> take();

  private:
    void begin(read_tx& tx);
    std::size_t read_page(read_tx& tx);
    std::optional<std::size_t> catch_up(read_tx& tx);

    account_id account_;
    std::size_t bytes_max_;
    bool begun_ = false;
    std::vector<std::pair<series_id, std::string>> places_;  // to be read, page by page
    std::size_t place_ = 0;
    std::int64_t last_number_ = 0;
    std::int64_t caught_up_ = 0;  // versions up to this one are in the rows, or carried out
    std::size_t bytes_ = 0;
    tasks_at found_;
    std::unordered_map<uuid, std::int64_t, boost::hash<uuid>> changed_;  // the rows' last_seq
};

// In one step. nullopt: names and values together are more than `bytes_max`.
std::optional<tasks_at> read_tasks(read_tx& tx, account_id account, std::size_t bytes_max);

// ---- the resolver: which task does this ref name? ----

struct unknown_prefix {};
struct task_not_found {};
struct task_deleted {};
using resolved = std::variant<task, unknown_prefix, task_not_found, task_deleted>;

resolved resolve(read_tx& tx, account_id account, const task_ref& ref);

}  // namespace callsign::rules

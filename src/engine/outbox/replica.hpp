#pragma once
// One remote account: its coroutine pulls others' changes to the mirror, pushes the outbox, and
// settles its outcome. outbox_machine.hpp decides each step; the steps are in replica.cpp (the run,
// its rests), pull.cpp, restart.cpp and push.cpp.
//
// Network executor.

#include "outbox_machine.hpp"

#include <callsign/domain/replay.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/engine/permits.hpp>
#include <callsign/engine/wakeup.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace callsign {

// What all accounts' coroutines share. Outlives them.
struct outbox_context {
    callsign::engine& engine;
    callsign::clock& clock;
    callsign::entropy& entropy;
    boost::asio::any_io_executor network;
    outbox_options options;
    outbox::sink_maker make;
    outbox_probe& probe;
    permits active;
    bool stopped = false;
};

// A waiting edit. Shared by its caller and the account's coroutine: either may end first.
struct waiting_edit {
    waiting_edit(edit_task wanted, std::uint64_t now, const outbox_context& with)
        : command(std::move(wanted)), asked(now), answer(with.clock, with.network) {}

    edit_task command;
    std::uint64_t asked;  // the account's queries when it came
    bool is_sent = false;
    awaited<result<edit_task::answer>> answer;
};
using edit_ptr = std::shared_ptr<waiting_edit>;

// A call that waits until the mirror is up to date, or for a fence. Shared like an edit.
struct waiting_call {
    waiting_call(std::uint64_t now, const outbox_context& with)
        : asked(now), outcome(with.clock, with.network) {}

    std::uint64_t asked;  // the account's queries when it came
    awaited<bool> outcome;
};
using call_ptr = std::shared_ptr<waiting_call>;

// Between two reports of the progress of a long history.
inline constexpr std::int64_t versions_between_reports = 1'000;

class replica {
  public:
    template <class T>
    using awaitable = boost::asio::awaitable<T>;

    replica(account_id account, outbox_context& with);

    // Runs until the account is not remote any more, or the outbox stops.
    awaitable<void> run();

    // Something may have changed: looks again.
    void wake() { changed_.notify(); }
    void effect_waits();
    // Its row was changed, and is read again.
    void row_changed();
    void reload_limits();
    void stop();

    // Null: the account is halted, or the outbox stops.
    edit_ptr add(edit_task wanted);
    bool may_add() const { return edits_.size() < with_.options.edits_max; }
    call_ptr add_lookup() { return add_to(lookups_); }
    call_ptr add_fence() { return add_to(fences_); }
    // Its caller no longer waits.
    void drop(const call_ptr& call);

    const remote_status& status() const noexcept { return status_; }
    milliseconds up_to_date_at() const noexcept { return up_to_date_at_; }
    // Once run() has ended: the account is not remote any more; it may be so again.
    bool is_gone() const noexcept { return is_gone_; }
    bool may_be_there_again() const noexcept { return is_stale_; }

  private:
    // A version of ours, from its sending until the child of its parent is known.
    struct sent_version {
        uuid parent{};
        std::vector<operation> operations;
        std::vector<delivery_part> parts;
        std::vector<edit_ptr> edits;  // by delivery_part::edit
        bool is_fence = false;
    };
    // What a restart has read of the remote's chain.
    struct remote_state {
        replay tasks;
        uuid head{}, before{};
        std::vector<uuid> versions;  // merged into `tasks`
    };

    call_ptr add_to(std::vector<call_ptr>& calls);
    void end();

    awaitable<outbox_event> perform(outbox_action next);
    awaitable<void> reload();
    awaitable<void> take_permit();
    bool is_verify_due() const;
    bool has_work() const;
    bool needs_pull() const;
    awaitable<outbox_event> rest(outbox_action next);
    awaitable<outbox_event> halt(remote_halt why);

    // pull.cpp
    awaitable<outbox_event> verify();
    awaitable<outbox_event> pull();
    awaitable<outbox_event> apply();
    bool is_ours(const sink_child& child) const;
    awaitable<void> resolve_sent(const sink_child& whole);
    void come_to(const uuid& version);
    void up_to_date(milliseconds asked, std::uint64_t question);

    // restart.cpp
    awaitable<outbox_event> restart();
    awaitable<std::optional<outbox_event>> follow(remote_state& state);
    awaitable<std::optional<outbox_event>> take_over(remote_state state);
    awaitable<std::optional<outbox_event>> find_gone(const task_map& there,
                                                     std::vector<uuid>& gone);
    awaitable<std::optional<outbox_event>> submit(apply_remote_state step);

    // push.cpp
    awaitable<outbox_event> take();
    awaitable<outbox_event> send(bool again);
    awaitable<outbox_event> settle();
    awaitable<outbox_event> disband();
    awaitable<outbox_event> give_up();
    void drop_sent(errc why);

    outbox_event moved();
    outbox_event failed(const boost::system::error_code& error);
    outbox_event failed(const sink_failure& failure);
    outbox_event too_large(const task_too_large& grown);
    void note_doubt(outbox_event::kind said);
    void fail_calls(const std::string& why);
    void tell_state(remote_status::state now);

    outbox_context& with_;
    remote_chain remote_;
    outbox_machine machine_;
    std::unique_ptr<task_sink> sink_{};
    wakeup changed_;
    wakeup::moment seen_{};  // as of the last rest
    permits::permit permit_{};

    std::deque<edit_ptr> edits_{};
    std::vector<call_ptr> lookups_{}, fences_{};
    bool has_effects_ = true;  // until it is known
    bool is_stale_ = true;     // its row and its sink have to be read again
    bool is_gone_ = false;
    bool from_beginning_ = false;  // there is no snapshot to restart from

    std::optional<sent_version> sent_{};
    std::optional<sink_child> child_{};     // being applied
    std::size_t child_taken_ = 0;           // its operations applied so far
    std::vector<effect_id> forestalled_{};  // of versions that lost their place to another
    uuid accepted_{};                       // the remote's ID of `sent_`

    // Queries are numbered. A confirmed query covers an edit or call that came before it began:
    // whose `asked` is smaller.
    std::uint64_t asked_ = 0;
    std::uint64_t confirmed_ = 0;
    milliseconds up_to_date_at_{-1};  // by clock::elapsed(), when its query began; < 0: never
    std::optional<milliseconds> verified_at_{};
    remote_status status_{};
};

outbox_limits limits_of(const outbox_options& options);

void answer_calls(std::vector<call_ptr>& calls, bool outcome);

}  // namespace callsign

#pragma once
// The progress of one device's sync of a managed account: what it has pulled and pushed so far.
//
// A stock client commits what a sync brings at its very end, all or nothing. It pushes batches of
// about 1 MB, and rebases the current batch alone over what it pulls before it. Therefore:
//
// - A batch that meets itself on the chain, because an earlier sync broke off, is rebased to
//   nothing, and that ends the sync: later batches are never pushed, and count as pushed. A device
//   whose own version is next is made to push first instead.
// - Others' changes pulled before one batch was pushed are not rebased against the next one. A
//   device whose next batch is about one of those tasks is rejected once; its next sync pushes all
//   it has before it pulls. It is also rejected if others' changes of such a task are pulled again:
//   the rebase may have removed what the batch had of the task.
// - A rebase takes a stock client a step for each pair of a pulled operation and one of the batch.
//   Between the batches of a large sync a device is therefore made to push first, and pulls the
//   rest, above all the keys of its own tasks, when it has pushed everything.
//
// docs/architecture.md, "Interrupted syncs". Pure, and in memory only: the loss of a session costs
// its device one more sync.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/version.hpp>

#include <algorithm>
#include <boost/container/flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace callsign {

// What the answer to a pull depends on, besides the chain.
struct sync_position {
    bool pushes_first = false;       // even if others wrote the next version
    bool pulls_first = false;        // unless the device wrote the next version
    bool pulls_own = false;          // even if the device wrote it
    bool has_another_batch = false;  // the device pushes that batch first, too
    // The sync may have begun before this session, which has no record of it then.
    bool may_be_resumed = false;
    // Several replicas share the client ID, so that no version belongs to one replica alone.
    bool is_shared = false;
    // The device need not push its own versions up to this one again. None: unknown.
    std::optional<std::int64_t> own_through{};
};

class sync_session {
  public:
    // Push-first names that are remembered: replicas that share a client ID have one each.
    static constexpr std::size_t names_max = 8;
    // A replica never goes back behind what it has committed, so a client ID that does so this
    // often is shared. A single time may be a request that a proxy repeated.
    static constexpr int shared_from = 2;
    // Whether another batch follows, as far as the size of a batch shows.
    enum class next_batch { none, possible, likely };
    // Tasks changed by others that are remembered; beyond it all tasks count as changed.
    static constexpr std::size_t others_tasks_max = 4'096;

    // `may_be_resumed`: a sync that began before this session may still be in progress.
    explicit sync_session(bool may_be_resumed = false) : may_be_resumed_(may_be_resumed) {}

    // The device requests the child of `parent`. None: respond 404, so that the device pushes.
    std::optional<sync_position> pull(const uuid& parent) {
        if (at_ != parent || is_last_) {
            begin(parent);
        } else if (is_held_) {
            is_last_ = true;
            return std::nullopt;
        } else if (std::exchange(is_pushed_, false)) {
            // The next batch begins.
            earlier_.add(std::exchange(now_, {}));
        }
        return sync_position{.pushes_first = order_ == order::push_first,
                             .pulls_first = order_ == order::pull_first,
                             .pulls_own = pulls_own_,
                             .has_another_batch = next_ == next_batch::likely,
                             .may_be_resumed = is_resumed_,
                             .is_shared = is_shared(),
                             .own_through = own_through_};
    }

    // The answer to a pull. `from`: the device had the chain up to here. `others`: others' changes.
    void pulled(const uuid& child, std::span<const operation> others, std::int64_t from) {
        began_from(from);
        at_ = child;
        for (const operation& o : others) {
            meets_ = meets_ || earlier_.contains(o.uuid);
            now_.add(o.uuid);
        }
    }
    // The device must push first, and its position stays. `head`: seq of the last version.
    void held(const uuid& name, std::int64_t head, std::int64_t from) {
        began_from(from);
        at_ = name;
        is_held_ = true;
        if (names_.size() == names_max) names_.erase(names_.begin());
        names_.push_back({name, head});
    }
    void has_no_child(std::int64_t from) {
        began_from(from);
        is_last_ = true;
    }

    // The device pushes what follows `parent`. False: it is rejected, and must sync again.
    bool push(const uuid& parent, std::span<const operation> batch, next_batch next) {
        if (at_ != parent) begin(parent);
        next_ = next;
        if (is_shared() || order_ == order::pull_first) return true;
        const bool meets = meets_ || (is_resumed_ && next != next_batch::none) ||
                           std::ranges::any_of(batch, [&](const operation& o) {
                               return earlier_.contains(o.uuid);
                           });
        if (!meets) return true;
        order_ = order::push_first;
        at_.reset();
        return false;
    }
    void pushed(const uuid& version) {
        at_ = version;
        is_last_ = is_held_ = false;
        is_pushed_ = true;
    }
    // All that the device has is on the chain up to `head`: its requested snapshot was merged.
    void merged(std::int64_t head) { own_through_ = head; }
    // The device must pull before it can push. The session no longer intervenes, and the sync ends
    // as on any other server. A device whose own version is next can still push it again first; if
    // that is rejected again, it pulls its own version, too.
    void is_too_far_behind() {
        pulls_own_ = order_ == order::pull_first;
        order_ = order::pull_first;
    }

  private:
    struct push_first_name {
        uuid name{};
        std::int64_t head = 0;
    };
    // Holds halves of keyed hashes: a task that was not added seldom counts as added, which costs
    // the device one more sync.
    class task_set {
      public:
        void add(const uuid& task) {
            if (hashes_.size() < others_tasks_max) {
                hashes_.insert(hash_of(task));
            } else {
                has_all_ = true;
            }
        }
        void add(const task_set& other) {
            has_all_ = has_all_ || other.has_all_ ||
                       hashes_.size() + other.hashes_.size() > others_tasks_max;
            if (!has_all_) hashes_.insert(other.hashes_.begin(), other.hashes_.end());
        }
        bool contains(const uuid& task) const {
            return has_all_ || hashes_.contains(hash_of(task));
        }

      private:
        static std::uint32_t hash_of(const uuid& task) {
            return static_cast<std::uint32_t>(keyed_hash{}(task));
        }
        boost::container::flat_set<std::uint32_t> hashes_;
        bool has_all_ = false;
    };
    enum class order { stock, push_first, pull_first };

    bool is_shared() const noexcept { return went_back_ >= shared_from; }

    void begin(const uuid& at) {
        // The device has committed the previous sync, so it has pushed all it had.
        has_ended_ = at_ == at && is_last_;
        if (has_ended_) {
            order_ = order::stock;
            pulls_own_ = false;
        }
        own_through_.reset();
        for (const push_first_name& each : names_) {
            if (each.name == at) own_through_ = each.head;
        }
        // A device that has nothing yet has pulled nothing.
        is_resumed_ = !is_known_ && may_be_resumed_ && !at.is_nil();
        earlier_ = now_ = {};
        meets_ = is_pushed_ = false;
        next_ = next_batch::none;
        is_known_ = is_new_ = true;
        at_ = at;
        is_last_ = is_held_ = false;
    }
    void began_from(std::int64_t seq) {
        if (!is_new_) return;
        is_new_ = false;
        if (seq < committed_) ++went_back_;
        if (has_ended_) committed_ = std::max(committed_, seq);
    }

    bool may_be_resumed_;
    bool is_known_ = false;  // the device has sent a request
    order order_ = order::stock;
    bool pulls_own_ = false;
    std::vector<push_first_name> names_;  // oldest first
    std::int64_t committed_ = 0;          // the device has committed the chain up to here
    int went_back_ = 0;

    // Of the sync in progress.
    std::optional<uuid> at_;  // the last version that the device received
    std::optional<std::int64_t> own_through_;
    bool is_new_ = false;                 // nothing was answered yet
    bool has_ended_ = false;              // the previous sync has ended
    bool is_resumed_ = false;             // the sync may have begun before this session
    bool is_last_ = false;                // the answer was that `at_` has no child
    bool is_held_ = false;                // `at_` is a push-first name
    bool is_pushed_ = false;              // the device has pushed, and not pulled since
    next_batch next_ = next_batch::none;  // of the last batch
    // Tasks in others' changes pulled before an earlier batch was pushed, and since then.
    task_set earlier_, now_;
    bool meets_ = false;  // a task is in both
};

}  // namespace callsign

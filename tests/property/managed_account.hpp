#pragma once
// A managed account for its devices and REST: the real rules on a real store, one transaction per
// command, with injected crashes.

#include "support/counted_ids.hpp"
#include "support/go_on.hpp"
#include "support/model_client.hpp"
#include "support/scrub.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/rules.hpp>

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::testing {

inline constexpr time_point t0{milliseconds{1'700'000'000'000}};

inline constexpr std::int64_t all_rows = std::numeric_limits<std::int64_t>::max();

inline uuid task_uuid(int n) {
    return {{static_cast<std::uint8_t>(n + 1)}};
}

// ---- account ----

class managed_account {
  public:
    using opener = std::function<std::unique_ptr<store>()>;

    explicit managed_account(opener open) : open_(std::move(open)), store_(open_()) {
        create_account made{"board", "SYN", "t", {}, {}};
        run(made);
        account_ = accounts::find(*store_->begin_read(), "board")->id;
    }

    uuid add_device(int n) {
        const uuid client{{0xC0, static_cast<std::uint8_t>(n)}};
        const auto tx = store_->begin_write();
        devices::put(*tx, {.client_id = client,
                           .account = account_,
                           .name = "d" + std::to_string(n),
                           .sealed_key = "k",
                           .created_at = now_});
        tx->commit();
        return client;
    }

    task_tag tag(std::int64_t seq) const {
        return {seq, stamp_of(instance_of(*store_->begin_read()), "SYN")};
    }

    enum class crash { none, before_commit, after_commit };
    // Injects a crash into the next transaction.
    void arm(crash where) { armed_ = where; }

    template <class Command>
    std::optional<typename Command::answer> run(const Command& c) {
        now_ += milliseconds{1};
        const crash where = std::exchange(armed_, crash::none);
        {
            const auto tx = store_->begin_write();
            auto answer = rules::apply(*tx, c, rules::moment{now_, ids_});
            if (where != crash::before_commit) {
                tx->commit();
                if (where == crash::none) return answer;
            }
        }
        store_.reset();
        store_ = open_();
        ++starts_;
        return std::nullopt;
    }

    // Completes the scrub unless a crash interrupts it.
    void scrub() {
        scrub_all([this](const auto& q) { return rules::read(*store_->begin_read(), q); },
                  [this](const auto& c) { return run(c); }, 1);
    }

    // Replaces the lost data with a backup.
    void put_back(std::unique_ptr<store> backup) {
        store_ = std::move(backup);
        now_ += milliseconds{1};
        const auto tx = store_->begin_write();
        rules::apply(*tx, mark_restored{ids_.next(now_)}, rules::moment{now_, ids_});
        tx->commit();
    }
    void pass(milliseconds time) { now_ += time; }

    store& data() { return *store_; }
    account_id id() const { return account_; }
    int starts() const { return starts_; }
    // Whether every sync in progress began after the last start of the server.
    bool is_quiet() const { return is_quiet_; }
    void be_quiet() { is_quiet_ = true; }
    time_point now() const { return now_; }

  private:
    opener open_;
    std::unique_ptr<store> store_;
    counted_ids ids_;
    time_point now_ = t0;
    account_id account_;
    crash armed_ = crash::none;
    int starts_ = 0;
    bool is_quiet_ = false;
};

// The connection of one device to the account.
class device_link final : public model_server {
  public:
    // `work_max`: work per command on a segment. `read_max`: bytes of missed versions that a
    // command reads. `batch_max`: bytes that the device sends at once.
    device_link(managed_account& account, uuid client, std::size_t work_max,
                std::size_t batch_max = model_client::no_limit,
                std::size_t read_max = callsign::add_version::read_bytes_max)
        : account_(account),
          client_(client),
          work_max_(work_max),
          batch_max_(batch_max),
          read_max_(read_max) {}

    std::optional<child> child_of(const uuid& parent) override {
        const auto tx = account_.data().begin_read();
        sync_session& its = session();
        const auto at = its.pull(parent);
        if (!at) return std::nullopt;
        const find_child question{account_.id(), parent, {}, devices::find(*tx, client_)->id, *at};
        auto found = rules::read(*tx, question);
        EXPECT_FALSE(std::holds_alternative<unknown_version>(found)) << to_string(parent);
        if (const auto* const first = std::get_if<find_child::push_first>(&found)) {
            its.held(first->name, first->head, first->from);
            return child{first->name, {}};
        }
        auto* const next = std::get_if<find_child::next_version>(&found);
        if (!next) {
            its.has_no_child(std::get<up_to_date>(found).from);
            return std::nullopt;
        }
        its.pulled(next->id, next->others(), next->from);
        return child{next->id, std::move(next->operations)};
    }

    // Like the server's handler: one command after the other, until the segment is processed.
    std::variant<accepted, expected> add_version(const uuid& parent,
                                                 std::vector<operation> all) override {
        callsign::add_version c{client_, parent, std::move(all), account_.id(), 0};
        c.work_max = work_max_;
        c.read_max = read_max_;
        if (!session().push(parent, c.operations, next_of(c.operations.size()))) throw rejected{};
        bool sends_again = false;  // operations that the chain already has
        for (;;) {
            const auto seq = accounts::head_of(*account_.data().begin_read(), account_.id()).seq;
            const auto answer = account_.run(c);
            find_forgotten();
            if (!answer)
                return accepted{};  // the server died without a response, and the caller knows it
            if (std::holds_alternative<callsign::add_version::needs_missed>(*answer)) {
                const auto ask = [this](const find_missed& q) {
                    return rules::read(*account_.data().begin_read(), q);
                };
                if (!read_missed(c, read_max_ + 1, ask))
                    ADD_FAILURE() << "the device is too far behind";
                ++reads;
                continue;
            }
            const auto* const added = std::get_if<callsign::add_version::added>(&*answer);
            EXPECT_TRUE(added) << "a device was rejected";
            if (!added) return expected{};
            late += added->stale ? 1 : 0;
            const auto rest = c.operations.begin() + static_cast<std::ptrdiff_t>(added->taken);
            const auto now = accounts::head_of(*account_.data().begin_read(), account_.id()).seq;
            sends_again = sends_again || now == seq;
            if (!sends_again) judge(c.parent, {c.operations.begin(), rest}, seq);
            go_on(c, *added);
            if (c.operations.empty()) {
                session().pushed(added->version);
                return accepted{added->version};
            }
            EXPECT_GT(added->taken, 0u);
        }
    }

    int late = 0;
    int reads = 0;  // reads of missed versions for this command
    std::set<std::string> faults;

  private:
    // From a smaller batch, concurrent changes may have removed operations.
    sync_session::next_batch next_of(std::size_t batch) const {
        using next = sync_session::next_batch;
        if (batch_max_ == model_client::no_limit) return next::none;
        return batch < batch_max_ ? next::possible : next::likely;
    }

    // The session is lost when the server restarts.
    sync_session& session() {
        if (starts_ != account_.starts()) session_ = sync_session(!account_.is_quiet());
        starts_ = account_.starts();
        return session_;
    }

    // The operations appended behind `seq` must equal the result of a client that pulls first and
    // transforms. Exception: operations on tasks that are created and deleted within the segment
    // are dropped, unless others create the same tasks concurrently. Fork versions are not checked:
    // only the server knows how to rebase them.
    void judge(const uuid& parent, std::vector<operation> sent, std::int64_t seq) {
        const auto tx = account_.data().begin_read();
        const auto left_at = parent.is_nil() ? 0 : versions::find_seq(*tx, account_.id(), parent);
        if (!left_at) return;
        std::vector<operation> missed;
        for (const version& v : versions::some(*tx, account_.id(), *left_at, seq - *left_at)) {
            missed.insert(missed.end(), v.operations.begin(), v.operations.end());
        }
        std::map<uuid, std::pair<operation_kind, operation_kind>>
            ends;  // net effect on each task in the segment
        for (const operation& o : sent) ends.try_emplace(o.uuid, o.kind, o.kind);
        for (const operation& o : sent) ends[o.uuid].second = o.kind;
        for (const operation& o : missed) ends.erase(o.uuid);
        std::erase_if(sent, [&](const operation& o) {
            const auto found = ends.find(o.uuid);
            return found != ends.end() &&
                   found->second == std::pair(operation_kind::create, operation_kind::remove);
        });
        pull(missed, sent);
        if (versions::some(*tx, account_.id(), seq, 1)[0].operations != sent) {
            faults.insert("a stale version differs from its client's own rebase");
        }
    }

    // A device that adds a task commits the slots that wait for it. Checked at once, since the
    // reaper would commit them later.
    void find_forgotten() {
        const auto tx = account_.data().begin_read();
        for (const slot& s :
             slots::some(*tx, slot_id{}, all_rows, slot_state::pending, account_.id())) {
            if (!tasks::find(*tx, account_.id(), s.uuid)) continue;
            const auto all = slots::some(*tx, slot_id{}, all_rows, {}, account_.id());
            const bool made_by_rest = std::any_of(all.begin(), all.end(), [&](const slot& other) {
                return other.task && other.created && other.uuid == s.uuid;
            });
            if (!made_by_rest)
                faults.insert("the slot of " + s.key + " waits for an existing task");
        }
    }

    managed_account& account_;
    uuid client_;
    std::size_t work_max_;
    std::size_t batch_max_;
    std::size_t read_max_;
    sync_session session_;
    int starts_ = 0;
};

}  // namespace callsign::testing

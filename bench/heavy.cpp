// heavy: how long the largest commands block the writer. Each kind runs step by step, as in its
// handler, on a SQLite store; a step is one transaction with its commit. Prints the number of steps
// of each kind, their total time, and the longest.
//
//     heavy            all kinds
//     heavy 0.01       at a hundredth of the size: smallest useful run

#include "local_store.hpp"
#include "support/temp_dir.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace callsign::bench {
namespace {

using kind = operation_kind;
using operations = std::vector<operation>;
using stopwatch = std::chrono::steady_clock;

operation create(const uuid& id) {
    return {kind::create, id, {}, {}, {}};
}

operation update(const uuid& id, std::string name, std::string value, precise_time at) {
    return {kind::update, id, std::move(name), std::move(value), at};
}

// A managed account with a device, and a timer around every transaction.
class heavy_account {
  public:
    explicit heavy_account(double scale) : scale_(scale) {
        account_ = make_account(*store_, ids_, "heavy", "HVY").id;
        const auto tx = store_->begin_write();
        client_ = ids_.next(wall_time());
        devices::put(*tx, {.client_id = client_,
                           .account = account_,
                           .name = "d",
                           .sealed_key = "k",
                           .created_at = wall_time()});
        tx->commit();
    }

    int scaled(int n) const { return std::max(1, static_cast<int>(n * scale_)); }
    uuid new_id() { return ids_.next(wall_time()); }
    uuid random_id() { return *parse_uuid(random_key(random_)); }
    chain_head head_of(account_id account) {
        return accounts::head_of(*store_->begin_read(), account);
    }
    uuid head() { return head_of(account_).version; }
    account_id id() const { return account_; }

    template <class Command>
    typename Command::answer run(const Command& c) {
        const auto begun = stopwatch::now();
        const auto tx = store_->begin_write();
        auto answer =
            rules::apply(*tx, c, {std::max(wall_time(), store_->totals()->last_moment), ids_});
        tx->commit();
        const double took =
            std::chrono::duration<double, std::milli>(stopwatch::now() - begun).count();
        ++steps_;
        total_ += took;
        longest_ = std::max(longest_, took);
        store_->embedded()->maintain(true);
        return answer;
    }

    // As the handler does.
    uuid send(uuid parent, const operations& all) {
        add_version c{client_, parent, {}, account_, 0};
        for (std::size_t begun = 0;;) {
            const auto rest = std::span<const operation>(all).subspan(begun);
            const auto step = rest.first(step_of(rest));
            c.operations.assign(step.begin(), step.end());
            const auto added = std::get<add_version::added>(run(c));
            begun += added.taken;
            c.parent = added.version;
            c.continues = true;
            if (begun == all.size()) return added.version;
        }
    }

    void forget_times() {
        steps_ = 0;
        total_ = longest_ = 0;
    }
    void print(const char* what) {
        std::printf("%-60s %6d steps %9.1f ms, longest %7.1f ms\n", what, steps_, total_, longest_);
        std::fflush(stdout);
        forget_times();
    }

  private:
    double scale_;
    testing::temp_dir dir_;
    std::unique_ptr<store> store_ = open_sqlite({.data_dir = dir_.path()});
    seeded_ids ids_{1};
    std::mt19937_64 random_{1};
    account_id account_;
    uuid client_{};
    int steps_ = 0;
    double total_ = 0;
    double longest_ = 0;
};

void many_properties(double scale, int count, const char* what) {
    heavy_account a(scale);
    const uuid id = a.new_id();
    operations all{create(id)};
    // Unsorted, like the names in a map.
    for (int i = 0; i < a.scaled(count); ++i) {
        all.push_back(update(id, "p" + std::to_string(i * 7919LL % 1'000'003), "v", wall_time()));
    }
    a.send(a.head(), all);
    a.print(what);
}

void many_creates(double scale, int count, const char* what) {
    heavy_account a(scale);
    operations all;
    for (int i = 0; i < a.scaled(count); ++i) all.push_back(create(a.random_id()));
    a.send(a.head(), all);
    a.print(what);
}

void stock_import(double scale) {
    heavy_account a(scale);
    operations all;
    for (int i = 0; i < a.scaled(1000); ++i) {
        const uuid id = a.random_id();
        all.push_back(create(id));
        for (const char* name : {"description", "entry", "modified", "status", "project", "due"}) {
            all.push_back(
                update(id, name, description_of(static_cast<std::uint64_t>(i)), wall_time()));
        }
    }
    a.send(a.head(), all);
    a.print("a stock client's body: 1,000 new tasks of six attributes");
}

void large_tasks(double scale) {
    heavy_account a(scale);
    operations all, edits;
    for (int i = 0; i < a.scaled(64); ++i) {
        const uuid id = a.new_id();
        all.push_back(create(id));
        all.push_back(update(id, "a", std::string(task_bytes_max - 1000, 'x'), wall_time()));
        edits.push_back(update(id, "p", "v", wall_time()));
    }
    a.send(a.head(), all);
    a.print("64 new tasks of 4 MiB");
    a.send(a.head(), edits);
    a.print("one change of each of them");
}

void late(double scale, int versions, int operations_each, const char* what) {
    heavy_account a(scale);
    const uuid id = a.new_id();
    a.send(a.head(), {create(id), update(id, "p", "v", wall_time())});
    const uuid common = a.head();
    for (int n = 0; n < a.scaled(versions); ++n) {
        operations all;
        for (int i = 0; i < operations_each; ++i) {
            all.push_back(update(id, "q" + std::to_string(i), std::to_string(n), wall_time()));
        }
        a.send(a.head(), all);
    }
    a.forget_times();
    for (int n = 0; n < 20; ++n) a.send(common, {update(id, "p", std::to_string(n), wall_time())});
    a.print(what);
}

void import(double scale) {
    heavy_account a(scale);
    import_tasks c{a.id()};
    for (int i = 0; i < a.scaled(500); ++i) {
        c.tasks.push_back({a.random_id(), {{"description", std::string(2000, 'x')}}});
    }
    while (!c.tasks.empty()) {
        const auto done = std::get<import_tasks::done>(a.run(c));
        c.tasks.erase(c.tasks.begin(), c.tasks.begin() + static_cast<std::ptrdiff_t>(done.taken));
    }
    a.print("an import of 500 tasks, 1 MB");
}

// As the job does.
void manage(double scale) {
    heavy_account a(scale);
    const uuid client = a.new_id();
    const account_id opaque = a.run(register_client{client}).account.id;
    manage_account c;
    c.account = opaque;
    uuid parent{};
    for (int v = 0; v < a.scaled(1000); ++v) {
        a.run(add_sealed_version{client, parent, std::string(10'000, 'x'), false, opaque});
        c.head = a.head_of(opaque);
        version& taken = c.history.emplace_back();
        taken = {c.head.seq, c.head.version, parent, wall_time(), {}};
        for (int n = 0; n < 10; ++n) {
            const uuid id = a.random_id();
            taken.operations.push_back(create(id));
            auto& made = c.tasks.emplace_back();
            made.uuid = id;
            made.seq = c.head.seq;
            made.created_at = wall_time();
            for (const char* name : {"description", "entry", "modified", "status", "project"}) {
                taken.operations.push_back(update(id, name, description_of(7), wall_time()));
                made.attributes.emplace(name, description_of(7));
            }
        }
        parent = c.head.version;
    }
    c.device_name = "shared";
    c.sealed_key = "k";
    a.forget_times();
    take_over_history step{.account = opaque, .head = c.head, .taken = {}};
    const auto take = [&](std::size_t some) {
        if (some < 100) return;
        step.taken = std::get<take_over_history::went_on>(a.run(step)).taken;
        step.history.clear();
        step.tasks.clear();
    };
    for (version& v : c.history) {
        step.history.push_back(std::move(v));
        take(step.history.size());
    }
    for (auto& t : c.tasks) {
        step.tasks.push_back(std::move(t));
        take(step.tasks.size() / 4);
    }
    c.taken = step.taken;
    c.history = std::move(step.history);
    c.tasks = std::move(step.tasks);
    CALLSIGN_ASSERT(std::holds_alternative<manage_account::managed>(a.run(c)));
    for (remove_sealed rest{.account = opaque};;) {
        const auto done = a.run(rest);
        if (!done.next) break;
        rest.from = *done.next;
    }
    a.print("account manage: 1,000 versions, 10,000 tasks, 60,000 operations");
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    using namespace callsign::bench;
    const double scale = argc > 1 ? std::atof(argv[1]) : 1;
    many_properties(scale, 9'900, "a segment of 9,900 properties of one task, which has 10,000");
    many_creates(scale, 17'000, "a segment of 17,000 creates, as many as a stock client sends");
    many_creates(scale, 190'000, "a segment of 190,000 creates");
    stock_import(scale);
    large_tasks(scale);
    late(scale, 3'900, 1, "late over 3,900 versions of one operation");
    late(scale, 19, 1000, "late over 19 versions of 1,000 operations");
    import(scale);
    manage(scale);
}

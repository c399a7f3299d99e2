// lists: list pages per second in an account with few tasks and in one with many, with equal
// numbers of open tasks. Both are on SQLite stores and are measured alternately, so that noise
// affects both. Ratios of about 1 show that a page's cost depends only on its content.
//
//     lists                 10,000 tasks against 1,000,000
//     lists 100000          another larger number

#include "local_store.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace callsign::bench {
namespace {

using stopwatch = std::chrono::steady_clock;

constexpr int open_tasks = 500;
constexpr int windows = 7;
constexpr std::chrono::milliseconds window{300};

// An account with `count` tasks; the open ones are evenly distributed.
class listed_account {
  public:
    explicit listed_account(int count) : count_(count) {
        id_ = make_account(*store_, ids_, "lists", "LST").id;
        import_tasks c;
        c.account = id_;
        for (int n = 0; n < count; ++n) {
            c.tasks.push_back({ids_.next(wall_time()), attributes_of(n)});
            if (c.tasks.size() < import_tasks::tasks_max && n + 1 < count) continue;
            while (!c.tasks.empty()) take_some(c);
            if ((n + 1) % 100'000 == 0) std::fprintf(stderr, "%d tasks\n", n + 1);
        }
        store_->embedded()->maintain(true);
    }

    account_id id() const { return id_; }
    int count() const { return count_; }
    template <class Query>
    typename Query::answer ask(const Query& q) {
        return rules::read(*store_->begin_read(), q);
    }

  private:
    attributes attributes_of(int n) const {
        const bool is_open = n % (count_ / open_tasks) == 0;
        attributes all{{"description", description_of(static_cast<std::uint64_t>(n))},
                       {"entry", "1790000000"},
                       {"modified", "1790000000"},
                       {"project", n % 3 == 0 ? "Home.Garden" : "Work"},
                       {"status", is_open ? "pending" : "completed"}};
        if (!is_open) all.emplace("end", "1791000000");
        if (n % 2 == 0) all.emplace("due", std::to_string(1'800'000'000 + n));
        return all;
    }
    void take_some(import_tasks& c) {
        const auto tx = store_->begin_write();
        const auto answer =
            rules::apply(*tx, c, {std::max(wall_time(), store_->totals()->last_moment), ids_});
        tx->commit();
        store_->embedded()->maintain(false);
        const auto taken = std::get<import_tasks::done>(answer).taken;
        c.tasks.erase(c.tasks.begin(), c.tasks.begin() + static_cast<std::ptrdiff_t>(taken));
    }

    int count_;
    testing::temp_dir dir_;
    std::unique_ptr<store> store_ = open_sqlite({.data_dir = dir_.path()});
    seeded_ids ids_{1};
    account_id id_;
};

using question = std::function<void(listed_account&)>;

double rate(listed_account& of, const question& ask) {
    const auto end = stopwatch::now() + window;
    const auto begun = stopwatch::now();
    int asked = 0;
    for (; stopwatch::now() < end; ++asked) ask(of);
    return asked / std::chrono::duration<double>(stopwatch::now() - begun).count();
}

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

void compare(listed_account& few, listed_account& many, const char* what, const question& ask) {
    std::vector<double> of_few, of_many, ratios;
    rate(few, ask), rate(many, ask);
    for (int n = 0; n < windows; ++n) {
        of_few.push_back(rate(few, ask));
        of_many.push_back(rate(many, ask));
        ratios.push_back(of_many.back() / of_few.back());
    }
    std::printf("%-44s %10.0f/s %10.0f/s   ratio %.2f\n", what, median(of_few), median(of_many),
                median(ratios));
    std::fflush(stdout);
}

list_tasks page_of(const listed_account& of, std::size_t size) {
    list_tasks q;
    q.account = of.id();
    q.limit = size;
    q.now = wall_time();
    return q;
}

void run(int count) {
    listed_account few(10'000), many(count);
    std::printf("%-44s %12d %12d   tasks, %d open\n", "", few.count(), many.count(), open_tasks);
    compare(few, many, "the first 50 open ones", [](auto& of) { of.ask(page_of(of, 50)); });
    compare(few, many, "50 in the middle", [](auto& of) {
        list_tasks q = page_of(of, 50);
        const auto start = std::get<list_tasks::part>(of.ask(page_of(of, 1))).next;
        q.after = task_place{start->series, start->period, of.count() / 2};
        of.ask(q);
    });
    compare(few, many, "the last 50, down", [](auto& of) {
        list_tasks q = page_of(of, 50);
        q.descending = true;
        of.ask(q);
    });
    compare(few, many, "50 of a project", [](auto& of) {
        list_tasks q = page_of(of, 50);
        q.filter.project = "Home";
        of.ask(q);
    });
    compare(few, many, "all open ones in order of urgency", [](auto& of) {
        scan_tasks q;
        q.account = of.id();
        q.by = task_sort::urgency;
        q.now = wall_time();
        std::vector<scanned_task> all;
        do {
            auto part = std::get<scan_tasks::part>(of.ask(q));
            all.insert(all.end(), part.tasks.begin(), part.tasks.end());
            q.after = std::move(part.next);
        } while (q.after);
        ordered(all, q.filter, {task_sort::urgency, true});
    });
    compare(few, many, "50 completed ones", [](auto& of) {
        list_tasks q = page_of(of, 50);
        q.filter.statuses = {task_status::completed};
        of.ask(q);
    });
    int drawn = 0;
    compare(few, many, "one task by its key", [&](auto& of) {
        of.ask(find_task{of.id(), task_key{"LST", "", 1 + (drawn += 7919) % of.count()}});
    });
}

}  // namespace
}  // namespace callsign::bench

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 1'000'000;
    if (count < 1'000) {
        std::fprintf(stderr, "lists: the number of tasks must be at least 1000, not %s\n", argv[1]);
        return 2;
    }
    callsign::bench::run(count);
}

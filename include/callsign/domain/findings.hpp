#pragma once
// What a check of a store finds. A proof is a sentence that must hold of every row; a fault names a
// row of which it does not.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign {

struct proof {
    const char* invariant;  // I1..I8, or "file": what the rows are kept in
    const char* sentence;
};

// No invariant is broken, but the sync that made the task ended before the rest of it came
// (is_incomplete()).
struct incomplete_task {
    std::string account;
    std::string key;
    callsign::uuid uuid{};
};

struct check_report {
    struct count {
        std::string name;
        std::int64_t rows = 0;
    };
    struct fault {
        std::string invariant;
        std::string text;  // the proof, and the offending row
    };
    std::vector<count> checked;
    std::vector<fault> faults;  // at most faults_max
    // The latest time that the store has stamped anything with.
    time_point last_moment{};
    static constexpr std::size_t faults_max = 100;
    std::vector<incomplete_task> incomplete{};  // the first of them, at most incomplete_max
    std::int64_t incomplete_count = 0;
    static constexpr std::size_t incomplete_max = 100;
    bool ok() const noexcept { return faults.empty(); }
};

// Who finds something tells it here.
class findings {
  public:
    // Told each proof's sentence, as it begins.
    using progress = std::function<void(std::string_view)>;

    // An incomplete task that is younger than `made_before` may be in a sync that is in progress.
    explicit findings(progress told, time_point made_before = time_point::max())
        : told_(std::move(told)), made_before_(made_before) {}

    void begin(const proof& p) { told_(p.sentence); }
    void count(std::string name, std::int64_t rows) {
        report.checked.push_back({std::move(name), rows});
    }
    void fault(const proof& p, const std::string& text) { add(p.invariant, p, text); }
    // Whether the proof holds is not known of what cannot be read.
    void unreadable(const proof& p, const std::string& text) { add("file", p, text); }

    void incomplete(incomplete_task found, time_point created_at) {
        if (created_at >= made_before_) return;
        ++report.incomplete_count;
        if (report.incomplete.size() >= check_report::incomplete_max) return;
        report.incomplete.push_back(std::move(found));
    }

    check_report report;

  private:
    void add(const char* invariant, const proof& p, const std::string& text) {
        if (report.faults.size() >= check_report::faults_max) return;
        report.faults.push_back({invariant, std::string(p.sentence) + ": " + text});
    }

    progress told_;
    time_point made_before_;
};

}  // namespace callsign

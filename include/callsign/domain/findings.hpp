#pragma once
// The result of checking a store. A proof is a statement that must hold for every row; a fault
// names a row that violates it.

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
    const char* invariant;  // I1..I8, or "file": the storage of the rows
    const char* sentence;
};

// A task that the sync which created it left without its description or status (is_incomplete()).
// No invariant is violated.
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
        std::string text;  // the statement and the row
    };
    std::vector<count> checked;
    std::vector<fault> faults;  // at most faults_max
    // The latest instant stored in any row.
    time_point last_moment{};
    static constexpr std::size_t faults_max = 100;
    std::vector<incomplete_task> incomplete{};  // the first ones, at most incomplete_max
    std::int64_t incomplete_count = 0;
    static constexpr std::size_t incomplete_max = 100;
    bool ok() const noexcept { return faults.empty(); }
};

// Collects the result of a check.
class findings {
  public:
    // Called with the statement of each proof when it begins.
    using progress = std::function<void(std::string_view)>;

    // Incomplete tasks not created before `made_before` are left out: their sync may be running.
    explicit findings(progress told, time_point made_before = time_point::max())
        : told_(std::move(told)), made_before_(made_before) {}

    void begin(const proof& p) { told_(p.sentence); }
    void count(std::string name, std::int64_t rows) {
        report.checked.push_back({std::move(name), rows});
    }
    void fault(const proof& p, const std::string& text) { add(p.invariant, p, text); }
    // A row cannot be read, so that it is unknown whether the proof holds for it.
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

#pragma once
// What a check of a store finds. A proof is a sentence that must hold of every row; a fault names a
// row of which it does not.

#include <callsign/base/time.hpp>

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
    bool ok() const noexcept { return faults.empty(); }
};

// Who finds something tells it here.
class findings {
  public:
    // Told each proof's sentence, as it begins.
    using progress = std::function<void(std::string_view)>;

    explicit findings(progress told) : told_(std::move(told)) {}

    void begin(const proof& p) { told_(p.sentence); }
    void count(std::string name, std::int64_t rows) {
        report.checked.push_back({std::move(name), rows});
    }
    void fault(const proof& p, const std::string& text) { add(p.invariant, p, text); }
    // Whether the proof holds is not known of what cannot be read.
    void unreadable(const proof& p, const std::string& text) { add("file", p, text); }

    check_report report;

  private:
    void add(const char* invariant, const proof& p, const std::string& text) {
        if (report.faults.size() >= check_report::faults_max) return;
        report.faults.push_back({invariant, std::string(p.sentence) + ": " + text});
    }

    progress told_;
};

}  // namespace callsign

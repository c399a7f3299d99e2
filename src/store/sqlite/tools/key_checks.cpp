#include "index/key_index.hpp"
#include "statements.hpp"
#include "tools/storage_checks.hpp"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace callsign::sqlite {
namespace {

constexpr proof indexed_keys{"I3", "every key finds its slot"};
constexpr std::int64_t slots_max = std::int64_t{1} << 32;

class key_checker {
  public:
    key_checker(connection& db, findings& found) : db_(db), found_(found) {}

    // Verifies that every slot is found by its key: a run has it under its hash, or it is newer
    // than all runs (such slots are read at start).
    void run() {
        std::vector<bool> indexed = slots_in_runs();
        const auto through =
            db_.integer_of("SELECT coalesce(max(through), 0) FROM key_runs WHERE state = 2");
        std::int64_t looked_at = 0;
        auto q = db_.use("SELECT slot_id FROM slots ORDER BY slot_id");
        for (; q.step(); ++looked_at) {
            const auto id = q.integer(0);
            const auto at = static_cast<std::size_t>(id - first_slot_);
            if (id <= through && (at >= indexed.size() || !indexed[at])) {
                found_.fault(indexed_keys, "slot " + std::to_string(id) + " is not indexed");
            }
        }
        found_.count("keys", looked_at);
    }

  private:
    std::vector<bool> slots_in_runs() {
        first_slot_ = db_.integer_of(sql::slot_oldest);
        const auto last = db_.integer_of("SELECT coalesce(max(slot_id), 0) FROM slots");
        if (last - first_slot_ >= slots_max) {
            throw_damaged("slots", last, "its id is far from all others");
        }
        std::vector<bool> indexed(static_cast<std::size_t>(last - first_slot_ + 1));
        auto pages = db_.use(
            "SELECT r.run_id, p.entries FROM key_runs r JOIN key_pages p ON p.page_id >= r.run_id "
            "<< 32"
            " AND p.page_id < (r.run_id + 1) << 32 WHERE r.state = 2 ORDER BY p.page_id");
        std::int64_t run = 0;
        std::uint64_t before = 0;
        while (pages.step()) {
            if (std::exchange(run, pages.integer(0)) != pages.integer(0)) before = 0;
            const auto bytes = pages.blob(1);
            for (std::size_t at = 0; at + 16 <= bytes.size(); at += 16) {
                std::uint64_t hash = 0;
                std::int64_t slot = 0;
                std::memcpy(&hash, bytes.data() + at, sizeof hash);
                std::memcpy(&slot, bytes.data() + at + sizeof hash, sizeof slot);
                if (hash < before)
                    found_.fault(indexed_keys, "run " + std::to_string(run) + " is out of order");
                before = hash;
                if (slot >= first_slot_ && slot <= last && hash_of_slot(slot) == hash) {
                    indexed[static_cast<std::size_t>(slot - first_slot_)] = true;
                }
            }
        }
        return indexed;
    }

    std::optional<std::uint64_t> hash_of_slot(std::int64_t slot) {
        auto q = db_.use("SELECT account_id, key FROM slots WHERE slot_id = ?");
        if (!q.bind(slot).step()) return std::nullopt;
        return key_hash(account_id{q.integer(0)}, q.text(1));
    }

    connection& db_;
    findings& found_;
    std::int64_t first_slot_ = 0;
};

}  // namespace

void check_keys(connection& db, findings& found) {
    check_part(found, indexed_keys, [&] { key_checker(db, found).run(); });
}

}  // namespace callsign::sqlite

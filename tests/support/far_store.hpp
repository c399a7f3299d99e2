#pragma once
// A store around a store that behaves as one across a network: fetch_ahead() prefetches, and each
// other read is counted as a round trip.

#include "forwarding_store.hpp"

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace callsign::testing {

class far_store final : public forwarding_store {
  public:
    // By the index's table and columns.
    struct reads {
        std::map<std::string, int> alone;    // rows that were not prefetched
        std::map<std::string, int> scans;    // pages of ranges
        std::map<std::string, int> scanned;  // rows of those pages
        std::map<std::string, int> in_vain;  // rows that were prefetched to no effect
    };

    using forwarding_store::forwarding_store;

    std::unique_ptr<write_tx> begin_write() override {
        return std::make_unique<transaction>(reads_, within_.begin_write());
    }
    // Reads of write transactions since the previous call.
    reads take_reads() { return std::exchange(reads_, {}); }

  private:
    static std::string name_of(const index_info& index) {
        std::string name(index.table->name);
        for (const std::string_view column : index.columns) {
            name += ' ';
            name += column;
        }
        return name;
    }

    class transaction final : public write_tx {
      public:
        transaction(reads& counted, std::unique_ptr<write_tx> within)
            : write_tx(*within), counted_(counted), tx_(std::move(within)) {}
        ~transaction() override {
            for (const auto& [key, ahead] : ahead_) {
                if (ahead.is_named && !ahead.is_used) ++counted_.in_vain[name_of(*key.first)];
            }
        }
        transaction(const transaction&) = delete;
        transaction& operator=(const transaction&) = delete;

        void fetch_ahead(const std::function<std::vector<row_name>()>& named) override {
            for (const row_name& n : named()) {
                const row_ptr row = tx_->fetch(*n.index, n.key, n.head);
                keep(*n.index, n.key, row, n.head).is_named = true;
                if (!row) continue;
                // A prefetched row can be read by each of its keys.
                for (const index_info& other : n.index->table->indexes) {
                    const auto key = other.key_of(row.get());
                    if (key && other.number != n.index->number) keep(other, *key, row, n.head);
                }
            }
        }
        row_ptr fetch(const index_info& index, const row_key& key, bool head) override {
            const auto at = ahead_.find({&index, key});
            if (at != ahead_.end() && (head || !at->second.is_head || !at->second.row)) {
                at->second.is_used = true;
                return at->second.row;
            }
            ++counted_.alone[name_of(index)];
            return tx_->fetch(index, key, head);
        }
        row_page scan(const row_range& range) override {
            // Any store holds an index of this form in memory.
            row_page page = tx_->scan(range);
            if (range.index->form == index_form::brief) return page;
            ++counted_.scans[name_of(*range.index)];
            counted_.scanned[name_of(*range.index)] += static_cast<int>(page.rows.size());
            return page;
        }
        std::size_t work_done() const override { return tx_->work_done(); }
        void flush() override { tx_->flush(); }
        void clear_log() override { tx_->clear_log(); }
        void commit() override { tx_->commit(); }
        void commit_unsynced() override { tx_->commit_unsynced(); }

      private:
        struct fetched {
            row_ptr row;  // null: no such row
            bool is_head = false;
            bool is_named = false;
            bool is_used = false;
        };
        using place = std::pair<const index_info*, row_key>;

        // A whole row replaces a head.
        fetched& keep(const index_info& index, const row_key& key, const row_ptr& row, bool head) {
            const auto [at, is_first] = ahead_.try_emplace(place(&index, key), fetched{row, head});
            if (!is_first && at->second.is_head && !head) {
                at->second.row = row;
                at->second.is_head = false;
            }
            return at->second;
        }

        reads& counted_;
        std::unique_ptr<write_tx> tx_;
        std::map<place, fetched> ahead_;
    };

    reads reads_;
};

}  // namespace callsign::testing

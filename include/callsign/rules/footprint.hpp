#pragma once
// The rows that a batch of commands will read, as far as their keys are known before the commands
// are applied. A backend across a network prefetches them together (write_tx::fetch_ahead). A rule
// may read any other row too, at the cost of one round trip: so rare commands, and rows whose keys
// are found in other rows, are not covered.

#include <callsign/domain/command.hpp>
#include <callsign/ports/store.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::rules {

class footprint {
  public:
    // About the maximum for a batch: the rows of further commands are not prefetched.
    static constexpr std::size_t rows_max = 16'384;

    // `tx` must outlive the footprint. Rows that `tx` remembers are not listed.
    explicit footprint(write_tx& tx) : tx_(tx) {}

    void add(const command& c);
    // May contain duplicates.
    std::vector<row_name> rows() && { return std::move(rows_); }

  private:
    void look(const reserve& c);
    void look(const fulfil& c);
    void look(const begin_delivery& c);
    void look(const assign_key& c);
    void look(const edit_task& c);
    void look(const add_version& c);
    void look(const add_sealed_version& c);
    void look(const add_sealed_snapshot& c);
    void look(const settle& c);
    void look(const apply_remote_version& c);
    void look(const settle_delivery& c);
    template <class Command>
    void look(const Command& /*not covered*/) {}

    template <class Index, class... Part>
    void name(const Part&... parts);
    template <class Index, class... Part>
    void name_head(const Part&... parts);
    void name_account(account_id account);
    void name_client(const uuid& client);
    void name_series(account_id account, std::string_view prefix, std::string_view project);
    void name_task(account_id account, const task_ref& ref, bool head);
    void name_sealed(account_id account, const uuid& client);
    template <class Name>
    void each_task(std::span<const operation> operations, const Name& name_it);
    void name_mirrored(account_id account, const uuid& version,
                       std::span<const operation> operations);

    write_tx& tx_;
    std::vector<row_name> rows_;
};

}  // namespace callsign::rules

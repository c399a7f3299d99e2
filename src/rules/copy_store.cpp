#include <callsign/domain/work.hpp>
#include <callsign/ports/tables/all.hpp>
#include <callsign/rules/copy_store.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

namespace callsign::rules {
namespace {

constexpr std::int64_t copied_at_once = 512;

// What the IDs of a table are generated from.
template <class Row>
constexpr std::optional<drawn_id> drawn_for = std::nullopt;
template <>
constexpr std::optional<drawn_id> drawn_for<account> = drawn_id::account;
template <>
constexpr std::optional<drawn_id> drawn_for<series> = drawn_id::series;
template <>
constexpr std::optional<drawn_id> drawn_for<counter_row> = drawn_id::counter;
template <>
constexpr std::optional<drawn_id> drawn_for<token_row> = drawn_id::token;
template <>
constexpr std::optional<drawn_id> drawn_for<device> = drawn_id::device;
template <>
constexpr std::optional<drawn_id> drawn_for<webhook> = drawn_id::webhook;
template <>
constexpr std::optional<drawn_id> drawn_for<delivery_row> = drawn_id::delivery;
template <>
constexpr std::optional<drawn_id> drawn_for<action_row> = drawn_id::action;
template <>
constexpr std::optional<drawn_id> drawn_for<effect> = drawn_id::effect;
template <>
constexpr std::optional<drawn_id> drawn_for<sealed_version> = drawn_id::sealed;
template <>
constexpr std::optional<drawn_id> drawn_for<history_row> = drawn_id::history;
template <>
constexpr std::optional<drawn_id> drawn_for<fork_row> = drawn_id::fork;
template <>
constexpr std::optional<drawn_id> drawn_for<task_row> = drawn_id::task;
template <>
constexpr std::optional<drawn_id> drawn_for<version_row> = drawn_id::version;
template <>
constexpr std::optional<drawn_id> drawn_for<slot> = drawn_id::slot;

class copy {
  public:
    copy(read_tx& from, store& to, const copy_progress& told) : from_(from), to_(to), told_(told) {}

    std::int64_t run() {
        begin();
#define CALLSIGN_TABLE(row) copy_table<row>();
        CALLSIGN_TABLES(CALLSIGN_TABLE)
#undef CALLSIGN_TABLE
        end();
        return rows_;
    }

  private:
    // The identity of the store is copied first: it tells an interrupted copy from another store.
    void begin() {
        const auto tx = to_.begin_write();
        const auto own = tx->expect<instance_by_id>(std::int64_t{1});
        const auto its = from_.expect<instance_by_id>(std::int64_t{1});
        if (own->uuid == its->uuid) return;
        const auto totals = tx->expect<totals_by_id>(store_totals::only);
        if (totals->last_ids != store_totals{}.last_ids) {
            throw std::runtime_error("the destination has another store");
        }
        tx->put(own, *its);
        tx->commit();
    }
    // IDs that no row has any more are not used again.
    void end() {
        const auto its = from_.expect<totals_by_id>(store_totals::only);
        const auto tx = to_.begin_write();
        for (std::size_t n = 0; n < drawn_ids; ++n) {
            raise(*tx, static_cast<drawn_id>(n), its->last_ids[n]);
        }
        tx->raise_last_moment(its->last_moment);
        tx->commit();
    }
    static void raise(write_tx& tx, drawn_id what, std::int64_t last) {
        const std::int64_t now = tx.draw(what, 0);
        if (now < last) tx.draw(what, last - now);
    }

    template <class Row>
    void copy_table() {
        if constexpr (!std::is_same_v<Row, store_totals> && !std::is_same_v<Row, instance_row>) {
            using primary = primary_of<Row>;
            auto rest = range_of<primary>();
            const auto last = to_.begin_read()->all(range_of<primary>().descending().limit(1));
            if (!last.empty()) {
                std::apply([&](const auto&... part) { rest.after(part...); },
                           primary::key(*last.front()));
            }
            auto tx = to_.begin_write();
            std::int64_t in_batch = 0;
            const auto commit = [&] {
                tx->commit();
                if (auto* const its = to_.embedded()) its->maintain(false);
                if (auto* const its = to_.shared()) its->keep();
                told_(table<Row>::name, rows_);
            };
            from_.scan(rest, [&](const row_of<Row>& row) {
                if constexpr (drawn_for<Row>) {
                    raise(*tx, *drawn_for<Row>, id_of<Row>(*row));
                }
                tx->put(*row);
                ++rows_;
                if (++in_batch == copied_at_once || tx->work_done() >= step_work_max) {
                    commit();
                    tx = nullptr;  // one write transaction at a time
                    tx = to_.begin_write();
                    in_batch = 0;
                }
                return true;
            });
            commit();
        }
    }
    template <class Row>
    static std::int64_t id_of(const Row& row) {
        const auto id = std::get<0>(primary_of<Row>::key(row));
        if constexpr (requires { id.value; }) {
            return id.value;
        } else {
            return id;
        }
    }

    read_tx& from_;
    store& to_;
    const copy_progress& told_;
    std::int64_t rows_ = 0;
};

}  // namespace

std::int64_t copy_store(read_tx& from, store& to, const copy_progress& told) {
    return copy(from, to, told).run();
}

}  // namespace callsign::rules

// `callsign import numbers FILE --account ACCOUNT`: the whole table is read and checked, by the
// server too, before any row is imported. Existing rows are left alone, so the command can be
// repeated after an interruption.

#include "callsign/v1/callsign.pb.h"
#include "commands.hpp"
#include "failure.hpp"
#include "input.hpp"
#include "numbers_file.hpp"
#include "progress.hpp"
#include "text.hpp"

#include <callsign/domain/period.hpp>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <limits>
#include <map>
#include <span>
#include <tuple>

namespace callsign::cli {
namespace {

// Limits of a request: the server's, and well below its body limit.
constexpr int request_rows_max = 250;
constexpr std::size_t request_bytes_max = std::size_t{512} * 1024;

struct placed_row {
    numbered_row row;
    std::string period;
    std::int64_t after = 0;  // the number before it in the file
};

[[noreturn]] void reject_table(const std::vector<std::string>& faults) {
    std::string text = "the table has errors; nothing was imported";
    for (const std::string& fault : faults) text += "\n  " + printable(fault);
    throw failure(text);
}

// Returns rows in the order of import: by series, period and number.
std::vector<placed_row> place_rows(session& s, const std::string& account,
                                   std::vector<numbered_row> rows) {
    const auto list =
        s.ask_pages(account_path(account, "/series"), std::numeric_limits<std::int64_t>::max(),
                    &v1::SeriesList::series_size);
    std::map<std::string, const v1::Series*> by_prefix;
    for (const v1::Series& each : list.series()) by_prefix.emplace(each.prefix(), &each);
    std::vector<placed_row> all;
    for (numbered_row& row : rows) {
        const auto of = by_prefix.find(row.prefix);
        std::string period;
        if (of != by_prefix.end()) {
            const auto reset = parse_reset_policy(of->second->reset());
            period = period_of(row.created_at, reset.value_or(reset_policy::never),
                               of->second->time_zone());
        }
        all.push_back({std::move(row), std::move(period)});
    }
    const auto place = [](const placed_row& p) {
        return std::tie(p.row.prefix, p.period, p.row.number);
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
    std::vector<std::string> faults;
    for (std::size_t i = 1; i < all.size(); ++i) {
        const placed_row& before = all[i - 1];
        if (before.row.prefix != all[i].row.prefix || before.period != all[i].period) continue;
        all[i].after = before.row.number;
        if (before.row.number == all[i].row.number) {
            faults.push_back("line " + std::to_string(all[i].row.line) +
                             ": its number is the one of line " + std::to_string(before.row.line));
        }
    }
    if (!faults.empty()) reject_table(faults);
    return all;
}

v1::NumberedTask row_message(const placed_row& p) {
    v1::NumberedTask message;
    message.set_prefix(p.row.prefix);
    message.set_number(p.row.number);
    message.set_uuid(to_string(p.row.uuid));
    message.set_title(p.row.title);
    wire::set_timestamp(*message.mutable_created_at(), p.row.created_at);
    message.set_after(p.after);
    return message;
}

// Returns as many of the first rows as fit into one request, at least one if there is one.
v1::ImportNumbers batch_of(std::span<const placed_row> left) {
    v1::ImportNumbers batch;
    std::size_t bytes = 0;
    for (const placed_row& each : left) {
        v1::NumberedTask next = row_message(each);
        bytes += wire::encode(wire::format::json, next).size();
        const bool is_full = batch.rows_size() == request_rows_max || bytes > request_bytes_max;
        if (is_full && batch.rows_size() > 0) break;
        *batch.add_rows() = std::move(next);
    }
    return batch;
}

// Returns "line 40" for "rows[12]", if row 12 of the request is in that line of the file; other
// names unchanged.
std::string line_of(std::string_view field, std::span<const placed_row> rows) {
    constexpr std::string_view start = "rows[";
    std::size_t row = 0;
    if (!field.starts_with(start)) return std::string(field);
    std::from_chars(field.data() + start.size(), field.data() + field.size(), row);
    return row < rows.size() ? "line " + std::to_string(rows[row].row.line) : std::string(field);
}

// Adds the errors of a rejected request by line; the server has imported none of its rows.
void collect_row_faults(const rejection& no, std::span<const placed_row> rows,
                        std::vector<std::string>& faults) {
    v1::Problem problem;
    session::read(no.answer(), problem);
    for (const v1::FieldProblem& error : problem.errors()) {
        faults.push_back(line_of(error.field(), rows) + ": " + error.detail());
    }
    if (problem.errors().empty()) throw no;
}

struct row_counts {
    std::int64_t imported = 0;
    std::int64_t there_already = 0;
};

// Sends a request even without rows: the account may not exist.
row_counts send_rows(session& s, const std::string& account, std::span<const placed_row> left,
                     bool check_only, std::vector<std::string>& faults) {
    row_counts sum;
    const std::size_t all = left.size();
    progress_line line(s.around());
    do {
        v1::ImportNumbers message = batch_of(left);
        message.set_check_only(check_only);
        const auto sent = static_cast<std::size_t>(message.rows_size());
        try {
            v1::ImportNumbersResult result;
            session::read(s.ask(verb::post, account_path(account, "/numbers"), &message), result);
            sum.imported += result.imported();
            sum.there_already += result.there_already();
        } catch (const rejection& no) {
            collect_row_faults(no, left, faults);
            if (!check_only) return sum;
        }
        left = left.subspan(sent);
        line.show(std::string(check_only ? "checked" : "imported") + " row " +
                  std::to_string(all - left.size()) + " of " + std::to_string(all));
    } while (!left.empty());
    return sum;
}

}  // namespace

void import_numbers(session& s, const std::string& file, const std::string& account) {
    numbers_file read = read_numbers_file(read_input(s.around(), file));
    if (!read.faults.empty()) reject_table(read.faults);
    const std::size_t count = read.rows.size();
    const std::vector<placed_row> rows = place_rows(s, account, std::move(read.rows));
    std::vector<std::string> faults;
    send_rows(s, account, rows, true, faults);
    if (!faults.empty()) reject_table(faults);
    const row_counts sum = send_rows(s, account, rows, false, faults);
    if (!faults.empty()) {
        std::string text = "the series changed during the import; " + std::to_string(sum.imported) +
                           " rows were imported before:";
        for (const std::string& fault : faults) text += "\n  " + printable(fault);
        throw failure(text);
    }
    if (s.json()) {
        return s.print_json(boost::json::serialize(boost::json::object{
            {"rows", count}, {"imported", sum.imported}, {"thereAlready", sum.there_already}}));
    }
    print_fields(s.out(), {{"rows", std::to_string(count)},
                           {"imported", std::to_string(sum.imported)},
                           {"known", std::to_string(sum.there_already)}});
}

}  // namespace callsign::cli

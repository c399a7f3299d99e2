#pragma once
// Shared by handlers: reads bodies, builds responses.

#include "problem.hpp"

#include <callsign/domain/queries/feed.hpp>
#include <callsign/domain/queries/page.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/wire/convert.hpp>
#include <callsign/wire/parameters.hpp>

#include <google/protobuf/message.h>
#include <optional>
#include <utility>
#include <variant>

namespace callsign::api {

// `only`: as in wire::encode().
http_response answer_message(const request_context& c, unsigned status,
                             const google::protobuf::Message& message,
                             const wire::field_choice* only = nullptr);

// Returns what make() makes of tasks or changes. If they are large, make() runs in the pool, on the
// account's share.
template <class Make>
awaitable<http_response> answer_encoded(engine& engine, const request_context& c, std::size_t work,
                                        Make make) {
    auto made = co_await engine.encode(c.account(), work, std::move(make));
    if (!made) co_return answer_error(c, made.error());
    co_return std::move(*made);
}
// For writes, whose outcome must be returned: if the pool is full, make() runs here.
template <class Make>
awaitable<http_response> answer_written(engine& engine, const request_context& c, std::size_t work,
                                        Make make) {
    auto made = co_await engine.encode(c.account(), work, make);
    if (!made) co_return make();
    co_return std::move(*made);
}

// A response with a secret, which nothing may cache.
http_response answer_secret(const request_context& c, unsigned status,
                            const google::protobuf::Message& message);

// Reads the body as far as possible, so that errors in the fields that were read are in the same
// response. Returns false if the body is no message at all.
bool read_body(const request_context& c, google::protobuf::Message& message,
               wire::field_errors& found, std::size_t faults_max = wire::faults_max);

// Adds an error unless `name` is valid (domain/account.hpp). `whose`: "A device", for example.
void check_name(const std::string& name, std::string_view whose, wire::field_errors& found);
// Adds an error unless `prefix` is valid.
void check_prefix(const std::string& prefix, std::string_view whose, wire::field_errors& found);
// Adds an error unless this can be the number before another; 0: there is none.
void check_number_before(std::int64_t number, std::string field, wire::field_errors& found);

// Returns why a task reference names no task.
rejected unresolved(ref_fault why);
// Returns why the feed cannot be read from there; none: it can.
std::optional<rejected> rejection_of(const read_changes::answer& read);
// Follows "more than".
inline constexpr std::string_view largest_task = "10,000 attributes or 4 MiB of attributes";
static_assert(task_attributes_max == 10'000 && task_bytes_max == std::size_t{4} << 20);
rejected no_account();
// For queries; commands have rejections.hpp.
http_response answer_no_account(const request_context& c);
// Of a query parameter.
rejected unknown_prefix();

// For a listing with pages and no other parameters.
page_request read_page(const request_context& c, wire::field_errors& found);

// Returns the token of the next page; empty: there is none.
template <class Row>
std::string next_page_token(const page_of<Row>& page) {
    return page.has_more ? wire::page_token(page.rows.back().id.value) : std::string();
}

}  // namespace callsign::api

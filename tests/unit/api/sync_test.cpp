// TaskChampion's sync protocol, as its clients know it from the reference server. The names that
// begin with AV, GC, AS, GS, H, W, U and S are the cases that server is tested with; the others are
// what its code does besides.

#include "api/sync/sync_call.hpp"
#include "support/check.hpp"
#include "support/sync_client.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <gtest/gtest.h>
#include <random>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;
using std::chrono_literals::operator""ms;
constexpr milliseconds day = std::chrono::hours{24};

api::sync_options open() {
    api::sync_options options;
    options.open_registration = true;
    options.turnstile = milliseconds{0};
    return options;
}

struct sync : ::testing::Test {
    explicit sync(api::sync_options options = open())
        : h({.service = {.sync = std::move(options)}}) {}

    // An opaque account with `n` versions; their ids, the parent of the first one before them.
    std::vector<std::string> make_chain(int n, const std::string& first_parent = nil_id) {
        std::vector<std::string> ids{first_parent};
        for (int i = 0; i < n; ++i) ids.push_back(add(ids.back()));
        return ids;
    }
    std::string add(const std::string& parent, const std::string& body = "sealed") {
        const auto response = h.call(add_version(client, parent, body));
        EXPECT_EQ(response.status, 200u) << response.body;
        return std::string(header(response, "X-Version-Id"));
    }
    std::string urgency_of_next(const std::string& parent) {
        return std::string(header(h.call(add_version(client, parent, "x")), "X-Snapshot-Request"));
    }
    void expect_no_version_headers(const net::http_response& response) {
        EXPECT_EQ(header(response, "X-Version-Id"), "");
        EXPECT_EQ(header(response, "X-Parent-Version-Id"), "");
    }
    chain_head head() {
        auto question = [this](read_tx& tx) {
            const auto known = tx.find_device(*parse_uuid(client));
            return known ? tx.head_of(known->account) : chain_head{};
        };
        return h.look(question);
    }

    house h;
    const std::string client = some_id(1);
};

struct closed_sync : sync {
    closed_sync() : sync({}) {}
};

// ---- add-version ----

TEST_F(sync, av_1_success) {
    const std::string first = add(nil_id, "first");
    const auto response = h.call(add_version(client, first, "abcd"));
    EXPECT_EQ(response.status, 200u);
    EXPECT_EQ(response.body, "");
    EXPECT_NE(header(response, "X-Version-Id"), "");
    EXPECT_NE(header(response, "X-Version-Id"), first);
    EXPECT_EQ(header(response, "X-Snapshot-Request"), "urgency=high");
    EXPECT_EQ(header(response, "X-Parent-Version-Id"), "");
    EXPECT_EQ(header(response, "Cache-Control"), "no-store, max-age=0");
}

TEST_F(sync, av_2_an_unknown_client_is_registered_where_that_is_open) {
    const std::string parent = some_id(77);
    const auto response = h.call(add_version(client, parent, "abcd"));
    EXPECT_EQ(response.status, 200u);
    EXPECT_EQ(to_string(head().version), header(response, "X-Version-Id"));
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
    const auto accounts = h.look([](read_tx& tx) { return tx.accounts(); });
    ASSERT_EQ(accounts.size(), 1u);
    EXPECT_EQ(accounts[0].mode, account_mode::opaque);
    EXPECT_EQ(accounts[0].name.find(client.substr(0, 8)), std::string::npos);
}

TEST_F(closed_sync, av_3_and_not_where_it_is_closed) {
    const auto response = h.call(add_version(client, nil_id, "abcd"));
    EXPECT_EQ(response.status, 404u);
    EXPECT_EQ(response.body, "No such client");
    EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
    expect_no_version_headers(response);
    EXPECT_EQ(head().seq, 0);
}

TEST_F(sync, av_4_conflict) {
    const auto chain = make_chain(1);
    const auto response = h.call(add_version(client, some_id(9), "abcd"));
    EXPECT_EQ(response.status, 409u);
    EXPECT_EQ(header(response, "X-Version-Id"), "");
    EXPECT_EQ(header(response, "X-Parent-Version-Id"), chain.back());
    EXPECT_EQ(header(response, "X-Snapshot-Request"), "");
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(head().seq, 1);
}

TEST_F(sync, av_5_bad_content_type) {
    for (const char* type :
         {"not/correct", "", snapshot_type, "APPLICATION/vnd.taskchampion.history-segment"}) {
        const auto response = h.call(add_version(client, nil_id, "abcd", type));
        EXPECT_EQ(response.status, 400u);
        EXPECT_EQ(response.body, "Bad content-type");
        expect_no_version_headers(response);
    }
}

TEST_F(sync, av_6_empty_body) {
    const auto response = h.call(add_version(client, nil_id, ""));
    EXPECT_EQ(response.status, 400u);
    EXPECT_EQ(response.body, "Empty body");
    expect_no_version_headers(response);
}

// Each is an account for good, and anybody may ask for one.
struct few_newcomers : sync {
    static api::sync_options two_an_hour() {
        api::sync_options options = open();
        options.registrations_per_hour = 2;
        return options;
    }
    few_newcomers() : sync(two_an_hour()) {}

    unsigned newcomer(unsigned n) {
        last = h.call(add_version(some_id(100 + n), nil_id, "x"));
        return last.status;
    }
    net::http_response last;
};

TEST_F(few_newcomers, so_many_strangers_are_let_in_in_an_hour) {
    const std::string mine = add(nil_id);
    h.advance(std::chrono::minutes{20});
    EXPECT_EQ(newcomer(1), 200u);
    EXPECT_EQ(newcomer(2), 429u);
    EXPECT_EQ(header(last, "Retry-After"), "2400");
    EXPECT_EQ(newcomer(3), 429u);
    // Who is known goes on, and so does who was refused once there is a place.
    const std::string next = add(mine);
    h.advance(std::chrono::minutes{40});
    EXPECT_EQ(newcomer(2), 200u);
    EXPECT_EQ(newcomer(3), 429u);
    add(next);
    const auto accounts = h.look([](read_tx& tx) { return tx.accounts(); });
    EXPECT_EQ(accounts.size(), 3u);
}

TEST_F(few_newcomers, the_hour_is_not_the_wall_clocks) {
    EXPECT_EQ(newcomer(1), 200u);
    EXPECT_EQ(newcomer(2), 200u);
    h.clock().step_wall(std::chrono::hours{24});
    EXPECT_EQ(newcomer(3), 429u);
    h.clock().step_wall(-std::chrono::hours{72});
    h.advance(std::chrono::hours{1});
    EXPECT_EQ(newcomer(3), 200u);
}

// ---- get-child-version ----

TEST_F(sync, gc_1_success) {
    const std::string bytes = std::string("\0\x01\xFF", 3) + "abcd";
    const std::string first = add(nil_id, "first");
    const std::string second = add(first, bytes);
    const auto response = h.call(child_of(client, first));
    EXPECT_EQ(response.status, 200u);
    EXPECT_EQ(header(response, "X-Version-Id"), second);
    EXPECT_EQ(header(response, "X-Parent-Version-Id"), first);
    EXPECT_EQ(response.content_type, segment_type);
    EXPECT_EQ(response.body, bytes);
    EXPECT_EQ(header(response, "Cache-Control"), "no-store, max-age=0");
}

TEST_F(sync, gc_2_client_not_found) {
    const auto response = h.call(child_of(client, nil_id));
    EXPECT_EQ(response.status, 404u);
    EXPECT_EQ(response.body, "no such client");
    expect_no_version_headers(response);
}

TEST_F(sync, gc_3_version_not_found_and_gone) {
    const auto chain = make_chain(1);
    EXPECT_EQ(h.call(child_of(client, nil_id)).status, 200u);
    const auto gone = h.call(child_of(client, some_id(9)));
    EXPECT_EQ(gone.status, 410u);
    EXPECT_EQ(gone.body, "version has been deleted");
    expect_no_version_headers(gone);
    const auto up_to_date = h.call(child_of(client, chain.back()));
    EXPECT_EQ(up_to_date.status, 404u);
    EXPECT_EQ(up_to_date.body, "no such version");
    expect_no_version_headers(up_to_date);
}

// ---- add-snapshot, snapshot ----

TEST_F(sync, as_1_success) {
    const auto chain = make_chain(1);
    const auto response = h.call(add_snapshot(client, chain.back(), "a snapshot"));
    EXPECT_EQ(response.status, 200u);
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(h.call(snapshot_of(client)).body, "a snapshot");
}

TEST_F(sync, as_2_not_added_and_yet_200) {
    make_chain(1);
    EXPECT_EQ(h.call(add_snapshot(client, some_id(9), "x")).status, 200u);
    EXPECT_EQ(h.call(add_snapshot(client, nil_id, "x")).status, 200u);
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
}

TEST_F(sync, as_3_bad_content_type) {
    const auto chain = make_chain(1);
    const auto response = h.call(add_snapshot(client, chain.back(), "x", segment_type));
    EXPECT_EQ(response.status, 400u);
    EXPECT_EQ(response.body, "Bad content-type");
}

TEST_F(sync, as_4_empty_body) {
    const auto chain = make_chain(1);
    const auto response = h.call(add_snapshot(client, chain.back(), ""));
    EXPECT_EQ(response.status, 400u);
    EXPECT_EQ(response.body, "No snapshot supplied");
}

TEST_F(sync, a_snapshot_of_an_unknown_client_is_404) {
    const auto response = h.call(add_snapshot(client, some_id(3), "x"));
    EXPECT_EQ(response.status, 404u);
    EXPECT_EQ(response.body, "No such client");
}

TEST_F(sync, gs_1_not_found) {
    const auto unknown = h.call(snapshot_of(client));
    EXPECT_EQ(unknown.status, 404u);
    EXPECT_EQ(unknown.body, "No such client");
    make_chain(1);
    const auto none = h.call(snapshot_of(client));
    EXPECT_EQ(none.status, 404u);
    EXPECT_EQ(none.body, "no snapshot");
    expect_no_version_headers(none);
}

TEST_F(sync, gs_2_success) {
    const auto chain = make_chain(2);
    h.call(add_snapshot(client, chain[1], std::string("\0zip", 4)));
    const auto response = h.call(snapshot_of(client));
    EXPECT_EQ(response.status, 200u);
    EXPECT_EQ(response.content_type, snapshot_type);
    EXPECT_EQ(header(response, "X-Version-Id"), chain[1]);
    EXPECT_EQ(header(response, "X-Parent-Version-Id"), "");
    EXPECT_EQ(response.body, std::string("\0zip", 4));
    EXPECT_EQ(header(response, "Cache-Control"), "no-store, max-age=0");
}

// ---- the client id ----

TEST_F(sync, h_1_any_client_id_where_none_are_named) {
    for (unsigned n = 10; n < 13; ++n) {
        EXPECT_EQ(h.call(add_version(some_id(n), nil_id, "x")).status, 200u);
    }
}

struct listed_sync : sync {
    static api::sync_options options() {
        auto some = open();
        some.allow_client_ids = {*parse_uuid(some_id(1)), *parse_uuid(some_id(2))};
        return some;
    }
    listed_sync() : sync(options()) {}
};

TEST_F(listed_sync, h_2_those_named_and_no_others) {
    EXPECT_EQ(h.call(add_version(some_id(1), nil_id, "x")).status, 200u);
    EXPECT_EQ(h.call(add_version(some_id(2), nil_id, "x")).status, 200u);
    for (const auto& request :
         {add_version(some_id(3), nil_id, "x"), child_of(some_id(3), nil_id),
          add_snapshot(some_id(3), some_id(4), "x"), snapshot_of(some_id(3))}) {
        const auto response = h.call(request);
        EXPECT_EQ(response.status, 403u);
        EXPECT_EQ(response.body, "unknown x-client-id");
        expect_no_version_headers(response);
    }
}

TEST_F(sync, a_missing_or_malformed_client_id_is_400_everywhere) {
    make_chain(1);
    for (const std::string id : {"", "not-a-uuid", "0666d464-418a-4a08-ad53-6f15c78270c",
                                 "0666d464-418a-4a08-ad53-6f15c78270cd, x", "\xC3\xA4"}) {
        for (const auto& request : {add_version(id, nil_id, "x"), child_of(id, nil_id),
                                    add_snapshot(id, some_id(4), "x"), snapshot_of(id)}) {
            const auto response = h.call(request);
            EXPECT_EQ(response.status, 400u);
            EXPECT_EQ(response.body, "bad x-client-id");
        }
    }
}

TEST_F(sync, of_two_client_ids_the_first_counts) {
    make_chain(1);
    auto request = child_of(client, nil_id);
    request.insert("X-Client-Id", some_id(99));
    EXPECT_EQ(h.call(request).status, 200u);
    auto reversed = child_of(some_id(99), nil_id);
    reversed.insert("X-Client-Id", client);
    EXPECT_EQ(h.call(reversed).status, 404u);
}

TEST_F(sync, clients_do_not_see_each_other) {
    const auto chain = make_chain(2);
    const std::string other = some_id(2);
    EXPECT_EQ(h.call(add_version(other, chain[1], "theirs")).status, 200u);
    EXPECT_EQ(h.call(child_of(other, chain[1])).body, "theirs");
    EXPECT_EQ(h.call(child_of(client, chain[1])).body, "sealed");
    EXPECT_EQ(h.call(child_of(other, chain[2])).status, 410u);
    h.call(add_snapshot(client, chain[2], "mine"));
    EXPECT_EQ(h.call(snapshot_of(other)).status, 404u);
}

// ---- paths, methods, forms ----

TEST_F(sync, w_1_nothing_is_cached) {
    for (const auto& request : {get("/"), child_of(client, nil_id), snapshot_of(client)}) {
        EXPECT_EQ(header(h.call(request), "Cache-Control"), "no-store, max-age=0");
    }
}

TEST_F(sync, w_2_the_root_names_the_protocol) {
    const auto response = h.call(get("/"));
    EXPECT_EQ(response.status, 200u);
    EXPECT_TRUE(response.body.starts_with("TaskChampion sync server v"));
    EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
}

TEST_F(sync, a_wrong_method_is_404) {
    const std::string nil = nil_id;
    const std::pair<verb, std::string> wrong[] = {
        {verb::get, "/v1/client/add-version/" + nil},
        {verb::put, "/v1/client/add-version/" + nil},
        {verb::post, "/v1/client/get-child-version/" + nil},
        {verb::head, "/v1/client/get-child-version/" + nil},
        {verb::get, "/v1/client/add-snapshot/" + nil},
        {verb::post, "/v1/client/snapshot"},
        {verb::head, "/v1/client/snapshot"},
        {verb::post, "/"},
        {verb::get, "/v1/client/"},
        {verb::get, "/v1/client/add-version"},
        {verb::get, "/v1/client/other/" + nil},
    };
    for (const auto& [method, path] : wrong) {
        const auto response = h.call(make_request(method, path, {}, client_header(client)));
        EXPECT_EQ(response.status, 404u) << path;
        EXPECT_EQ(response.body, "");
    }
}

TEST_F(sync, uuids_in_every_form_the_reference_server_reads) {
    const std::string first = add(nil_id);
    std::string upper = first, simple;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    for (const char c : first) {
        if (c != '-') simple += c;
    }
    const std::string second = add(upper, "second");
    for (const std::string& form :
         {first, upper, simple, "urn:uuid:" + first, "%7B" + first + "%7D", "{" + upper + "}"}) {
        const auto response = h.call(child_of(client, form));
        EXPECT_EQ(response.status, 200u) << form;
        EXPECT_EQ(header(response, "X-Version-Id"), second);
        EXPECT_EQ(header(response, "X-Parent-Version-Id"), first);
    }
    EXPECT_EQ(h.call(child_of("{" + client + "}", first)).status, 200u);
}

TEST_F(sync, what_is_no_uuid_in_a_path_is_404_before_all_else) {
    for (const char* id :
         {"x", "{}", "urn:uuid:", "0666d464-418a-4a08-ad53-6f15c78270c",
          "0666d464_418a_4a08_ad53_6f15c78270cd", "g666d464418a4a08ad536f15c78270cd"}) {
        EXPECT_EQ(h.call(add_version("", id, "", "wrong/type")).status, 404u) << id;
        EXPECT_EQ(h.call(add_snapshot("", id, "", "wrong/type")).status, 404u) << id;
        EXPECT_EQ(h.call(child_of("", id)).status, 404u) << id;
    }
}

TEST_F(sync, what_is_wrong_is_told_in_the_reference_servers_order) {
    EXPECT_EQ(h.call(add_version("", nil_id, "", "wrong/type")).body, "Bad content-type");
    EXPECT_EQ(h.call(add_version("", nil_id, "")).body, "bad x-client-id");
    EXPECT_EQ(h.call(add_version(client, nil_id, "")).body, "Empty body");
    EXPECT_EQ(h.call(add_snapshot(client, nil_id, "")).body, "No snapshot supplied");
}

TEST_F(sync, a_content_type_may_have_parameters) {
    const std::string type = std::string(segment_type) + " ; charset=utf-8";
    EXPECT_EQ(h.call(add_version(client, nil_id, "x", type)).status, 200u);
}

TEST_F(sync, bytes_are_kept_as_they_came_whatever_the_headers_say) {
    auto request = add_version(client, nil_id, "not gzip at all");
    request.set("Content-Encoding", "gzip");
    EXPECT_EQ(h.call(request).status, 200u);
    auto question = child_of(client, nil_id);
    question.set("Accept-Encoding", "gzip");
    question.set("Accept", "text/html");
    const auto response = h.call(question);
    EXPECT_EQ(response.status, 200u);
    EXPECT_EQ(response.body, "not gzip at all");
    EXPECT_EQ(header(response, "Content-Encoding"), "");
}

// ---- the rules of the chain ----

TEST_F(sync, s_1_an_empty_chain_has_no_child_of_nil) {
    h.run(h.engine().submit(register_client{*parse_uuid(client)}));
    EXPECT_EQ(h.call(child_of(client, nil_id)).body, "no such version");
}

TEST_F(sync, s_2_nor_of_any_other) {
    h.run(h.engine().submit(register_client{*parse_uuid(client)}));
    EXPECT_EQ(h.call(child_of(client, some_id(8))).body, "no such version");
}

TEST_F(sync, s_3_the_last_version_has_no_child) {
    EXPECT_EQ(h.call(child_of(client, make_chain(3).back())).status, 404u);
}

TEST_F(sync, s_4_an_unknown_parent_is_gone) {
    make_chain(3);
    EXPECT_EQ(h.call(child_of(client, some_id(8))).status, 410u);
}

TEST_F(sync, s_5_every_other_version_has_its_child) {
    const auto chain = make_chain(4, some_id(5));
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
        EXPECT_EQ(header(h.call(child_of(client, chain[i])), "X-Version-Id"), chain[i + 1]);
    }
    EXPECT_EQ(h.call(child_of(client, nil_id)).status, 410u);  // this chain began elsewhere
}

TEST_F(sync, s_6_a_conflict_changes_nothing) {
    const auto chain = make_chain(2);
    EXPECT_EQ(h.call(add_version(client, chain[1], "late")).status, 409u);
    EXPECT_EQ(to_string(head().version), chain[2]);
    EXPECT_EQ(h.call(child_of(client, chain[1])).body, "sealed");
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
}

TEST_F(sync, s_7_without_a_snapshot_one_is_asked_for_urgently) {
    EXPECT_EQ(urgency_of_next(make_chain(3).back()), "urgency=high");
}

TEST_F(sync, s_8_an_empty_chain_takes_any_parent) {
    EXPECT_EQ(urgency_of_next(some_id(8)), "urgency=high");
    EXPECT_EQ(h.call(child_of(client, some_id(8))).status, 200u);
}

TEST_F(sync, s_9_a_recent_snapshot_is_enough) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    EXPECT_EQ(urgency_of_next(chain.back()), "");
}

TEST_F(sync, s_10_an_old_snapshot_is_not) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    h.advance(50 * day);
    EXPECT_EQ(urgency_of_next(chain.back()), "urgency=high");
}

struct few_versions_sync : sync {
    static api::sync_options options() {
        auto few = open();
        few.snapshots.versions = 30;
        return few;
    }
    few_versions_sync() : sync(options()) {}
};

TEST_F(few_versions_sync, s_11_nor_is_one_many_versions_ago) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    EXPECT_EQ(urgency_of_next(make_chain(50, chain.back()).back()), "urgency=high");
}

TEST_F(sync, s_12_a_snapshot_of_the_last_version_is_kept) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    EXPECT_EQ(header(h.call(snapshot_of(client)), "X-Version-Id"), chain.back());
}

TEST_F(sync, s_13_and_of_the_one_before) {
    const auto chain = make_chain(2);
    h.call(add_snapshot(client, chain[1], "x"));
    EXPECT_EQ(header(h.call(snapshot_of(client)), "X-Version-Id"), chain[1]);
}

TEST_F(sync, s_14_none_of_a_version_that_is_not_there) {
    make_chain(1);
    h.call(add_snapshot(client, some_id(9), "x"));
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
}

TEST_F(sync, s_15_none_of_a_version_too_old) {
    const auto chain = make_chain(10);
    for (const int back : {9, 6, 5}) {
        h.call(add_snapshot(client, chain[static_cast<std::size_t>(10 - back)], "x"));
        EXPECT_EQ(h.call(snapshot_of(client)).status, 404u) << back;
    }
    for (const int back : {4, 3, 2, 1, 0}) {
        const std::string text = "back " + std::to_string(back);
        h.call(add_snapshot(client, chain[static_cast<std::size_t>(10 - back)], text));
        EXPECT_EQ(h.call(snapshot_of(client)).body, text);
    }
}

TEST_F(sync, s_16_none_of_a_version_before_the_snapshots) {
    const auto chain = make_chain(5);
    h.call(add_snapshot(client, chain[3], "newer"));
    for (const int seq : {1, 2, 3}) {
        h.call(add_snapshot(client, chain[static_cast<std::size_t>(seq)], "older"));
        EXPECT_EQ(h.call(snapshot_of(client)).body, "newer");
    }
}

TEST_F(sync, s_17_none_of_nil) {
    make_chain(1);
    h.call(add_snapshot(client, nil_id, "x"));
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
}

TEST_F(sync, s_18_a_snapshot_is_found) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "found"));
    EXPECT_EQ(h.call(snapshot_of(client)).body, "found");
}

TEST_F(sync, s_19_or_not) {
    make_chain(1);
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
}

TEST_F(sync, the_parent_of_a_chain_that_began_elsewhere_may_have_a_snapshot_while_it_is_near) {
    const auto chain = make_chain(4, some_id(5));
    h.call(add_snapshot(client, some_id(5), "the beginning"));
    EXPECT_EQ(h.call(snapshot_of(client)).body, "the beginning");

    const std::string other = some_id(2);
    std::string last = some_id(6);
    for (int i = 0; i < 5; ++i) {
        last = header(h.call(add_version(other, last, "x")), "X-Version-Id");
    }
    h.call(add_snapshot(other, some_id(6), "too far"));
    EXPECT_EQ(h.call(snapshot_of(other)).status, 404u);
}

TEST_F(sync, a_snapshot_outlives_a_conflict) {
    const auto chain = make_chain(2);
    h.call(add_snapshot(client, chain.back(), "x"));
    EXPECT_EQ(h.call(add_version(client, chain[1], "late")).status, 409u);
    EXPECT_EQ(h.call(snapshot_of(client)).body, "x");
}

// ---- urgency ----

TEST(snapshot_urgency, u_1_the_larger_counts) {
    EXPECT_LT(snapshot_urgency::none, snapshot_urgency::low);
    EXPECT_LT(snapshot_urgency::low, snapshot_urgency::high);
    const snapshot_policy usual;
    EXPECT_EQ(urgency_of(usual, snapshot_age{14 * day, 150}), snapshot_urgency::high);
    EXPECT_EQ(urgency_of(usual, snapshot_age{21 * day, 100}), snapshot_urgency::high);
    EXPECT_EQ(urgency_of(usual, snapshot_age{14 * day, 0}), snapshot_urgency::low);
    EXPECT_EQ(urgency_of(usual, snapshot_age{0ms, 0}), snapshot_urgency::none);
    EXPECT_EQ(urgency_of(usual, std::nullopt), snapshot_urgency::high);
}

TEST(snapshot_urgency, u_2_by_days) {
    const snapshot_policy usual;
    const std::pair<int, snapshot_urgency> cases[] = {{0, snapshot_urgency::none},
                                                      {13, snapshot_urgency::none},
                                                      {14, snapshot_urgency::low},
                                                      {20, snapshot_urgency::low},
                                                      {21, snapshot_urgency::high}};
    for (const auto& [days, expected] : cases) {
        EXPECT_EQ(urgency_for_days(usual, days), expected) << days;
        EXPECT_EQ(urgency_of(usual, snapshot_age{(days + 1) * day - 1ms, 0}), expected) << days;
    }
}

TEST(snapshot_urgency, u_3_by_versions) {
    const snapshot_policy usual;
    const std::pair<int, snapshot_urgency> cases[] = {{0, snapshot_urgency::none},
                                                      {99, snapshot_urgency::none},
                                                      {100, snapshot_urgency::low},
                                                      {149, snapshot_urgency::low},
                                                      {150, snapshot_urgency::high}};
    for (const auto& [versions, expected] : cases) {
        EXPECT_EQ(urgency_for_versions(usual, versions), expected) << versions;
    }
    EXPECT_EQ(urgency_for_versions({.days = 14, .versions = 5}, 7), snapshot_urgency::high);
}

TEST_F(sync, urgency_looks_at_what_was_there_before_the_version) {
    const auto chain = make_chain(1);
    h.call(add_snapshot(client, chain.back(), "x"));
    std::string last = chain.back();
    for (int since = 0; since <= 150; ++since) {
        const auto response = h.call(add_version(client, last, "x"));
        last = header(response, "X-Version-Id");
        EXPECT_EQ(header(response, "X-Snapshot-Request"), since < 100   ? ""
                                                          : since < 150 ? "urgency=low"
                                                                        : "urgency=high")
            << since;
    }
}

TEST_F(sync, versions_are_counted_from_when_the_snapshot_came_not_from_what_it_is_of) {
    const auto chain = make_chain(5);
    h.call(add_snapshot(client, chain[1], "four back"));
    std::string last = chain.back();
    for (int since = 0; since < 100; ++since) {
        const auto response = h.call(add_version(client, last, "x"));
        EXPECT_EQ(header(response, "X-Snapshot-Request"), "");
        last = header(response, "X-Version-Id");
    }
    EXPECT_EQ(urgency_of_next(last), "urgency=low");
}

// ---- accounts ----

TEST_F(closed_sync, an_account_made_for_it_lets_its_client_in) {
    const auto made = h.call(
        post("/v1/admin/accounts",
             R"({"name":"desk","prefix":"DESK","mode":"opaque","clientId":")" + client + R"("})",
             h.operator_token()));
    ASSERT_EQ(made.status, 201u) << made.body;
    EXPECT_NE(made.body.find("\"clientId\":\"" + client + "\""), std::string::npos);
    EXPECT_NE(made.body.find("\"mode\":\"opaque\""), std::string::npos);
    EXPECT_EQ(h.call(child_of(client, nil_id)).status, 404u);
    EXPECT_EQ(h.call(add_version(client, nil_id, "x")).status, 200u);

    const auto again = h.call(
        post("/v1/admin/accounts",
             R"({"name":"other","prefix":"O","mode":"opaque","clientId":")" + client + R"("})",
             h.operator_token()));
    EXPECT_EQ(again.status, 409u);
    EXPECT_NE(again.body.find("client-id-taken"), std::string::npos);
}

TEST_F(closed_sync, a_client_id_is_drawn_where_none_is_given) {
    const auto made =
        h.call(post("/v1/admin/accounts", R"({"name":"desk","prefix":"DESK","mode":"opaque"})",
                    h.operator_token()));
    ASSERT_EQ(made.status, 201u);
    const auto at = made.body.find("\"clientId\":\"") + 12;
    const std::string drawn = made.body.substr(at, 36);
    ASSERT_TRUE(parse_uuid(drawn));
    EXPECT_EQ(drawn[14], '4');
    EXPECT_EQ(h.call(add_version(drawn, nil_id, "x")).status, 200u);
}

TEST_F(closed_sync, a_managed_account_has_no_client_id) {
    const auto refused = h.call(post(
        "/v1/admin/accounts", R"({"name":"desk","prefix":"DESK","clientId":")" + client + R"("})",
        h.operator_token()));
    EXPECT_EQ(refused.status, 400u);
    EXPECT_NE(refused.body.find("clientId"), std::string::npos);
}

TEST_F(closed_sync, the_server_makes_no_tasks_in_an_opaque_account) {
    const std::string token = "cs_opaque";
    h.run(h.engine().submit(
        create_account{"desk", "DESK", "default", sha256(token), *parse_uuid(client)}));
    const auto refused = h.call(post("/v1/tasks", R"({"description":"x"})", token, "k"));
    EXPECT_EQ(refused.status, 409u);
    EXPECT_NE(refused.body.find("account-opaque"), std::string::npos);
    EXPECT_EQ(head().seq, 0);
}

// ---- chains from elsewhere ----

struct imports : closed_sync {
    net::http_request asking(verb method, const std::string& target, std::string body = {},
                             const std::string& who = some_id(1)) {
        auto headers = bearer(token);
        headers.emplace_back("X-Client-Id", who);
        return make_request(method, target, std::move(body), headers);
    }
    net::http_response import_version(const std::string& parent, const std::string& id,
                                      std::string body) {
        return h.call(asking(verb::post, "/v1/admin/client/versions/" + id + "?parent=" + parent,
                             std::move(body)));
    }
    const std::string token = h.operator_token();
};

TEST_F(imports, a_chain_is_taken_over_word_for_word_and_only_once) {
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(h.call(asking(verb::put, "/v1/admin/client")).status, 200u);
        std::string parent = some_id(20);
        for (unsigned n = 21; n < 25; ++n) {
            const auto done = import_version(parent, some_id(n), "body " + std::to_string(n));
            EXPECT_EQ(done.status, 200u) << done.body;
            EXPECT_NE(done.body.find(round == 0 ? "true" : "false"), std::string::npos);
            parent = some_id(n);
        }
        const auto snapshot = h.call(asking(verb::post,
                                            "/v1/admin/client/snapshot/" + some_id(22) +
                                                "?takenAt=2026-11-01T00:00:00Z&versionsSince=2",
                                            "snapshot"));
        EXPECT_EQ(snapshot.status, 200u) << snapshot.body;
        EXPECT_NE(snapshot.body.find(round == 0 ? "true" : "false"), std::string::npos);
    }
    const auto child = h.call(child_of(client, some_id(22)));
    EXPECT_EQ(child.body, "body 23");
    EXPECT_EQ(header(child, "X-Version-Id"), some_id(23));
    EXPECT_EQ(header(h.call(snapshot_of(client)), "X-Version-Id"), some_id(22));
    EXPECT_EQ(h.call(add_version(client, some_id(24), "goes on")).status, 200u);
}

// How many versions it is old is all that says when a new one is due.
TEST_F(imports, a_snapshot_is_as_old_as_it_was_there) {
    const auto asked_after = [&](int since) {
        const std::string who = some_id(300 + static_cast<unsigned>(since));
        EXPECT_EQ(h.call(asking(verb::put, "/v1/admin/client", {}, who)).status, 200u);
        const std::string version = some_id(21);
        h.call(asking(verb::post, "/v1/admin/client/versions/" + version + "?parent=" + nil_id, "v",
                      who));
        const auto taken = h.call(asking(verb::post,
                                         "/v1/admin/client/snapshot/" + version +
                                             "?takenAt=" + to_rfc3339(h.clock().now()) +
                                             "&versionsSince=" + std::to_string(since),
                                         "snapshot", who));
        EXPECT_EQ(taken.status, 200u) << taken.body;
        const auto added = h.call(add_version(who, version, "x"));
        return std::string(header(added, "X-Snapshot-Request"));
    };
    EXPECT_EQ(asked_after(0), "");
    EXPECT_EQ(asked_after(99), "");
    EXPECT_EQ(asked_after(100), "urgency=low");
    EXPECT_EQ(asked_after(150), "urgency=high");
}

TEST_F(imports, another_history_is_refused) {
    h.call(asking(verb::put, "/v1/admin/client"));
    EXPECT_EQ(import_version(nil_id, some_id(21), "x").status, 200u);
    EXPECT_EQ(import_version(nil_id, some_id(22), "x").status, 409u);       // a fork
    EXPECT_EQ(import_version(some_id(30), some_id(31), "x").status, 409u);  // a gap
    EXPECT_EQ(import_version(some_id(21), some_id(21), "x").status, 409u);  // a ring
    EXPECT_EQ(import_version(some_id(21), some_id(22), "x").status, 200u);
    EXPECT_EQ(import_version(some_id(22), some_id(21), "x").status, 409u);  // a longer one
    EXPECT_EQ(head().seq, 2);
}

TEST_F(imports, what_is_wrong_is_said) {
    EXPECT_EQ(h.call(asking(verb::put, "/v1/admin/client", {}, "x")).status, 400u);
    EXPECT_EQ(import_version(nil_id, some_id(21), "x").status, 404u);  // no such client yet
    h.call(asking(verb::put, "/v1/admin/client"));
    EXPECT_EQ(import_version("x", some_id(21), "x").status, 400u);
    EXPECT_EQ(import_version(nil_id, "x", "x").status, 400u);
    EXPECT_EQ(import_version(nil_id, some_id(21), "").status, 400u);
    EXPECT_EQ(import_version(nil_id, some_id(21), "x").status, 200u);
    const std::string snapshot = "/v1/admin/client/snapshot/" + some_id(9);
    EXPECT_EQ(h.call(asking(verb::post, snapshot, "x")).status, 400u);
    EXPECT_EQ(
        h.call(asking(verb::post, snapshot + "?takenAt=2026-11-01T00:00:00Z&versionsSince=0", "x"))
            .status,
        409u);
    // Sums are made of it: what is none, or too large for one, is refused before anything is.
    for (const char* none :
         {"", "-1", "1000000000000", "9223372036854775807", "9223372036854775808", "1e2", "x"}) {
        const auto refused = h.call(asking(
            verb::post,
            snapshot + "?takenAt=2026-11-01T00:00:00Z&versionsSince=" + std::string(none), "x"));
        EXPECT_EQ(refused.status, 400u) << none;
    }
}

// ---- body limits ----

TEST_F(sync, large_bodies_are_for_those_who_may_send_them) {
    const std::size_t usual = 1u << 20;
    const auto terms = [&](const net::http_request& request) {
        return h.service().body_limits_of(request, usual);
    };
    const auto segment = terms(add_version(client, nil_id, ""));
    EXPECT_EQ(segment.bytes_max, 100u << 20);
    EXPECT_EQ(segment.too_large->status, 400u);
    EXPECT_EQ(segment.too_large->body, "overflow");
    EXPECT_EQ(segment.too_large->facts.reason, "segment-too-large");
    const auto snapshot = terms(add_snapshot(client, nil_id, ""));
    EXPECT_EQ(snapshot.bytes_max, 100u << 20);
    EXPECT_EQ(snapshot.too_large->body, "Snapshot over maximum allowed size");
    EXPECT_EQ(snapshot.too_large->facts.reason, "snapshot-too-large");
    const auto stranger = terms(add_version("", nil_id, ""));
    EXPECT_EQ(stranger.bytes_max, usual);
    EXPECT_EQ(stranger.too_large->body, "bad x-client-id");
    // Of one that nobody looks at.
    EXPECT_EQ(terms(child_of(client, nil_id)).bytes_max, 16u << 10);
    EXPECT_EQ(terms(get("/livez")).bytes_max, 16u << 10);
    EXPECT_EQ(terms(post("/v1/tasks", "{}")).bytes_max, usual);
}

TEST_F(imports, large_bodies_are_for_those_who_are_known) {
    const std::size_t usual = 1u << 20;
    const auto most = [&](const net::http_request& request) {
        return h.service().body_limits_of(request, usual).bytes_max;
    };
    const auto segment = add_version(client, nil_id, "");
    const auto import =
        asking(verb::post, "/v1/admin/client/versions/" + some_id(1) + "?parent=" + nil_id);
    EXPECT_EQ(most(segment), usual);
    EXPECT_EQ(most(import), usual);
    EXPECT_EQ(h.admit(segment).refused->status, 404u);
    h.call(asking(verb::put, "/v1/admin/client"));
    EXPECT_FALSE(h.admit(segment).refused);
    EXPECT_FALSE(h.admit(import).refused);
    EXPECT_EQ(most(segment), 100u << 20);
    EXPECT_EQ(most(import), 100u << 20);

    // After a restart too, for the first request that comes.
    house next({.service = {.sync = {}}, .disk = &h.disk(), .clock = &h.clock()});
    const auto given = next.admit(segment);
    EXPECT_FALSE(given.refused);
    EXPECT_GT(given.payer.id(), 0);
    EXPECT_EQ(next.service().body_limits_of(segment, usual).bytes_max, 100u << 20);
}

// What the answer would hold is asked for before it is loaded.
TEST_F(sync, what_there_is_no_memory_for_is_not_loaded) {
    const auto chain = make_chain(2, nil_id);
    const std::string large(200'000, 's');
    add(chain.back(), large);
    h.call(add_snapshot(client, chain[1], large));
    const auto budget = std::make_shared<net::body_budget>(300'000, 250'000);
    for (const bool crowded : {false, true}) {
        net::body_lease others(budget);
        if (crowded) others.reserve(150'000);
        for (const auto& request : {child_of(client, chain.back()), snapshot_of(client)}) {
            auto asked = request;
            asked.memory = std::make_shared<net::body_lease>(budget, account_id{99});
            const auto memory = asked.memory;
            const auto response = h.call(std::move(asked));
            EXPECT_EQ(response.status, crowded ? 503u : 200u);
            EXPECT_EQ(memory->bytes(), crowded ? 0u : large.size());
            EXPECT_EQ(header(response, "Retry-After"), crowded ? "1" : "");
            EXPECT_EQ(budget->held_by(account_id{99}), 0u);  // its account pays
        }
    }
}

// ---- no fork ----

// Goal: however requests fall together, the chain stays one line. Method: many replicas of one
// client id, each following the chain and sending, stepped in a random order.
void expect_no_fork(unsigned seed, int wanted, store* disk) {
    house world({.seed = seed, .service = {.sync = open()}, .disk = disk});
    const std::string client = some_id(1);
    std::mt19937 chance(seed);
    struct replica {
        std::string base = nil_id;
        std::shared_ptr<std::optional<net::http_response>> under_way;
        bool sending = false;
    };
    std::vector<replica> replicas(6);
    int accepted = 0, conflicts = 0;
    const auto take = [&](replica& r) {
        const auto response = std::move(**r.under_way);
        r.under_way.reset();
        if (response.status == 200) r.base = header(response, "X-Version-Id");
        if (r.sending && response.status == 200) ++accepted;
        if (response.status == 409) ++conflicts;
    };
    while (accepted < wanted) {
        replica& r = replicas[chance() % replicas.size()];
        if (!r.under_way) {
            r.sending = chance() % 2 == 0;
            r.under_way = world.start(r.sending ? add_version(client, r.base, "x")
                                                : child_of(client, r.base));
        }
        for (unsigned steps = chance() % 6; steps > 0 && world.step();) --steps;
        if (*r.under_way) take(r);
    }
    world.settle();
    for (replica& r : replicas) {
        if (r.under_way) take(r);
    }
    EXPECT_GT(conflicts, 0);
    std::string at = nil_id;
    int length = 0;
    for (;; ++length) {
        const auto child = world.call(child_of(client, at));
        if (child.status != 200) break;
        EXPECT_EQ(header(child, "X-Parent-Version-Id"), at);
        at = header(child, "X-Version-Id");
    }
    EXPECT_EQ(length, accepted) << "seed " << seed;
}

TEST(sync_property, cc_1_concurrent_versions_never_fork) {
    for (unsigned seed = 1; seed <= 50; ++seed) expect_no_fork(seed, 60, nullptr);
}

TEST(sync_property, cc_1_nor_do_they_on_disk) {
    temp_dir dir;
    {
        const auto disk = open_sqlite({.data_dir = dir.path()});
        expect_no_fork(7, 200, disk.get());
    }
    const auto report = report_on(dir.path());
    EXPECT_TRUE(report.ok()) << report.faults.front().text;
}

// ---- what logs and metrics are told ----

TEST_F(closed_sync, a_refused_client_has_a_reason_that_does_not_change) {
    const auto facts_of = [&](net::http_request request) {
        return h.call(std::move(request)).facts;
    };
    const auto unknown = facts_of(add_version(client, nil_id, "abcd"));
    EXPECT_EQ(unknown.refused, "sync-refused");
    EXPECT_EQ(unknown.reason, "unknown-client");
    EXPECT_EQ(unknown.route, "/v1/client/add-version/{parent}");
    EXPECT_EQ(facts_of(child_of(client, nil_id)).reason, "unknown-client");
    EXPECT_EQ(facts_of(snapshot_of(client)).reason, "unknown-client");
    auto wrong_type = add_version(client, nil_id, "abcd");
    wrong_type.set(boost::beast::http::field::content_type, "text/plain");
    EXPECT_EQ(facts_of(std::move(wrong_type)).reason, "wrong-content-type");
    auto nobody = child_of(client, nil_id);
    nobody.erase("X-Client-Id");
    EXPECT_EQ(facts_of(std::move(nobody)).reason, "no-client-id");
}

TEST_F(sync, a_client_is_known_by_its_account) {
    add(nil_id);
    for (int i = 0; i < 2; ++i) {
        const auto facts = h.call(child_of(client, nil_id)).facts;
        EXPECT_NE(facts.account, "");
        EXPECT_EQ(facts.account.find(client.substr(0, 8)), std::string::npos);
        EXPECT_EQ(facts.refused, "");
    }
    const auto end = h.call(child_of(client, to_string(head().version)));
    EXPECT_EQ(end.status, 404u);
    EXPECT_EQ(end.facts.refused, "") << "the end of every sync is no refusal";
}

}  // namespace
}  // namespace callsign::testing

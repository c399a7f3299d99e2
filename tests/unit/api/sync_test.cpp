// TaskChampion's sync protocol, compatible with the reference server. Names that begin with AV, GC,
// AS, GS, H and W are test cases of that server (sync_chain_test.cpp has U and S); the others cover
// further behaviour of its code.

#include "sync_fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

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

TEST_F(sync, av_2_an_unknown_client_is_registered_if_registration_is_open) {
    const std::string parent = some_id(77);
    const auto response = h.call(add_version(client, parent, "abcd"));
    EXPECT_EQ(response.status, 200u);
    EXPECT_EQ(to_string(head().version), header(response, "X-Version-Id"));
    EXPECT_EQ(h.call(snapshot_of(client)).status, 404u);
    const auto accounts = h.look([](read_tx& tx) { return accounts::all(tx); });
    ASSERT_EQ(accounts.size(), 1u);
    EXPECT_EQ(accounts[0].mode, account_mode::opaque);
    EXPECT_EQ(accounts[0].name.find(client.substr(0, 8)), std::string::npos);
}

TEST_F(closed_sync, av_3_and_not_if_it_is_closed) {
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

// Any client can register, and each registration creates a permanent account.
struct few_newcomers : sync {
    static api::sync_options two_an_hour() {
        api::sync_options options = open_to_all();
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

TEST_F(few_newcomers, registrations_are_limited_per_hour) {
    const std::string mine = add(nil_id);
    h.advance(std::chrono::minutes{20});
    EXPECT_EQ(newcomer(1), 200u);
    EXPECT_EQ(newcomer(2), 429u);
    EXPECT_EQ(header(last, "Retry-After"), "2400");
    EXPECT_EQ(newcomer(3), 429u);
    // Known clients have access, and a rejected one after the limit permits it.
    const std::string next = add(mine);
    h.advance(std::chrono::minutes{40});
    EXPECT_EQ(newcomer(2), 200u);
    EXPECT_EQ(newcomer(3), 429u);
    add(next);
    const auto accounts = h.look([](read_tx& tx) { return accounts::all(tx); });
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

TEST_F(sync, h_1_any_client_id_without_a_list) {
    for (unsigned n = 10; n < 13; ++n) {
        EXPECT_EQ(h.call(add_version(some_id(n), nil_id, "x")).status, 200u);
    }
}

struct listed_sync : sync {
    static api::sync_options options() {
        auto some = open_to_all();
        some.allow_client_ids = {*parse_uuid(some_id(1)), *parse_uuid(some_id(2))};
        return some;
    }
    listed_sync() : sync(options()) {}
};

TEST_F(listed_sync, h_2_only_listed_client_ids) {
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

TEST_F(sync, an_invalid_uuid_in_a_path_is_404_before_all_else) {
    for (const char* id :
         {"x", "{}", "urn:uuid:", "0666d464-418a-4a08-ad53-6f15c78270c",
          "0666d464_418a_4a08_ad53_6f15c78270cd", "g666d464418a4a08ad536f15c78270cd"}) {
        EXPECT_EQ(h.call(add_version("", id, "", "wrong/type")).status, 404u) << id;
        EXPECT_EQ(h.call(add_snapshot("", id, "", "wrong/type")).status, 404u) << id;
        EXPECT_EQ(h.call(child_of("", id)).status, 404u) << id;
    }
}

TEST_F(sync, errors_are_reported_in_the_reference_servers_order) {
    EXPECT_EQ(h.call(add_version("", nil_id, "", "wrong/type")).body, "Bad content-type");
    EXPECT_EQ(h.call(add_version("", nil_id, "")).body, "bad x-client-id");
    EXPECT_EQ(h.call(add_version(client, nil_id, "")).body, "Empty body");
    EXPECT_EQ(h.call(add_snapshot(client, nil_id, "")).body, "No snapshot supplied");
}

TEST_F(sync, a_content_type_may_have_parameters) {
    const std::string type = std::string(segment_type) + " ; charset=utf-8";
    EXPECT_EQ(h.call(add_version(client, nil_id, "x", type)).status, 200u);
}

TEST_F(sync, bodies_are_stored_unchanged_whatever_the_headers_are) {
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

}  // namespace
}  // namespace callsign::testing

// Devices of managed accounts on the sync routes: segments are decrypted, responses are encrypted.
// The effects of versions are tested with the rules (tests/unit/rules/add_version_test.cpp).

#include "managed_sync_fixture.hpp"
#include "support/counted_ids.hpp"

#include <callsign/domain/work.hpp>

#include <gtest/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

using kind = operation_kind;

using boost::beast::http::verb;

TEST_F(managed_sync, a_device_reads_the_versions_of_another_with_its_own_key) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    const std::string version = sent(laptop, nil_id, new_task(1, "first"));
    task_map seen;
    const std::string end = pull(phone, nil_id, seen);
    EXPECT_EQ(seen.at(task_id_of(1)).at("description"), "first");
    EXPECT_EQ(seen.at(task_id_of(1)).at("key"), "SYN-1");
    // The sender receives the key in the same sync.
    task_map own;
    for (const auto& o : new_task(1, "first")) carry_out(own, o);
    EXPECT_EQ(pull(laptop, version, own), end);
    EXPECT_EQ(own, seen);
    // A body for one device does not decrypt with the key of another.
    const auto body = h->call(child_of(phone.client(), nil_id)).body;
    EXPECT_TRUE(laptop.opened(nil_id, body).empty());
}

TEST_F(managed_sync, rest_and_devices_see_the_same_tasks) {
    const replica laptop = add_device("laptop");
    const auto made = h->call(post("/v1/tasks", R"({"description":"by REST"})", syn.token, "k"));
    ASSERT_EQ(made.status, 201u);
    task_map seen;
    const auto end = pull(laptop, nil_id, seen);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen.begin()->second.at("key"), "SYN-1");
    sent(laptop, end, new_task(1, "by sync"));
    const auto shown = h->call(get("/v1/tasks/SYN-2", syn.token));
    EXPECT_EQ(shown.status, 200u);
    EXPECT_EQ(text_of(body_of(shown).at("description")), "by sync");
}

TEST_F(managed_sync, no_device_gets_a_conflict) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    const std::string at = sent(laptop, nil_id, new_task(1, "laptop's"));
    const std::string side = sent(phone, nil_id, new_task(2, "phone's"));
    task_map own, other;
    for (const auto& o : new_task(1, "laptop's")) carry_out(other, o);
    for (const auto& o : new_task(2, "phone's")) carry_out(own, o);
    const auto end = pull(phone, side, own);
    EXPECT_EQ(pull(laptop, at, other), end);
    EXPECT_EQ(own, other);
    EXPECT_EQ(own.at(task_id_of(2)).at("key"), "SYN-2");
}

// Applied in steps; the device gets the last version id, reads all keys, and all devices agree.
TEST_F(managed_sync, a_large_segment_is_accepted_too) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    operations many;
    for (int n = 0; n < 4000; ++n) {
        for (auto& o : new_task(n, std::string(50, 'x'))) many.push_back(std::move(o));
    }
    ASSERT_LT(step_of(many), many.size());
    const std::string version = sent(laptop, nil_id, many);
    EXPECT_GT(seq(), 2);
    EXPECT_EQ(h->call(get("/v1/tasks/SYN-4000", syn.token)).status, 200u);
    task_map own, other;
    for (const auto& o : many) carry_out(own, o);
    EXPECT_EQ(pull(laptop, version, own), pull(phone, nil_id, other));
    EXPECT_TRUE(own == other);
    EXPECT_EQ(own.at(task_id_of(3999)).at("key"), "SYN-4000");
}

// A stock client rebases each batch over all pulled operations, pair by pair: so keys follow the
// last batch.
TEST_F(managed_sync, a_device_receives_no_operations_between_its_batches) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    const std::size_t frame = wire::encode_segment({}).size();
    std::vector<operations> batches(1);
    task_map own, other;
    std::size_t bytes = 0;
    for (int n = 0; batches.size() < 4; ++n) {
        for (auto& o : new_task(n, std::string(700, 'x'))) {
            carry_out(own, o);
            bytes += wire::encode_segment({&o, 1}).size() - frame;
            if (bytes > 1'000'000) {
                batches.emplace_back();
                bytes = 0;
            }
            batches.back().push_back(std::move(o));
        }
    }
    std::string at = nil_id;
    for (const operations& batch : batches) {
        at = sent(laptop, at, batch);
        if (&batch == &batches.back()) break;
        const auto first = h->call(child_of(laptop.client(), at));
        ASSERT_EQ(first.status, 200u);
        EXPECT_EQ(laptop.opened(at, first.body), operations{});
        at = header(first, "X-Version-Id");
        ASSERT_EQ(h->call(child_of(laptop.client(), at)).status, 404u);
    }
    EXPECT_EQ(pull(laptop, at, own), pull(phone, nil_id, other));
    EXPECT_TRUE(own == other);
    EXPECT_EQ(own.at(task_id_of(1)).at("key"), "SYN-2");
}

// As with the reference server and an opaque account.
TEST_F(managed_sync, a_device_far_behind_can_push) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    sent(laptop, nil_id, new_task(1, "first"));
    task_map own;
    const std::string common = pull(phone, nil_id, own);
    const precise_time at{std::chrono::seconds{1'700'000'001}};
    const std::string large(500'000, 'x');
    std::string last = common;
    for (std::size_t n = 0; n * large.size() <= 2 * callsign::add_version::read_bytes_max; ++n) {
        last = sent(laptop, last, {{kind::update, task_id_of(1), "note", large, at}});
    }
    // More operations than one command applies.
    operations many{{kind::update, task_id_of(1), "description", "renamed", at},
                    {kind::update, task_id_of(1), "note", "mine", at + std::chrono::seconds{1}}};
    for (int n = 2; n < 2'000; ++n) many.push_back(new_task(n, "t").front());
    const std::string side = sent(phone, common, many);
    for (const auto& o : many) carry_out(own, o);
    pull(phone, side, own);
    task_map theirs;
    pull(add_device("new"), nil_id, theirs);
    EXPECT_EQ(own, theirs);
    EXPECT_EQ(theirs.at(task_id_of(1)).at("note"), "mine");
}

TEST_F(managed_sync, a_task_beyond_the_limit_of_a_request_reaches_all_readers) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    operations all = new_task(1, "large");
    all.push_back({kind::update, task_id_of(1), "annotation_1600000000",
                   std::string(task_bytes_max + 1'000'000, 'x'), all[1].at});
    const auto taken = send(laptop, nil_id, all);
    EXPECT_EQ(taken.status, 200u) << taken.body;
    EXPECT_EQ(taken.facts.rejected, "");
    task_map other;
    pull(phone, nil_id, other);
    EXPECT_EQ(other.at(task_id_of(1)).at("annotation_1600000000").size(),
              task_bytes_max + 1'000'000);
    const auto shown = h->call(get("/v1/tasks/SYN-1", syn.token));
    EXPECT_EQ(shown.status, 200u);
    EXPECT_GT(shown.body.size(), task_bytes_max);
}

// Operations beyond the limits of a task are reverted, and logged.
TEST_F(managed_sync, reverted_operations_are_logged) {
    synced_task_bytes_max = 1'000;
    h = restart(master_key(1));
    const replica laptop = add_device("laptop");
    operations all = new_task(1, "large");
    all.push_back({kind::update, task_id_of(1), "note", std::string(2'000, 'x'), all[1].at});
    const auto taken = send(laptop, nil_id, all);
    EXPECT_EQ(taken.status, 200u) << taken.body;
    EXPECT_EQ(taken.facts.rejected, "sync-trimmed");
    EXPECT_EQ(taken.facts.reason, "task-too-large");
}

TEST_F(managed_sync, a_new_device_begins_with_a_snapshot_made_by_the_server) {
    const replica laptop = add_device("laptop");
    EXPECT_EQ(h->call(snapshot_of(laptop.client())).status, 404u);
    const std::string at = sent(laptop, nil_id, new_task(1, "first"));
    task_map seen;
    for (const auto& o : new_task(1, "first")) carry_out(seen, o);
    const auto end = pull(laptop, at, seen);
    const replica phone = add_device("phone");
    const auto response = h->call(snapshot_of(phone.client()));
    ASSERT_EQ(response.status, 200u);
    EXPECT_EQ(response.content_type, snapshot_type);
    EXPECT_EQ(header(response, "X-Version-Id"), end);
    EXPECT_EQ(phone.opened_snapshot(end, response.body), seen);
    // A snapshot from a device is not needed, but no error.
    EXPECT_EQ(h->call(add_snapshot(phone.client(), end, "sealed")).status, 200u);
    EXPECT_EQ(h->call(snapshot_of(phone.client())).status, 200u);
}

// ---- devices ahead of a backup ----

struct restored_sync : managed_sync {
    // Restarts the server with the store of `backup`.
    void put_back(std::unique_ptr<strict_memory_store> backup) {
        h.reset();
        disk = std::move(backup);
        counted_ids ids;
        const auto tx = disk->begin_write();
        const time_point now = disk->totals()->last_moment + milliseconds{1};
        const uuid instance = make_uuid_v7(now + std::chrono::hours{1}, 0, 1);
        rules::apply(*tx, mark_restored{instance}, rules::moment{now, ids});
        tx->commit();
        h = restart(master_key(1));
    }
    std::string packed(const task_map& tasks) { return wire::encode_snapshot(tasks); }
};

TEST_F(restored_sync, a_device_ahead_is_resynced) {
    const replica laptop = add_device("laptop");
    task_map own;
    const auto edit = [&](const operations& all) {
        for (const auto& o : all) carry_out(own, o);
        return all;
    };
    std::string at = pull(laptop, sent(laptop, nil_id, edit(new_task(1, "first"))), own);
    auto backup = disk->copy();
    h->advance(std::chrono::seconds{1});
    at = pull(laptop, sent(laptop, at, edit(new_task(2, "second"))), own);
    put_back(std::move(backup));

    // The device has to push a version; until then it gets nothing after this one.
    const auto note = h->call(child_of(laptop.client(), at));
    ASSERT_EQ(note.status, 200u) << note.body;
    for (const auto& o : laptop.opened(at, note.body)) carry_out(own, o);
    EXPECT_EQ(own.size(), 3u);
    const std::string ahead(header(note, "X-Version-Id"));
    EXPECT_EQ(h->call(child_of(laptop.client(), ahead)).status, 404u);
    const auto taken = send(laptop, ahead, edit(new_task(3, "third")));
    EXPECT_EQ(taken.status, 200u) << taken.body;
    EXPECT_EQ(header(taken, "X-Snapshot-Request"), "urgency=high");
    const std::string stands(header(taken, "X-Version-Id"));
    EXPECT_EQ(seq(), 2) << "the snapshot contains all of it";
    // Without the snapshot the device gets no versions: changes that only it has would be lost.
    EXPECT_EQ(h->call(child_of(laptop.client(), stands)).status, 409u);

    const auto add = [&](const std::string& version, const std::string& body) {
        return h->call(add_snapshot(laptop.client(), version, body));
    };
    EXPECT_EQ(add(stands, "short").status, 400u);
    EXPECT_EQ(add(stands, laptop.sealed(at, packed(own))).status, 403u);
    EXPECT_EQ(add(stands, laptop.sealed(stands, "no zlib")).status, 400u);
    EXPECT_EQ(add(at, laptop.sealed(at, packed(own))).status, 200u);  // not the requested one
    EXPECT_EQ(seq(), 2);
    task_map bomb{{task_id_of(9), {{"description", std::string(4'000'000, 'x')}}}};
    EXPECT_EQ(add(stands, laptop.sealed(stands, packed(bomb))).status, 400u);
    EXPECT_EQ(seq(), 2);
    EXPECT_EQ(add(stands, laptop.sealed(stands, packed(own))).status, 200u);

    // The device already has many of these changes.
    for (std::string from = stands;;) {
        const auto next = h->call(child_of(laptop.client(), from));
        if (next.status == 404) break;
        ASSERT_EQ(next.status, 200u) << next.body;
        for (const auto& o : laptop.opened(from, next.body)) carry_out(own, o);
        from = header(next, "X-Version-Id");
    }
    EXPECT_EQ(own.size(), 3u);
    EXPECT_EQ(own.at(task_id_of(2)).at("key"), "SYN-2");
    EXPECT_EQ(own.at(task_id_of(3)).at("key"), "SYN-3");
    task_map fresh;
    pull(add_device("phone"), nil_id, fresh);
    EXPECT_EQ(own, fresh);
}

TEST_F(restored_sync, a_device_that_was_not_ahead_continues) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    task_map own;
    for (const auto& o : new_task(1, "first")) carry_out(own, o);
    const std::string at = pull(laptop, sent(laptop, nil_id, new_task(1, "first")), own);
    auto backup = disk->copy();
    put_back(std::move(backup));
    const auto resync_of = [&](const std::string& name) {
        const auto list = body_of(h->call(get("/v1/admin/accounts/syn/devices", root)));
        for (const auto& each : list.at("devices").as_array()) {
            if (text_of(each.at("name")) == name) return text_of(each.at("resync"));
        }
        return std::string();
    };
    EXPECT_EQ(h->call(child_of(laptop.client(), at)).status, 404u);
    EXPECT_EQ(resync_of("laptop"), "seen");
    EXPECT_EQ(resync_of("phone"), "expected");
    // The series stays held: no device was ahead, so the assigned numbers are unknown.
    EXPECT_EQ(h->call(child_of(phone.client(), nil_id)).status, 200u);
    EXPECT_EQ(resync_of("phone"), "seen");
    // A held series does not reject a sync: the number follows at the resume.
    const auto added = send(laptop, at, new_task(2, "new"));
    EXPECT_EQ(added.status, 200u);
    const std::string target = "/v1/tasks/" + to_string(task_id_of(2));
    EXPECT_FALSE(body_of(h->call(get(target, syn.token))).contains("key"));
    const std::string newest = "/v1/tasks?sort=-key&pageSize=1";
    const auto page = body_of(h->call(get(newest, syn.token)));
    EXPECT_FALSE(page.at("tasks").at(0).as_object().contains("key"));
    const auto next =
        h->call(get(newest + "&pageToken=" + text_of(page.at("nextPageToken")), syn.token));
    EXPECT_EQ(text_of(body_of(next).at("tasks").at(0).at("key")), "SYN-1");
    const auto resumed =
        h->call(post("/v1/admin/accounts/syn/series/SYN/resume", R"({"at":7})", root));
    EXPECT_EQ(resumed.status, 200u) << resumed.body;
    EXPECT_EQ(text_of(body_of(h->call(get(target, syn.token))).at("key")), "SYN-7");
    const std::string behind(header(added, "X-Version-Id"));
    const auto keys = laptop.opened(behind, h->call(child_of(laptop.client(), behind)).body);
    ASSERT_EQ(keys.size(), 1u);
    EXPECT_EQ(keys.front().value, "SYN-7");
    // Versions of another server, and versions before the backup, are unknown.
    EXPECT_EQ(h->call(child_of(laptop.client(), some_id(5))).status, 410u);
    const auto old = to_string(make_uuid_v7(time_point{milliseconds{1}}, 0, 7));
    EXPECT_EQ(h->call(child_of(laptop.client(), old)).status, 410u);
    EXPECT_EQ(send(laptop, old, new_task(2, "new")).status, 410u);
}

// ---- rejected completely ----

TEST_F(managed_sync, a_body_that_does_not_decrypt_or_parse_changes_nothing) {
    const replica laptop = add_device("laptop");
    const replica impostor(laptop.client(), "another secret");
    const auto rejected = [&](const std::string& body) {
        return h->call(add_version(laptop.client(), nil_id, body));
    };
    const auto wrong = send(impostor, nil_id, new_task(1, "x"));
    EXPECT_EQ(wrong.status, 403u);
    EXPECT_NE(wrong.body.find("sync.encryption_secret"), std::string::npos) << wrong.body;
    // Encrypted for another parent.
    EXPECT_EQ(rejected(laptop.segment(some_id(5), new_task(1, "x"))).status, 403u);
    EXPECT_EQ(rejected("short").status, 400u);
    const auto malformed = rejected(laptop.sealed(nil_id, R"({"operations":[{"Rename":{}}]})"));
    EXPECT_EQ(malformed.status, 400u);
    EXPECT_NE(malformed.body.find("cannot be parsed"), std::string::npos) << malformed.body;
    EXPECT_EQ(seq(), 0);
    EXPECT_EQ(send(laptop, some_id(5), new_task(1, "x")).status, 410u);
    EXPECT_EQ(h->call(child_of(laptop.client(), some_id(5))).status, 410u);
    EXPECT_EQ(seq(), 0);
}

// One key encrypts all responses to a device: two bodies with one nonce would reveal each other.
TEST_F(managed_sync, no_two_bodies_have_one_nonce) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    std::string last = nil_id;
    std::set<std::string> nonces{std::string(seal::nonce_bytes, '\0')};
    std::size_t bodies = nonces.size();
    const auto note = [&](const net::http_response& response) {
        EXPECT_EQ(response.status, 200u);
        nonces.insert(response.body.substr(1, seal::nonce_bytes));
        ++bodies;
    };
    for (int n = 1; n <= 5; ++n) last = sent(laptop, last, new_task(n, "one"));
    for (int twice = 0; twice < 2; ++twice) {
        for (std::string at = nil_id;;) {
            const auto response = h->call(child_of(phone.client(), at));
            if (response.status == 404) break;
            note(response);
            at = header(response, "X-Version-Id");
        }
        note(h->call(snapshot_of(phone.client())));
    }
    EXPECT_EQ(nonces.size(), bodies);
    EXPECT_GT(bodies, 20u);
}

TEST_F(managed_sync, a_revoked_device_is_rejected_at_its_next_request) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    const auto version = sent(laptop, nil_id, new_task(1, "first"));
    const auto revoked = h->call(make_request(
        verb::delete_, "/v1/admin/accounts/syn/devices/" + device_ids["laptop"], "", bearer(root)));
    ASSERT_EQ(revoked.status, 200u) << revoked.body;
    const auto before = seq();
    EXPECT_EQ(send(laptop, version, new_task(2, "x")).status, 403u);
    EXPECT_EQ(h->call(child_of(laptop.client(), nil_id)).status, 403u);
    EXPECT_EQ(h->call(snapshot_of(laptop.client())).status, 403u);
    EXPECT_EQ(h->call(add_snapshot(laptop.client(), version, "s")).status, 403u);
    EXPECT_EQ(seq(), before);
    task_map seen;
    pull(phone, nil_id, seen);
    EXPECT_EQ(seen.size(), 1u);
}

TEST_F(managed_sync, without_the_master_key_devices_get_an_error) {
    const replica laptop = add_device("laptop");
    for (const auto& other : {std::shared_ptr<const seal::key_ring>(), master_key(2)}) {
        h.reset();
        h = restart(other);
        EXPECT_FALSE(h->run(h->service().can_decrypt_devices()));
        const auto response = h->call(child_of(laptop.client(), nil_id));
        EXPECT_EQ(response.status, 503u);
        EXPECT_NE(response.body.find("master key"), std::string::npos);
        EXPECT_EQ(send(laptop, nil_id, new_task(1, "x")).status, 503u);
    }
    h.reset();
    h = restart(master_key(1));
    EXPECT_TRUE(h->run(h->service().can_decrypt_devices()));
    sent(laptop, nil_id, new_task(1, "x"));
}

}  // namespace
}  // namespace callsign::testing

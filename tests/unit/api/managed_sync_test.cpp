// Devices of managed accounts on the sync routes: what they send is opened, what they read is
// sealed. And opaque accounts that become managed. What versions do to tasks is tested with the
// rules (tests/unit/rules/add_version_test.cpp).

#include "support/answer_json.hpp"
#include "support/carry_out.hpp"
#include "support/counted_ids.hpp"
#include "support/sync_client.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;
using kind = operation_kind;
using operations = std::vector<operation>;

std::shared_ptr<const seal::key_ring> master_key(std::uint8_t first) {
    const std::array<std::uint8_t, seal::key_bytes> bytes{first, 1, 2, 3};
    return std::make_shared<const seal::key_ring>(seal::key(bytes));
}

uuid task_id_of(int n) {
    return make_uuid_v7(time_point{milliseconds{1'700'000'000'000}}, 1,
                        static_cast<std::uint64_t>(n));
}

operations new_task(int n, const std::string& description) {
    const precise_time at{std::chrono::seconds{1'700'000'000}};
    return {{kind::create, task_id_of(n), {}, {}, {}},
            {kind::update, task_id_of(n), "description", description, at}};
}

// One replica's bodies. Its key is derived once for all tests: that takes a while.
class replica {
  public:
    replica(std::string client, const std::string& secret)
        : client_(std::move(client)), key_(derive(secret, client_)) {}

    const std::string& client() const { return client_; }

    std::string sealed(const std::string& version, const std::string& text) const {
        const std::array<std::uint8_t, seal::nonce_bytes> nonce{9};
        return seal::seal_body(key_, *parse_uuid(version), nonce, text);
    }
    std::string segment(const std::string& parent, const operations& all) const {
        return sealed(parent, wire::encode_segment(all));
    }
    operations opened(const std::string& parent, const std::string& body) const {
        const auto text = seal::open_body(key_, *parse_uuid(parent), body);
        if (!std::holds_alternative<std::string>(text)) return {};
        return std::get<operations>(wire::decode_segment(std::get<std::string>(text)));
    }
    task_map opened_snapshot(const std::string& version, const std::string& body) const {
        const auto text = seal::open_body(key_, *parse_uuid(version), body);
        return std::get<task_map>(wire::decode_snapshot(std::get<std::string>(text)));
    }

  private:
    static seal::key derive(const std::string& secret, const std::string& client) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(secret.data());
        return seal::derive_key({bytes, secret.size()}, *parse_uuid(client));
    }

    std::string client_;
    seal::key key_;
};

struct managed_sync : ::testing::Test {
    std::unique_ptr<house> open_house(std::shared_ptr<const seal::key_ring> master) {
        house_options options{.disk = disk.get()};
        options.service.master_key = std::move(master);
        options.service.sync.turnstile = milliseconds{0};
        options.engine.synced_task_bytes_max = synced_task_bytes_max;
        return std::make_unique<house>(std::move(options));
    }

    replica add_device(const std::string& name) {
        const auto response =
            h->call(post("/v1/admin/accounts/syn/devices", R"({"name":")" + name + "\"}", root));
        EXPECT_EQ(response.status, 201u) << response.body;
        const auto made = body_of(response);
        device_ids[name] = text_of(made.at("deviceId"));
        return {text_of(made.at("clientId")), text_of(made.at("encryptionSecret"))};
    }

    net::http_response send(const replica& from, const std::string& parent, const operations& all) {
        return h->call(add_version(from.client(), parent, from.segment(parent, all)));
    }
    // Accepted: the version.
    std::string sent(const replica& from, const std::string& parent, const operations& all) {
        const auto response = send(from, parent, all);
        EXPECT_EQ(response.status, 200u) << response.body;
        EXPECT_EQ(header(response, "X-Snapshot-Request"), "");
        return std::string(header(response, "X-Version-Id"));
    }
    // Follows the chain to its end, carrying everything out.
    std::string pull(const replica& by, std::string from, task_map& tasks) {
        for (;;) {
            const auto response = h->call(child_of(by.client(), from));
            if (response.status == 404) return from;
            EXPECT_EQ(response.status, 200u) << response.body;
            EXPECT_EQ(response.content_type, segment_type);
            EXPECT_EQ(header(response, "X-Parent-Version-Id"), from);
            for (const auto& o : by.opened(from, response.body)) EXPECT_TRUE(carry_out(tasks, o));
            from = header(response, "X-Version-Id");
        }
    }
    std::int64_t seq() {
        auto question = [](read_tx& tx) { return tx.find_account("syn")->last_seq; };
        return h->look(question);
    }

    std::size_t synced_task_bytes_max = 2 * task_bytes_max;
    std::unique_ptr<strict_memory_store> disk = make_memory_store();
    std::unique_ptr<house> h = open_house(master_key(1));
    house::made_account syn = h->make_account("syn", "SYN");
    std::string root = h->operator_token();
    std::map<std::string, std::string> device_ids;
};

TEST_F(managed_sync, what_one_device_sends_the_other_reads_with_its_key) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    const std::string version = sent(laptop, nil_id, new_task(1, "first"));
    task_map seen;
    const std::string end = pull(phone, nil_id, seen);
    EXPECT_EQ(seen.at(task_id_of(1)).at("description"), "first");
    EXPECT_EQ(seen.at(task_id_of(1)).at("key"), "SYN-1");
    // The sender gets the key in the same sync.
    task_map own;
    for (const auto& o : new_task(1, "first")) carry_out(own, o);
    EXPECT_EQ(pull(laptop, version, own), end);
    EXPECT_EQ(own, seen);
    // One's body does not open with the other's key.
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

TEST_F(managed_sync, nobody_is_told_of_a_conflict) {
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

// In steps, of which the device is told the last: it reads all keys, and everybody agrees.
TEST_F(managed_sync, a_large_segment_is_taken_too) {
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

// A stock client rebases each batch over all that it pulls before it, pair by pair: the keys come
// behind the last one.
TEST_F(managed_sync, between_its_batches_a_device_is_given_no_operations) {
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

// The reference server takes it, and so does an opaque account.
TEST_F(managed_sync, a_device_far_behind_pushes_all_the_same) {
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
    // More than one command takes.
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

TEST_F(managed_sync, a_task_larger_than_a_request_may_make_it_comes_to_all_who_read) {
    const replica laptop = add_device("laptop"), phone = add_device("phone");
    operations all = new_task(1, "large");
    all.push_back({kind::update, task_id_of(1), "annotation_1600000000",
                   std::string(task_bytes_max + 1'000'000, 'x'), all[1].at});
    const auto taken = send(laptop, nil_id, all);
    EXPECT_EQ(taken.status, 200u) << taken.body;
    EXPECT_EQ(taken.facts.refused, "");
    task_map other;
    pull(phone, nil_id, other);
    EXPECT_EQ(other.at(task_id_of(1)).at("annotation_1600000000").size(),
              task_bytes_max + 1'000'000);
    const auto shown = h->call(get("/v1/tasks/SYN-1", syn.token));
    EXPECT_EQ(shown.status, 200u);
    EXPECT_GT(shown.body.size(), task_bytes_max);
}

// What is beyond the bounds of a task is taken away again, and not in silence.
TEST_F(managed_sync, what_is_taken_away_again_is_logged) {
    synced_task_bytes_max = 1'000;
    h = open_house(master_key(1));
    const replica laptop = add_device("laptop");
    operations all = new_task(1, "large");
    all.push_back({kind::update, task_id_of(1), "note", std::string(2'000, 'x'), all[1].at});
    const auto taken = send(laptop, nil_id, all);
    EXPECT_EQ(taken.status, 200u) << taken.body;
    EXPECT_EQ(taken.facts.refused, "sync-trimmed");
    EXPECT_EQ(taken.facts.reason, "task-too-large");
}

TEST_F(managed_sync, a_new_device_begins_with_a_snapshot_of_the_servers) {
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
    // One of its own is not needed, and no fault.
    EXPECT_EQ(h->call(add_snapshot(phone.client(), end, "sealed")).status, 200u);
    EXPECT_EQ(h->call(snapshot_of(phone.client())).status, 200u);
}

// ---- devices that are further than a backup ----

struct restored_sync : managed_sync {
    // The house again, with the store as it stood at `backup`.
    void put_back(std::unique_ptr<strict_memory_store> backup) {
        h.reset();
        disk = std::move(backup);
        counted_ids ids;
        const auto tx = disk->begin_write();
        const time_point now = disk->last_moment() + milliseconds{1};
        const uuid instance = make_uuid_v7(now + std::chrono::hours{1}, 0, 1);
        rules::apply(*tx, begin_restored{instance}, rules::moment{now, ids});
        tx->commit();
        h = open_house(master_key(1));
    }
    std::string packed(const task_map& tasks) { return wire::encode_snapshot(tasks); }
};

TEST_F(restored_sync, a_device_is_led_back) {
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

    // It is told to send something; until then nothing comes after that.
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
    EXPECT_EQ(seq(), 2) << "the snapshot has all of it";
    // Who does not send one is not led on: what it alone has would be lost.
    EXPECT_EQ(h->call(child_of(laptop.client(), stands)).status, 409u);

    const auto add = [&](const std::string& version, const std::string& body) {
        return h->call(add_snapshot(laptop.client(), version, body));
    };
    EXPECT_EQ(add(stands, "short").status, 400u);
    EXPECT_EQ(add(stands, laptop.sealed(at, packed(own))).status, 403u);
    EXPECT_EQ(add(stands, laptop.sealed(stands, "no zlib")).status, 400u);
    EXPECT_EQ(add(at, laptop.sealed(at, packed(own))).status, 200u);  // not the one asked for
    EXPECT_EQ(seq(), 2);
    task_map bomb{{task_id_of(9), {{"description", std::string(4'000'000, 'x')}}}};
    EXPECT_EQ(add(stands, laptop.sealed(stands, packed(bomb))).status, 400u);
    EXPECT_EQ(seq(), 2);
    EXPECT_EQ(add(stands, laptop.sealed(stands, packed(own))).status, 200u);

    // Much of what it reads now it has.
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

TEST_F(restored_sync, a_device_that_was_not_further_goes_on) {
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
    // Held still: nobody was there to say which numbers were given.
    EXPECT_EQ(h->call(child_of(phone.client(), nil_id)).status, 200u);
    EXPECT_EQ(resync_of("phone"), "seen");
    // A held series cuts no sync: its number comes when the series is resumed.
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
    // Of another server's versions, and of older ones than the backup, nothing is known.
    EXPECT_EQ(h->call(child_of(laptop.client(), some_id(5))).status, 410u);
    const auto old = to_string(make_uuid_v7(time_point{milliseconds{1}}, 0, 7));
    EXPECT_EQ(h->call(child_of(laptop.client(), old)).status, 410u);
    EXPECT_EQ(send(laptop, old, new_task(2, "new")).status, 410u);
}

// ---- refused whole ----

TEST_F(managed_sync, what_does_not_open_or_parse_changes_nothing) {
    const replica laptop = add_device("laptop");
    const replica impostor(laptop.client(), "another secret");
    const auto refused = [&](const std::string& body) {
        return h->call(add_version(laptop.client(), nil_id, body));
    };
    const auto wrong = send(impostor, nil_id, new_task(1, "x"));
    EXPECT_EQ(wrong.status, 403u);
    EXPECT_NE(wrong.body.find("sync.encryption_secret"), std::string::npos) << wrong.body;
    // Sealed for another place.
    EXPECT_EQ(refused(laptop.segment(some_id(5), new_task(1, "x"))).status, 403u);
    EXPECT_EQ(refused("short").status, 400u);
    const auto malformed = refused(laptop.sealed(nil_id, R"({"operations":[{"Rename":{}}]})"));
    EXPECT_EQ(malformed.status, 400u);
    EXPECT_NE(malformed.body.find("does not parse"), std::string::npos) << malformed.body;
    EXPECT_EQ(seq(), 0);
    EXPECT_EQ(send(laptop, some_id(5), new_task(1, "x")).status, 410u);
    EXPECT_EQ(h->call(child_of(laptop.client(), some_id(5))).status, 410u);
    EXPECT_EQ(seq(), 0);
}

// One key seals all that a device reads: two bodies under one nonce would give each other away.
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

TEST_F(managed_sync, a_revoked_device_is_out_with_its_next_request) {
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

TEST_F(managed_sync, without_the_master_key_devices_are_told_so) {
    const replica laptop = add_device("laptop");
    for (const auto& other : {std::shared_ptr<const seal::key_ring>(), master_key(2)}) {
        h.reset();
        h = open_house(other);
        EXPECT_FALSE(h->run(h->service().can_decrypt_devices()));
        const auto response = h->call(child_of(laptop.client(), nil_id));
        EXPECT_EQ(response.status, 503u);
        EXPECT_NE(response.body.find("master key"), std::string::npos);
        EXPECT_EQ(send(laptop, nil_id, new_task(1, "x")).status, 503u);
    }
    h.reset();
    h = open_house(master_key(1));
    EXPECT_TRUE(h->run(h->service().can_decrypt_devices()));
    sent(laptop, nil_id, new_task(1, "x"));
}

// ---- an opaque account becomes managed ----

struct manage : managed_sync {
    net::http_response manage_account(const std::string& secret) {
        return h->call(post("/v1/admin/accounts/vault/manage",
                            R"({"encryptionSecret":")" + secret + "\"}", root));
    }
    // A version of the opaque chain.
    std::string add(const std::string& parent, const operations& all) {
        const auto response = h->call(add_version(old.client(), parent, old.segment(parent, all)));
        EXPECT_EQ(response.status, 200u) << response.body;
        return std::string(header(response, "X-Version-Id"));
    }
    static void behind_with(const std::vector<int>& tasks, task_map& into) {
        static const char* const names[] = {"", "one", "two", "three"};
        for (const int n : tasks) {
            for (const auto& o : new_task(n, names[n])) carry_out(into, o);
        }
    }
    std::optional<account> vault() {
        auto question = [](read_tx& tx) { return tx.find_account("vault"); };
        return h->look(question);
    }

    const std::string secret = "hush";
    const replica old{some_id(1), secret};
    const std::string token = [this] {
        const auto made = h->call(post("/v1/admin/accounts",
                                       R"({"name":"vault","prefix":"VLT","mode":"opaque",)"
                                       R"("clientId":")" +
                                           some_id(1) + "\"}",
                                       root));
        EXPECT_EQ(made.status, 201u) << made.body;
        return text_of(body_of(made).at("token"));
    }();
};

TEST_F(manage, the_history_is_opened_and_its_tasks_are_numbered) {
    std::string last = add(nil_id, new_task(2, "two"));
    last = add(last, new_task(1, "one"));
    last = add(last, {{kind::remove, task_id_of(2), {}, {}, {}},
                      {kind::update, task_id_of(2), "p", "without effect", {}}});
    last = add(last, new_task(3, "three"));
    EXPECT_EQ(h->call(post("/v1/tasks", R"({"description":"x"})", token, "k")).status, 409u);

    const auto managed = manage_account(secret);
    ASSERT_EQ(managed.status, 200u) << managed.body;
    EXPECT_EQ(body_of(managed).at("versions"), 4);
    EXPECT_EQ(body_of(managed).at("tasks"), 2);
    EXPECT_EQ(vault()->mode, account_mode::managed);
    // The replica goes on from where it was; a new one reads it all, what had no effect left out.
    task_map behind;
    behind_with({1, 3}, behind);
    const auto end = pull(old, last, behind);
    task_map seen;
    EXPECT_EQ(pull(old, nil_id, seen), end);
    EXPECT_EQ(behind, seen);
    EXPECT_EQ(seen.at(task_id_of(1)).at("key"), "VLT-1");
    EXPECT_EQ(seen.at(task_id_of(3)).at("key"), "VLT-2");
    // So do tokens that were remembered as an opaque account's.
    EXPECT_EQ(h->call(post("/v1/tasks", R"({"description":"x"})", token, "k")).status, 201u);
    EXPECT_EQ(manage_account(secret).status, 409u);
}

TEST_F(manage, a_wrong_secret_changes_nothing) {
    const auto last = add(nil_id, new_task(1, "one"));
    const auto refused = manage_account("wrong");
    EXPECT_EQ(refused.status, 422u);
    EXPECT_EQ(code_of(refused), "wrong-secret");
    EXPECT_EQ(vault()->mode, account_mode::opaque);
    add(last, new_task(2, "two"));
}

TEST_F(manage, a_version_that_cannot_be_read_changes_nothing) {
    const auto last = add(nil_id, new_task(1, "one"));
    h->call(add_version(old.client(), last, old.sealed(last, "{}")));
    const auto refused = manage_account(secret);
    EXPECT_EQ(refused.status, 422u);
    EXPECT_EQ(code_of(refused), "history-unreadable");
    EXPECT_NE(refused.body.find("version 2"), std::string::npos) << refused.body;
    EXPECT_EQ(vault()->mode, account_mode::opaque);
}

TEST_F(manage, a_history_that_begins_elsewhere_needs_a_snapshot) {
    const auto first = some_id(50);
    auto last = add(first, {{kind::update, task_id_of(1), "p", "v", {}}});
    const auto refused = manage_account(secret);
    EXPECT_EQ(code_of(refused), "history-unreadable");
    EXPECT_NE(refused.body.find("snapshot"), std::string::npos);

    const task_map at_last{{task_id_of(1), {{"entry", "20"}, {"p", "v"}}},
                           {task_id_of(2), {{"entry", "10"}}}};
    h->call(add_snapshot(old.client(), last, old.sealed(last, wire::encode_snapshot(at_last))));
    last = add(last, new_task(3, "three"));
    ASSERT_EQ(manage_account(secret).status, 200u);
    const auto response = h->call(snapshot_of(old.client()));
    const auto tasks =
        old.opened_snapshot(std::string(header(response, "X-Version-Id")), response.body);
    EXPECT_EQ(tasks.at(task_id_of(2)).at("key"), "VLT-1");
    EXPECT_EQ(tasks.at(task_id_of(1)).at("key"), "VLT-2");
    EXPECT_EQ(tasks.at(task_id_of(1)).at("p"), "v");
    EXPECT_EQ(tasks.at(task_id_of(3)).at("key"), "VLT-3");
    // As before: who is where it began goes on, and from nothing there is no way but the snapshot.
    EXPECT_EQ(h->call(child_of(old.client(), first)).status, 200u);
    EXPECT_EQ(h->call(child_of(old.client(), nil_id)).status, 410u);
}

TEST_F(manage, versions_that_come_meanwhile_are_taken_along) {
    std::string last = add(nil_id, new_task(1, "one"));
    const auto under_way =
        h->start(post("/v1/admin/accounts/vault/manage", R"({"encryptionSecret":"hush"})", root));
    // Between any two steps of it.
    int sent = 1;
    constexpr int sent_max = 9;
    while (!*under_way && h->step()) {
        if (sent == sent_max) continue;
        const auto response = h->start(
            add_version(old.client(), last, old.segment(last, new_task(sent + 1, "more"))));
        while (!*response && h->step()) {
        }
        ASSERT_TRUE(*response);
        if ((*response)->status == 503) continue;  // it has just become managed: asked again
        ASSERT_EQ((*response)->status, 200u) << (*response)->body;
        last = header(**response, "X-Version-Id");
        ++sent;
    }
    ASSERT_TRUE(*under_way);
    EXPECT_EQ((*under_way)->status, 200u) << (*under_way)->body;
    task_map seen;
    pull(old, nil_id, seen);
    EXPECT_GT(sent, 1);
    EXPECT_EQ(static_cast<int>(seen.size()), sent);
    for (const auto& [id, all] : seen) EXPECT_TRUE(all.contains("key"));
}

// A later edit of any of them, on whatever device, has to find where it stands.
TEST_F(manage, each_task_stands_at_the_end_of_the_chain) {
    add(add(nil_id, new_task(1, "one")), new_task(2, "two"));
    ASSERT_EQ(manage_account(secret).status, 200u);
    const auto end = vault()->last_seq;
    EXPECT_EQ(end, 3);  // the keys
    for (const char* key : {"VLT-1", "VLT-2"}) {
        const auto shown = h->call(get("/v1/tasks/" + std::string(key), token));
        EXPECT_EQ(body_of(shown).at("seq"), end);
    }
}

TEST_F(manage, there_is_nothing_to_see_or_cancel_where_nothing_is_under_way) {
    const std::string path = "/v1/admin/accounts/vault/manage";
    const auto status = h->call(get(path, root));
    EXPECT_EQ(status.status, 200u);
    EXPECT_EQ(body_of(status).at("running"), false);
    EXPECT_EQ(code_of(h->call(make_request(verb::delete_, path, "", bearer(root)))),
              "not-under-way");
    EXPECT_EQ(h->call(get("/v1/admin/accounts/nobody/manage", root)).status, 404u);
}

TEST_F(manage, an_account_without_a_history_takes_no_secret) {
    const auto refused = manage_account("any");
    EXPECT_EQ(refused.status, 409u);
    EXPECT_EQ(code_of(refused), "no-history");
    EXPECT_EQ(vault()->mode, account_mode::opaque);
    // Nor does the rule, whoever asks it.
    callsign::manage_account command;
    command.account = vault()->id;
    const auto done = h->run(h->engine().submit(std::move(command)));
    EXPECT_TRUE(done && std::holds_alternative<callsign::manage_account::no_history>(*done));
    // Its own clients are let in as before.
    add(nil_id, new_task(1, "one"));
    EXPECT_EQ(manage_account(secret).status, 200u);
}

TEST_F(manage, what_is_no_such_account) {
    add(nil_id, new_task(1, "one"));
    EXPECT_EQ(body_of(manage_account(secret)).at("tasks"), 1);
    const auto none =
        h->call(post("/v1/admin/accounts/none/manage", R"({"encryptionSecret":"x"})", root));
    EXPECT_EQ(code_of(none), "account-not-found");
    EXPECT_EQ(code_of(manage_account("")), "validation-failed");
    const auto own =
        h->call(post("/v1/admin/accounts/syn/manage", R"({"encryptionSecret":"x"})", root));
    EXPECT_EQ(code_of(own), "account-managed");
    const auto status = h->call(get("/v1/admin/accounts/vault/manage", root));
    EXPECT_EQ(body_of(status).at("running"), false);
}

}  // namespace
}  // namespace callsign::testing

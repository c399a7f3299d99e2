// Goal: a sync of many versions may be interrupted after any of them and in any way; later syncs
// complete it, and nothing that a device wrote is lost. Method: the real Taskwarrior, some MB of
// tasks, and a proxy that responds instead of the server or cuts the connection, before or after
// the server has the version.

#include "support/recording_proxy.hpp"
#include "support/setting.hpp"
#include "taskwarrior_fixture.hpp"

#include <random>

namespace callsign::testing {
namespace {

// Stock clients push about 1 MB per version.
constexpr int tasks_in_a_batch = 100;
constexpr std::size_t text_bytes = 9'900;
constexpr int batches = 3;
const int cuts_max = static_cast<int>(setting("CALLSIGN_SYNC_CUTS").value_or(2));

class cut_sync_test : public managed_test {
  protected:
    std::unique_ptr<taskwarrior> add_replica(const std::string& account, const std::string& name) {
        const auto added = ask_callsign({"device", "add", account, "--name", name});
        return std::make_unique<taskwarrior>(program, text_in(added, "taskrc"));
    }
    static void import(const taskwarrior& device, int count) {
        json::array all;
        for (int n = 0; n < count; ++n) {
            all.push_back({{"uuid", numbered_uuid(n)},
                           {"status", "pending"},
                           {"entry", "20261101T080000Z"},
                           {"description", "Task " + std::to_string(n)},
                           {"notes", std::string(text_bytes, 'x')}});
        }
        expect_done(device.import(json::serialize(all)));
    }
    // Interrupts a sync there, or kills and restarts the server at that moment.
    void sync_cut_off(const taskwarrior& writer, recording_proxy& proxy, recording_proxy::cut cut,
                      bool is_killed) {
        if (is_killed) cut.then = [&] { s->child().signal(SIGKILL); };
        proxy.cut_off(std::move(cut));
        EXPECT_NE(writer.sync().status, (exit_status{0, 0}));
        if (!is_killed) return;
        EXPECT_EQ(s->child().wait(timeout), (exit_status{-1, SIGKILL}));
        s->start();
    }
};

// Alternates devices that have never synced with others: to the former, the reference server offers
// its snapshot as a second chance.
TEST_F(cut_sync_test, nothing_is_lost_wherever_a_sync_is_cut_off) {
    const std::uint64_t seed = system_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 chance(seed);
    const auto below = [&](std::size_t limit) {
        return static_cast<std::size_t>(chance() % limit);
    };
    constexpr unsigned statuses[] = {0, 400, 403, 404, 410, 413, 429, 500, 502, 503, 504};
    begin();
    recording_proxy proxy(s->port());
    for (int cuts = 0; cuts < cuts_max; ++cuts) {
        const int nth = 1 + static_cast<int>(below(batches));
        const bool is_killed = below(4) == 0;
        const unsigned status = is_killed ? 0 : statuses[below(std::size(statuses))];
        const bool is_passed_on = below(4) != 0;
        SCOPED_TRACE("cut " + std::to_string(cuts) + (is_passed_on ? " behind " : " before ") +
                     std::to_string(nth) + (is_killed ? ": killed" : ": ") +
                     std::to_string(status));
        const std::string account = "account" + std::to_string(cuts);
        ask_callsign({"account", "create", account, "--prefix", "SYN"});
        const auto reader = add_replica(account, "reader"), writer = add_replica(account, "writer");
        writer->move_to(proxy.port());
        int tasks = batches * tasks_in_a_batch;
        if (cuts % 2 == 1) {
            expect_done((*writer)({"add", "First"}));
            expect_done(writer->sync());
            expect_done(reader->sync());
            ++tasks;
        }
        import(*writer, batches * tasks_in_a_batch);
        sync_cut_off(*writer, proxy, {nth, status, is_passed_on, {}}, is_killed);
        // After a restart the server does not know what a large batch was rebased over, and rejects
        // it once. A sync that only pushes pulls nothing.
        if (const finished first = writer->sync(); first.status != exit_status{0, 0}) {
            EXPECT_TRUE(is_killed) << first.err;
            expect_done(writer->sync());
        }
        expect_done(writer->sync());
        expect_done(reader->sync());
        const task_table all = tasks_of(*writer);
        EXPECT_EQ(std::ssize(all), tasks);
        EXPECT_EQ(differences(tasks_of(*reader), all), "");
    }
    expect_sound();
}

TEST_F(cut_sync_test, a_stop_lets_a_sync_end) {
    begin();
    recording_proxy proxy(s->port());
    const auto reader = add_replica("ops", "reader"), writer = add_replica("ops", "writer");
    writer->move_to(proxy.port());
    import(*writer, batches * tasks_in_a_batch);
    const auto stopped = proxy.at_next_version(recording_proxy::moment::arrived,
                                               [&] { s->child().signal(SIGTERM); });
    // The sync continues, since the proxy keeps its connection.
    writer->sync();
    ASSERT_EQ(stopped.wait_for(timeout), std::future_status::ready);
    EXPECT_EQ(s->child().wait(timeout), (exit_status{0, 0}));
    EXPECT_GE(proxy.count("POST", "/v1/client/add-version/", 200), batches);
    s->start();
    expect_done(reader->sync());
    EXPECT_EQ(std::ssize(tasks_of(*reader)), batches * tasks_in_a_batch);
}

}  // namespace
}  // namespace callsign::testing

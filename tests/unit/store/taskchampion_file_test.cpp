// The data file of the reference server, with any number as an instant or a count.

#include "support/reference_file.hpp"
#include "support/temp_dir.hpp"

#include <callsign/base/instant_bounds.hpp>
#include <callsign/domain/sealed.hpp>
#include <callsign/store/taskchampion_file.hpp>

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace callsign {
namespace {

const std::string a_client = "1666d464-418a-4a08-ad53-6f15c78270cd";

class reference_data : public ::testing::Test {
  protected:
    // A file is read in one transaction, so each state needs its own.
    auto clients() { return open_taskchampion_file(name_)->clients(); }

    const testing::temp_dir dir_;
    const std::filesystem::path name_ = dir_.path() / "taskchampion-sync-server.sqlite3";
    testing::reference_file file_{name_};
};

TEST_F(reference_data, accepts_a_snapshot_with_a_representable_instant) {
    file_.add_client(a_client);
    const auto clients_at = [&](std::int64_t seconds) {
        file_.set_snapshot(a_client, a_client, 0, seconds, "snapshot bytes");
        return clients();
    };
    for (const std::int64_t seconds : {INT64_C(-62'135'596'800), INT64_C(253'402'300'799)}) {
        const auto all = clients_at(seconds);
        ASSERT_TRUE(all.at(0).snapshot);
        EXPECT_EQ(all[0].snapshot->taken_at, time_point{std::chrono::seconds{seconds}});
        EXPECT_TRUE(is_instant(all[0].snapshot->taken_at));
    }
    for (const std::int64_t seconds : {INT64_C(-62'135'596'801), INT64_C(253'402'300'800),
                                       INT64_C(-62'167'219'200), INT64_MAX}) {
        const auto all = clients_at(seconds);
        EXPECT_EQ(to_string(all.at(0).id), a_client);
        EXPECT_NE(all[0].fault, "") << seconds;
        EXPECT_THROW(open_taskchampion_file(name_)->chain_of(all[0]), std::runtime_error);
    }
}

TEST_F(reference_data, accepts_a_snapshot_with_a_valid_age_in_versions) {
    file_.add_client(a_client);
    const auto read = [&](std::int64_t since) {
        file_.set_snapshot(a_client, a_client, since, 1'700'000'000, "snapshot bytes");
        return clients().at(0);
    };
    for (const std::int64_t since : {std::int64_t{0}, versions_since_max}) {
        const auto found = read(since);
        ASSERT_TRUE(found.snapshot) << found.fault;
        EXPECT_EQ(found.snapshot->versions_since, since);
    }
    for (const std::int64_t since :
         {std::int64_t{-1}, versions_since_max + 1, INT64_MAX, INT64_MIN}) {
        EXPECT_NE(read(since).fault, "") << since;
    }
}

TEST_F(reference_data, reads_the_clients_beside_an_invalid_one) {
    for (const char* id : {"0066d464-418a-4a08-ad53-6f15c78270cd", "no uuid",
                           "2666d464-418a-4a08-ad53-6f15c78270cd", a_client.c_str()}) {
        file_.add_client(id);
    }
    file_.set_latest("0066d464-418a-4a08-ad53-6f15c78270cd", "no uuid");
    file_.set_snapshot("2666d464-418a-4a08-ad53-6f15c78270cd", "no uuid", 0, 1'700'000'000, "s");
    std::size_t sound = 0;
    const auto all = clients();
    for (const auto& client : all) {
        if (!client.fault.empty()) continue;
        ++sound;
        EXPECT_EQ(to_string(client.id), a_client);
    }
    EXPECT_EQ(all.size(), 4u);
    EXPECT_EQ(sound, 1u);
}

TEST_F(reference_data, accepts_a_snapshot_of_the_latest_version_only) {
    const std::string version = "b0517957-f912-4d49-8330-f612e7300001";
    file_.add_client(a_client);
    file_.set_snapshot(a_client, version, 0, 1'700'000'000, "snapshot bytes");
    const auto chain = [&] {
        const auto opened = open_taskchampion_file(name_);
        return opened->chain_of(opened->clients().at(0));
    };
    EXPECT_TRUE(chain().empty()) << "the latest version is NULL";
    for (const std::string& latest : {to_string(uuid{}), version}) {
        file_.set_latest(a_client, latest);
        EXPECT_TRUE(chain().empty()) << latest;
    }
    file_.set_latest(a_client, "b0517957-f912-4d49-8330-f612e7300002");
    EXPECT_THROW(chain(), std::runtime_error) << "versions in between are missing";
}

TEST_F(reference_data, reports_a_client_with_versions_and_no_latest_one) {
    file_.add_client(a_client);
    file_.add_version(a_client, to_string(uuid{}), "b0517957-f912-4d49-8330-f612e7300001", "s");
    file_.set_latest(a_client, to_string(uuid{}));
    const auto opened = open_taskchampion_file(name_);
    const auto all = opened->clients();
    EXPECT_THROW(opened->chain_of(all.at(0)), std::runtime_error);
}

}  // namespace
}  // namespace callsign

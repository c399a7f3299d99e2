#include "main/setup/changed_keys.hpp"

#include "main/setup/config_keys.hpp"
#include "main/setup/environment_names.hpp"

#include <gtest/gtest.h>

namespace callsign::setup {
namespace {

using names = std::vector<std::string>;

TEST(changed_keys, are_in_effect_or_need_a_restart) {
    config c;
    key_values told = values_of(c);
    EXPECT_EQ(told.size(), config_keys().size());
    EXPECT_EQ(take_changes(told, c), changed_keys{});
    c.reaper.batch += 1;
    c.log.level = "debug";
    c.http.connections_max += 1;
    c.log.format = "json";
    c.remote.options.at_once += 1;
    c.remote.calls.timeout += milliseconds{1};
    const changed_keys changed = take_changes(told, c);
    EXPECT_EQ(changed.in_force, (names{"log.level", "reaper.batch", "remote.at_once"}));
    EXPECT_EQ(changed.after_restart,
              (names{"http.connections_max", "log.format", "remote.timeout"}));
}

TEST(changed_keys, that_need_a_restart_are_reported_again_and_others_once) {
    config c;
    key_values told = values_of(c);
    c.reaper.batch += 1;
    c.server.listen = "127.0.0.1:1";
    take_changes(told, c);
    const changed_keys again = take_changes(told, c);
    EXPECT_EQ(again.in_force, names{});
    EXPECT_EQ(again.after_restart, names{"server.listen"});
    EXPECT_EQ(take_changes(told, config{}), (changed_keys{{"reaper.batch"}, {}}))
        << "a reverted key has not changed";
}

TEST(changed_keys, are_listed_by_name) {
    EXPECT_EQ(list_of({"log.level", "reaper.window"}), "log.level, reaper.window");
    EXPECT_EQ(list_of({}), "none");
}

TEST(environment_names, unknown_ones_are_found_with_the_nearest) {
    const names given{"PATH", "CALLSIGN_REAPER_WINDWO", "CALLSIGN_REAPER_WINDOW", "CALLSIGN_XYZZY"};
    const auto found = unknown_names(given);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].name, "CALLSIGN_REAPER_WINDWO");
    EXPECT_EQ(found[0].nearest, "CALLSIGN_REAPER_WINDOW");
    EXPECT_EQ(found[1].name, "CALLSIGN_XYZZY");
    EXPECT_EQ(found[1].nearest, "");
}

TEST(environment_names, all_known_names_are_settings) {
    names given{"CALLSIGN_MASTER_KEY",   "CALLSIGN_URL",  "CALLSIGN_TOKEN",       "CALLSIGN_CACERT",
                "CALLSIGN_SERVICE_HOST", "CALLSIGN_PORT", "CALLSIGN_PORT_80_TCP", "CALLSIGNX",
                "callsign_reaper_windwo"};
    for (const config_key& key : config_keys()) given.push_back(variable_of(key.dotted()));
    EXPECT_TRUE(unknown_names(given).empty());
}

}  // namespace
}  // namespace callsign::setup

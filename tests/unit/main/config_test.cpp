#include "main/setup/config_values.hpp"
#include "support/certificates.hpp"
#include "support/temp_dir.hpp"

#include <callsign/seal/master_key.hpp>

#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>
#include <toml++/toml.h>
#include <unistd.h>

namespace callsign::setup {
namespace {

using std::filesystem::path;

const path config_dir = CALLSIGN_CONFIG_DIR;

// A file named callsign.toml in a directory of its own, deleted with the object.
class toml_file {
  public:
    explicit toml_file(const std::string& text) {
        std::string name = (std::filesystem::temp_directory_path() / "callsign-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        std::ofstream(file()) << text;
    }
    ~toml_file() { std::filesystem::remove_all(folder_); }
    toml_file(const toml_file&) = delete;
    toml_file& operator=(const toml_file&) = delete;

    path file() const { return folder_ / "callsign.toml"; }

  private:
    path folder_;
};

struct sources {
    std::optional<std::string> file = {};
    std::map<std::string, std::string> environment = {};
    std::vector<std::pair<std::string, std::string>> flags = {};
};

std::variant<config, std::vector<config_fault>> load(const sources& from) {
    std::optional<toml_file> file;
    if (from.file) file.emplace(*from.file);
    config_source source;
    if (file) source.file = file->file();
    source.environment = [&](const char* name) -> const char* {
        const auto found = from.environment.find(name);
        return found == from.environment.end() ? nullptr : found->second.c_str();
    };
    source.flags = from.flags;
    return load_config(source);
}

config loaded(const sources& from) {
    auto result = load(from);
    if (const auto* faults = std::get_if<std::vector<config_fault>>(&result)) {
        for (const config_fault& f : *faults) ADD_FAILURE() << f.where << ": " << f.text;
        return {};
    }
    return std::get<config>(std::move(result));
}

// "12: reaper.window: ..." for errors of the file, "WHERE: ..." for other sources.
std::vector<std::string> faults(const sources& from) {
    auto result = load(from);
    std::vector<std::string> lines;
    if (std::holds_alternative<config>(result)) return lines;
    for (const config_fault& f : std::get<1>(result)) {
        const auto name = f.where.find("callsign.toml:");
        lines.push_back((name == f.where.npos ? f.where : f.where.substr(name + 14)) + ": " +
                        f.text);
    }
    return lines;
}

TEST(config, defaults_alone_are_valid) {
    const config c = loaded({});
    for (const config_key& key : config_keys()) {
        EXPECT_EQ(value_text(key, c), value_text(key, config{})) << key.dotted();
    }
}

TEST(config, the_later_source_wins) {
    const std::string file = "[reaper]\nwindow = '1m'\ninterval = '1s'\nbatch = 7\n";
    const config c = loaded({.file = file,
                             .environment = {{"CALLSIGN_REAPER_WINDOW", "2m"},
                                             {"CALLSIGN_REAPER_BATCH", "8"},
                                             {"CALLSIGN_STORE_DATA_DIR", "/somewhere"}},
                             .flags = {{"reaper.window", "3m"}, {"server.listen", "[::1]:0"}}});
    EXPECT_EQ(c.reaper.interval, std::chrono::seconds{1});
    EXPECT_EQ(c.reaper.batch, 8);
    EXPECT_EQ(c.reaper.window, std::chrono::minutes{3});
    EXPECT_EQ(c.store.data_dir, "/somewhere");
    EXPECT_EQ(c.server.listen, "[::1]:0");
}

TEST(config, an_empty_variable_is_not_set) {
    const config c = loaded({.environment = {{"CALLSIGN_REAPER_WINDOW", ""}}});
    EXPECT_EQ(c.reaper.window, reaper_options{}.window);
}

TEST(config, bytes_may_have_a_unit) {
    const config c = loaded({.file = "[http]\nbody_bytes_max = '2MiB'\nheader_bytes_max = 4_096\n",
                             .environment = {{"CALLSIGN_STORE_CACHE_BYTES", "1GiB"}}});
    EXPECT_EQ(c.http.body_bytes_max, 2u << 20);
    EXPECT_EQ(c.http.header_bytes_max, 4096u);
    EXPECT_EQ(c.store.cache_bytes, 1u << 30);
}

TEST(config, every_error_is_listed_in_the_order_of_the_file) {
    const auto found = faults({.file = "[store]\n"
                                       "readers = 0\n"
                                       "[http]\n"
                                       "connections_max = '12'\n"
                                       "idle_timeout = 75\n"
                                       "body_bytes_max = '1MB'\n"
                                       "[reapr]\n"
                                       "[log]\n"
                                       "level = 'loud'\n"
                                       "colour = true\n"
                                       "[reaper]\n"
                                       "batch = 1.5\n",
                               .environment = {{"CALLSIGN_ENGINE_QUEUE_DEPTH_MAX", "many"}},
                               .flags = {{"server.listen", "localhost"}, {"server.port", "1"}}});
    EXPECT_EQ(found,
              (std::vector<std::string>{
                  "2: store.readers: must be from 1 to 64, not 0",
                  "4: http.connections_max: must be a whole number",
                  "5: http.idle_timeout: must be a duration with its unit, in quotes: \"250ms\", "
                  "\"30s\" or \"7d\"",
                  "6: http.body_bytes_max: must be a number of bytes such as 65536 or \"64KiB\", "
                  "not \"1MB\"",
                  "7: unknown section or key: reapr; did you mean 'reaper'?",
                  "9: log.level: must be \"debug\", \"info\", \"warn\" or \"error\", not \"loud\"",
                  "10: unknown key: log.colour",
                  "12: reaper.batch: must be a whole number",
                  "CALLSIGN_ENGINE_QUEUE_DEPTH_MAX: engine.queue_depth_max: must be a whole "
                  "number, not \"many\"",
                  "--listen: server.listen: must be ADDRESS:PORT such as \"127.0.0.1:8080\" or "
                  "\"[::1]:8080\", not \"localhost\"",
                  "--port: unknown key: server.port",
              }));
}

TEST(config, the_window_is_chosen_by_the_server_unless_it_is_set) {
    EXPECT_FALSE(loaded({}).reaper.window);
    EXPECT_FALSE(loaded({.file = "[reaper]\nwindow = 'auto'\n"}).reaper.window);
    EXPECT_EQ(loaded({.file = "[reaper]\nwindow = '15s'\n"}).reaper.window,
              std::chrono::seconds{15});
    EXPECT_FALSE(loaded({.file = "[reaper]\nwindow = '15s'\n",
                         .environment = {{"CALLSIGN_REAPER_WINDOW", "auto"}}})
                     .reaper.window);
    EXPECT_EQ(faults({.file = "[reaper]\nwindow = 'automatic'\n"}),
              std::vector<std::string>{"2: reaper.window: must be \"auto\" or a duration such as "
                                       "\"250ms\", \"30s\" or \"7d\", not \"automatic\""});
    EXPECT_EQ(faults({.file = "[reaper]\nwindow = 600\n"}),
              std::vector<std::string>{"2: reaper.window: must be \"auto\" or a duration with its "
                                       "unit, in quotes: \"250ms\", \"30s\" or \"7d\""});
}

TEST(config, how_the_window_is_chosen) {
    const auto c = loaded({.file = "[reaper]\nwindow_min = '10s'\nwindow_max = '1h'\n"
                                   "quantile = 0.999\nmargin = 2\nsamples_min = 20\n"
                                   "half_life = '1d'\n"})
                       .reaper.automatic;
    EXPECT_EQ(c.window_min, std::chrono::seconds{10});
    EXPECT_EQ(c.window_max, std::chrono::hours{1});
    EXPECT_EQ(c.quantile, 0.999);
    EXPECT_EQ(c.margin, 2);
    EXPECT_EQ(c.samples_min, 20);
    EXPECT_EQ(c.half_life, std::chrono::hours{24});
    EXPECT_EQ(
        loaded({.environment = {{"CALLSIGN_REAPER_QUANTILE", "0.5"}}}).reaper.automatic.quantile,
        0.5);
}

TEST(config, every_error_of_how_the_window_is_chosen) {
    EXPECT_EQ(faults({.file = "[reaper]\nwindow_min = '1h'\nwindow_max = '1m'\nquantile = 1.0\n"
                              "margin = 0.9\nsamples_min = 0\nhalf_life = 'week'\n"}),
              (std::vector<std::string>{
                  "4: reaper.quantile: must be more than 0 and less than 1, not 1",
                  "5: reaper.margin: must be from 1 to 100, not 0.9",
                  "6: reaper.samples_min: must be from 1 to 1000000, not 0",
                  "7: reaper.half_life: must be a duration such as \"250ms\", \"30s\" or \"7d\", "
                  "not \"week\"",
                  "2: reaper.window_min: must be at most reaper.window_max",
              }));
    for (const char* wrong : {"0", "'0.99'", "nan", "inf", "-1"}) {
        EXPECT_EQ(faults({.file = std::string("[reaper]\nquantile = ") + wrong + "\n"}).size(), 1u)
            << wrong;
    }
    for (const char* wrong : {"nan", "0,99", "1", "99%", "0.9 "}) {
        EXPECT_EQ(faults({.environment = {{"CALLSIGN_REAPER_QUANTILE", wrong}}}).size(), 1u)
            << wrong;
    }
    // Retention must exceed the window, however long "auto" makes it, so that late retries are
    // seen.
    const auto found = faults({.file = "[reaper]\nretention = '6h'\n"});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].substr(0, 58), "2: reaper.retention: must be longer than reaper.window_max");
    EXPECT_TRUE(faults({.file = "[reaper]\nretention = '6h'\nwindow = '1h'\n"}).empty());
}

TEST(config, values_that_contradict_each_other) {
    const auto found = faults({.file = "[reaper]\nwindow = '2h'\nretention = '2h'\n",
                               .environment = {{"CALLSIGN_ENGINE_QUEUE_DEPTH_MAX", "10"},
                                               {"CALLSIGN_SERVER_DRAIN_TIMEOUT", "1s"}}});
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].substr(0, 52), "3: reaper.retention: must be longer than reaper.wind");
    EXPECT_EQ(found[1].substr(0, 60),
              "CALLSIGN_ENGINE_QUEUE_DEPTH_MAX: engine.account_depth_max: m");
    EXPECT_EQ(found[2].substr(0, 60),
              "CALLSIGN_SERVER_DRAIN_TIMEOUT: server.drain_timeout: must be");
}

TEST(config, limits_that_exceed_the_shared_one) {
    EXPECT_EQ(faults({.file = "[http]\naccount_bodies_bytes_max = '300MiB'\n"}),
              std::vector<std::string>{"2: http.account_bodies_bytes_max: must be at most "
                                       "http.bodies_bytes_max: it is one account's part of it"});
    EXPECT_EQ(faults({.file = "[sync]\nsegment_bytes_max = '193MiB'\n"}),
              std::vector<std::string>{"2: sync.segment_bytes_max: must be at most "
                                       "http.account_bodies_bytes_max: there would never be room "
                                       "for one"});
    EXPECT_EQ(faults({.file = "[remote]\nanswer_bytes_max = '257MiB'\n"}),
              std::vector<std::string>{"2: remote.answer_bytes_max: must be at most "
                                       "remote.answers_bytes_max: there would never be room for "
                                       "one"});
}

TEST(config, proxies_are_addresses_and_blocks) {
    const auto given = loaded({.file = "[server]\ntrusted_proxies = ['10.0.0.0/8', '::1']\n"});
    ASSERT_EQ(given.http.trusted_proxies.size(), 2u);
    EXPECT_EQ(net::to_string(given.http.trusted_proxies[0]), "10.0.0.0/8");
    EXPECT_EQ(net::to_string(given.http.trusted_proxies[1]), "::1");
    EXPECT_EQ(loaded({.environment = {{"CALLSIGN_SERVER_TRUSTED_PROXIES", "192.0.2.1, fd00::/8"}}})
                  .http.trusted_proxies.size(),
              2u);
    EXPECT_EQ(faults({.file = "[server]\ntrusted_proxies = ['::1', 'proxy']\n"}),
              std::vector<std::string>{"2: server.trusted_proxies: entry 2 is no address and no "
                                       "block of them"});
    EXPECT_EQ(faults({.file = "[server]\ntrusted_proxies = '::1'\n"}),
              std::vector<std::string>{"2: server.trusted_proxies: must be a list of addresses: "
                                       "[]"});
}

TEST(config, a_file_that_is_not_toml) {
    const auto found = faults({.file = "[reaper]\nwindow = \n"});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].substr(0, 15), "2: is not TOML:");
}

TEST(config, a_file_that_cannot_be_read) {
    config_source source;
    source.file = "/nonexistent/callsign.toml";
    auto result = load_config(source);
    ASSERT_TRUE(std::holds_alternative<std::vector<config_fault>>(result));
    const auto& found = std::get<1>(result);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].where, "/nonexistent/callsign.toml");
    EXPECT_EQ(found[0].text, "cannot be read: No such file: missing directory /nonexistent");
}

TEST(config, a_folder_is_not_a_file) {
    config_source source;
    source.file = std::filesystem::temp_directory_path();
    EXPECT_TRUE(std::holds_alternative<std::vector<config_fault>>(load_config(source)));
}

TEST(config, a_flag_is_true_or_false) {
    EXPECT_TRUE(loaded({.file = "[sync]\nopen_registration = true\n"}).sync.open_registration);
    for (const char* wrong : {"\"yes\"", "1", "\"true\""}) {
        EXPECT_EQ(faults({.file = std::string("[sync]\nopen_registration = ") + wrong + "\n"}),
                  std::vector<std::string>{"2: sync.open_registration: must be true or false"});
    }
    EXPECT_TRUE(loaded({.environment = {{"CALLSIGN_SYNC_OPEN_REGISTRATION", "true"}}})
                    .sync.open_registration);
    EXPECT_EQ(faults({.environment = {{"CALLSIGN_SYNC_OPEN_REGISTRATION", "1"}}}),
              std::vector<std::string>{"CALLSIGN_SYNC_OPEN_REGISTRATION: sync.open_registration: "
                                       "must be true or false, not \"1\""});
}

TEST(config, client_ids_are_a_list_and_an_invalid_one_is_not_repeated) {
    const std::string one = "0666d464-418a-4a08-ad53-6f15c78270cd";
    const std::string two = "0666d464-418a-4a08-ad53-6f15c78270ce";
    const std::string key = "[sync]\nallow_client_ids = ";
    const std::string wrong = "2: sync.allow_client_ids: ";
    EXPECT_EQ(
        loaded({.file = key + "[\"" + one + "\", \"" + two + "\"]\n"}).sync.allow_client_ids.size(),
        2u);
    EXPECT_EQ(faults({.file = key + "[\"" + one + "\", \"secret\"]\n"}),
              std::vector<std::string>{wrong + "entry 2 is not a UUID"});
    EXPECT_EQ(faults({.file = key + "[1]\n"}),
              std::vector<std::string>{wrong + "must be a list of UUIDs in quotes"});
    EXPECT_EQ(faults({.file = key + "\"" + one + "\"\n"}),
              std::vector<std::string>{wrong + "must be a list of UUIDs: []"});
    EXPECT_EQ(loaded({.environment = {{"CALLSIGN_SYNC_ALLOW_CLIENT_IDS", one + ", " + two}}})
                  .sync.allow_client_ids.size(),
              2u);
}

// ---- the master key ----

const std::string digits(64, 'a');

// A file that only its owner can read, as required for a master key.
struct key_file {
    explicit key_file(const std::string& text) : kept(text) {
        std::filesystem::permissions(
            kept.file(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
    std::string name() const { return kept.file().string(); }
    std::string setting() const { return "[secrets]\nmaster_key_file = '" + name() + "'\n"; }

    toml_file kept;
};

TEST(config_master_key, comes_from_a_file_or_the_environment) {
    EXPECT_EQ(loaded({}).secrets.master_key, nullptr);
    EXPECT_EQ(loaded({.file = "[secrets]\nmaster_key_file = ''\n"}).secrets.master_key, nullptr);
    const key_file file(digits + "\n");
    const auto by_file = loaded({.file = file.setting()}).secrets.master_key;
    const auto by_name =
        loaded({.environment = {{"CALLSIGN_SECRETS_MASTER_KEY_FILE", file.name()}}})
            .secrets.master_key;
    const auto by_digits =
        loaded({.environment = {{"CALLSIGN_MASTER_KEY", digits}}}).secrets.master_key;
    ASSERT_TRUE(by_file && by_name && by_digits);
    EXPECT_EQ(by_file->former(), 0u);
    const std::string first = by_file->fingerprint();
    EXPECT_EQ(first, std::get<seal::key_ring>(seal::parse_master_key(digits)).fingerprint());
    EXPECT_TRUE(by_name->fingerprint() == first && by_digits->fingerprint() == first);
    const std::string former(64, '1');
    const auto both = loaded({.environment = {{"CALLSIGN_MASTER_KEY", digits + " " + former}}})
                          .secrets.master_key;
    ASSERT_TRUE(both);
    EXPECT_EQ(both->former(), 1u);
    EXPECT_EQ(both->fingerprint(), first);
    EXPECT_EQ(loaded({.environment = {{"CALLSIGN_MASTER_KEY", ""}}}).secrets.master_key, nullptr);
}

TEST(config_master_key, is_given_once) {
    const key_file file(digits);
    const auto found = faults({.environment = {{"CALLSIGN_SECRETS_MASTER_KEY_FILE", file.name()},
                                               {"CALLSIGN_MASTER_KEY", digits}}});
    EXPECT_EQ(found, std::vector<std::string>{
                         "CALLSIGN_MASTER_KEY: the master key is given twice, here and by "
                         "secrets.master_key_file (CALLSIGN_SECRETS_MASTER_KEY_FILE): leave out "
                         "one"});
}

TEST(config_master_key, an_invalid_one_is_an_error_beside_the_others_and_is_not_repeated) {
    const std::string secret = "5ec2e7" + std::string(40, '1');
    const key_file file(secret);
    const auto found = faults({.file = file.setting() + "[store]\nreaders = 0\n"});
    EXPECT_EQ(found,
              (std::vector<std::string>{
                  "4: store.readers: must be from 1 to 64, not 0",
                  "2: secrets.master_key_file: A master key must be 64 hexadecimal digits."}));
    EXPECT_EQ(faults({.environment = {{"CALLSIGN_MASTER_KEY", secret}}}),
              std::vector<std::string>{
                  "CALLSIGN_MASTER_KEY: A master key must be 64 hexadecimal digits."});
    // The key in place of its file's name.
    EXPECT_EQ(faults({.environment = {{"CALLSIGN_SECRETS_MASTER_KEY_FILE", digits}}}),
              std::vector<std::string>{"CALLSIGN_SECRETS_MASTER_KEY_FILE: secrets.master_key_file: "
                                       "The master key's file cannot be read."});
    EXPECT_EQ(faults({.file = "[secrets]\nmaster_key = '" + digits + "'\n"}),
              std::vector<std::string>{"2: unknown key: secrets.master_key; did you mean "
                                       "'secrets.master_key_file'?"});
}

TEST(config_master_key, its_file_is_readable_by_its_owner_only) {
    const key_file file(digits);
    std::filesystem::permissions(file.name(), std::filesystem::perms::group_read,
                                 std::filesystem::perm_options::add);
    EXPECT_EQ(faults({.file = file.setting()}),
              std::vector<std::string>{"2: secrets.master_key_file: The master key's file is "
                                       "accessible to other users: chmod 600 the file."});
}

// ---- the files in config/ ----

std::string written(const toml::node& node) {
    if (const auto* text = node.as_string()) return "\"" + text->get() + "\"";
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    if (const auto* ratio = node.as_floating_point()) {
        std::ostringstream text;
        text << ratio->get();
        return text.str();
    }
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (const auto* list = node.as_array()) {
        std::string all;
        for (const toml::node& each : *list) all += (all.empty() ? "" : ", ") + written(each);
        return "[" + all + "]";
    }
    return "?";
}

TEST(config, the_public_address_is_a_url) {
    const auto given = [](const std::string& url) {
        return loaded({.environment = {{"CALLSIGN_SERVER_PUBLIC_URL", url}}}).api.public_url;
    };
    EXPECT_EQ(loaded({}).api.public_url, "");
    EXPECT_EQ(given("https://tasks.example.org/"), "https://tasks.example.org");
    EXPECT_EQ(given("http://[::1]:8080"), "http://[::1]:8080");
    EXPECT_EQ(given("https://example.org/call-sign/"), "https://example.org/call-sign");
    for (const char* bad : {"tasks.example.org", "ftp://a", "*", "https://", "https://a b",
                            "https://u@a", "https://a/?b", "https://a/#b", "https://a\nb"}) {
        EXPECT_EQ(faults({.environment = {{"CALLSIGN_SERVER_PUBLIC_URL", bad}}}).size(), 1u) << bad;
    }
}

TEST(config_tls, a_pair_is_read_and_checked) {
    const callsign::testing::temp_dir dir;
    const auto one = callsign::testing::write_certificate(dir.path(), "one");
    const auto two = callsign::testing::write_certificate(dir.path(), "two");
    EXPECT_EQ(loaded({}).http.tls, nullptr);
    const auto given = loaded({.environment = {{"CALLSIGN_TLS_CERTIFICATE", one.certificate},
                                               {"CALLSIGN_TLS_KEY", one.key}}});
    EXPECT_NE(given.http.tls, nullptr);
    EXPECT_GT(given.tls.expires, std::chrono::system_clock::now());
    EXPECT_THAT(faults({.file = "[tls]\ncertificate = '" + one.certificate.string() + "'\nkey = '" +
                                two.key.string() + "'\n"}),
                ::testing::ElementsAre(::testing::StartsWith(
                    "3: tls.key: " + two.key.string() + " has no private key of the certificate")));
}

TEST(config_tls, both_errors_are_reported_at_once_with_their_lines) {
    EXPECT_THAT(faults({.file = "[tls]\ncertificate = '/nonexistent/a'\nkey = '/nonexistent/b'\n"}),
                ::testing::ElementsAre(
                    "2: tls.certificate: /nonexistent/a cannot be read: No such file or directory",
                    "3: tls.key: /nonexistent/b cannot be read: No such file or directory"));
}

TEST(config_tls, one_file_alone_is_an_error) {
    EXPECT_THAT(faults({.file = "[tls]\ncertificate = '/a'\n"}),
                ::testing::ElementsAre("2: tls.key: must be given with tls.certificate"));
    EXPECT_THAT(faults({.file = "[tls]\nkey = '/a'\n"}),
                ::testing::ElementsAre("2: tls.certificate: must be given with tls.key"));
}

TEST(config_files, the_example_states_every_key_and_its_default) {
    const toml::table file = toml::parse_file((config_dir / "callsign.example.toml").string());
    std::set<std::string> stated;
    for (const auto& [section, table] : file) {
        ASSERT_TRUE(table.is_table()) << section.str();
        for (const auto& [name, value] : *table.as_table()) {
            stated.insert(std::string(section.str()).append(".").append(name.str()));
        }
    }
    std::set<std::string> known;
    for (const config_key& key : config_keys()) {
        known.insert(key.dotted());
        const auto node = file[key.section][key.name];
        ASSERT_TRUE(node) << key.dotted() << " is missing";
        EXPECT_EQ(written(*node.node()), value_text(key, config{})) << key.dotted();
    }
    EXPECT_EQ(stated, known);
}

TEST(config_files, both_load) {
    for (const char* name : {"callsign.example.toml", "dev.toml"}) {
        config_source source;
        source.file = config_dir / name;
        const auto result = load_config(source);
        if (const auto* found = std::get_if<std::vector<config_fault>>(&result)) {
            for (const config_fault& f : *found) ADD_FAILURE() << f.where << ": " << f.text;
        }
    }
}

// ":8080" means the loopback address; other addresses must be given.
TEST(config, the_loopback_address_is_the_default) {
    for (const char* text : {":8090", "localhost:8090", "127.0.0.1:8090"}) {
        EXPECT_EQ(loaded({.flags = {{"server.listen", text}}}).server.listen, "127.0.0.1:8090");
        EXPECT_EQ(loaded({.flags = {{"metrics.listen", text}}}).metrics.listen, "127.0.0.1:8090");
    }
    for (const char* text : {":", ":x", ":99999", "localhost", "localhost:", "example.org:80"}) {
        EXPECT_FALSE(faults({.flags = {{"server.listen", text}}}).empty()) << text;
    }
}

TEST(config, a_folder_is_no_file) {
    config_source source;
    source.file = std::filesystem::temp_directory_path();
    const auto result = load_config(source);
    const auto* const found = std::get_if<std::vector<config_fault>>(&result);
    ASSERT_NE(found, nullptr);
    EXPECT_THAT(found->at(0).text, ::testing::HasSubstr("Is a directory"));
}

// An invalid value is replaced by its default; all others are read as given.
TEST(config, is_read_despite_its_errors) {
    const toml_file file("[store]\nreaders = 0\n[backup]\nkeep = 3\n");
    config_source source;
    source.file = file.file();
    const config_reading reading = read_config(source);
    EXPECT_EQ(reading.faults.size(), 1u);
    EXPECT_EQ(reading.read.store.readers, sqlite_options{}.readers);
    EXPECT_EQ(reading.read.backup.keep, 3u);
}

}  // namespace
}  // namespace callsign::setup

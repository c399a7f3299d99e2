#include "first_start.hpp"

#include "write_file.hpp"

#include <stdexcept>
#include <sys/stat.h>

namespace callsign::setup {

namespace fs = std::filesystem;

boost::asio::awaitable<void> ensure_admin_token(engine& engine, entropy& entropy, fs::path file) {
    if (fs::exists(file)) co_return;
    const std::string secret = api::make_token(entropy);
    create_token command{std::nullopt, "admin.token", token_scope::admin, sha256(secret)};
    actor itself;
    const auto made = co_await engine.submit(std::move(command), std::move(itself));
    if (!made) throw std::runtime_error("cannot register admin.token: " + made.error().message());
    write_file(file, secret + "\n", S_IRUSR | S_IWUSR);
}

boost::asio::awaitable<std::optional<std::string>> ensure_account(engine& engine,
                                                                  entropy& entropy) {
    const auto found = co_await engine.ask(list_accounts{.page = {.size = 1}});
    // A corrupt store is not a new one; what can be read is served.
    const bool is_damaged = found.has_error() && (found.error() == errc::store_damaged ||
                                                  found.error() == errc::record_damaged);
    if (is_damaged) co_return std::nullopt;
    if (!found) throw std::runtime_error("cannot look for accounts: " + found.error().message());
    if (!found->rows.empty()) co_return std::nullopt;
    std::optional<std::string> secret = api::make_token(entropy);
    create_account command{"home", "TASK", "default", sha256(*secret)};
    actor itself;
    const auto made = co_await engine.submit(std::move(command), std::move(itself));
    if (!made) throw std::runtime_error("cannot make the first account: " + made.error().message());
    co_return secret;
}

std::string welcome(std::string_view url, std::string_view token, const fs::path& admin_token) {
    std::string text = "Created a store with the account \"home\" and this token:\n\n  TOKEN=";
    text.append(token).append(
        "\n\nThe token is not shown again. To create a task, run that line and:\n\n");
    text.append("  curl -sS ").append(url).append("/v1/tasks \\\n");
    text.append("    -H \"Authorization: Bearer $TOKEN\" \\\n");
    text.append("    -H 'Idempotency-Key: \"my-first-task\"' \\\n");
    text.append("    -H 'Content-Type: application/json' \\\n");
    text.append("    -d '{\"description\": \"Say its number out loud\"}'\n\n");
    text.append("The program callsign uses the operator token in ");
    text.append(admin_token.string()).append(".\n\n");
    return text;
}

}  // namespace callsign::setup

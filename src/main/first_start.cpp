#include "first_start.hpp"

#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace callsign {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const char* what) {
    throw std::system_error(errno, std::generic_category(), file.string() + ": " + what);
}

// Closes at the latest when it goes.
class descriptor {
  public:
    descriptor(const fs::path& file, int flags, unsigned mode = 0)
        : file_(file), number_(::open(file.c_str(), flags | O_CLOEXEC, mode)) {
        if (number_ < 0) fail(file_, "cannot be opened");
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { ::close(number_); }

    void write(std::string_view text) {
        while (!text.empty()) {
            const ssize_t written = ::write(number_, text.data(), text.size());
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail(file_, "cannot be written");
            text.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    void sync() {
        if (::fsync(number_) != 0) fail(file_, "cannot be made durable");
    }

  private:
    fs::path file_;
    int number_;
};

}  // namespace

void write_file(const fs::path& file, std::string_view text, unsigned mode) {
    fs::path unfinished = file;
    unfinished += ".new";
    ::unlink(unfinished.c_str());  // of a start that was cut off
    {
        descriptor out(unfinished, O_WRONLY | O_CREAT | O_EXCL, mode);
        out.write(text);
        out.sync();
    }
    if (::rename(unfinished.c_str(), file.c_str()) != 0) fail(file, "cannot be put in place");
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    descriptor(folder, O_RDONLY | O_DIRECTORY).sync();
}

boost::asio::awaitable<void> ensure_admin_token(engine& engine, entropy& entropy, fs::path file) {
    if (fs::exists(file)) co_return;
    const std::string secret = api::make_token(entropy);
    create_token command{std::nullopt, "admin.token", token_scope::admin, sha256(secret)};
    const auto made = co_await engine.submit(std::move(command));
    if (!made) throw std::runtime_error("cannot register admin.token: " + made.error().message());
    write_file(file, secret + "\n", S_IRUSR | S_IWUSR);
}

boost::asio::awaitable<std::optional<std::string>> ensure_account(engine& engine,
                                                                  entropy& entropy) {
    auto question = [](read_tx& tx) { return !tx.accounts().empty(); };
    const auto found = co_await engine.ask(payer::house(), std::move(question));
    // A store that is damaged is not a new one; what can be read is served.
    if (found.has_error() && found.error() == errc::store_damaged) co_return std::nullopt;
    if (!found) throw std::runtime_error("cannot look for accounts: " + found.error().message());
    if (*found) co_return std::nullopt;
    std::optional<std::string> secret = api::make_token(entropy);
    create_account command{"home", "TASK", "default", sha256(*secret)};
    const auto made = co_await engine.submit(std::move(command));
    if (!made) throw std::runtime_error("cannot make the first account: " + made.error().message());
    co_return secret;
}

std::string welcome(std::string_view url, std::string_view token, const fs::path& admin_token) {
    std::string text =
        "This is a new server. Its first account is \"home\", with this token:\n\n  TOKEN=";
    text.append(token).append(
        "\n\nIt is not shown again. To create a task, paste that line and:\n\n");
    text.append("  curl -sS ").append(url).append("/v1/tasks \\\n");
    text.append("    -H \"Authorization: Bearer $TOKEN\" \\\n");
    text.append("    -H 'Idempotency-Key: \"my-first-task\"' \\\n");
    text.append("    -H 'Content-Type: application/json' \\\n");
    text.append("    -d '{\"description\": \"Say its number out loud\"}'\n\n");
    text.append("The operator's token, for the program callsign, is in ");
    text.append(admin_token.string()).append(".\n\n");
    return text;
}

}  // namespace callsign

#include <callsign/base/errc.hpp>
#include <callsign/net/http_client.hpp>
#include <callsign/net/outgoing.hpp>
#include <callsign/net/retry_after.hpp>
#include <callsign/remote/task_sink.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/envelope.hpp>
#include <callsign/wire/media_types.hpp>

#include <array>
#include <boost/asio/error.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

namespace callsign::remote {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using failure_kind = sink_failure::kind;

sink_failure failure_of(failure_kind why, std::string text, milliseconds retry_in = {}) {
    return {why, std::move(text), retry_in};
}

sink_failure failure_of(const net::http_failure& failure) {
    const std::string text =
        failure.timed_out() ? std::string("The remote server did not respond within the timeout.")
        : !failure.certificate_error.empty()
            ? "The remote server's certificate is not valid: " + failure.certificate_error + "."
            : "The connection to the remote server failed: " + failure.error.message() + ".";
    return failure_of(failure.sent ? failure_kind::lost : failure_kind::unreachable, text);
}

sink_failure failure_of_room() {
    return failure_of(failure_kind::busy, "No memory is available for the response; retrying.");
}

// A query has had no effect, and may be repeated later.
sink_failure failure_of_question(const net::http_failure& failure) {
    return failure.error == errc::overloaded ? failure_of_room() : failure_of(failure);
}

// For a status that the protocol does not have for the call.
sink_failure failure_of(const net::http_answer& answer) {
    const std::string text =
        "The remote server responded with status " + std::to_string(answer.status) + ".";
    const milliseconds pause = net::retry_after(answer);
    if (answer.status == 401 || answer.status == 403) {
        return failure_of(failure_kind::unknown_client, text + " It rejects this client ID.",
                          pause);
    }
    if (answer.status / 100 == 5 || answer.status == 429 || answer.status == 408) {
        return failure_of(failure_kind::unavailable, text, pause);
    }
    if (answer.status / 100 == 4) return failure_of(failure_kind::rejected, text, pause);
    return failure_of(failure_kind::not_a_server, text + " It is not a TaskChampion sync server.",
                      pause);
}

// `what`: the content in the remote server's response, with a capital letter.
sink_failure failure_of(const std::string& what, const wire::unreadable& error) {
    if (error.wrong_key) {
        return failure_of(
            failure_kind::wrong_secret,
            "The remote server's data cannot be decrypted with the encryption secret.");
    }
    return failure_of(failure_kind::unreadable,
                      what + " of the remote server is not valid: " + error.detail);
}

sink_child_answer opened_child(const seal::key& key, const uuid& parent, const uuid& version,
                               std::string_view body, std::size_t bytes_max) {
    auto opened = wire::open_segment(key, parent, body, {.bytes_max = bytes_max});
    if (const auto* const error = std::get_if<wire::unreadable>(&opened)) {
        return failure_of("Version " + to_string(version), *error);
    }
    return sink_child{version, std::get<std::vector<operation>>(std::move(opened))};
}

sink_snapshot_answer opened_snapshot(const seal::key& key, const uuid& version,
                                     std::string_view body) {
    auto opened = wire::open_snapshot(key, version, body);
    if (const auto* const error = std::get_if<wire::unreadable>(&opened)) {
        return failure_of("The snapshot", *error);
    }
    return sink_snapshot{version, std::get<task_map>(std::move(opened))};
}

// Releases a response's memory once it is decrypted.
class held_room {
  public:
    explicit held_room(net::body_lease& room) : room_(room) {}
    ~held_room() { room_.give_back(); }
    held_room(const held_room&) = delete;
    held_room& operator=(const held_room&) = delete;

  private:
    net::body_lease& room_;
};

class http_sink final : public task_sink {
  public:
    http_sink(payer who, const asio::any_io_executor& network, const offloader& offload,
              entropy& entropy, const sink_options& options,
              std::shared_ptr<net::body_budget> bodies, asio::ssl::context& tls,
              const net::outgoing_url& url, const uuid& client_id,
              std::shared_ptr<const seal::key> key)
        : who_(who),
          offload_(offload),
          entropy_(entropy),
          answer_bytes_max_(options.answer_bytes_max),
          client_id_(client_id),
          key_(std::move(key)),
          base_(url.target),
          room_(std::move(bodies)),
          client_(network, {.host = url.host,
                            .port = url.port,
                            .deadline = options.timeout,
                            .answer_bytes_max = options.answer_bytes_max,
                            .make_room = [this](std::size_t b) { return room_.resize(b); },
                            .tls = url.tls ? &tls : nullptr}) {
        if (!base_.ends_with('/')) base_ += '/';
        base_ += "v1/client/";
    }

    awaitable<sink_add_answer> add_version(uuid parent,
                                           std::vector<operation> operations) override {
        std::size_t bytes = 0;
        for (const operation& o : operations) bytes += o.property.size() + 128;
        std::array<std::uint8_t, seal::nonce_bytes> nonce{};
        entropy_.fill(nonce);
        auto seal = [&] {
            return seal::seal_body(*key_, parent, nonce, wire::encode_segment(operations));
        };
        std::string body;
        if (bytes <= wire::open_at_once_bytes_max) {
            body = seal();
        } else {
            auto sealed = co_await offloaded<std::string>(bytes, seal);
            if (!sealed) co_return failure_of_room();
            body = std::move(*sealed);
        }
        net::http_call call{"POST",
                            base_ + "add-version/" + to_string(parent),
                            {client(), {"Content-Type", std::string(wire::media_type::segment)}},
                            std::move(body)};
        const held_room afterwards(room_);
        const auto outcome = co_await client_.exchange(std::move(call));
        if (!outcome) co_return failure_of(outcome.error());
        if (outcome->status == 409) {
            const auto head = parse_uuid(outcome->header("X-Parent-Version-Id"));
            if (!head || *head == parent) {
                // Another version should be the head, but the response does not name it.
                co_return failure_of(failure_kind::unavailable,
                                     "The remote server returned 409 without another version.");
            }
            co_return sink_conflict{*head};
        }
        if (outcome->status == 404) {
            co_return failure_of(failure_kind::unknown_client,
                                 "The remote server does not know this client ID.");
        }
        if (outcome->status != 200) co_return failure_of(*outcome);
        const auto version = parse_uuid(outcome->header("X-Version-Id"));
        // Whether the version was accepted is unknown: it is looked up.
        if (!version || version->is_nil() || *version == parent) {
            co_return failure_of(failure_kind::lost,
                                 "The remote server returned 200 without a version.");
        }
        co_return sink_accepted{*version};
    }

    awaitable<sink_child_answer> get_child(uuid parent) override {
        std::string what = "get-child-version/" + to_string(parent);
        const held_room afterwards(room_);
        const auto outcome = co_await get(std::move(what));
        if (!outcome) co_return failure_of_question(outcome.error());
        if (outcome->status == 404) co_return sink_up_to_date{};
        if (outcome->status == 410) co_return sink_gone{};
        if (outcome->status != 200) co_return failure_of(*outcome);
        const auto version = parse_uuid(outcome->header("X-Version-Id"));
        const auto its_parent = parse_uuid(outcome->header("X-Parent-Version-Id"));
        const bool is_child = version && its_parent && *its_parent == parent &&
                              *version != parent && !version->is_nil();
        if (!is_child || outcome->header("Content-Type") != wire::media_type::segment) {
            co_return failure_of(failure_kind::not_a_server,
                                 "The remote server's response is not a version: does the URL lead "
                                 "to a TaskChampion sync server?");
        }
        auto open = [&] {
            return opened_child(*key_, parent, *version, outcome->body, answer_bytes_max_);
        };
        if (outcome->body.size() <= wire::open_at_once_bytes_max) co_return open();
        auto opened = co_await offloaded<sink_child_answer>(outcome->body.size(), open);
        if (!opened) co_return failure_of_room();
        co_return std::move(*opened);
    }

    awaitable<sink_snapshot_answer> get_snapshot() override {
        std::string what = "snapshot";
        const held_room afterwards(room_);
        const auto outcome = co_await get(std::move(what));
        if (!outcome) co_return failure_of_question(outcome.error());
        if (outcome->status == 404) co_return sink_no_snapshot{};
        if (outcome->status != 200) co_return failure_of(*outcome);
        const auto version = parse_uuid(outcome->header("X-Version-Id"));
        if (!version || version->is_nil() ||
            outcome->header("Content-Type") != wire::media_type::snapshot) {
            co_return failure_of(failure_kind::not_a_server,
                                 "The remote server's response is not a snapshot: does the URL "
                                 "lead to a TaskChampion sync server?");
        }
        auto open = [&] { return opened_snapshot(*key_, *version, outcome->body); };
        auto opened = co_await offloaded<sink_snapshot_answer>(outcome->body.size(), open);
        if (!opened) co_return failure_of_room();
        co_return std::move(*opened);
    }

    void cancel() override { client_.cancel(); }

  private:
    std::pair<std::string, std::string> client() const {
        return {"X-Client-Id", to_string(client_id_)};
    }

    // A query may be repeated: a connection that was kept may have been closed meanwhile.
    awaitable<net::http_outcome> get(std::string what) {
        const bool was_connected = client_.connected();
        net::http_call call{"GET", base_ + what, {client()}, {}};
        net::http_call again = call;
        auto outcome = co_await client_.exchange(std::move(call));
        const bool was_closed = !outcome && was_connected && !outcome.error().timed_out() &&
                                outcome.error().error != errc::overloaded;
        if (!was_closed) co_return outcome;
        co_return co_await client_.exchange(std::move(again));
    }

    // nullopt: there is no room now.
    template <class Answer, class Work>
    awaitable<std::optional<Answer>> offloaded(std::size_t bytes, const Work& work) {
        std::optional<Answer> made;
        std::function<void()> run = [&] { made.emplace(work()); };
        const claim asks(who_, {.bytes = bytes});
        const auto rejected = co_await offload_(asks, std::move(run));
        if (rejected) co_return std::nullopt;
        co_return made;
    }

    payer who_;
    const offloader& offload_;  // owned by `sinks`
    entropy& entropy_;
    const std::size_t answer_bytes_max_;
    const uuid client_id_;
    std::shared_ptr<const seal::key> key_;
    std::string base_;
    net::body_lease room_;  // of the response that is being read or decrypted
    net::http_client client_;
};

}  // namespace

sinks::sinks(asio::any_io_executor network, offloader offload, entropy& entropy,
             sink_options options)
    : network_(std::move(network)),
      offload_(std::move(offload)),
      entropy_(entropy),
      options_(std::move(options)),
      bodies_(std::make_shared<net::body_budget>(options_.answers_bytes_max,
                                                 options_.answers_bytes_max)) {
    boost::system::error_code error;
    tls_.set_default_verify_paths(error);
    if (options_.ca_file.empty()) return;
    tls_.load_verify_file(options_.ca_file.string(), error);
    if (error) {
        throw std::runtime_error("cannot read certificates from " + options_.ca_file.string() +
                                 ": " + error.message());
    }
}

std::unique_ptr<task_sink> sinks::open(payer who, const std::string& url, const uuid& client_id,
                                       std::shared_ptr<const seal::key> key) {
    auto parsed = net::parse_outgoing_url(url);
    auto* const where = std::get_if<net::outgoing_url>(&parsed);
    if (where == nullptr || !key) return nullptr;
    return std::make_unique<http_sink>(who, network_, offload_, entropy_, options_, bodies_, tls_,
                                       std::move(*where), client_id, std::move(key));
}

}  // namespace callsign::remote

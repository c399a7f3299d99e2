#pragma once
// Followers of the simulator's accounts: long polls, some with a filter, and an event stream.
// Responses are lost, connections end, the server dies, history expires; each follower resumes from
// its cursor.

#include "support/task_json.hpp"
#include "support/test_server.hpp"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace callsign::testing {

// Receives streamed events without delay.
class heard_stream final : public net::body_stream {
  public:
    boost::asio::awaitable<bool> write(std::string bytes) override {
        text += bytes;
        co_return !over;
    }
    bool is_over() const noexcept override { return over; }
    void tell_when_over(std::function<void()> tell) override { told_ = std::move(tell); }

    void leave() {
        over = true;
        if (auto tell = std::exchange(told_, {})) tell();
    }
    // The next complete event; empty: none.
    std::string take_event() {
        const auto end = text.find("\n\n");
        if (end == std::string::npos) return {};
        std::string event = text.substr(0, end);
        text.erase(0, end + 2);
        return event;
    }

    std::string text;  // not parsed yet
    bool over = false;

  private:
    std::function<void()> told_;
};

class sim_follower {
  public:
    enum class kind { polls, polls_for_pending, streams };

    sim_follower(kind how, account_id account, std::string token)
        : kind_(how),
          account_(account),
          token_(std::move(token)),
          model_(how == kind::polls_for_pending ? is_pending : model_follower::filter{},
                 without_key) {
        model_.may_hear_late();
        model_.may_be_scrubbed();
    }

    account_id account() const { return account_; }
    const model_follower& model() const { return model_; }

    void step(test_server& h, seeded_entropy& chance, const told_changes& told,
              std::int64_t forgotten) {
        if (kind_ == kind::streams) {
            step_stream(h, chance, told, forgotten);
        } else {
            step_poll(h, chance, told, forgotten);
        }
    }

    // A poll waits at the server although changes are available: a missed wake-up.
    bool sleeps_on(std::int64_t head) const {
        return kind_ == kind::polls && poll_ && !*poll_ && head > model_.place().seq;
    }

    // The server has died, and its connections are closed.
    void cut_off() {
        poll_.reset();
        stream_.reset();
    }

    // Without further faults, reads the remaining changes.
    void finish(test_server& h, const told_changes& told, std::int64_t forgotten) {
        for (;;) {
            const feed_place before = model_.place();
            hear_answer(h.call(question(100, "0s")), told, forgotten);
            if (model_.place() == before) break;
        }
        model_.finish(told);
    }

  private:
    static bool is_pending(const uuid&, const attributes& all) {
        return value_of(all, "status") == "pending";
    }
    static attributes without_key(const attributes& all) {
        attributes rest = all;
        rest.erase("key");
        return rest;
    }

    net::http_request question(std::uint64_t limit, std::string_view wait) const {
        std::string target = "/v1/changes?limit=" + std::to_string(limit) +
                             "&wait=" + std::string(wait) + "&after=" + cursor_;
        if (kind_ == kind::polls_for_pending) target += "&status=pending";
        return get(target, token_);
    }

    // ---- polls ----

    void step_poll(test_server& h, seeded_entropy& chance, const told_changes& told,
                   std::int64_t forgotten) {
        if (!poll_) {
            poll_ = h.start(question(1 + chance.below(4), chance.once_in(4) ? "0s" : "20s"));
        } else if (*poll_) {
            const net::http_response answer = std::move(**poll_);
            poll_.reset();
            // A lost response: the follower polls again from the same place.
            if (!chance.once_in(8)) hear_answer(answer, told, forgotten);
        } else if (chance.once_in(30)) {
            poll_.reset();  // timeout
        }
    }

    void hear_answer(const net::http_response& answer, const told_changes& told,
                     std::int64_t forgotten) {
        if (answer.status >= 500) return;
        const auto body = boost::json::parse(answer.body).as_object();
        if (answer.status == 410) return begin_again(body, told, forgotten);
        if (answer.status != 200) return model_.reject(answer.body);
        std::vector<heard_change> shown;
        for (const auto& each : body.at("changes").as_array()) {
            shown.push_back(heard_of(each.as_object()));
        }
        cursor_ = text_of(body, "cursor");
        model_.hear(shown, place_of(cursor_), told, forgotten);
    }

    void begin_again(const boost::json::object& why, const told_changes& told,
                     std::int64_t forgotten) {
        if (code_of(why) != "cursor-expired") return model_.reject(code_of(why));
        cursor_ = text_of(why, "cursor");
        model_.begin_again(place_of(cursor_), told, forgotten);
    }

    // ---- the stream ----

    void step_stream(test_server& h, seeded_entropy& chance, const told_changes& told,
                     std::int64_t forgotten) {
        if (!stream_) {
            stream_ = std::make_shared<heard_stream>();
            rejection_ = std::make_shared<net::http_response>();
            auto request = get("/v1/changes/stream?after=" + cursor_, token_);
            h.spawn(stream(h, std::move(request), stream_, rejection_));
            return;
        }
        for (auto event = stream_->take_event(); !event.empty(); event = stream_->take_event()) {
            hear_event(event, told, forgotten);
            if (!stream_) return;
        }
        if (rejection_->status >= 400) {
            if (rejection_->status < 500) hear_answer(*rejection_, told, forgotten);
            stream_.reset();
        } else if (stream_->over || chance.once_in(40)) {
            stream_->leave();
            stream_.reset();
        }
    }

    static boost::asio::awaitable<void> stream(test_server& h, net::http_request request,
                                               std::shared_ptr<heard_stream> to,
                                               std::shared_ptr<net::http_response> rejection) {
        auto response = co_await h.service().handle(std::move(request));
        if (!response.write_body) {
            *rejection = std::move(response);
            co_return;
        }
        auto writing = response.write_body(*to);
        co_await std::move(writing);
        to->over = true;
    }

    void hear_event(const std::string& event, const told_changes& told, std::int64_t forgotten) {
        const auto data = event.find("data: ");
        if (data == std::string::npos) return;  // a retry field only
        const auto body = boost::json::parse(event.substr(data + 6)).as_object();
        if (event.find("event: end") != std::string::npos) {
            if (code_of(body) == "cursor-expired") begin_again(body, told, forgotten);
            stream_.reset();
        } else if (event.find("event: change") != std::string::npos) {
            cursor_ = text_of(body, "cursor");
            model_.hear({heard_of(body)}, place_of(cursor_), told, forgotten);
        } else {
            const std::string beat = text_of(body, "cursor");
            if (place_of(beat) != model_.place()) model_.reject("a heartbeat with a wrong cursor");
        }
    }

    kind kind_;
    account_id account_;
    std::string token_;
    model_follower model_;
    std::string cursor_ = "0";
    std::shared_ptr<std::optional<net::http_response>> poll_;
    std::shared_ptr<heard_stream> stream_;
    std::shared_ptr<net::http_response> rejection_;  // response that rejected the stream
};

}  // namespace callsign::testing

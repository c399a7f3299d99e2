#pragma once
// Records the responses that clients received, on which they rely, and reports violated guarantees
// as text.

#include <callsign/base/time.hpp>
#include <callsign/net/http.hpp>

#include <boost/json.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::testing {

class ledger {
  public:
    // The reaper's settings, constant during the run.
    ledger(milliseconds window, milliseconds retention) : window_(window), retention_(retention) {}

    // A request in progress. `key` names account and idempotency key.
    struct request {
        std::string key;
        std::string payload;
        bool has_receipt = false;  // the response must be marked as a replay
    };

    request sent(const std::string& key, const std::string& payload, time_point now) {
        auto& e = entries_[key];
        if (e.payloads.empty()) e.first_sent = now;
        e.payloads.insert(payload);
        return {key, payload, !e.body.empty()};
    }

    void answered(const request& r, const net::http_response& response, bool replay_marked,
                  time_point now) {
        const auto& [key, payload, has_receipt] = r;
        auto& e = entries_.at(key);
        // From now on the slot may have expired: the key may be new again, unless it has created a
        // task.
        if (!e.created && now >= e.first_sent + retention_) {
            e = {.first_sent = now, .payloads = {payload}, .perhaps_forgotten = true};
        }
        switch (response.status) {
        case 200:
        case 201: return given(e, r, response, replay_marked);
        case 409: {
            const auto code = code_of(response);
            if (code == "slot-failed") return failed(e, key, now);
            if (code == "request-in-progress") return;  // an earlier request may still run
            break;
        }
        case 422:
            if (e.payloads.size() > 1 && e.bound != payload) return;
            if (e.perhaps_forgotten && e.bound.empty()) return;
            break;
        case 500:
        case 503:
        case 507: return;  // unknown outcome
        default: break;
        }
        violation(key, "unexpected " + std::to_string(response.status) + " " + response.body);
    }

    // Keys whose receipts must still be returned at `now`, with their payloads: those of tasks that
    // they created, and of others within the retention.
    std::vector<std::pair<std::string, std::string>> acknowledged(time_point now) const {
        std::vector<std::pair<std::string, std::string>> keys;
        for (const auto& [key, e] : entries_) {
            const bool is_kept = e.created || now < e.first_sent + retention_;
            if (!e.body.empty() && is_kept) keys.emplace_back(key, e.bound);
        }
        return keys;
    }

    std::size_t receipts() const { return receipts_; }
    const std::vector<std::string>& violations() const { return violations_; }

  private:
    struct entry {
        time_point first_sent;
        std::set<std::string> payloads{};
        std::string bound{};   // the acknowledged payload
        std::string body{};    // the receipt
        bool created = false;  // as in the receipt
        bool failed = false;
        bool perhaps_forgotten = false;
    };

    void given(entry& e, const request& r, const net::http_response& response, bool replay_marked) {
        const auto& [key, payload, has_receipt] = r;
        if (e.failed) violation(key, "failed permanently, but the response is " + response.body);
        if (!e.bound.empty() && e.bound != payload) violation(key, "two payloads, one key");
        if (!e.body.empty() && e.body != response.body) {
            violation(key, "another receipt: " + e.body + " then " + response.body);
        }
        if (!e.body.empty() && has_receipt && !replay_marked)
            violation(key, "a replay without the mark");
        if (e.body.empty()) {
            ++receipts_;
            const auto receipt = boost::json::parse(response.body).as_object();
            const std::string said(receipt.at("key").as_string());
            // A number belongs to one task and one receipt; after its slot has expired, only its
            // own key may return it.
            const auto owner = key.substr(0, key.find('/'));
            const std::pair maker(key, response.body);
            if (receipt.at("created").as_bool() &&
                said_.emplace(owner + "/" + said, maker).first->second != maker) {
                violation(key, said + " was assigned twice");
            }
        }
        // An old receipt, returned shortly before its slot expires, binds no later response.
        e.created = boost::json::parse(response.body).as_object().at("created").as_bool();
        if (e.perhaps_forgotten && replay_marked && !e.created) return;
        e.perhaps_forgotten = false;
        e.bound = payload;
        e.body = response.body;
    }

    void failed(entry& e, const std::string& key, time_point now) {
        if (!e.body.empty()) violation(key, "has a receipt, but failed");
        if (now - e.first_sent < window_ && !e.perhaps_forgotten)
            violation(key, "failed before the window passed");
        e.failed = true;
    }

    static std::string code_of(const net::http_response& response) {
        return std::string(boost::json::parse(response.body).as_object().at("code").as_string());
    }

    void violation(const std::string& key, const std::string& what) {
        violations_.push_back(key + ": " + what);
    }

    milliseconds window_;
    milliseconds retention_;
    std::map<std::string, entry> entries_;
    // account/KEY -> the idempotency key it was assigned for, and the receipt
    std::map<std::string, std::pair<std::string, std::string>> said_;
    std::size_t receipts_ = 0;
    std::vector<std::string> violations_;
};

}  // namespace callsign::testing

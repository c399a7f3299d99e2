#pragma once
// What clients were told, and so what they may rely on. Every answer goes in; what breaks the
// promise comes out, in words.

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
    // The reaper's, in force for the whole run.
    ledger(milliseconds window, milliseconds retention) : window_(window), retention_(retention) {}

    // A request leaves its client. `key` names account and idempotency key.
    void sent(const std::string& key, const std::string& payload, time_point now) {
        auto& e = entries_[key];
        if (e.payloads.empty()) e.first_sent = now;
        e.payloads.insert(payload);
        ++e.under_way;
    }

    // It was lost: no answer came, and nothing is known.
    void lost(const std::string& key) { --entries_.at(key).under_way; }

    void answered(const std::string& key, const std::string& payload,
                  const net::http_response& response, bool replay_marked, time_point now) {
        auto& e = entries_.at(key);
        --e.under_way;
        // From here on the slot may have been forgotten, and the key is as good as new.
        if (now >= e.first_sent + retention_) {
            e = {.first_sent = now, .payloads = {payload}, .under_way = e.under_way};
        }
        switch (response.status) {
        case 200:
        case 201: return given(e, key, payload, response, replay_marked);
        case 409: {
            const auto code = code_of(response);
            if (code == "slot-failed") return failed(e, key, now);
            if (code == "request-in-progress") return;  // an earlier one may still be at the server
            break;
        }
        case 422:
            if (e.payloads.size() > 1 && e.bound != payload) return;
            break;
        case 500:
        case 503:
        case 507: return;  // nothing is said about the outcome
        default: break;
        }
        violation(key, "unexpected " + std::to_string(response.status) + " " + response.body);
    }

    // Keys with a receipt that must still be given again at `now`, and with which payload.
    std::vector<std::pair<std::string, std::string>> acknowledged(time_point now) const {
        std::vector<std::pair<std::string, std::string>> keys;
        for (const auto& [key, e] : entries_) {
            if (!e.body.empty() && now < e.first_sent + retention_) keys.emplace_back(key, e.bound);
        }
        return keys;
    }

    std::size_t receipts() const { return receipts_; }
    const std::vector<std::string>& violations() const { return violations_; }

  private:
    struct entry {
        time_point first_sent;
        std::set<std::string> payloads{};
        int under_way = 0;
        std::string bound{};  // the payload that was acknowledged
        std::string body{};   // the receipt as it was given
        bool failed = false;
    };

    void given(entry& e, const std::string& key, const std::string& payload,
               const net::http_response& response, bool replay_marked) {
        if (e.failed) violation(key, "was failed for good, and is answered " + response.body);
        if (!e.bound.empty() && e.bound != payload) violation(key, "two payloads, one key");
        if (!e.body.empty() && e.body != response.body) {
            violation(key, "another receipt: " + e.body + " then " + response.body);
        }
        if (!e.body.empty() && !replay_marked) violation(key, "a replay that does not say so");
        if (e.body.empty()) {
            ++receipts_;
            const auto receipt = boost::json::parse(response.body).as_object();
            const std::string said(receipt.at("key").as_string());
            // One number, one task; one task, one key that made it.
            const auto owner = key.substr(0, key.find('/'));
            if (receipt.at("created").as_bool() && !said_.emplace(owner + "/" + said, key).second) {
                violation(key, said + " was given twice");
            }
        }
        e.bound = payload;
        e.body = response.body;
    }

    void failed(entry& e, const std::string& key, time_point now) {
        if (!e.body.empty()) violation(key, "has a receipt, and is failed");
        if (now - e.first_sent < window_) violation(key, "failed before the window passed");
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
    std::map<std::string, std::string> said_;  // account/KEY -> idempotency key
    std::size_t receipts_ = 0;
    std::vector<std::string> violations_;
};

}  // namespace callsign::testing

#include "openapi.hpp"

#include "shared/problem.hpp"

#include <callsign/base/assert.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace callsign::api {
namespace {

// By status: the lines of a response, or a reference to one.
using responses = std::map<std::string, std::string>;

std::string reference(std::string_view name) {
    return "{$ref: '#/components/responses/" + std::string(name) + "'}\n";
}

// What each operation of such a route may respond, unless it says otherwise. `reads`: it writes
// nothing.
responses usual_responses(const route& r, bool reads) {
    std::map<std::string, std::string_view> names{
        {"408", "TooSlow"}, {"413", "TooLarge"}, {"417", "NotExpected"}, {"431", "HeaderTooLarge"}};
    if (r.needs == access::device) {
        names.insert({{"400", "SyncBadRequest"},
                      {"403", "SyncForbidden"},
                      {"404", "SyncNotFound"},
                      {"500", reads ? "SyncReadFailed" : "SyncWriteFailed"},
                      {"503", "SyncBusy"}});
        if (r.takes != body::none) names.erase("413");
        if (!reads) names.emplace("507", "SyncStorageFull");
    } else if (r.needs == access::anyone) {
        names.insert({{"400", "Malformed"}, {"500", "Broken"}, {"503", "Busy"}});
    } else {
        names.insert({{"400", r.takes == body::none ? "Malformed" : "Invalid"},
                      {"401", "Unauthenticated"},
                      {"403", "Forbidden"},
                      {"500", reads ? "ReadFailed" : "WriteFailed"},
                      {"503", reads ? "ReadBusy" : "WriteBusy"}});
        if (!r.has_own_form) names.emplace("406", "NotAcceptable");
        if (r.takes == body::message) names.emplace("415", "UnknownForm");
        if (r.needs != access::operators) names.emplace("429", "RateLimited");
        if (!reads) names.emplace("507", "StorageFull");
    }
    responses all;
    for (const auto& [status, name] : names) all[status] = reference(name);
    return all;
}

const problem& problem_of(std::string_view code) {
    const auto found = std::ranges::find(all_problems, code, &problem::code);
    CALLSIGN_ASSERT(found != all_problems.end());
    return *found;
}

class completion {
  public:
    explicit completion(std::span<const route> routes) : routes_(routes) {}

    void take(std::string_view line) {
        if (line.starts_with('#')) return;  // about the source
        if (is_in_responses_ && !line.empty() && !line.starts_with("        ")) end_responses();
        if (is_in_responses_) return take_response_of_operation(line);
        if (take_part_of_response(line)) return;
        follow(line);
        out_.append(line).append("\n");
        is_in_responses_ = route_ != nullptr && line == "      responses:";
    }
    std::string take_text() {
        if (is_in_responses_) end_responses();
        return std::move(out_);
    }

  private:
    // ---- operations ----

    void follow(std::string_view line) {
        if (line.starts_with("  /") && line.ends_with(':')) path_ = line.substr(2, line.size() - 3);
        if (!line.empty() && line.front() != ' ') path_ = {};
        if (!line.starts_with("    ") || !line.ends_with(':') || line.size() < 5 ||
            line[4] == ' ') {
            return;
        }
        const std::string_view method = line.substr(4, line.size() - 5);
        const auto its = std::ranges::find_if(
            routes_, [&](const route& r) { return r.path == path_ && is_named(r.method, method); });
        route_ = its == routes_.end() ? nullptr : &*its;
        detail_.clear();
        has_headers_ = is_unread_ = false;
    }
    static bool is_named(verb method, std::string_view name) {
        const std::string_view its = boost::beast::http::to_string(method);
        return std::ranges::equal(its, name, [](char a, char b) { return (a | 0x20) == b; });
    }

    void take_response_of_operation(std::string_view line) {
        if (line.empty()) {  // in a text, or after the last response
            blank_ += '\n';
            return;
        }
        if (!blank_.empty()) own_[status_].append(std::exchange(blank_, {}));
        constexpr std::string_view before = "        '";
        if (line.starts_with(before)) {
            status_ = line.substr(before.size(), 3);
            line.remove_prefix(before.size() + 5);
            if (!line.empty()) line.remove_prefix(1);  // the blank before what is on the same line
        }
        own_[status_].append(line).append("\n");
    }

    void end_responses() {
        is_in_responses_ = false;
        const auto failed = own_.find("500");
        const bool reads = route_->method == verb::get ||
                           (failed != own_.end() && failed->second == reference("ReadFailed"));
        own_.merge(usual_responses(*route_, reads));
        for (const auto& [status, text] : own_) {
            const bool is_block = text.front() == '\n';
            out_.append("        '").append(status).append(is_block ? "':" : "': ").append(text);
        }
        own_.clear();
        out_.append(std::exchange(blank_, {}));
    }

    // ---- responses ----

    // Returns whether the line is replaced.
    bool take_part_of_response(std::string_view line) {
        constexpr std::string_view problems = "      problems: [",
                                   detail = "      detail:", description = "      description:";
        if (line.starts_with("      headers:")) has_headers_ = true;
        if (line.starts_with(detail) || (!detail_.empty() && line.starts_with("        "))) {
            detail_.append("      ").append(line).append("\n");
            return true;
        }
        if (line.starts_with(description)) {
            in_description_ = true;
            description_ = "            detail:";
            description_.append(line.substr(description.size())).append("\n");
        } else if (in_description_ && line.starts_with("        ")) {
            description_.append("      ").append(line).append("\n");
        } else {
            in_description_ = false;
        }
        if (line == "      unread: true") return is_unread_ = true;
        if (!line.starts_with(problems)) return false;
        write_problems(line.substr(problems.size(), line.size() - problems.size() - 1));
        return true;
    }

    void write_problems(std::string_view codes) {
        const problem& first = problem_of(codes.substr(0, codes.find(',')));
        const std::string status = std::to_string(first.status);
        if (!has_headers_) out_ += "      headers:\n";
        out_ += "        X-Request-Id: {$ref: '#/components/headers/X-Request-Id'}\n";
        out_ +=
            "      content:\n"
            "        application/problem+json:\n"
            "          schema:\n"
            "            allOf:\n"
            "              - $ref: '#/components/schemas/Problem'\n"
            "              - properties: {status: {const: " +
            status + "}, code: {enum: [" + std::string(codes) +
            "]}}\n"
            "          example:\n"
            "            type: urn:callsign:problem:" +
            std::string(first.code) + "\n            title: " + std::string(first.title) +
            "\n            status: " + status + "\n";
        out_ += (detail_.empty() ? description_ : detail_) +
                "            code: " + std::string(first.code) + "\n" + "            retryable: " +
                (first.retryable == problem::retry::yes ? "true\n" : "false\n");
        if (!is_unread_) out_ += "            requestId: 738f1e8b-1\n";
        out_ += "        application/x-protobuf: {schema: {title: callsign.v1.Problem}}\n";
    }

    std::span<const route> routes_;
    std::string out_;
    std::string_view path_;
    const route* route_ = nullptr;  // of the operation; null: none
    bool is_in_responses_ = false;
    std::string status_;
    responses own_;
    std::string blank_;  // lines not yet added

    // Of the response so far.
    std::string description_;  // as a detail
    bool in_description_ = false;
    std::string detail_;
    bool has_headers_ = false;
    bool is_unread_ = false;
};

}  // namespace

std::string complete_openapi(std::string_view source, std::span<const route> routes) {
    completion all(routes);
    while (!source.empty()) {
        const std::size_t end = std::min(source.find('\n'), source.size());
        all.take(source.substr(0, end));
        source.remove_prefix(std::min(end + 1, source.size()));
    }
    return all.take_text();
}

}  // namespace callsign::api

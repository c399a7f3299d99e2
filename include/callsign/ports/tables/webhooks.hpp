#pragma once
// Webhooks and their delivery logs.

#include <callsign/domain/webhook.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct webhooks_by_id : index_on<webhook, "webhook_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};
struct webhooks_by_uuid : index_on<webhook, "uuid", "account_id"> {
    static auto key(const row& r) { return std::tuple(r.uuid, r.account); }
};
struct webhooks_by_account : index_on<webhook, "account_id", "webhook_id"> {
    static auto key(const row& r) { return std::tuple(r.account, r.id); }
};

template <>
struct table<webhook> {
    static constexpr std::string_view name = "webhooks";
    using indexes = index_list<webhooks_by_id, webhooks_by_uuid, webhooks_by_account>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("webhook_id", r.id);
        v.fixed("account_id", r.account);
        v.fixed("uuid", r.uuid);
        v("url", r.url);
        v("filter", r.filter);
        v("secret", as_bytes(r.sealed_secret));
        v("former_until", r.former_until);
        v("after_seq", r.after.seq);
        v("after_tasks", r.after.tasks);
        v("mark", r.mark);
        v("disabled", one_of(r.disabled, webhook_end::by_request, webhook_end::unreadable));
        v("failures", r.failures);
        v("edits", r.edits);
        v.fixed("created_at", r.created_at);
    }
};
extern template const table_info& info_of_table<webhook>();

struct delivery_row {
    std::int64_t id = 0;
    webhook_id webhook;
    std::int64_t place = 0;  // 1, 2, 3 ... within the webhook
    webhook_delivery what;
};

struct deliveries_by_id : index_on<delivery_row, "delivery_id"> {
    static auto key(const row& r) { return std::tuple(r.id); }
};
struct deliveries_by_webhook : index_on<delivery_row, "webhook_id", "delivery_id"> {
    static auto key(const row& r) { return std::tuple(r.webhook, r.id); }
};

template <>
struct table<delivery_row> {
    static constexpr std::string_view name = "webhook_deliveries";
    using indexes = index_list<deliveries_by_id, deliveries_by_webhook>;

    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        v.fixed("delivery_id", r.id);
        v.fixed("webhook_id", r.webhook);
        v.fixed("place", r.place);
        v.fixed("sent_as", r.what.id);
        v.fixed("at", r.what.at);
        v.fixed("changes", r.what.changes);
        v.fixed("status", r.what.status);
        v.fixed("error", r.what.error);
        v.fixed("delivered", r.what.delivered);
        v.fixed("took_ms", r.what.took);
    }
};
extern template const table_info& info_of_table<delivery_row>();

}  // namespace callsign

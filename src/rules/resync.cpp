#include "resync.hpp"

#include "numbering.hpp"
#include "resolve.hpp"
#include "unnumbered.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

constexpr std::string_view note_text =
    "The sync server was restored from a backup, and this device has newer tasks: complete this "
    "task and sync again to send them";

bool are_all_back(write_tx& tx, account_id account) {
    bool one_returned = false;
    for (const device& d : devices::of(tx, account)) {
        if (d.revoked_at || !d.resync) continue;
        if (d.resync->now == resync::state::expected) return false;
        one_returned = one_returned || d.resync->now == resync::state::returned;
    }
    return one_returned;
}

// If the chain ends with the backup, appends an empty version for the device to return to.
void lead_on(write_tx& tx, const device& d, const moment& m) {
    if (accounts::head_of(tx, d.account).seq > d.resync->from) return;
    const auto seq = versions::append(tx, d.account, m.ids.next(m.now), m.now, {});
    m.tell(events::version_appended{d.account, seq});
}

}  // namespace

resync_versions resync_versions_of(const uuid& instance) noexcept {
    resync_versions all{instance, instance, instance, instance};
    all.sent.data[15] ^= 1;
    all.cleared.data[15] ^= 2;
    all.note.data[15] ^= 3;
    return all;
}

bool is_ahead(read_tx& tx, account_id account, const uuid& version, const resync& since) {
    if (since.from == 0) return !version.is_nil();
    const auto at = time_of_uuid_v7(version);
    const auto last = versions::some(tx, account, since.from - 1, 1);
    return at && !last.empty() && *at >= last.front().created_at;
}

std::vector<operation> note_operations(const uuid& instance) {
    const uuid note = resync_versions_of(instance).note;
    const time_point at = time_of_uuid_v7(instance).value_or(time_point{});
    std::vector<operation> all{{operation_kind::create, note, {}, {}, {}}};
    const auto set = [&](std::string name, std::string value) {
        all.push_back({operation_kind::update, note, std::move(name), std::move(value), at});
    };
    set("description", std::string(note_text));
    set("status", "pending");
    set("entry", epoch_text(at));
    set("modified", epoch_text(at));
    return all;
}

std::int64_t resume_when_all_are_back(write_tx& tx, account_id account, const moment& m) {
    if (!are_all_back(tx, account)) return 0;
    std::int64_t resumed = 0;
    std::size_t work_left = step_work_max;
    for (series s : all_series::of(tx, account)) {
        if (!s.held) continue;
        resume(tx, s, work_left, m);
        ++resumed;
    }
    return resumed;
}

void set_resync(write_tx& tx, const device& d, resync::state state, const moment& m) {
    if (d.resync->now == state) return;
    devices::set_resync(tx, d.id, {d.resync->from, state});
    m.tell(events::device_resynced{d.account, d.client_id});
}

end_resync::answer apply(write_tx& tx, const end_resync& c, const moment& m) {
    const auto found = devices::find(tx, c.client_id);
    if (!found || found->mode != account_mode::managed) return no_such_client{};
    if (found->revoked_at) return device_revoked{};
    if (!found->resync) return end_resync::not_expected{};
    // A device that has returned keeps that state, whatever it requests later.
    if (!c.ahead && found->resync->now != resync::state::expected) return end_resync::done{};
    set_resync(tx, *found, c.ahead ? resync::state::returned : resync::state::seen, m);
    if (c.ahead) lead_on(tx, *found, m);
    return end_resync::done{resume_when_all_are_back(tx, found->account, m)};
}

}  // namespace callsign::rules

// One look() for each command that is covered. It lists the rows that the command's rule reads, and
// the account or device that is_for_gone() reads before it.

#include "chain_place.hpp"
#include "numbering.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/ports/tables/all.hpp>
#include <callsign/rules/footprint.hpp>

namespace callsign::rules {

void footprint::add(const command& c) {
    if (rows_.size() >= rows_max) return;
    std::visit([&](const auto& each) { look(each); }, c);
}

template <class Index, class... Part>
void footprint::name(const Part&... parts) {
    if (tx_.find_cached<Index>(parts...)) return;
    rows_.push_back({&info_of<Index>(), key_from<Index, 0>(parts...)});
}

template <class Index, class... Part>
void footprint::name_head(const Part&... parts) {
    rows_.push_back({&info_of<Index>(), key_from<Index, 0>(parts...), true});
}

// ID 0 stands for an account that does not exist.
void footprint::name_account(account_id account) {
    if (account.value > 0) name<accounts_by_id>(account);
}

void footprint::name_client(const uuid& client) {
    name<devices_by_client>(client);
    if (const auto known = tx_.find_cached<devices_by_client>(client)) name_account(known->account);
}

// The rows that choose_series() reads.
void footprint::name_series(account_id account, std::string_view prefix, std::string_view project) {
    if (!prefix.empty()) {
        name<prefixes_by_name>(account, prefix);
        const auto named = tx_.find_cached<prefixes_by_name>(account, prefix);
        if (named) name<series_by_id>(named->series);
        return;
    }
    if (!project.empty()) name<series_by_project>(account, project);
    name<series_default>(account);
}

// A task that is named by its number is listed only if its counter is cached.
void footprint::name_task(account_id account, const task_ref& ref, bool head) {
    const auto of = [&]<class Index>(std::type_identity<Index>, const auto&... parts) {
        head ? name_head<Index>(parts...) : name<Index>(parts...);
    };
    if (const auto* const id = std::get_if<uuid>(&ref)) {
        return of(std::type_identity<tasks_by_uuid>{}, *id, account);
    }
    const auto& key = std::get<task_key>(ref);
    name_series(account, key.prefix, {});
    const auto its = tx_.find_cached<prefixes_by_name>(account, key.prefix);
    if (!its) return;
    const std::string_view period = key.period;
    name<counters_by_period>(its->series, period);
    const auto counter = tx_.find_cached<counters_by_period>(its->series, period);
    if (counter) of(std::type_identity<tasks_by_number>{}, counter->id, key.number);
}

// Calls `name_it` for the first operation of each run of operations on one task.
template <class Name>
void footprint::each_task(std::span<const operation> operations, const Name& name_it) {
    const uuid* last = nullptr;
    for (const operation& o : operations) {
        if (rows_.size() >= rows_max) return;
        if (!last || *last != o.uuid) name_it(o);
        last = &o.uuid;
    }
}

// Includes the outbox entries of the tasks: a key of each, and the creation of a new one.
void footprint::name_mirrored(account_id account, const uuid& version,
                              std::span<const operation> operations) {
    name_account(account);
    name<remotes_by_account>(account);
    name_head<versions_by_id>(version, account);
    each_task(operations, [&](const operation& o) {
        name<tasks_by_uuid>(o.uuid, account);
        name<effects_by_task>(o.uuid, account, effect_kind::key);
        if (o.kind != operation_kind::create) return;
        name<effects_by_task>(o.uuid, account, effect_kind::creation);
        name<contests_by_task>(account, o.uuid);
    });
}

// ---- creations ----

void footprint::look(const reserve& c) {
    name_account(c.account);
    name<slots_by_key>(c.account, std::string_view(c.key));
    for (const task_ref& each : c.depends) name_task(c.account, each, true);
    name_series(c.account, c.prefix, project_of(c.attributes));
    if (c.uuid) name<tasks_by_uuid>(*c.uuid, c.account);
}

// The slot was reserved by an earlier batch, so it is cached.
void footprint::look(const fulfil& c) {
    name<slots_by_id>(c.slot);
    const auto its = tx_.find_cached<slots_by_id>(c.slot);
    if (!its) return;
    name_account(its->account);
    name<tasks_by_uuid>(its->uuid, its->account);
    name_series(its->account, c.prefix, project_of(c.attributes));
}

void footprint::look(const begin_delivery& c) {
    name<slots_by_id>(c.slot);
    const auto its = tx_.find_cached<slots_by_id>(c.slot);
    if (!its) return;
    name<remotes_by_account>(its->account);
    name<tasks_by_uuid>(its->uuid, its->account);
    name_series(its->account, c.prefix, project_of(c.attributes));
    name<effects_by_task>(its->uuid, its->account, effect_kind::creation);
}

void footprint::look(const assign_key& c) {
    name_account(c.account);
    name<tasks_by_uuid>(c.uuid, c.account);
    name_series(c.account, c.prefix, c.project);
}

// ---- changes of tasks ----

void footprint::look(const edit_task& c) {
    name_account(c.account);
    name_task(c.account, c.task, false);
    if (!c.depends) return;
    for (const task_ref& each : *c.depends) name_task(c.account, each, true);
}

void footprint::look(const add_version& c) {
    name_client(c.client_id);
    name_account(c.account);
    const auto owner = tx_.find_cached<accounts_by_id>(c.account);
    if (owner && owner->head.version != c.parent) {
        name_head<versions_by_id>(c.parent, c.account);
        name<forks_by_id>(fork_name(c.parent), c.account);
    }
    each_task(std::span(c.operations).first(step_of(c.operations)),
              [&](const operation& o) { name<tasks_by_uuid>(o.uuid, c.account); });
}

void footprint::look(const settle& c) {
    name_mirrored(c.account, c.version, c.operations);
}

void footprint::look(const apply_remote_version& c) {
    name_mirrored(c.account, c.version, std::span(c.operations).first(step_of(c.operations)));
}

// ---- chains that only their clients can read ----

void footprint::name_sealed(account_id account, const uuid& client) {
    name_client(client);
    name_account(account);
    if (account.value > 0) name_head<snapshots_by_account>(account);
}

void footprint::look(const add_sealed_version& c) {
    name_sealed(c.account, c.client_id);
}

void footprint::look(const add_sealed_snapshot& c) {
    name_sealed(c.account, c.client_id);
    const auto owner = tx_.find_cached<accounts_by_id>(c.account);
    if (owner && owner->head.version != c.version)
        name_head<sealed_by_parent>(c.version, c.account);
}

// ---- webhooks ----

void footprint::look(const settle_delivery& c) {
    name_account(c.account);
    name<webhooks_by_uuid>(c.uuid, c.account);
}

}  // namespace callsign::rules

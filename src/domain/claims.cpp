// The claims of all commands and queries, side by side for comparison.

#include <callsign/domain/command.hpp>
#include <callsign/domain/query.hpp>

namespace callsign {
namespace {

// For an account that may be unknown: a client that may register is anonymous.
payer known_or_stranger(account_id account) {
    return account.value > 0 ? payer(account) : payer::anonymous();
}

// For an account from a token or a lookup; 0: it does not exist, and the rule rejects the command.
payer known_or_operators(account_id account) {
    return account.value > 0 ? payer(account) : payer::operators();
}

// Operators name accounts by name: only the store knows their IDs, so operators pay.
payer account_or_operators(const account_ref& account) {
    const auto* const id = std::get_if<account_id>(&account);
    return id ? known_or_operators(*id) : payer::operators();
}

// For commands that read some thousand rows of an account, most of them in an index.
constexpr cost counted_rows{.rows = 100};

}  // namespace

claim claim_of(const reserve& c) {
    return {known_or_operators(c.account),
            {.bytes = c.key.size() + c.prefix.size(), .rows = c.depends.size()}};
}

// Its payer is not used: engine::create charges the account of the creation.
claim claim_of(const fulfil& c) {
    return {payer::operators(), {.bytes = size_of(c.attributes)}};
}

// Its payer is not used: engine::create charges the account of the creation.
claim claim_of(const begin_delivery& c) {
    return {payer::operators(), {.bytes = size_of(c.attributes)}};
}

claim claim_of(const take_delivery& c) {
    std::size_t bytes = c.work_max / 8;  // read and sent
    for (const edit_task& e : c.edits) bytes += e.bytes;
    return {known_or_operators(c.account),
            {.bytes = bytes, .operations = 1 + c.edits.size(), .rows = 8}};
}

namespace {

std::size_t bytes_of(std::span<const operation> all) {
    std::size_t bytes = 0;
    for (const operation& o : all) bytes += o.property.size() + (o.value ? o.value->size() : 0);
    return bytes;
}

}  // namespace

claim claim_of(const settle& c) {
    return {known_or_operators(c.account),
            {.bytes = bytes_of(c.operations), .operations = c.operations.size() / 8 + 1}};
}

claim claim_of(const apply_remote_version& c) {
    const auto some = std::span(c.operations).first(step_of(c.operations));
    return {known_or_operators(c.account),
            {.bytes = bytes_of(some), .operations = some.size() / 8 + 1}};
}

claim claim_of(const apply_remote_state& c) {
    std::size_t bytes = 0;
    for (const auto& t : c.tasks) bytes += size_of(t.attributes);
    return {known_or_operators(c.account),
            {.bytes = bytes, .operations = 1 + c.tasks.size() + c.gone.size()}};
}

claim claim_of(const suspend_effect& c) {
    return known_or_operators(c.account);
}

claim claim_of(const fail_in_flight& c) {
    return {payer::system(), {.rows = 2 * static_cast<std::size_t>(c.limit)}};
}

claim claim_of(const halt_remote& c) {
    return known_or_operators(c.account);
}

claim claim_of(const edit_remote& c) {
    return known_or_operators(c.account);
}

claim claim_of(const move_to_remote& c) {
    return {known_or_operators(c.account), many_rows};
}

claim claim_of(const mark_restored&) {
    return {payer::operators(), many_rows};
}

// Both also assign numbers to tasks that came while a series was held.
claim claim_of(const resume_series&) {
    return {payer::operators(), {.bytes = step_work_max}};
}

claim claim_of(const merge_snapshot& c) {
    return {known_or_operators(c.account), {.bytes = c.bytes, .operations = 1 + c.tasks.size()}};
}

claim claim_of(const recreate_tasks& c) {
    return {known_or_operators(c.account), {.operations = 1 + c.tasks.size()}};
}

claim claim_of(const edit_account&) {
    return {payer::operators(), {}};
}

claim claim_of(const delete_account&) {
    return {payer::operators(), {}};
}

claim claim_of(const remove_deleted& c) {
    return {payer::system(), {.rows = static_cast<std::size_t>(c.limit)}};
}

claim claim_of(const reseal& c) {
    return {payer::system(), {.operations = c.secrets.size()}};
}

claim claim_of(const note_action&) {
    return {payer::operators(), {}};
}

claim claim_of(const forget_actions& c) {
    return {payer::system(), {.rows = static_cast<std::size_t>(c.limit)}};
}

claim claim_of(const scrub_purged& c) {
    return {payer::system(), {.bytes = c.versions.empty() ? c.work_max : c.bytes}};
}

claim claim_of(const clear_log&) {
    return {payer::system(), {}};
}

claim claim_of(const end_resync& c) {
    return {known_or_operators(c.account), {.bytes = step_work_max}};
}

claim claim_of(const number_tasks& c) {
    return {payer::system(), {.bytes = c.work_max}};
}

claim claim_of(const update_keys& c) {
    return {payer::system(), {.bytes = c.work_max}};
}

claim claim_of(const find_numbering&) {
    return {payer::system(), {}};
}

claim claim_of(const find_renamed&) {
    return {payer::system(), {}};
}

claim claim_of(const find_instance&) {
    return {payer::system(), {}};
}

claim claim_of(const move_to_local& c) {
    return {known_or_operators(c.account), many_rows};
}

claim claim_of(const reconcile_pending& c) {
    return {payer::system(), {.rows = static_cast<std::size_t>(c.limit)}};
}

// Slots, and as many fork versions.
claim claim_of(const forget_settled& c) {
    return {payer::system(), {.rows = 2 * static_cast<std::size_t>(c.limit)}};
}

claim claim_of(const keep_retry_times& c) {
    return {payer::system(), {.bytes = c.times.size() * sizeof(retry_record)}};
}

claim claim_of(const assign_key& c) {
    return {known_or_operators(c.account),
            {.bytes = sizeof(uuid) + c.prefix.size() + c.project.size()}};
}

claim claim_of(const create_account&) {
    return {payer::operators(), {}};
}

claim claim_of(const create_token& c) {
    return {c.account ? account_or_operators(*c.account) : payer::operators(), counted_rows};
}

claim claim_of(const revoke_token& c) {
    return {known_or_operators(c.account.value_or(account_id{})), {}};
}

// Reads the account's series.
claim claim_of(const create_series& c) {
    return {account_or_operators(c.account), many_rows};
}

claim claim_of(const edit_series& c) {
    return {account_or_operators(c.account), c.prefix ? counted_rows : cost{}};
}

// A row is a task and its operations on the chain.
claim claim_of(const import_numbers& c) {
    return {account_or_operators(c.account),
            {.bytes = c.bytes, .operations = 1 + 2 * c.rows.size()}};
}

// Reads the account's devices.
claim claim_of(const create_device& c) {
    return {known_or_operators(c.account), {.rows = c.active_max}};
}

claim claim_of(const revoke_device& c) {
    return {account_or_operators(c.account), {}};
}

// One more for the version itself, which may have no operations.
claim claim_of(const add_version& c) {
    return {known_or_operators(c.account),
            {.bytes = c.bytes, .operations = 1 + c.operations.size()}};
}

claim claim_of(const manage_account& c) {
    return {known_or_operators(c.account),
            {.bytes = c.bytes, .operations = 1 + c.history.size() + c.tasks.size()}};
}

claim claim_of(const take_over_history& c) {
    return {known_or_operators(c.account),
            {.bytes = c.bytes, .operations = 1 + c.history.size() + c.tasks.size()}};
}

claim claim_of(const undo_take_over& c) {
    return {known_or_operators(c.account), {.bytes = c.work_max}};
}

claim claim_of(const remove_sealed& c) {
    return {known_or_operators(c.account), {.bytes = c.work_max}};
}

// Attributes that an action changes at most, except for removed annotations.
constexpr std::size_t action_operations = 4;

claim claim_of(const edit_task& c) {
    const std::size_t depends = c.depends ? c.depends->size() : 0;
    return {known_or_operators(c.account),
            {.bytes = c.bytes,
             .operations = 1 + c.changes.size() + depends + (c.action ? action_operations : 0),
             .rows = depends}};
}

// A task has its operations on the chain as well.
claim claim_of(const import_tasks& c) {
    return {known_or_operators(c.account),
            {.bytes = c.bytes, .operations = 1 + 2 * c.tasks.size()}};
}

claim claim_of(const add_sealed_version& c) {
    return {known_or_stranger(c.account), {.bytes = c.segment.size()}};
}

claim claim_of(const add_sealed_snapshot& c) {
    return {known_or_stranger(c.account), {.bytes = c.bytes.size()}};
}

claim claim_of(const register_client&) {
    return {payer::operators(), {}};
}

claim claim_of(const import_sealed_version& c) {
    return {payer::operators(), {.bytes = c.segment.size()}};
}

claim claim_of(const import_sealed_snapshot& c) {
    return {payer::operators(), {.bytes = c.bytes.size()}};
}

// Reads the account's webhooks.
claim claim_of(const create_webhook& c) {
    return {known_or_operators(c.account),
            {.bytes = c.url.size() + c.filter.size(), .rows = c.count_max}};
}

claim claim_of(const edit_webhook& c) {
    return known_or_operators(c.account);
}

claim claim_of(const remove_webhook& c) {
    return {known_or_operators(c.account), {.rows = webhook_deliveries_kept}};
}

claim claim_of(const settle_delivery& c) {
    return {known_or_operators(c.account), {.operations = 2}};
}

// ---- queries ----

claim claim_of(const find_account& q) {
    return account_or_operators(q.account);
}

claim claim_of(const list_accounts&) {
    return {payer::operators(), many_rows};
}

claim claim_of(const list_series& q) {
    return account_or_operators(q.account);
}

claim claim_of(const find_principal&) {
    return payer::anonymous();
}

claim claim_of(const list_tokens& q) {
    return {q.account ? account_or_operators(*q.account) : payer::operators(), many_rows};
}

claim claim_of(const find_repeated_token& q) {
    return q.account ? account_or_operators(*q.account) : payer::operators();
}

claim claim_of(const list_devices& q) {
    return {account_or_operators(q.account), many_rows};
}

claim claim_of(const find_device&) {
    return payer::anonymous();
}

claim claim_of(const find_device_with_key&) {
    return payer::system();
}

claim claim_of(const foresee_create_device& q) {
    return account_or_operators(q.account);
}

claim claim_of(const find_task& q) {
    return q.account;
}

// A binary search in each run of the key index.
claim claim_of(const find_slot& q) {
    return {q.account, {.rows = 128}};
}

claim claim_of(const list_slots&) {
    return {payer::operators(), many_rows};
}

claim claim_of(const count_pending_slots&) {
    return {payer::operators(), many_rows};
}

claim claim_of(const list_remotes& q) {
    return {payer::operators(), {.rows = static_cast<std::size_t>(q.limit)}};
}

claim claim_of(const find_remote& q) {
    return {known_or_operators(q.account), {.rows = 8}};
}

claim claim_of(const list_in_flight&) {
    return {payer::operators(), many_rows};
}

claim claim_of(const knows_version& q) {
    return {known_or_operators(q.account), {.rows = q.versions.size()}};
}

claim claim_of(const find_retry_times&) {
    return {payer::system(), {.bytes = sizeof(retry_record)}};
}

claim claim_of(const find_head& q) {
    return q.account;
}

claim claim_of(const find_child& q) {
    return q.account;
}

claim claim_of(const find_missed& q) {
    return {q.account, {.bytes = q.work_max}};
}

claim claim_of(const read_tasks& q) {
    return {q.account, {.rows = 500}};
}

// The query may read as much, whatever it finds.
claim claim_of(const list_tasks& q) {
    return {q.account, {.bytes = q.work_max}};
}

claim claim_of(const scan_tasks& q) {
    return {q.account, {.bytes = q.work_max}};
}

claim claim_of(const find_listed_tasks& q) {
    return {q.account, {.rows = q.tasks.size()}};
}

claim claim_of(const read_versions& q) {
    return {q.account, {.rows = 500}};
}

// As rows: no memory is held before the changes are read, and one account may have many followers.
claim claim_of(const read_changes& q) {
    return {q.account, {.rows = q.work_max / 1536}};
}

claim claim_of(const find_opaque_account&) {
    return payer::operators();
}

// A child that is larger than a quick query may load is requested again, with its size known.
claim claim_of(const find_sealed_child& q) {
    const bool is_known = q.bytes_max > find_sealed_child::quick_bytes_max;
    return {q.account, {.bytes = is_known ? q.bytes_max : 0}};
}

// The size is not known yet.
claim claim_of(const find_sealed_snapshot& q) {
    return {q.account, {.rows = 10'000}};
}

claim claim_of(const find_half_managed& q) {
    return {payer::system(), {.rows = 3 * static_cast<std::size_t>(q.limit)}};
}

claim claim_of(const read_sealed_versions& q) {
    return {q.account,
            {.bytes = read_sealed_versions::bytes_max,
             .rows = static_cast<std::size_t>(read_sealed_versions::versions_max)}};
}

claim claim_of_any(const command& c) {
    return std::visit([](const auto& of) { return claim_of(of); }, c);
}

claim claim_of(const list_actions& q) {
    return {payer::operators(), {.rows = static_cast<std::size_t>(q.page.size)}};
}

claim claim_of(const list_sealed& q) {
    return {payer::system(), {.rows = static_cast<std::size_t>(q.limit)}};
}

claim claim_of(const find_purged& q) {
    return {payer::system(), {.rows = static_cast<std::size_t>(q.limit) / 8}};
}

// As rows: no memory is held before the versions are read.
claim claim_of(const find_purged_text& q) {
    return {payer::system(), {.rows = q.work_max / 1024}};
}

claim claim_of(const list_webhooks& q) {
    return known_or_operators(q.account);
}

claim claim_of(const find_webhook& q) {
    return known_or_operators(q.account);
}

claim claim_of(const find_repeated_webhook& q) {
    return q.account;
}

claim claim_of(const list_deliveries& q) {
    return {known_or_operators(q.account), {.rows = webhook_deliveries_kept}};
}

claim claim_of(const list_active_webhooks& q) {
    return {payer::system(), {.rows = static_cast<std::size_t>(q.limit)}};
}

}  // namespace callsign

// Backups of the whole store while the server runs.

#include "handlers.hpp"
#include "shared/rejections.hpp"

#include <callsign/base/text.hpp>

namespace callsign::api {
namespace {

v1::Backup described(const std::filesystem::path& dir, const backup_manifest& m) {
    v1::Backup out;
    out.set_directory(dir.string());
    wire::set_timestamp(*out.mutable_made_at(), m.made_at);
    out.set_bytes(m.bytes);
    out.set_sha256(to_hex(bytes_of(m.sha256)));
    out.set_schema(m.schema);
    out.set_program(m.program);
    return out;
}

}  // namespace

awaitable<http_response> post_backup(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    v1::MakeBackup wanted;
    const bool is_read = read_body(c, wanted, wrong);
    const bool is_named = !wanted.directory().empty();
    const std::filesystem::path dir =
        is_named ? std::filesystem::path(wanted.directory()) : a.backups.next_scheduled();
    if (is_read && dir.empty()) {
        add_error(wrong,
                  {"directory", "required", "Must be given: backup.directory is not configured."});
    } else if (is_read && is_named && !dir.is_absolute()) {
        add_error(wrong, {"directory", "malformed", "Must be an absolute path."});
    }
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    note_action note{.what = "backup-begun", .subject = dir.string()};
    actor by = c.by();
    // A store that accepts no writes can still be copied; only the audit entry is missing.
    static_cast<void>(co_await a.engine.submit(std::move(note), std::move(by)));
    const auto done = co_await a.backups.make(dir);
    if (!done) co_return answer_error(c, done.error());
    if (const auto* const failed = std::get_if<jobs::backup_failed>(&*done)) {
        co_return answer_problem(c, problems::backup_failed, failed->why);
    }
    co_return answer_message(c, 201, described(dir, std::get<backup_manifest>(*done)));
}

awaitable<http_response> post_resume(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    v1::ResumeSeries wanted;
    const bool is_read = read_body(c, wanted, wrong);
    if (is_read && (wanted.at() < 0 || wanted.at() > number_max)) {
        add_error(wrong, {"at", "invalid", "Must be 1 to 999999999999."});
    }
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    resume_series command{.account = c.owner(), .named = upper(c.named())};
    if (wanted.at() != 0) command.at = wanted.at();
    co_return co_await carry_out(
        a.engine, c, std::move(command),
        [&c](const series& s) { return answer_message(c, 200, wire::to_message(s)); },
        [](edit_series::next_too_low low) {
            return rejected{problems::series_in_use, "at must be at least " +
                                                         std::to_string(low.least) +
                                                         ": lower numbers are already assigned."};
        });
}

awaitable<http_response> get_backups(admin_context& a, request_context& c) {
    const auto kept = co_await a.backups.kept();
    if (!kept) co_return answer_error(c, kept.error());
    v1::BackupStatus message;
    for (const auto& each : *kept) *message.add_kept() = described(each.directory, each.manifest);
    const jobs::backup_options& options = a.backups.options();
    if (!options.directory.empty()) {
        message.set_directory(options.directory.string());
        message.set_every(to_duration_text(options.every));
        message.set_keep(static_cast<std::int64_t>(options.keep));
    }
    if (const auto now = a.backups.in_progress()) {
        message.set_running(true);
        message.set_copied(now->done);
        message.set_total(now->total);
    }
    const jobs::backup_record& last = a.backups.last();
    if (last.made) *message.mutable_last() = described(last.made_in, *last.made);
    message.set_last_error(last.error);
    if (last.failed_at) wire::set_timestamp(*message.mutable_last_error_at(), *last.failed_at);
    co_return answer_message(c, 200, message);
}

}  // namespace callsign::api

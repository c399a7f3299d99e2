// Re-encrypts secrets after the master key has changed.

#include "handlers.hpp"
#include "shared/rejections.hpp"

#include <callsign/jobs/resealing.hpp>

namespace callsign::api {

awaitable<http_response> post_reseal(admin_context& a, request_context& c) {
    if (a.jobs.master == nullptr) {
        co_return answer_rejected(c, rejections(jobs::no_master_key{}));
    }
    note_action note{"secrets-resealed"};
    actor by = c.by();
    const auto noted = co_await a.engine.submit(std::move(note), std::move(by));
    if (!noted) co_return answer_error(c, noted.error());
    const auto done = co_await jobs::reseal_all(a.jobs);
    if (!done) co_return answer_error(c, done.error());
    v1::ResealedSecrets message;
    message.set_fingerprint(a.jobs.master->fingerprint());
    message.set_former_keys(static_cast<std::int64_t>(a.jobs.master->former()));
    message.set_current(done->current);
    message.set_resealed(done->resealed);
    message.set_unopened(done->unopened);
    co_return answer_message(c, 200, message);
}

}  // namespace callsign::api

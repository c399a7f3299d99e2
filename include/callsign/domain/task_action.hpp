#pragma once
// Actions on a task, as Taskwarrior defines them; the changes depend on the task when one is
// applied. Repeating an action changes nothing, except for annotate without an `entry`.

#include <cstdint>
#include <optional>
#include <string>

namespace callsign {

struct task_action {
    enum class kind : std::uint8_t {
        complete,  // status completed, `end` now; removes `start`
        reopen,    // a closed task becomes pending
        start,     // `start` now; a closed task becomes pending
        stop,
        annotate,  // unless `entry` has this text already
        denotate,  // removes all annotations of this text, of this entry, or of both
    };
    kind verb{};
    std::string text{};  // of the annotation
    // The annotation's second since the epoch; none: now (annotate) or any (denotate).
    std::optional<std::int64_t> entry{};
};

}  // namespace callsign

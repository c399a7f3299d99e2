#pragma once
// What people do to a task in a word, as Taskwarrior means it. What changes depends on the task as
// it is by then; where that is nothing, nothing does, so that doing it again does no harm.

#include <cstdint>
#include <optional>
#include <string>

namespace callsign {

struct task_action {
    enum class kind : std::uint8_t {
        complete,  // status completed, `end` now; not started any more
        reopen,    // what is over is pending again
        start,     // `start` now; what is over is pending again
        stop,
        annotate,  // unless it has this text at `entry`
        denotate,  // all annotations of this text, of this entry, or of both
    };
    kind verb{};
    std::string text{};  // of an annotation
    // Its second since the epoch; none: now, or any.
    std::optional<std::int64_t> entry{};
};

}  // namespace callsign

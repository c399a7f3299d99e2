#include "callsign/rows/v1/rows.pb.h"

#include <callsign/domain/work.hpp>
#include <callsign/store/columns.hpp>

#include <algorithm>
#include <cstring>

namespace callsign::columns {

namespace rows = ::callsign::rows::v1;

namespace {

// Most times are the server's own, in whole milliseconds: the rest is 0 then and takes no space.
void put_time(rows::Operation& row, precise_time at) {
    const auto ms = std::chrono::floor<milliseconds>(at);
    row.set_at(ms.time_since_epoch().count());
    row.set_at_rest(static_cast<std::int32_t>((at - ms).count()));
}

std::optional<precise_time> time_of(const rows::Operation& row) {
    using std::chrono::nanoseconds;
    constexpr auto most = std::chrono::floor<milliseconds>(nanoseconds::max()).count() - 1;
    if (row.at() > most || row.at() < -most) return std::nullopt;
    if (row.at_rest() < 0 || row.at_rest() >= 1'000'000) return std::nullopt;
    return time_point{milliseconds{row.at()}} + nanoseconds{row.at_rest()};
}

// Sets `current`, or keeps it if `bytes` is empty: the previous operation's task. Returns false if
// there is none or the size is wrong.
bool take_uuid(const std::string& bytes, std::optional<uuid>& current) {
    if (bytes.empty()) return current.has_value();
    if (bytes.size() != sizeof(uuid)) return false;
    std::memcpy(&current.emplace(), bytes.data(), bytes.size());
    return true;
}

}  // namespace

// Encoders reuse thread-local messages, which keep their memory when cleared: encoding a task
// allocates only the result.

std::string encode(const attributes& set, std::span<const std::string> absent) {
    thread_local rows::Attributes message;
    message.Clear();
    for (const auto& [name, value] : set) {
        auto& a = *message.add_attributes();
        a.set_name(name);
        a.set_value(value);
    }
    for (const std::string& name : absent) message.add_absent(name);
    return message.SerializeAsString();
}

std::optional<attribute_diff> decode_attributes(std::string_view bytes) {
    rows::Attributes message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
    attribute_diff all;
    all.set.reserve(static_cast<std::size_t>(message.attributes_size()));
    for (auto& a : *message.mutable_attributes()) {
        all.set.emplace(std::move(*a.mutable_name()), std::move(*a.mutable_value()));
    }
    all.absent.assign(message.absent().begin(), message.absent().end());
    return all;
}

std::string encode(std::span<const operation> operations) {
    thread_local rows::Operations message;
    message.Clear();
    const operation* last = nullptr;
    std::optional<precise_time> last_at;
    for (const operation& o : operations) {
        auto& row = *message.add_operations();
        row.set_kind(static_cast<int>(o.kind));
        if (!last || last->uuid != o.uuid) row.set_uuid(o.uuid.data, o.uuid.size());
        last = &o;
        if (o.kind != operation_kind::update) continue;
        row.set_property(o.property);
        if (o.value) row.set_value(*o.value);
        if (last_at != o.at) put_time(row, o.at);
        last_at = o.at;
    }
    return message.SerializeAsString();
}

std::optional<std::vector<operation>> decode_operations(std::string_view bytes) {
    rows::Operations message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
    std::vector<operation> operations;
    operations.reserve(static_cast<std::size_t>(message.operations_size()));
    std::optional<uuid> id;
    std::optional<precise_time> at;
    for (auto& row : *message.mutable_operations()) {
        const bool is_known = row.kind() >= static_cast<int>(operation_kind::create) &&
                              row.kind() <= static_cast<int>(operation_kind::update);
        if (!is_known || !take_uuid(row.uuid(), id)) return std::nullopt;
        operation o;
        o.kind = static_cast<operation_kind>(row.kind());
        o.uuid = *id;
        if (o.kind == operation_kind::update) {
            if (row.has_at()) at = time_of(row);
            if (!at) return std::nullopt;
            o.at = *at;
            o.property = std::move(*row.mutable_property());
            if (row.has_value()) o.value = std::move(*row.mutable_value());
        }
        operations.push_back(std::move(o));
    }
    return operations;
}

std::string encode(const fork_way& way, std::int64_t left_at) {
    rows::Way message;
    std::int64_t before = left_at;
    for (const std::int64_t seq : way.own) {
        message.add_own(static_cast<std::uint64_t>(seq - before));
        before = seq;
    }
    before = left_at;
    for (auto at = way.dropped.begin(); at != way.dropped.end();) {
        const chain_position first = *at;
        std::size_t count = 0;
        while (at != way.dropped.end() && *at == chain_position{first.seq, first.index + count}) {
            ++at;
            ++count;
        }
        message.add_dropped(static_cast<std::uint64_t>(first.seq - before));
        message.add_dropped(first.index);
        message.add_dropped(count);
        before = first.seq;
    }
    return message.SerializeAsString();
}

std::optional<fork_way> decode_way(std::string_view bytes, std::int64_t left_at) {
    // More than any fork version has, and sums stay far from overflow.
    constexpr std::uint64_t number_max = std::uint64_t{1} << 40;
    constexpr std::size_t dropped_max = std::size_t{1} << 20;
    const auto is_sound = [](std::uint64_t n) { return n < number_max; };
    rows::Way message;
    fork_way way;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
    if (!is_sound(static_cast<std::uint64_t>(left_at))) return std::nullopt;
    std::int64_t seq = left_at;
    for (const std::uint64_t step : message.own()) {
        if (step == 0 || !is_sound(step)) return std::nullopt;
        way.own.push_back(seq += static_cast<std::int64_t>(step));
    }
    const auto& runs = message.dropped();
    if (way.own.empty() || runs.size() % 3 != 0) return std::nullopt;
    seq = left_at;
    for (int i = 0; i < runs.size(); i += 3) {
        const std::uint64_t count = runs[i + 2];
        if (!is_sound(runs[i]) || !is_sound(runs[i + 1]) || !is_sound(count)) return std::nullopt;
        if (count > dropped_max - way.dropped.size()) return std::nullopt;
        seq += static_cast<std::int64_t>(runs[i]);
        for (std::uint64_t n = 0; n < count; ++n) way.dropped.push_back({seq, runs[i + 1] + n});
    }
    if (!std::is_sorted(way.dropped.begin(), way.dropped.end())) return std::nullopt;
    return way;
}

namespace {

void put_weights(const retry_histogram& from, rows::RetryWeights& into) {
    for (std::size_t i = 0; i < retry_histogram::buckets; ++i) {
        if (from.weight(i) == 0) continue;
        into.add_buckets(static_cast<std::uint32_t>(i));
        into.add_weights(from.weight(i));
    }
}

bool take_weights(const rows::RetryWeights& from, retry_histogram& into) {
    if (from.buckets_size() != from.weights_size()) return false;
    std::int64_t last = -1;
    for (int i = 0; i < from.buckets_size(); ++i) {
        const std::int64_t bucket = from.buckets(i);
        if (bucket <= last || !into.set(from.buckets(i), from.weights(i))) return false;
        last = bucket;
    }
    return true;
}

}  // namespace

std::string encode(const retry_record& record) {
    rows::RetryTimes message;
    message.set_half_life_ms(record.half_life.count());
    message.set_age_ms(record.age.count());
    message.set_observed_ms(record.observed_ms);
    message.set_failed(record.failed);
    message.set_late(record.late);
    message.set_window_ms(record.window.count());
    message.set_held_ms(record.held.count());
    message.set_derived(record.derived);
    for (const retry_histogram& part : record.retries) put_weights(part, *message.add_retries());
    put_weights(record.unfinished, *message.mutable_unfinished());
    return message.SerializeAsString();
}

std::optional<retry_record> decode_retry_record(std::string_view bytes) {
    rows::RetryTimes message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
    if (message.retries_size() != static_cast<int>(retry_record::parts)) return std::nullopt;
    retry_record record;
    record.half_life = milliseconds{message.half_life_ms()};
    record.age = milliseconds{message.age_ms()};
    record.observed_ms = message.observed_ms();
    record.failed = message.failed();
    record.late = message.late();
    record.window = milliseconds{message.window_ms()};
    record.held = milliseconds{message.held_ms()};
    record.derived = message.derived();
    int part = 0;
    for (retry_histogram& into : record.retries) {
        if (!take_weights(message.retries(part++), into)) return std::nullopt;
    }
    if (!take_weights(message.unfinished(), record.unfinished)) return std::nullopt;
    if (!is_sound(record)) return std::nullopt;
    return record;
}

void encoding_sink::put_attributes(const attributes& set, std::span<const std::string> absent) {
    worked(work_of_attribute * set.size());
    put_made(encode(set, absent));
}

void encoding_sink::put_operations(std::span<const operation> all) {
    worked(work_of_operation * all.size());
    put_made(encode(all));
}

void encoding_sink::put_retry_record(const retry_record& record) {
    put_made(encode(record));
}

void encoding_sink::put_way(std::int64_t left_at, const fork_way& way) {
    put_made(encode(way, left_at));
}

void encoding_sink::put_key(const index_info& index, std::size_t first, std::size_t count,
                            std::string_view key) {
    key_reader parts(key);
    for (const part_kind kind : std::span(index.kinds).subspan(first, count)) {
        switch (kind) {
        case part_kind::integer: put_integer(parts.integer()); break;
        case part_kind::text: put_made_text(parts.text()); break;
        case part_kind::uuid: put_bytes(parts.bytes(sizeof(uuid))); break;
        case part_kind::digest: put_bytes(parts.bytes(sizeof(digest))); break;
        }
    }
}

attribute_diff decoding_source::take_attributes() {
    auto all = decoded(decode_attributes(take_bytes()), "its attributes");
    worked(work_of_attribute * all.set.size());
    return all;
}

std::vector<operation> decoding_source::take_operations() {
    auto all = decoded(decode_operations(take_bytes()), "its operations");
    worked(work_of_operation * all.size());
    return all;
}

retry_record decoding_source::take_retry_record() {
    return decoded(decode_retry_record(take_bytes()), "its times");
}

fork_way decoding_source::take_way(std::int64_t left_at) {
    return decoded(decode_way(take_bytes(), left_at), "its way");
}

}  // namespace callsign::columns

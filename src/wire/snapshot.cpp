#include "json_text.hpp"
#include "strict_reader.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/wire/segment.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <zlib.h>

namespace callsign::wire {
namespace {

// {U:{ and one more level, so that an error there gets its path.
constexpr std::size_t snapshot_depth_max = 3;

class snapshot_reader : public strict_reader<snapshot_reader> {
  public:
    snapshot_reader(const snapshot_limits& limits, task_map& out) : limits_(limits), out_(out) {}

    bool open_object() {
        if (level_ == level::property) return misplaced();
        level_ = level_ == level::document ? level::root : level::task;
        return true;
    }

    bool close_object() {
        if (level_ == level::root) return true;
        in_property_ = false;
        level_ = level::root;
        return keep_task();
    }

    bool open_array() { return misplaced(); }
    bool close_array() { return true; }
    bool take_null() { return misplaced(); }

    bool take_key(std::string_view name) {
        if (level_ == level::root) return take_uuid(name);
        level_ = level::property;
        in_property_ = true;
        properties_.emplace_back(name, std::string());
        return true;
    }

    bool take_text(std::string_view text) {
        if (level_ != level::property) return misplaced();
        properties_.back().second = text;
        level_ = level::task;
        return true;
    }

    std::string path() const {
        if (!at_) return {};
        std::string where = to_string(*at_);
        if (in_property_) where.append(".").append(shortened(properties_.back().first));
        return where;
    }

  private:
    // `property`: its name was read, but not its value.
    enum class level : std::uint8_t { document, root, task, property };

    bool take_uuid(std::string_view name) {
        at_.reset();
        const std::optional<uuid> id = parse_uuid(name);
        if (!id) return fault("a task's name must be a UUID.");
        at_ = id;
        if (out_.contains(*id)) return fault("duplicate task.");
        return out_.size() < limits_.tasks_max || fault("too many tasks.");
    }

    // Sorts all properties at once: inserted one by one, a hundred thousand properties of a task
    // would move five billion times.
    bool keep_task() {
        const auto by_name = [](const auto& a, const auto& b) { return a.first < b.first; };
        std::sort(properties_.begin(), properties_.end(), by_name);
        const auto same =
            std::adjacent_find(properties_.begin(), properties_.end(),
                               [](const auto& a, const auto& b) { return a.first == b.first; });
        if (same != properties_.end()) return twice(same->first);
        out_.emplace(*at_, attributes(boost::container::ordered_unique_range,
                                      std::make_move_iterator(properties_.begin()),
                                      std::make_move_iterator(properties_.end())));
        properties_.clear();
        at_.reset();
        return true;
    }

    const snapshot_limits& limits_;
    task_map& out_;
    level level_ = level::document;
    std::optional<uuid> at_;    // the task whose properties are read
    bool in_property_ = false;  // a property of it is read
    std::vector<std::pair<std::string, std::string>> properties_;
};

struct inflater {
    z_stream stream{};

    inflater() { CALLSIGN_ASSERT(inflateInit(&stream) == Z_OK); }
    ~inflater() { inflateEnd(&stream); }
    inflater(const inflater&) = delete;
    inflater& operator=(const inflater&) = delete;
};

using inflated = std::variant<std::string, malformed>;

// Expects one zlib stream and nothing after it.
inflated inflate_all(std::string_view packed, std::size_t bytes_max) {
    inflater in;
    // Not written, but zlib's member is not const.
    in.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    in.stream.avail_in = static_cast<uInt>(packed.size());
    std::string out;
    std::size_t used = 0;
    for (int status = Z_OK; status != Z_STREAM_END;) {
        // One byte more than the maximum, to detect an excess.
        const std::size_t size = std::min(bytes_max + 1, std::max<std::size_t>(4096, used * 2));
        if (used == size) return malformed{"The snapshot is too large when inflated."};
        out.resize(size);
        in.stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
        in.stream.avail_out = static_cast<uInt>(size - used);
        status = inflate(&in.stream, Z_NO_FLUSH);
        used = size - in.stream.avail_out;
        const bool starved = status == Z_BUF_ERROR || (status == Z_OK && in.stream.avail_out > 0);
        if (starved) return malformed{"The snapshot's zlib stream ends too early."};
        if (status != Z_OK && status != Z_STREAM_END) {
            return malformed{"The snapshot is not a valid zlib stream."};
        }
    }
    if (used > bytes_max) return malformed{"The snapshot is too large when inflated."};
    if (in.stream.avail_in > 0)
        return malformed{"Unexpected data follows the snapshot's zlib stream."};
    out.resize(used);
    return out;
}

}  // namespace

decoded_snapshot decode_snapshot(std::string_view packed, const snapshot_limits& limits) {
    if (packed.size() > limits.packed_bytes_max) return malformed{"The snapshot is too large."};
    inflated json = inflate_all(packed, limits.bytes_max);
    if (auto* fault = std::get_if<malformed>(&json)) return std::move(*fault);
    task_map tasks;
    std::string fault = read_strictly<snapshot_reader>(std::get<std::string>(json),
                                                       snapshot_depth_max, limits, tasks);
    if (!fault.empty()) return malformed{std::move(fault)};
    return tasks;
}

class snapshot_writer::impl {
  public:
    impl() { CALLSIGN_ASSERT(deflateInit(&stream_, Z_DEFAULT_COMPRESSION) == Z_OK); }
    ~impl() { deflateEnd(&stream_); }
    impl(const impl&) = delete;
    impl& operator=(const impl&) = delete;

    void add(const uuid& id, const attributes& properties) {
        text_.append(first_task_ ? "{\"" : ",\"").append(to_string(id)).append("\":{");
        first_task_ = false;
        bool first = true;
        for (const auto& [name, value] : properties) {
            if (!first) text_ += ',';
            first = false;
            write_text(sound_text(name, scratch_), text_);
            text_ += ':';
            write_text(sound_text(value, scratch_), text_);
        }
        text_ += '}';
        if (text_.size() >= deflated_at_once) deflate_text(Z_NO_FLUSH);
    }

    std::string finish() {
        text_.append(first_task_ ? "{}" : "}");
        deflate_text(Z_FINISH);
        return std::move(out_);
    }

  private:
    static constexpr std::size_t deflated_at_once = std::size_t{64} * 1024;

    void deflate_text(int flush) {
        stream_.next_in = reinterpret_cast<Bytef*>(text_.data());
        stream_.avail_in = static_cast<uInt>(text_.size());
        do {
            const std::size_t used = out_.size();
            out_.resize(used + deflated_at_once);
            stream_.next_out = reinterpret_cast<Bytef*>(out_.data() + used);
            stream_.avail_out = static_cast<uInt>(deflated_at_once);
            CALLSIGN_ASSERT(deflate(&stream_, flush) != Z_STREAM_ERROR);
            out_.resize(out_.size() - stream_.avail_out);
        } while (stream_.avail_out == 0);
        text_.clear();
    }

    z_stream stream_{};
    bool first_task_ = true;
    std::string text_;  // not deflated yet
    std::string scratch_;
    std::string out_;
};

snapshot_writer::snapshot_writer() : impl_(std::make_unique<impl>()) {}
snapshot_writer::~snapshot_writer() = default;

void snapshot_writer::add(const uuid& id, const attributes& properties) {
    impl_->add(id, properties);
}

std::string snapshot_writer::finish() {
    return impl_->finish();
}

std::string encode_snapshot(const task_map& tasks) {
    snapshot_writer writer;
    for (const auto& [id, properties] : tasks) writer.add(id, properties);
    return writer.finish();
}

}  // namespace callsign::wire

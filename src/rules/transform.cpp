#include <callsign/base/assert.hpp>
#include <callsign/base/keyed_hash.hpp>
#include <callsign/rules/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace callsign::rules {
namespace {

using kind = operation_kind;

// Which of the two operations remain.
enum class kept { both, server, local, none };

kept decide_updates(const operation& server, const operation& local) noexcept {
    if (server.property != local.property) return kept::both;
    if (server.value == local.value) return kept::none;
    return server.at < local.at ? kept::local : kept::server;
}

// Rows: the server's operation; columns: the local one; both in the order of `kind`. For two
// Updates, decide_updates() decides.
kept keep_of(const operation& server, const operation& local) noexcept {
    if (server.uuid != local.uuid) return kept::both;
    if (server.kind == kind::update && local.kind == kind::update) {
        return decide_updates(server, local);
    }
    static constexpr kept table[3][3] = {{kept::none, kept::server, kept::local},   // create
                                         {kept::local, kept::none, kept::server},   // remove
                                         {kept::server, kept::local, kept::none}};  // update
    return table[static_cast<std::size_t>(server.kind) - 1]
                [static_cast<std::size_t>(local.kind) - 1];
}

bool keeps_server(kept k) noexcept {
    return k == kept::both || k == kept::server;
}
bool keeps_local(kept k) noexcept {
    return k == kept::both || k == kept::local;
}

// Places in a list, in order, read once from the front.
struct lane {
    std::vector<std::size_t> places;
    std::size_t next = 0;
};

// The local operations that a server operation can meet: those of its own task, except that Updates
// of different properties do not meet. Of two that meet, at least one is dropped. A server
// operation therefore always meets the first one left, and meetings are no more than the operations
// of both sides.
class local_list {
  public:
    explicit local_list(std::vector<operation> all)
        : all_(std::move(all)), dropped_(all_.size(), false) {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            lanes& l = of_task_[all_[i].uuid];
            l.all.places.push_back(i);
            const bool update = all_[i].kind == kind::update;
            (update ? l.updates[all_[i].property] : l.others).places.push_back(i);
        }
    }

    // Returns whether the server's operation remains after all local ones.
    bool pass(const operation& server) {
        const auto found = of_task_.find(server.uuid);
        if (found == of_task_.end()) return true;
        while (const auto place = first_met(found->second, server)) {
            const kept k = keep_of(server, all_[*place]);
            CALLSIGN_ASSERT(k != kept::both);
            if (k != kept::local) dropped_[*place] = true;
            if (k != kept::server) return false;
        }
        return true;
    }

    std::vector<operation> rest() && {
        std::size_t to = 0;
        for (std::size_t from = 0; from < all_.size(); ++from) {
            if (dropped_[from]) continue;
            if (to != from) all_[to] = std::move(all_[from]);
            ++to;
        }
        all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(to), all_.end());
        return std::move(all_);
    }

  private:
    struct lanes {
        lane all;
        lane others;                               // Creates and Deletes
        std::map<std::string_view, lane> updates;  // by property; the names are those in `all_`
    };

    std::optional<std::size_t> first_left(lane& l) const noexcept {
        while (l.next < l.places.size() && dropped_[l.places[l.next]]) ++l.next;
        if (l.next == l.places.size()) return std::nullopt;
        return l.places[l.next];
    }

    std::optional<std::size_t> first_met(lanes& of_task, const operation& server) const {
        if (server.kind != kind::update) return first_left(of_task.all);
        const auto other = first_left(of_task.others);
        const auto found = of_task.updates.find(server.property);
        if (found == of_task.updates.end()) return other;
        const auto update = first_left(found->second);
        if (!other || !update) return other ? other : update;
        return std::min(*other, *update);
    }

    std::vector<operation> all_;
    std::vector<bool> dropped_;
    std::unordered_map<uuid, lanes, keyed_hash> of_task_;
};

}  // namespace

transformed_pair transform(const operation& server, const operation& local) {
    const kept k = keep_of(server, local);
    transformed_pair pair;
    if (keeps_server(k)) pair.server = server;
    if (keeps_local(k)) pair.local = local;
    return pair;
}

transformed_lists transform_lists(std::vector<operation> server, std::vector<operation> local) {
    local_list locals(std::move(local));
    std::vector<std::size_t> dropped;
    std::size_t place = 0;
    std::erase_if(server, [&](const operation& o) {
        const bool gone = !locals.pass(o);
        if (gone) dropped.push_back(place);
        ++place;
        return gone;
    });
    return {std::move(server), std::move(locals).rest(), std::move(dropped)};
}

can_meet::can_meet(std::span<const operation> list) {
    for (const operation& o : list) {
        of_task& its = tasks_[o.uuid];
        if (o.kind == kind::update) {
            its.properties.insert(o.property);
        } else {
            its.makes_or_deletes = true;
        }
    }
}

bool can_meet::operator()(const operation& others) const {
    const auto found = tasks_.find(others.uuid);
    if (found == tasks_.end()) return false;
    return others.kind != kind::update || found->second.makes_or_deletes ||
           found->second.properties.contains(others.property);
}

presence there_before(std::span<const operation> since) {
    presence there;
    for (const operation& o : since) there.emplace(o.uuid, o.kind != kind::create);
    return there;
}

std::vector<operation> effective_only(std::vector<operation> operations,
                                      const std::function<bool(const uuid&)>& is_there) {
    presence there;
    std::erase_if(operations, [&](const operation& o) {
        auto found = there.find(o.uuid);
        if (found == there.end()) found = there.emplace(o.uuid, is_there(o.uuid)).first;
        if (!is_effective(o, found->second)) return true;
        found->second = o.kind != kind::remove;
        return false;
    });
    return operations;
}

std::vector<operation> drop_transient(std::vector<operation> effective, const presence& met) {
    struct stay {
        bool comes = false;  // its first operation creates it
        bool goes = false;   // its last operation deletes it
    };
    std::unordered_map<uuid, stay, keyed_hash> stays;
    for (const operation& o : effective) {
        const auto [found, first] = stays.try_emplace(o.uuid);
        if (first) found->second.comes = o.kind == kind::create;
        found->second.goes = o.kind == kind::remove;
    }
    std::erase_if(effective, [&](const operation& o) {
        const stay& s = stays.at(o.uuid);
        return s.comes && s.goes && !met.contains(o.uuid);
    });
    return effective;
}

}  // namespace callsign::rules

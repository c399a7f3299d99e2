#pragma once
// The chains of opaque accounts, and the newest snapshot of each.

#include <callsign/domain/sealed.hpp>
#include <callsign/ports/table.hpp>

namespace callsign {

struct sealed_by_place : index_on<sealed_version, "sealed_id"> {
    static auto key(const sealed_link& r) { return std::tuple(r.place); }
};
struct sealed_by_parent : index_on<sealed_version, "parent_id", "account_id"> {
    static auto key(const sealed_link& r) { return std::tuple(r.parent, r.account); }
};

template <>
struct table<sealed_version> {
    static constexpr std::string_view name = "sealed_versions";
    using head = sealed_link;
    using indexes = index_list<sealed_by_place, sealed_by_parent>;

    static const char* fault(const sealed_version& r) {
        return r.bytes == r.segment.size() ? nullptr : "its size";
    }

    template <class Head, class Visitor>
    static void head_columns(Head& r, Visitor& v) {
        v.fixed("sealed_id", r.place);
        v.fixed("account_id", r.account);
        v.fixed("seq", r.seq);
        v.fixed("version_id", r.id);
        v.fixed("parent_id", r.parent);
        v.fixed("created_at", r.created_at);
        v.fixed("bytes", r.bytes);
    }
    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        head_columns(r, v);
        v.fixed("segment", as_bytes(r.segment));
    }
};
extern template const table_info& info_of_table<sealed_version>();

struct snapshot_head {
    using whole = struct snapshot_row;

    account_id account;
    snapshot_mark mark{};
    std::size_t size = 0;  // in bytes
};
struct snapshot_row : snapshot_head {
    std::string bytes{};
};

struct snapshots_by_account : index_on<snapshot_row, "account_id"> {
    static auto key(const snapshot_head& r) { return std::tuple(r.account); }
};

template <>
struct table<snapshot_row> {
    static constexpr std::string_view name = "sealed_snapshots";
    using head = snapshot_head;
    using indexes = index_list<snapshots_by_account>;

    static const char* fault(const snapshot_row& r) {
        return r.size == r.bytes.size() ? nullptr : "its size";
    }

    template <class Head, class Visitor>
    static void head_columns(Head& r, Visitor& v) {
        v.fixed("account_id", r.account);
        v.fixed("version_id", r.mark.version);
        v.fixed("seq", r.mark.seq);
        v.fixed("taken_seq", r.mark.taken_seq);
        v.fixed("taken_at", r.mark.taken_at);
        v.fixed("size", r.size);
    }
    template <class Row, class Visitor>
    static void columns(Row& r, Visitor& v) {
        head_columns(r, v);
        v.fixed("bytes", as_bytes(r.bytes));
    }
};
extern template const table_info& info_of_table<snapshot_row>();

}  // namespace callsign

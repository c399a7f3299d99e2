#pragma once
// The operations on its account's chain that a device lacks, reduced to others' operations that can
// affect a batch it sends (rules/transform.hpp). A chain only grows, so what was read of it stays
// valid, and readers can collect it in parts.

#include <callsign/domain/version.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace callsign {

struct missed_changes {
    // A device that has missed more than this must pull first. `read_bytes_max` limits the versions
    // read to find the operations, as work_of() counts them.
    static constexpr std::size_t operations_max = 20'000;
    static constexpr std::size_t bytes_max = std::size_t{16} << 20;
    static constexpr std::size_t read_bytes_max = std::size_t{256} << 20;

    std::int64_t through = 0;  // the chain was read up to here
    std::vector<operation> operations{};
    std::vector<chain_position> places{};  // of each operation
    std::vector<std::int64_t> own{};  // seqs of versions that the device itself has sent, in order
    std::size_t bytes = 0;            // of the operations, as work_of() counts them
    std::size_t read_bytes = 0;

    bool is_too_much() const noexcept {
        return operations.size() > operations_max || bytes > bytes_max ||
               read_bytes > read_bytes_max;
    }
    // Appends the part that follows this one.
    void append(missed_changes next) {
        through = next.through;
        std::move(next.operations.begin(), next.operations.end(), std::back_inserter(operations));
        places.insert(places.end(), next.places.begin(), next.places.end());
        own.insert(own.end(), next.own.begin(), next.own.end());
        bytes += next.bytes;
        read_bytes += next.read_bytes;
    }
};

}  // namespace callsign

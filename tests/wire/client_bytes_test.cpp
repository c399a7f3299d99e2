// Data that a real client uploaded: every body decrypts, every plaintext is read and written with
// the same bytes, and encrypted again it equals the client's.

#include "support/vectors.hpp"

#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <zlib.h>

namespace callsign {
namespace {

using testing::client_vector;
using testing::client_vectors;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

seal::key vector_key(const client_vector& v) {
    return seal::key(bytes_of(v.derived_key).first<seal::key_bytes>());
}

std::string opened(const client_vector& v) {
    return std::get<std::string>(seal::open_body(vector_key(v), v.place, v.sealed));
}

std::string inflated(std::string_view packed) {
    std::string out(1 << 20, '\0');
    uLongf size = out.size();
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                         reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
              Z_OK);
    out.resize(size);
    return out;
}

TEST(client_bytes, are_there) {
    ASSERT_EQ(client_vectors().size(), 5u);
}

TEST(client_bytes, are_encrypted_with_the_key_we_derive) {
    const client_vector& v = client_vectors().front();
    EXPECT_TRUE(seal::derive_key(bytes_of(v.encryption_secret), v.client_id) == vector_key(v));
}

TEST(client_bytes, decrypt_and_encrypt_to_the_same_bytes) {
    for (const client_vector& v : client_vectors()) {
        const std::string plaintext = opened(v);
        EXPECT_EQ(v.is_snapshot ? inflated(plaintext) : plaintext, v.plaintext);
        const auto nonce = bytes_of(v.sealed).subspan<1, seal::nonce_bytes>();
        EXPECT_EQ(seal::seal_body(vector_key(v), v.place, nonce, plaintext), v.sealed);
    }
}

TEST(client_bytes, are_segments_that_we_write_to_the_byte) {
    for (const client_vector& v : client_vectors()) {
        if (v.is_snapshot) continue;
        const auto read = wire::decode_segment(v.plaintext);
        ASSERT_TRUE(std::holds_alternative<std::vector<operation>>(read))
            << std::get<wire::malformed>(read).detail;
        EXPECT_EQ(wire::encode_segment(std::get<std::vector<operation>>(read)), v.plaintext);
    }
}

// The client orders tasks and properties as its hash table does.
TEST(client_bytes, are_snapshots_that_we_write_but_for_the_order) {
    for (const client_vector& v : client_vectors()) {
        if (!v.is_snapshot) continue;
        const auto read = wire::decode_snapshot(opened(v));
        ASSERT_TRUE(std::holds_alternative<task_map>(read))
            << std::get<wire::malformed>(read).detail;
        const auto& tasks = std::get<task_map>(read);
        const std::string written = inflated(wire::encode_snapshot(tasks));
        EXPECT_EQ(boost::json::parse(written), boost::json::parse(v.plaintext));
        EXPECT_EQ(written.size(), v.plaintext.size());
        EXPECT_EQ(tasks.size(), 2u);
    }
}

// The snapshot contains the result of the first segment.
TEST(client_bytes, agree_with_each_other) {
    const auto& all = client_vectors();
    const auto segment = wire::decode_segment(all[0].plaintext);
    const auto snapshot = wire::decode_snapshot(opened(all[1]));
    task_map tasks;
    for (const operation& o : std::get<std::vector<operation>>(segment)) {
        if (o.kind == operation_kind::create) tasks[o.uuid];
        if (o.kind == operation_kind::update && o.value) tasks[o.uuid][o.property] = *o.value;
    }
    EXPECT_EQ(tasks, std::get<task_map>(snapshot));
}

}  // namespace
}  // namespace callsign

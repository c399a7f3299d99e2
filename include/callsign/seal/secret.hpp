#pragma once
// Secret bytes: wiped when released, never printed, compared in a time that does not depend on
// them. They are not hidden from the kernel; the programs write no core dumps (main/no_dumps.hpp).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace callsign::seal {

class secret_bytes {
  public:
    secret_bytes() = default;
    // All zero, to be filled through `writable`.
    explicit secret_bytes(std::size_t size);
    explicit secret_bytes(std::span<const std::uint8_t> bytes);
    explicit secret_bytes(std::string_view bytes);
    ~secret_bytes();
    secret_bytes(secret_bytes&& other) noexcept;
    secret_bytes& operator=(secret_bytes&& other) noexcept;
    // Another copy is another risk, so copies must be explicit.
    secret_bytes(const secret_bytes&) = delete;
    secret_bytes& operator=(const secret_bytes&) = delete;
    secret_bytes copy() const { return secret_bytes(bytes()); }

    std::size_t size() const noexcept { return size_; }
    std::span<const std::uint8_t> bytes() const noexcept { return {data_.get(), size_}; }
    std::span<std::uint8_t> writable() noexcept { return {data_.get(), size_}; }
    // Wipes everything beyond the first `size` bytes, and reduces the size.
    void shrink(std::size_t size) noexcept;

    friend bool operator==(const secret_bytes& a, const secret_bytes& b) noexcept;

    template <class Stream>
    friend Stream& operator<<(Stream&, const secret_bytes&) = delete;

  private:
    void wipe() noexcept;

    // On the heap whatever its size, so that a move leaves no copy on a stack.
    std::unique_ptr<std::uint8_t[]> data_;
    std::size_t size_ = 0;
};

// Wipes a secret that had to be a string, such as a message or a header, but none of its copies.
void wipe(std::string& text) noexcept;

// Wipes a string at the end of a scope.
class wiped {
  public:
    explicit wiped(std::string& text) noexcept : text_(text) {}
    ~wiped() { wipe(text_); }
    wiped(const wiped&) = delete;
    wiped& operator=(const wiped&) = delete;

  private:
    std::string& text_;
};

constexpr std::size_t key_bytes = 32;

// A key of ChaCha20-Poly1305: a secret of exactly 32 bytes.
class key {
  public:
    explicit key(std::span<const std::uint8_t, key_bytes> bytes)
        : bytes_(std::span<const std::uint8_t>(bytes)) {}

    key copy() const { return key(bytes()); }

    std::span<const std::uint8_t, key_bytes> bytes() const noexcept {
        return bytes_.bytes().first<key_bytes>();
    }

    friend bool operator==(const key&, const key&) = default;

    template <class Stream>
    friend Stream& operator<<(Stream&, const key&) = delete;

  private:
    secret_bytes bytes_;
};

}  // namespace callsign::seal

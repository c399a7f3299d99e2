#include <callsign/base/assert.hpp>
#include <callsign/seal/secret.hpp>

#include <algorithm>
#include <openssl/crypto.h>
#include <utility>

namespace callsign::seal {

secret_bytes::secret_bytes(std::size_t size)
    : data_(std::make_unique<std::uint8_t[]>(size)), size_(size) {}

secret_bytes::secret_bytes(std::span<const std::uint8_t> bytes) : secret_bytes(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), data_.get());
}

secret_bytes::secret_bytes(std::string_view bytes)
    : secret_bytes(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size())) {}

secret_bytes::~secret_bytes() {
    wipe();
}

secret_bytes::secret_bytes(secret_bytes&& other) noexcept
    : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}

secret_bytes& secret_bytes::operator=(secret_bytes&& other) noexcept {
    if (this == &other) return *this;
    wipe();
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
}

void secret_bytes::shrink(std::size_t size) noexcept {
    CALLSIGN_ASSERT(size <= size_);
    OPENSSL_cleanse(data_.get() + size, size_ - size);
    size_ = size;
}

// shrink() has wiped everything beyond `size_`.
void secret_bytes::wipe() noexcept {
    if (size_ > 0) OPENSSL_cleanse(data_.get(), size_);
}

void wipe(std::string& text) noexcept {
    text.resize(text.capacity());  // a former, longer value may have left bytes
    OPENSSL_cleanse(text.data(), text.size());
    text.clear();
}

bool operator==(const secret_bytes& a, const secret_bytes& b) noexcept {
    return a.size_ == b.size_ &&
           (a.size_ == 0 || CRYPTO_memcmp(a.data_.get(), b.data_.get(), a.size_) == 0);
}

}  // namespace callsign::seal

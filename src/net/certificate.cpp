#include <callsign/net/certificate.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace callsign::net {
namespace {

namespace ssl = boost::asio::ssl;

constexpr std::array<unsigned char, 9> http_1_1{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
// Forward secrecy and authenticated encryption; TLS 1.3 has no other ciphers.
constexpr const char* ciphers_of_tls_1_2 = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr long resumable_seconds = 3600;

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
    unsigned char* found = nullptr;
    const int outcome = SSL_select_next_proto(&found, size, http_1_1.data(), http_1_1.size(),
                                              offered, offered_size);
    *chosen = found;
    return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::shared_ptr<ssl::context> make_context() {
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    SSL_CTX* const c = context->native_handle();
    SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
    SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_cipher_list(c, ciphers_of_tls_1_2);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_timeout(c, resumable_seconds);
    SSL_CTX_set_num_tickets(c, 1);
    SSL_CTX_set_alpn_select_cb(c, choose_protocol, nullptr);
    // Otherwise OpenSSL prompts on the terminal.
    context->set_password_callback(
        [](std::size_t, ssl::context::password_purpose) { return std::string(); });
    return context;
}

// Empty: the file can be read.
std::string unreadable(const std::filesystem::path& file) {
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    if (in.is_open() && in.peek() != std::ifstream::traits_type::eof()) return {};
    return errno != 0 ? std::string("cannot be read: ") + std::strerror(errno) : "is empty";
}

std::string reason() {
    const char* const text = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return text ? text : "unknown";
}

time_point end_of(const X509* certificate) {
    std::tm end{};
    ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end);
    return time_point(std::chrono::seconds(timegm(&end)));
}

}  // namespace

std::variant<server_certificate, std::vector<certificate_fault>> load_certificate(
    const std::filesystem::path& certificate, const std::filesystem::path& key) {
    server_certificate loaded{make_context()};
    SSL_CTX* const c = loaded.context->native_handle();
    std::vector<certificate_fault> faults;
    const auto load = [&](bool of_key, const std::filesystem::path& file, auto use,
                          const char* what) {
        std::string wrong = unreadable(file);
        ERR_clear_error();
        if (wrong.empty() && use(file.c_str()) != 1) wrong = what + (": " + reason());
        if (!wrong.empty()) faults.push_back({of_key, std::move(wrong)});
    };
    load(
        false, certificate,
        [&](const char* file) { return SSL_CTX_use_certificate_chain_file(c, file); },
        "has no usable certificate (PEM)");
    // Without a loaded certificate, a key is not reported as that of another.
    load(
        true, key,
        [&](const char* file) { return SSL_CTX_use_PrivateKey_file(c, file, SSL_FILETYPE_PEM); },
        "has no private key of the certificate (PEM, without a passphrase)");
    if (!faults.empty()) return faults;
    if (SSL_CTX_check_private_key(c) != 1) {
        return std::vector{certificate_fault{true, "is not the key of the certificate"}};
    }
    loaded.expires = end_of(SSL_CTX_get0_certificate(c));
    return loaded;
}

bool is_for_host(const std::filesystem::path& certificate, const std::string& host) {
    const auto context = make_context();
    SSL_CTX* const c = context->native_handle();
    ERR_clear_error();
    const bool is_loaded = SSL_CTX_use_certificate_chain_file(c, certificate.c_str()) == 1;
    ERR_clear_error();
    if (!is_loaded) return false;
    X509* const own = SSL_CTX_get0_certificate(c);
    return X509_check_host(own, host.data(), host.size(), 0, nullptr) == 1 ||
           X509_check_ip_asc(own, host.c_str(), 0) == 1;
}

}  // namespace callsign::net

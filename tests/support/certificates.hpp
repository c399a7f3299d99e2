#pragma once
// Self-signed certificates, generated in the test so that none expires unintentionally.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdexcept>
#include <string>

namespace callsign::testing {

struct certificate_files {
    std::filesystem::path certificate;
    std::filesystem::path key;
};

// Writes NAME.pem and NAME.key to `folder`, for localhost and 127.0.0.1; valid from yesterday and
// for `until` days from now.
inline certificate_files write_certificate(const std::filesystem::path& folder,
                                           const std::string& name, int until = 30) {
    static long serial = 0;
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                  EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
    X509* const x = made.get();
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial);
    constexpr long day = 24 * 3600;
    X509_gmtime_adj(X509_getm_notBefore(x), (until < 0 ? until - 1 : -1) * day);
    X509_gmtime_adj(X509_getm_notAfter(x), until * day);
    X509_set_pubkey(x, key.get());
    const auto* const text = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, text, -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    X509_EXTENSION* const names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    X509_add_ext(x, names, -1);
    X509_EXTENSION_free(names);
    if (X509_sign(x, key.get(), EVP_sha256()) == 0) throw std::runtime_error("no certificate");

    const certificate_files files{folder / (name + ".pem"), folder / (name + ".key")};
    constexpr auto close = [](std::FILE* file) { std::fclose(file); };
    using file = std::unique_ptr<std::FILE, decltype(close)>;
    const file shown(std::fopen(files.certificate.c_str(), "w"));
    const file kept(std::fopen(files.key.c_str(), "w"));
    const bool written =
        shown && kept && PEM_write_X509(shown.get(), x) == 1 &&
        PEM_write_PrivateKey(kept.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
    if (!written) throw std::runtime_error("cannot write " + files.certificate.string());
    return files;
}

}  // namespace callsign::testing

// `callsign master-key`. Keys are written to the file and nowhere else.

#include "callsign/v1/callsign.pb.h"
#include "commands.hpp"
#include "failure.hpp"
#include "text.hpp"

#include <callsign/base/describe_file_error.hpp>
#include <callsign/seal/master_key.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <filesystem>
#include <optional>

namespace callsign::cli {
namespace {

std::string whole_path(const std::string& name) {
    return std::filesystem::absolute(name).lexically_normal().string();
}

// Requires: called at once after what set errno.
void throw_if(const std::optional<seal::master_key_error>& error, const std::string& file) {
    const int why = errno;
    if (!error) return;
    if (*error == seal::master_key_error::not_written && why != 0) {
        throw failure("cannot write " + file + ": " +
                      describe_file_error(file, why, file_use::making));
    }
    throw failure(file + ": " + std::string(seal::to_string(*error)));
}

seal::secret_bytes draw(session& s) {
    seal::secret_bytes random(seal::key_bytes);
    s.around().random(random.writable());
    return random;
}

void print_file(session& s, const std::string& file) {
    s.print_json(boost::json::serialize(boost::json::object{{"file", file}}));
}

std::string count_of(std::int64_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

void make_master_key(session& s, const std::string& name) {
    const std::string file = whole_path(name);
    const auto random = draw(s);
    throw_if(seal::make_master_key(file, random.bytes().first<seal::key_bytes>()), file);
    if (s.json()) return print_file(s, file);
    s.out() << "Master key created. Set it in callsignd's configuration, section [secrets]:\n"
            << "  master_key_file = \"" << printable(file) << "\"\n"
            << "Back up the file separately from the data.\n";
}

void rotate_master_key(session& s, const std::string& name) {
    const std::string file = whole_path(name);
    const auto random = draw(s);
    throw_if(seal::rotate_master_key(file, random.bytes().first<seal::key_bytes>()), file);
    if (s.json()) return print_file(s, file);
    s.out() << "New master key added to " << printable(file) << ", above the former key.\n"
            << "Restart callsignd, which then re-encrypts all secrets, and run\n"
            << "  callsign master-key drop-former " << printable(file) << "\n"
            << "Older backups need the former key: keep a copy of the file with both keys.\n";
}

void drop_former_keys(session& s, const std::string& name) {
    const std::string file = whole_path(name);
    const seal::master_key keys = seal::read_master_key(file);
    if (const auto* const error = std::get_if<seal::master_key_error>(&keys)) {
        throw_if(*error, file);
    }
    const auto& ring = std::get<seal::key_ring>(keys);
    if (ring.former() == 0) throw failure(file + ": contains no former master key");
    v1::ResealedSecrets done;
    session::read(s.ask(verb::post, "/v1/admin/master-key/reseal"), done);
    // A server that was not restarted still encrypts with the former key.
    if (done.fingerprint() != ring.fingerprint()) {
        throw failure("the server does not use the first key of " + file +
                      ": restart it and retry; nothing was changed");
    }
    throw_if(seal::drop_former_keys(file), file);
    if (s.json()) return s.print_json(wire::encode(wire::format::json, done));
    s.out() << count_of(done.current() + done.resealed(), "secret")
            << " encrypted with the current master key. Former keys removed from "
            << printable(file) << ".\n";
    if (done.unopened() > 0) {
        s.around().err << count_of(done.unopened(), "secret")
                       << " could not be decrypted with any key: add those devices again.\n";
    }
}

}  // namespace callsign::cli

// `callsign master-key new FILE`: needs no server. The key goes into the file and nowhere else.

#include "commands.hpp"
#include "failure.hpp"
#include "text.hpp"

#include <callsign/base/file_trouble.hpp>
#include <callsign/seal/master_key.hpp>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <filesystem>

namespace callsign::cli {

void make_master_key(session& s, const std::string& name) {
    const std::string file = std::filesystem::absolute(name).lexically_normal().string();
    seal::secret_bytes random(seal::key_bytes);
    s.around().random(random.writable());
    errno = 0;
    const auto made = seal::make_master_key(file, random.bytes().first<seal::key_bytes>());
    if (const auto* error = std::get_if<seal::master_key_error>(&made)) {
        const int why = errno;
        if (*error == seal::master_key_error::not_written && why != 0) {
            throw failure("cannot write " + file + ": " +
                          file_trouble(file, why, file_use::making));
        }
        throw failure(file + ": " + std::string(seal::to_string(*error)));
    }
    if (s.json()) return s.print_json(boost::json::serialize(boost::json::object{{"file", file}}));
    s.out() << "Devices' keys are kept under this one. In callsignd's configuration, [secrets]:\n"
            << "  master_key_file = \"" << printable(file) << "\"\n"
            << "Keep a copy of the file, apart from backups of the data.\n";
}

}  // namespace callsign::cli

#include <callsign/store/sqlite.hpp>

#include <sqlite3.h>

namespace callsign {

sqlite_release sqlite_in_use() {
    return {sqlite3_libversion(), sqlite3_libversion_number() < 3'051'003};
}

}  // namespace callsign

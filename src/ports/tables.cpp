#include <callsign/ports/tables/all.hpp>

namespace callsign {

// Instantiated once, since each costs a unit a fifth of a second to compile.
#define CALLSIGN_TABLE(row) template const table_info& info_of_table<row>();
CALLSIGN_TABLES(CALLSIGN_TABLE)
#undef CALLSIGN_TABLE

}  // namespace callsign

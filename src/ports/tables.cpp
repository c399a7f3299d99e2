#include <callsign/ports/tables/all.hpp>

namespace callsign {

// Instantiated once, since each costs a unit a fifth of a second to compile.
template const table_info& info_of_table<account>();
template const table_info& info_of_table<action_row>();
template const table_info& info_of_table<device>();
template const table_info& info_of_table<fork_row>();
template const table_info& info_of_table<instance_row>();
template const table_info& info_of_table<effect>();
template const table_info& info_of_table<contest_row>();
template const table_info& info_of_table<purge>();
template const table_info& info_of_table<remote_chain>();
template const table_info& info_of_table<kept_retry_times>();
template const table_info& info_of_table<sealed_version>();
template const table_info& info_of_table<snapshot_row>();
template const table_info& info_of_table<series>();
template const table_info& info_of_table<prefix_row>();
template const table_info& info_of_table<counter_row>();
template const table_info& info_of_table<skipped_row>();
template const table_info& info_of_table<slot>();
template const table_info& info_of_table<task_row>();
template const table_info& info_of_table<history_row>();
template const table_info& info_of_table<token_row>();
template const table_info& info_of_table<store_totals>();
template const table_info& info_of_table<version_row>();
template const table_info& info_of_table<webhook>();
template const table_info& info_of_table<delivery_row>();

}  // namespace callsign

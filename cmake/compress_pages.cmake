# Run by cpack before it builds the package: Debian requires compressed man pages and changelogs,
# without timestamps.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/man/*.[18]
     ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/*/changelog
     ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/*/changelog.Debian)
execute_process(COMMAND gzip -9 --no-name --force ${pages} COMMAND_ERROR_IS_FATAL ANY)

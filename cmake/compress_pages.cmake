# Run by cpack before it makes the package: Debian wants pages and changelogs compressed, without a
# time in them.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/man/*.[18]
     ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/*/changelog
     ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/*/changelog.Debian)
execute_process(COMMAND gzip -9 --no-name --force ${pages} COMMAND_ERROR_IS_FATAL ANY)

# Rules of cmake --install, and of the Debian package that cpack builds (scripts/package).

include(GNUInstallDirs)

# Generated in every full build. The date is SOURCE_DATE_EPOCH, if set.
string(TIMESTAMP CALLSIGN_DATE "%Y-%m-%d" UTC)
set(pages_dir ${CMAKE_BINARY_DIR}/pages)
set(pages man/callsign.1 man/callsignd.8 bash/callsign bash/callsignd zsh/_callsign zsh/_callsignd
    fish/callsign.fish fish/callsignd.fish)
list(TRANSFORM pages PREPEND ${pages_dir}/)
add_custom_command(OUTPUT ${pages} COMMAND write_pages ${pages_dir} ${CALLSIGN_DATE}
                   DEPENDS write_pages COMMENT "man pages and completions")
add_custom_target(pages ALL DEPENDS ${pages})

install(TARGETS callsignd callsign)
install(FILES ${pages_dir}/man/callsign.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages_dir}/man/callsignd.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8)
install(FILES ${pages_dir}/bash/callsign ${pages_dir}/bash/callsignd
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages_dir}/zsh/_callsign ${pages_dir}/zsh/_callsignd
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${pages_dir}/fish/callsign.fish ${pages_dir}/fish/callsignd.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES config/callsign.example.toml README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md"
        PATTERN CONTRIBUTING.md EXCLUDE PATTERN CHANGELOG.md EXCLUDE)

# Files that only the package contains. Their paths are fixed: the unit runs /usr/bin/callsignd.
set(CALLSIGN_MAINTAINER "Callsign maintainers <maintainers@callsign.invalid>" CACHE STRING
    "Maintainer of the package")
string(TIMESTAMP CALLSIGN_CHANGELOG_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(debian_dir ${CMAKE_BINARY_DIR}/debian)
configure_file(config/debian/changelog.in ${debian_dir}/changelog.Debian @ONLY)
configure_file(docs/CHANGELOG.md ${debian_dir}/changelog COPYONLY)
install(FILES config/callsign.service DESTINATION lib/systemd/system
        COMPONENT service EXCLUDE_FROM_ALL)
install(FILES config/debian/callsign.toml DESTINATION /etc/callsign
        COMPONENT service EXCLUDE_FROM_ALL)
install(FILES config/debian/copyright ${debian_dir}/changelog.Debian ${debian_dir}/changelog
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT service EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT ${CALLSIGN_MAINTAINER})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/package)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sync server that gives every task a short key such as SYN-42")
set(CPACK_PACKAGE_DESCRIPTION "Clients create tasks over HTTP, each with an idempotency key; the numbers of a
series are unique and contiguous. Taskwarrior 3 syncs with the server. The
package contains the server callsignd, with an embedded SQLite store, and the
command line program callsign for operators.")
set(CPACK_INSTALL_CMAKE_PROJECTS ${CMAKE_BINARY_DIR} callsign Unspecified /
                                 ${CMAKE_BINARY_DIR} callsign service /)
# Makes absolute paths such as /etc/callsign relative to the package's root.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
# The programs are stripped; callsign-dbgsym contains the symbols, for gdb and core dumps.
set(CPACK_DEBIAN_DEBUGINFO_PACKAGE ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/compress_pages.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, procps, tzdata")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA postinst prerm postrm conffiles)
list(TRANSFORM CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA PREPEND ${CMAKE_SOURCE_DIR}/config/debian/)
include(CPack)

# What cmake --install puts where.

include(GNUInstallDirs)

# Generated when everything is built. The date is SOURCE_DATE_EPOCH's, if that is set.
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

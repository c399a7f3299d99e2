# cmake -D from=FILE|FILE... -D to=FILE.cpp -P: writes the files as the functions of
# src/api/web/files.hpp. Texts are unchanged, except @version@ in the page, which becomes the hash
# of all other files, and NAME.iife.min.js, a script that defines NAME, which becomes the module
# NAME.js.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "|" ";" files "${from}")
find_program(GZIP gzip REQUIRED)

set(type_html "text/html; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_svg "image/svg+xml")

set(hashes "")
foreach(file ${files})
  file(SHA256 ${file} hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 version "${hashes}")
string(SUBSTRING ${version} 0 16 version)

# entry(FILE NAME VARIABLE): one file's entry of the list.
function(entry file name variable)
  file(READ ${file} text)
  file(SHA256 ${file} hash)
  string(SUBSTRING ${hash} 0 32 hash)
  execute_process(COMMAND ${GZIP} --best --no-name --stdout ${file} OUTPUT_FILE ${to}.gz COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${to}.gz packed HEX)
  file(REMOVE ${to}.gz)
  string(LENGTH "${packed}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" packed "${packed}")
  get_filename_component(kind ${name} LAST_EXT)
  string(SUBSTRING ${kind} 1 -1 kind)
  string(CONCAT line "{\"${name}\", {\"${type_${kind}}\", \"${hash}\",\n"
         "R\"web(${text})web\",\n{\"${packed}\", ${size}}}}")
  set(${variable} "${line}" PARENT_SCOPE)
endfunction()

set(assets "")
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  if(name STREQUAL index.html)
    file(READ ${file} text)
    string(REPLACE "@version@" ${version} text "${text}")
    file(WRITE ${to}.html "${text}")
    entry(${to}.html ${name} page)
    file(REMOVE ${to}.html)
  elseif(name MATCHES "^(.*)\\.iife\\.min\\.js$")
    set(global ${CMAKE_MATCH_1})
    file(READ ${file} text)
    file(WRITE ${to}.js "${text}\nexport default ${global};\n")
    entry(${to}.js ${global}.js line)
    file(REMOVE ${to}.js)
    string(APPEND assets "${line},\n")
  else()
    entry(${file} ${name} line)
    string(APPEND assets "${line},\n")
  endif()
endforeach()
file(WRITE ${to} "#include \"files.hpp\"
namespace callsign::api {
static constexpr web_file page = ${page};
static constexpr web_file assets[] = {
${assets}};
const web_file& web_page() noexcept { return page; }
std::span<const web_file> web_assets() noexcept { return assets; }
std::string_view web_version() noexcept { return \"${version}\"; }
}
")

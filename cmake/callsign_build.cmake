# How rooms and programs are built. Functions, so that the root file can be a picture.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(THREADS_PREFER_PTHREAD_FLAG ON)

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS url)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(Protobuf REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(date REQUIRED)

find_program(CCACHE ccache)
if(CCACHE)
  # What ccache wants to be told before it caches what is compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# GCC collects its garbage later: a tenth less time to compile, for a fifth more memory.
if(CALLSIGN_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-expand=100 --param=ggc-min-heapsize=500000)
endif()

if(CALLSIGN_SANITIZE)
  add_compile_options(-fsanitize=${CALLSIGN_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${CALLSIGN_SANITIZE})
endif()
if(CALLSIGN_SANITIZE MATCHES undefined)
  # A third of the time that all takes to compile, for what AddressSanitizer finds too where memory is touched by it.
  add_compile_options(-fno-sanitize=vptr,null,alignment,object-size)
endif()
if(CALLSIGN_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Its checks are calls instead of code in place: a seventh less time to compile, and the tests run as fast.
  add_compile_options(--param=asan-instrumentation-with-call-threshold=0)
endif()
if(CALLSIGN_SANITIZE MATCHES thread)
  # Under this macro protobuf's headers give maps two members more than Debian's library has; the
  # standard library's own use of it is kept.
  add_compile_options(-U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1)
endif()

# Libraries' own assertions stop a developer, not a server: what strangers send must not meet one that
# ends the process. (Ours are CALLSIGN_ASSERT, and stay.) One setting for all that is built, since headers
# are shared.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  add_compile_definitions(NDEBUG)
endif()

# What every target of ours is built with. Third-party headers are system headers: no warnings there.
add_library(callsign_options INTERFACE)
target_compile_options(callsign_options INTERFACE -Wall -Wextra -Wpedantic -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(callsign_options INTERFACE -Wshadow=local)
  # GCC 12 takes a coroutine frame's own operator delete for a mismatch; it and GCC 14 see bytes out of bounds where
  # strings are put together.
  target_compile_options(callsign_options INTERFACE -Wno-mismatched-new-delete -Wno-array-bounds -Wno-stringop-overflow)
  if(CALLSIGN_SANITIZE)
    # GCC 12 sees uninitialized bytes in variants once a sanitizer has rewritten the code; release has the check. Its
    # ThreadSanitizer does not model atomic_thread_fence, which Asio uses, and says so as a warning.
    target_compile_options(callsign_options INTERFACE -Wno-maybe-uninitialized -Wno-tsan)
  endif()
endif()
target_compile_definitions(callsign_options INTERFACE CALLSIGN_VERSION="${PROJECT_VERSION}")
target_link_libraries(callsign_options INTERFACE Threads::Threads)

# callsign_room(NAME [PRECOMPILED] [FOLDER dir] [DOORS headers...] DEPS targets...): a static library of the room's folder,
# or of headers alone if that has no sources; built if a program needs it. PRECOMPILED: one that uses Beast, whose headers
# it has from callsign_pch.
function(callsign_room name)
  cmake_parse_arguments(ARG "PRECOMPILED" "FOLDER" "DEPS;DOORS" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER src/${name})
  endif()
  if(NOT ARG_DOORS)
    set(ARG_DOORS ${name})
  endif()
  string(REPLACE ";" "," doors "${ARG_DOORS}")
  string(REPLACE ";" "," deps "${ARG_DEPS}")
  set_property(GLOBAL APPEND PROPERTY CALLSIGN_ROOMS "${name}|${ARG_FOLDER}|${doors}|${deps}")

  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${ARG_FOLDER}/*.cpp
                                      ${CMAKE_SOURCE_DIR}/${ARG_FOLDER}/*/*.cpp)
  if(NOT sources)
    add_library(callsign_${name} INTERFACE)
    target_include_directories(callsign_${name} INTERFACE ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(callsign_${name} INTERFACE ${ARG_DEPS})
    return()
  endif()
  add_library(callsign_${name} STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(callsign_${name} PUBLIC ${CMAKE_SOURCE_DIR}/include
                                              PRIVATE ${CMAKE_SOURCE_DIR}/${ARG_FOLDER})
  target_link_libraries(callsign_${name} PUBLIC ${ARG_DEPS} PRIVATE callsign_options)
  callsign_unity(callsign_${name})
  if(ARG_PRECOMPILED)
    callsign_precompiled(callsign_${name})
  endif()
endfunction()

# Up to 66 sources are compiled as one, in batches of one size: those of the API's tests take 1.7 GB (scripts/jobs). Fewer
# and larger ones are what makes building fast: a test that uses the whole server takes 15 s alone, 3 in a batch of 22, 2 of 44.
function(callsign_unity target)
  if(CALLSIGN_UNITY)
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    math(EXPR batches "(${count} + 65) / 66")
    math(EXPR size "(${count} + ${batches} - 1) / ${batches}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    # A source that is included looks like a header to GCC, whose unnamed namespaces it warns of.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

function(callsign_precompiled target)
  target_link_libraries(${target} PRIVATE callsign_beast)  # its definitions, as the headers were parsed with
  target_precompile_headers(${target} REUSE_FROM callsign_pch)
endfunction()

# The lines of the rooms, for the test that holds the sources against them.
function(callsign_write_rooms)
  get_property(rooms GLOBAL PROPERTY CALLSIGN_ROOMS)
  list(JOIN rooms "\n" text)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/rooms.txt CONTENT "${text}\n" @ONLY)
endfunction()

# callsign_program(NAME source [more sources...] DEPS targets...)
function(callsign_program name source)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${source})
    return()
  endif()
  add_executable(${name} ${source} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} callsign_options)
  callsign_precompiled(${name})
endfunction()

# With mimalloc a server creates a tenth more than with glibc's malloc (bench/README.md). A sanitizer brings its own.
function(callsign_allocator program)
  if(CALLSIGN_SANITIZE)
    return()
  endif()
  find_library(MIMALLOC mimalloc REQUIRED)
  # Nothing names a symbol of it: it stands before the standard library's.
  target_link_libraries(${program} PRIVATE -Wl,--push-state,--no-as-needed ${MIMALLOC} -Wl,--pop-state)
endfunction()

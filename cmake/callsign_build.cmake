# Functions that build modules and programs, so that the root CMakeLists.txt shows only the
# structure.

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
find_package(PkgConfig REQUIRED)
pkg_check_modules(libpq REQUIRED IMPORTED_TARGET libpq)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(Protobuf REQUIRED)
find_package(prometheus-cpp REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(date REQUIRED)
find_package(yaml-cpp REQUIRED)
# The name before 0.8 (Debian 12).
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # ccache needs these settings to cache compilations with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# GCC collects garbage later: a tenth less compile time, for a fifth more memory.
if(CALLSIGN_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-expand=100 --param=ggc-min-heapsize=500000)
endif()

if(CALLSIGN_SANITIZE)
  add_compile_options(-fsanitize=${CALLSIGN_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${CALLSIGN_SANITIZE})
endif()
if(CALLSIGN_SANITIZE MATCHES undefined)
  # These checks take a third of the whole compile time; AddressSanitizer finds the same errors if
  # they access memory.
  add_compile_options(-fno-sanitize=vptr,null,alignment,object-size)
endif()
if(CALLSIGN_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Checks are calls instead of inline code: a seventh less compile time at the same speed of the
  # tests.
  add_compile_options(--param=asan-instrumentation-with-call-threshold=0)
endif()
if(CALLSIGN_SANITIZE MATCHES thread)
  # With this macro, protobuf's headers declare maps with two more members than Debian's library;
  # the standard library's own use of it is kept.
  add_compile_options(-U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1)
endif()

# Release builds disable the assertions of libraries: no client's input may end a server by one.
# (CALLSIGN_ASSERT stays enabled.) The setting is the same for all targets, since headers are
# shared.
if(CMAKE_BUILD_TYPE STREQUAL Release)
  add_compile_definitions(NDEBUG)
endif()

# Options of all own targets. Third-party headers are system headers, without warnings.
add_library(callsign_options INTERFACE)
target_compile_options(callsign_options INTERFACE -Wall -Wextra -Wpedantic -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(callsign_options INTERFACE -Wshadow=local)
  # GCC 12 mistakes a coroutine frame's own operator delete for a mismatch; GCC 12 and 14 report
  # out-of-bounds accesses in string concatenations.
  target_compile_options(callsign_options INTERFACE -Wno-mismatched-new-delete -Wno-array-bounds -Wno-stringop-overflow)
  if(CALLSIGN_SANITIZE)
    # GCC 12 reports uninitialised bytes in variants in code instrumented by a sanitizer; the
    # release build has this check. Its ThreadSanitizer warns that it does not model
    # atomic_thread_fence, which Asio uses.
    target_compile_options(callsign_options INTERFACE -Wno-maybe-uninitialized -Wno-tsan)
  endif()
endif()
target_compile_definitions(callsign_options INTERFACE CALLSIGN_VERSION="${PROJECT_VERSION}")
target_link_libraries(callsign_options INTERFACE Threads::Threads)

# callsign_module(NAME [PRECOMPILED] [FOLDER dir] [HEADERS headers...] [LAYERS folders...] DEPS
# targets...): a static library of the module's folder, or an interface library if the folder has no
# sources; built only if a program needs it. PRECOMPILED: the module uses Beast, whose headers come
# from callsign_pch. LAYERS: the folders inside the module, those of one layer in one argument, the
# lowest first; a folder includes only lower ones.
function(callsign_module name)
  cmake_parse_arguments(ARG "PRECOMPILED" "FOLDER" "DEPS;HEADERS;LAYERS" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER src/${name})
  endif()
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS ${name})
  endif()
  string(REPLACE ";" "," headers "${ARG_HEADERS}")
  string(REPLACE ";" "," deps "${ARG_DEPS}")
  string(REPLACE ";" "," layers "${ARG_LAYERS}")
  set_property(GLOBAL APPEND PROPERTY CALLSIGN_MODULES "${name}|${ARG_FOLDER}|${headers}|${deps}|${layers}")

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

# Compiles up to 66 sources as one, in batches of equal size; those of the API's tests take 1.7 GB
# (scripts/jobs). Large batches build fastest: a test that uses the whole server takes 15 s alone, 3
# s in a batch of 22, 2 s in a batch of 44.
function(callsign_unity target)
  if(CALLSIGN_UNITY)
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    math(EXPR batches "(${count} + 65) / 66")
    math(EXPR size "(${count} + ${batches} - 1) / ${batches}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    # GCC takes an included source for a header, and warns of its unnamed namespaces.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

function(callsign_precompiled target)
  target_link_libraries(${target} PRIVATE callsign_beast)  # its definitions must match the precompiled headers'
  target_precompile_headers(${target} REUSE_FROM callsign_pch)
endfunction()

# Writes the declarations of the modules to a file, for tests/dependencies.
function(callsign_write_modules)
  get_property(modules GLOBAL PROPERTY CALLSIGN_MODULES)
  list(JOIN modules "\n" text)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/modules.txt CONTENT "${text}\n" @ONLY)
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

# With mimalloc a server creates a tenth more tasks per second than with glibc's malloc
# (bench/README.md). Sanitizers have their own allocator.
function(callsign_allocator program)
  if(CALLSIGN_SANITIZE)
    return()
  endif()
  find_library(MIMALLOC mimalloc REQUIRED)
  # Nothing refers to its symbols: it must be linked before the standard library.
  target_link_libraries(${program} PRIVATE -Wl,--push-state,--no-as-needed ${MIMALLOC} -Wl,--pop-state)
endfunction()

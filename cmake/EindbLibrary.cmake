# eindb_library(NAME [LOOPS] [ROOMS subfolder...] DEPENDS folder... LINK target...)
#
# One static library per folder: every .cpp of the folder itself and of its ROOMS. LOOPS: it spends its time in loops over
# elements, which -O3 makes faster; the others take -O2, and are compiled sooner. DEPENDS are folders of eindb, in the
# order of the architecture's table; LINK are libraries from outside, visible to this folder alone.
add_library(eindb_options INTERFACE)
target_include_directories(eindb_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(eindb_options INTERFACE -Wall -Wextra $<$<BOOL:${EINDB_WERROR}>:-Werror> $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow> -Wnon-virtual-dtor -Woverloaded-virtual
                                               -Wold-style-cast -Wcast-qual -Wundef)
# GCC 12 sees overlapping copies in "text" + std::string, where there are none (its bug 105651).
target_compile_options(eindb_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(EINDB_SANITIZE)
  target_compile_options(eindb_options INTERFACE -fsanitize=${EINDB_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  # With sanitizers GCC 12 takes std::function inside std::regex for uninitialised.
  target_compile_options(eindb_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(eindb_options INTERFACE -fsanitize=${EINDB_SANITIZE})
endif()

if(EINDB_FUZZ)
  # AddressSanitizer stops at null and behind the end of an object as well; the preset asan-ubsan has all checks. Without
  # these three clang takes an eighth less time.
  target_compile_options(eindb_options INTERFACE -fsanitize=fuzzer-no-link -fno-sanitize=null,object-size,vptr)
endif()

# Several sources at a time, which reads the headers once for all of them: a third of the time from cold. So a name in an
# anonymous namespace is unique in its library, or folder of tests. -DEINDB_UNITY=OFF compiles each source by itself, as script/lint does.
option(EINDB_UNITY "Compile the libraries' sources in groups" ON)
set(EINDB_UNITY_SOURCES 8)  # in a folder of tests, and in a program
set(EINDB_UNITY_SOURCES_OF_LIBRARY 16 CACHE STRING "Sources of a library in a group: more compile faster from cold, fewer after a change")
# In a group GCC takes the main file's classes for a header's, which must not have members of local types.
target_compile_options(eindb_options INTERFACE
  $<$<AND:$<BOOL:${EINDB_UNITY}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)

# eindb_unite(TARGET [SOURCES]): compiles the target's sources in groups, of as many as SOURCES says.
function(eindb_unite TARGET)
  set(SOURCES ${EINDB_UNITY_SOURCES})
  if(ARGC GREATER 1)
    set(SOURCES ${ARGV1})
  endif()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ${EINDB_UNITY} UNITY_BUILD_BATCH_SIZE ${SOURCES})
endfunction()

# eindb_without_loops(TARGET): see LOOPS.
function(eindb_without_loops TARGET)
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-O2>)
endfunction()

function(eindb_library NAME)
  cmake_parse_arguments(ARG "LOOPS" "" "ROOMS;DEPENDS;LINK" ${ARGN})
  set(PATTERNS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(ROOM ${ARG_ROOMS})
    list(APPEND PATTERNS ${CMAKE_CURRENT_SOURCE_DIR}/${ROOM}/*.cpp)
  endforeach()
  file(GLOB SOURCES CONFIGURE_DEPENDS ${PATTERNS})
  add_library(eindb_${NAME} STATIC ${SOURCES})
  eindb_unite(eindb_${NAME} ${EINDB_UNITY_SOURCES_OF_LIBRARY})
  if(NOT ARG_LOOPS)
    eindb_without_loops(eindb_${NAME})
  endif()
  target_link_libraries(eindb_${NAME} PUBLIC eindb_options)
  foreach(FOLDER ${ARG_DEPENDS})
    target_link_libraries(eindb_${NAME} PUBLIC eindb_${FOLDER})
  endforeach()
  target_link_libraries(eindb_${NAME} PRIVATE ${ARG_LINK})
endfunction()

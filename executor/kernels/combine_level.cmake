# Links OBJECTS into COMBINED with ENTRY as its only global symbol, and checks that it is.
# Called by CMakeLists.txt as a script with LINKER, OBJCOPY, NM, OBJECTS, COMBINED and ENTRY.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE STATUS OUTPUT_VARIABLE OUTPUT ERROR_VARIABLE OUTPUT)
  if(NOT STATUS EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed: ${OUTPUT}")
  endif()
  set(OUTPUT "${OUTPUT}" PARENT_SCOPE)
endfunction()

# Template instances sit in groups that a later link would merge by name: --force-group-allocation dissolves them.
run(${LINKER} -r --force-group-allocation -o ${COMBINED}.partial ${OBJECTS})
run(${OBJCOPY} --keep-global-symbol=${ENTRY} ${COMBINED}.partial ${COMBINED}.checked)
file(REMOVE ${COMBINED}.partial)

run(${NM} --extern-only --defined-only --format=posix ${COMBINED}.checked)
string(REGEX MATCHALL "[^\n]+" SYMBOLS "${OUTPUT}")
list(LENGTH SYMBOLS COUNT)
if(NOT COUNT EQUAL 1 OR NOT SYMBOLS MATCHES "^${ENTRY} T ")
  message(FATAL_ERROR "${COMBINED} must define ${ENTRY} alone, but defines: ${SYMBOLS}")
endif()
file(RENAME ${COMBINED}.checked ${COMBINED})

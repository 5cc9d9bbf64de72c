# Message definitions of ROS as C++ headers, in sinew's own build and for projects that found sinew.
#
#   sinew_generate_messages(TARGET FILES file... [PACKAGE name] [DEPENDENCIES target...])
#
# TARGET becomes an INTERFACE library: who links it has the headers of the definitions, as <PACKAGE/msg/name.hpp>, and they are there before it is compiled.
# FILES are PACKAGE/{msg,srv,action}/Name.{msg,srv,action}, of any number of packages; PACKAGE is for those whose folder has another name.
# They may refer to one another, to the standard packages, and to those of DEPENDENCIES, which are targets of this function.
#
# When a definition changes, what includes its header is compiled again, and nothing else. Headers of definitions that are gone are removed.

# sinew_header_of_message(VARIABLE FILE [PACKAGE]): the header of a definition, as it is included: PACKAGE/msg/name.hpp. Nothing where FILE is not called as those are.
function(sinew_header_of_message variable file)
  set(${variable} "" PARENT_SCOPE)
  if(file MATCHES "([^/]+)/(msg|srv|action)/([A-Za-z0-9_]+)\\.(msg|srv|action)$")
    set(package ${CMAKE_MATCH_1} ${ARGN})
    list(GET package -1 package)
    set(folder ${CMAKE_MATCH_2})
    string(REGEX REPLACE "(.)([A-Z][a-z]+)" "\\1_\\2" name ${CMAKE_MATCH_3})
    string(REGEX REPLACE "([a-z0-9])([A-Z])" "\\1_\\2" name ${name})
    string(TOLOWER ${name} name)
    set(${variable} ${package}/${folder}/${name}.hpp PARENT_SCOPE)
  endif()
endfunction()

function(sinew_generate_messages target)
  cmake_parse_arguments(ARG "" "PACKAGE" "FILES;DEPENDENCIES" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_FILES)
    set(usage "sinew_generate_messages(${target} FILES file... [PACKAGE name] [DEPENDENCIES target...])")
    message(FATAL_ERROR "${usage}: no files, or something else than these: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
  get_property(msggen GLOBAL PROPERTY SINEW_MSGGEN)
  get_property(msggen_sources GLOBAL PROPERTY SINEW_MSGGEN_SOURCES)
  # A folder in which nobody else has anything, as what was not made here is removed.
  set(out ${CMAKE_CURRENT_BINARY_DIR}/sinew_messages/${target})

  set(files)
  set(headers)
  set(packages)
  foreach(file ${ARG_FILES})
    get_filename_component(file ${file} ABSOLUTE)
    sinew_header_of_message(header ${file} ${ARG_PACKAGE})
    if(NOT header OR NOT EXISTS ${file})
      message(FATAL_ERROR "sinew_generate_messages(${target}): no such file, or not PACKAGE/msg/Name.msg (or srv, or action): ${file}")
    endif()
    get_filename_component(folder ${file}/../.. ABSOLUTE)
    list(APPEND files ${file})
    list(APPEND headers ${out}/${header})
    string(REGEX REPLACE "/.*" "" package ${header})
    list(APPEND packages ${package}=${folder})
  endforeach()

  set(search)
  set(referred)
  foreach(dependency ${ARG_DEPENDENCIES})
    get_target_property(of_dependency ${dependency} INTERFACE_SINEW_PACKAGES)
    get_target_property(files_of_dependency ${dependency} INTERFACE_SINEW_DEFINITIONS)
    if(NOT of_dependency)
      message(FATAL_ERROR "sinew_generate_messages(${target}): of its DEPENDENCIES ${dependency} was not made by this function")
    endif()
    list(APPEND search ${of_dependency})
    list(APPEND referred ${files_of_dependency})
  endforeach()
  list(REMOVE_DUPLICATES packages)
  set(options ${search})
  list(REMOVE_DUPLICATES options)
  list(TRANSFORM options PREPEND "-I")
  if(ARG_PACKAGE)
    list(APPEND options --package ${ARG_PACKAGE})
  endif()

  file(GLOB_RECURSE there ${out}/*.hpp)
  list(REMOVE_ITEM there ${headers})
  if(there)
    file(REMOVE ${there})
  endif()
  # What is listed there, so that a file that is taken away or added is a change, too.
  string(REPLACE ";" "\n" lines "${files}")
  file(GENERATE OUTPUT ${out}.txt CONTENT "${lines}\n")
  # A stamp, as headers that do not change stay older than their definitions.
  add_custom_command(OUTPUT ${out}.stamp BYPRODUCTS ${headers}
    COMMAND ${Python3_EXECUTABLE} ${msggen} cpp ${options} ${out} @${out}.txt
    COMMAND ${CMAKE_COMMAND} -E touch ${out}.stamp
    DEPENDS ${files} ${referred} ${out}.txt ${msggen} ${msggen_sources}
    COMMENT "Generating the messages of ${target}" VERBATIM)
  add_custom_target(${target}_headers ALL DEPENDS ${out}.stamp)

  add_library(${target} INTERFACE)
  add_dependencies(${target} ${target}_headers)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${out}>)
  if(TARGET sinew::messages)
    list(APPEND ARG_DEPENDENCIES sinew::messages)
  endif()
  target_link_libraries(${target} INTERFACE ${ARG_DEPENDENCIES})
  set_target_properties(${target} PROPERTIES
    INTERFACE_SINEW_PACKAGES "${packages};${search}" INTERFACE_SINEW_DEFINITIONS "${files};${out}.txt;${referred}")
endfunction()

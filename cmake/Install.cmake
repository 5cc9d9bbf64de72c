# What `cmake --install` puts into a prefix: the installed headers, libsinew.so, the replacement of operator new, the manager, the headers of the
# standard messages and what makes others (msggen), and the files by which CMake and pkg-config find them. All of it is relocatable: no file names the prefix.
#
# The replacement of operator new is an object linked into whatever uses sinew, not a part of libsinew.so: only so does it come before
# the C++ library's own in every link order, with a static C++ library, and under the sanitizers.
include(CMakePackageConfigHelpers)

set(cmake_files ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)

set_target_properties(sinew PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(sinew INTERFACE cxx_std_20)
target_include_directories(sinew INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS sinew EXPORT sinewTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS sinewd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES $<TARGET_OBJECTS:sinew_operator_new> DESTINATION ${CMAKE_INSTALL_LIBDIR}/sinew RENAME operator_new.o)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

install(FILES ${PROJECT_SOURCE_DIR}/bindings/c/sinew.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(messages ${CMAKE_INSTALL_INCLUDEDIR}/sinew/messages)
set_target_properties(sinew_messages PROPERTIES EXPORT_NAME messages)
target_include_directories(sinew_messages INTERFACE $<INSTALL_INTERFACE:${messages}>)
install(TARGETS sinew_messages EXPORT sinewTargets)
install(DIRECTORY ${PROJECT_BINARY_DIR}/msggen/sinew_messages/sinew_messages/ DESTINATION ${messages} FILES_MATCHING PATTERN "*.hpp")
set(share_of_msggen ${CMAKE_INSTALL_DATADIR}/sinew/msggen)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/msggen/sinew-msggen DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/msggen/sinew_msggen DESTINATION ${share_of_msggen} FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/msggen/definitions DESTINATION ${share_of_msggen})

install(EXPORT sinewTargets NAMESPACE sinew:: DESTINATION ${cmake_files})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sinewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sinewConfig.cmake.in ${PROJECT_BINARY_DIR}/sinewConfig.cmake
                              INSTALL_DESTINATION ${cmake_files} PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR share_of_msggen)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/SinewMessages.cmake DESTINATION ${cmake_files})
install(FILES ${PROJECT_BINARY_DIR}/sinewConfig.cmake ${PROJECT_BINARY_DIR}/sinewConfigVersion.cmake DESTINATION ${cmake_files})

# From the folder of sinew.pc back to the prefix, so that a moved prefix still describes itself.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix ${to_prefix})
foreach(language sinew sinew-c)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${language}.pc.in ${PROJECT_BINARY_DIR}/${language}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${language}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

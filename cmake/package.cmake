# What an installed Tilescope is made of, and the Debian package of it (./run package; cpack -G DEB):
#
#   bin/tilescope                                      lectures, recordings, headers and fonts are part of it
#   lib/ARCHITECTURE/tilescope/libtilescope_cudart.so  which CUDA programs are linked with when they are recorded
#   lib/ARCHITECTURE/tilescope/libtilescope_capture.so which the driver loads into programs that are captured
#   lib/ARCHITECTURE/tilescope/libfmt.so.N             of this machine; see below
#   share/tilescope/capture_launch.py                  writes down launches of a Python program
#   share/applications, icons, mime                    the window's entry, and .tsc as a type of file
#   share/man, bash-completion, zsh, fish              made by the program (app/cli/manual.cpp, complete.cpp)
#   share/doc/tilescope                                the pages of docs/, and whose code is part of the program
#
# The program finds the libraries from where it lies itself, so that all of it may be moved.
include(GNUInstallDirs)
set(library_dir ${CMAKE_INSTALL_LIBDIR})
if(CMAKE_LIBRARY_ARCHITECTURE AND library_dir STREQUAL lib)  # as Debian's packages have it
  set(library_dir lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
file(RELATIVE_PATH installed_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_PREFIX}/${library_dir}/tilescope)
target_compile_definitions(tilescope_program PRIVATE TILESCOPE_INSTALLED_LIBRARIES="${installed_libraries}")

set(package_dir ${PROJECT_BINARY_DIR}/package)
set(package_sources ${PROJECT_SOURCE_DIR}/assets/package)
file(MAKE_DIRECTORY ${package_dir})

find_program(TILESCOPE_GZIP gzip REQUIRED)
add_custom_command(
  OUTPUT ${package_dir}/tilescope.1.gz
  COMMAND $<TARGET_FILE:tilescope> manual > ${package_dir}/tilescope.1
  COMMAND ${TILESCOPE_GZIP} -9nf ${package_dir}/tilescope.1
  DEPENDS tilescope
  COMMENT "Making the manual page" VERBATIM)
add_custom_target(package_files ALL DEPENDS ${package_dir}/tilescope.1.gz)

# Whose code and type comes with the program, in the words of the packages that it came in.
set(built_in libcli11-dev libfmt-dev nlohmann-json3-dev python3-glad)
if(TARGET tilescope_app)
  list(APPEND built_in libimgui-dev libstb-dev fonts-inter fonts-jetbrains-mono)
endif()
file(READ ${PROJECT_SOURCE_DIR}/LICENSE copyright)
foreach(package IN LISTS built_in)
  set(theirs /usr/share/doc/${package}/copyright)
  if(EXISTS ${theirs})
    file(READ ${theirs} words)
    string(APPEND copyright
      "\n\n==== Parts of the package ${package} come with tilescope. It says of itself:\n\n${words}")
  endif()
endforeach()
file(WRITE ${package_dir}/copyright "${copyright}")
execute_process(COMMAND ${TILESCOPE_GZIP} -9nc ${package_sources}/changelog OUTPUT_FILE ${package_dir}/changelog.Debian.gz)

install(TARGETS tilescope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS tilescope_cudart tilescope_capture LIBRARY DESTINATION ${library_dir}/tilescope)
# Of the libraries that are needed only fmt has another name in every release of Debian (libfmt9 in 12, libfmt10 in 13):
# it comes along, where only the program and its library look for it, so that a package serves later releases too.
get_target_property(fmt_type fmt::fmt TYPE)
if(fmt_type STREQUAL SHARED_LIBRARY)
  install(FILES $<TARGET_FILE:fmt::fmt> DESTINATION ${library_dir}/tilescope
          RENAME $<TARGET_SONAME_FILE_NAME:fmt::fmt>)
  set_target_properties(tilescope PROPERTIES INSTALL_RPATH "$ORIGIN/${installed_libraries}")
  set_target_properties(tilescope_cudart tilescope_capture PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/assets/capture_launch.py DESTINATION ${CMAKE_INSTALL_DATADIR}/tilescope)
install(FILES ${package_dir}/tilescope.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${package_sources}/tilescope.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tilescope)
install(FILES ${package_sources}/tilescope.zsh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _tilescope)
install(FILES ${package_sources}/tilescope.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
if(TARGET tilescope_app)
  install(FILES ${package_sources}/tilescope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
  install(FILES ${package_sources}/tilescope.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
  install(FILES ${package_sources}/tilescope.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
  install(FILES ${package_sources}/tilescope.svg
    DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/mimetypes
    RENAME application-x-tilescope-recording.svg)
endif()
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
install(FILES ${package_dir}/copyright ${package_dir}/changelog.Debian.gz ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Only what the package needs is built for it, by ./run package.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
# Who makes the package says so as Debian's tools have it; the other address takes no mail.
set(CPACK_PACKAGE_CONTACT "The Tilescope authors <tilescope@users.noreply.example.org>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "see what a GPU's threads do to memory")
set(CPACK_PACKAGE_DESCRIPTION
"Tilescope runs a CUDA program, with or without a GPU, records which thread
touched which element, when and in which phase, and lets you walk through
that recording: forwards, backwards, one warp request at a time. Its first
subject is tiled matrix multiplication; lessons come with it.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# Versions of libraries: those of this release or newer ones.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "clang, libegl1, libgl1, libgl1-mesa-dri, libthrust-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ffmpeg, xclip | wl-clipboard")
set(CPACK_DEBIAN_PACKAGE_RELEASE "")
if(EXISTS /etc/os-release)  # "1~debian12", "1~ubuntu24.04"
  file(STRINGS /etc/os-release release REGEX "^(ID|VERSION_ID)=")
  list(SORT release)
  string(REGEX REPLACE "(VERSION_ID|ID)=|[\";]" "" release "${release}")
  set(CPACK_DEBIAN_PACKAGE_RELEASE "1~${release}")
endif()
include(CPack)

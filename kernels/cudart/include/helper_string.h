// For programs that ask for cuda-samples' header of this name and do not bring it: reading the command line,
// -name=value with one dash or two.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, bytes, from) strcpy(to, from)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(file) (file == NULL)
#define SSCANF sscanf
#define SPRINTF sprintf

inline int stringRemoveDelimiter(char delimiter, const char* text) {
    int at = 0;
    while (text[at] == delimiter) ++at;
    return at >= (int)strlen(text) - 1 ? 0 : at;
}

// Behind "name" or "name=" of an argument that is that; null for another.
inline const char* tilescope_value_of(const char* argument, const char* name) {
    const char* at = argument;
    while (*at == '-') ++at;
    const size_t length = strlen(name);
    if (at == argument || strncasecmp(at, name, length) != 0) return NULL;
    at += length;
    return *at == '=' ? at + 1 : *at == '\0' ? at : NULL;
}
inline const char* tilescope_find_value(int argc, const char** argv, const char* name) {
    for (int at = 1; at < argc; ++at)
        if (const char* value = tilescope_value_of(argv[at], name)) return value;
    return NULL;
}
inline bool checkCmdLineFlag(const int argc, const char** argv, const char* name) {
    return tilescope_find_value(argc, argv, name) != NULL;
}
inline int getCmdLineArgumentInt(const int argc, const char** argv, const char* name) {
    const char* value = tilescope_find_value(argc, argv, name);
    return value != NULL ? atoi(value) : 0;
}
inline float getCmdLineArgumentFloat(const int argc, const char** argv, const char* name) {
    const char* value = tilescope_find_value(argc, argv, name);
    return value != NULL ? (float)atof(value) : 0.0f;
}
template <class T>
inline bool getCmdLineArgumentValue(const int argc, const char** argv, const char* name, T* out) {
    const char* value = tilescope_find_value(argc, argv, name);
    if (value != NULL) *out = (T)atof(value);
    return value != NULL;
}
inline bool getCmdLineArgumentString(const int argc, const char** argv, const char* name, char** out) {
    const char* value = tilescope_find_value(argc, argv, name);
    *out = value != NULL ? (char*)value : NULL;
    return value != NULL;
}
inline int getFileExtension(char* name, char** extension) {
    char* const dot = strrchr(name, '.');
    *extension = dot != NULL ? dot + 1 : NULL;
    return dot != NULL ? (int)(dot + 1 - name) : 0;
}

// A file of that name here, in a folder data, or beside the program; null for nowhere. The text is the caller's.
inline char* sdkFindFilePath(const char* name, const char* program) {
    const char* folders[] = {"", "./data/", "../data/", "../../data/", "../../../data/", "../../../../Common/data/"};
    for (int beside = 0; beside < (program != NULL ? 2 : 1); ++beside) {
        const char* slash = beside ? strrchr(program, '/') : NULL;
        const size_t length = slash != NULL ? (size_t)(slash - program) + 1 : 0;
        for (const char* folder : folders) {
            char* const path = (char*)malloc(length + strlen(folder) + strlen(name) + 1);
            if (length > 0) memcpy(path, program, length);
            strcpy(path + length, folder);
            strcat(path, name);
            if (FILE* file = fopen(path, "rb")) {
                fclose(file);
                return path;
            }
            free(path);
        }
    }
    return NULL;
}

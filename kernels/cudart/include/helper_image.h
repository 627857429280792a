// For programs that ask for cuda-samples' header of this name and do not bring it: PGM and PPM pictures, and the
// comparison of results.
//
// Source: Netpbm, "PGM Format", "PPM Format".
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fstream>
#include <vector>

#include "helper_string.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

// Samples of one byte, `channels` a pixel, in memory of malloc's unless *data is there. P5: one, P6: three.
inline bool __loadPPM(const char* file, unsigned char** data, unsigned int* w, unsigned int* h, unsigned int* channels) {
    FILE* in = fopen(file, "rb");
    if (in == NULL) return false;
    char kind[3] = "";
    unsigned int size[3] = {0, 0, 0};
    bool good = fscanf(in, "%2s", kind) == 1 && (strcmp(kind, "P5") == 0 || strcmp(kind, "P6") == 0);
    for (int at = 0; good && at < 3;) {
        int c = fgetc(in);
        if (c == '#') {
            while (c != '\n' && c != EOF) c = fgetc(in);
        } else if (c >= '0' && c <= '9') {
            ungetc(c, in);
            good = fscanf(in, "%u", &size[at++]) == 1;
        } else {
            good = c != EOF;
        }
    }
    good = good && fgetc(in) != EOF && size[0] > 0 && size[1] > 0 && size[0] < 65536 && size[1] < 65536;
    *channels = kind[1] == '5' ? 1 : 3;
    const size_t bytes = (size_t)size[0] * size[1] * *channels;
    if (good && *data == NULL) *data = (unsigned char*)malloc(bytes);
    good = good && *data != NULL && fread(*data, 1, bytes, in) == bytes;
    *w = size[0];
    *h = size[1];
    fclose(in);
    return good;
}
inline bool __savePPM(const char* file, const unsigned char* data, unsigned int w, unsigned int h, unsigned int channels) {
    FILE* out = fopen(file, "wb");
    if (out == NULL) return false;
    fprintf(out, "P%d\n%u\n%u\n255\n", channels == 1 ? 5 : 6, w, h);
    const size_t bytes = (size_t)w * h * channels;
    const bool good = fwrite(data, 1, bytes, out) == bytes;
    return fclose(out) == 0 && good;
}

// One channel. Numbers of floating point go from 0 to 1.
template <class T>
inline T tilescope_from_byte(unsigned char value) {
    return (T)value;
}
template <>
inline float tilescope_from_byte<float>(unsigned char value) {
    return (float)value / 255.0f;
}
template <class T>
inline unsigned char tilescope_to_byte(T value) {
    return (unsigned char)value;
}
template <>
inline unsigned char tilescope_to_byte<float>(float value) {
    return (unsigned char)(value * 255.0f);
}
template <class T>
inline bool sdkLoadPGM(const char* file, T** data, unsigned int* w, unsigned int* h) {
    unsigned char* bytes = NULL;
    unsigned int channels = 0;
    if (!__loadPPM(file, &bytes, w, h, &channels)) return false;
    const size_t count = (size_t)*w * *h * channels;
    if (*data == NULL) *data = (T*)malloc(count * sizeof(T));
    for (size_t at = 0; at < count; ++at) (*data)[at] = tilescope_from_byte<T>(bytes[at]);
    free(bytes);
    return true;
}
template <class T>
inline bool sdkSavePGM(const char* file, T* data, unsigned int w, unsigned int h) {
    std::vector<unsigned char> bytes((size_t)w * h);
    for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = tilescope_to_byte<T>(data[at]);
    return __savePPM(file, bytes.data(), w, h, 1);
}
template <class T>
inline bool sdkLoadPPM4(const char* file, T** data, unsigned int* w, unsigned int* h) {
    unsigned char* bytes = NULL;
    unsigned int channels = 0;
    if (!__loadPPM(file, &bytes, w, h, &channels)) return false;
    const size_t count = (size_t)*w * *h;
    *data = (T*)malloc(count * 4 * sizeof(T));
    for (size_t at = 0; at < count; ++at) {
        for (unsigned int c = 0; c < 3; ++c) (*data)[4 * at + c] = (T)bytes[at * channels + (channels == 3 ? c : 0)];
        (*data)[4 * at + 3] = 0;
    }
    free(bytes);
    return true;
}
inline bool sdkSavePPM4ub(const char* file, unsigned char* data, unsigned int w, unsigned int h) {
    std::vector<unsigned char> bytes((size_t)w * h * 3);
    for (size_t at = 0; at < bytes.size(); ++at) bytes[at] = data[at / 3 * 4 + at % 3];
    return __savePPM(file, bytes.data(), w, h, 3);
}

// Numbers apart by blanks.
template <class T>
inline bool sdkReadFile(const char* file, T** data, unsigned int* count, bool) {
    std::ifstream in(file);
    std::vector<T> all;
    for (T value; in >> value;) all.push_back(value);
    if (all.empty()) return false;
    if (*data == NULL) *data = (T*)malloc(all.size() * sizeof(T));
    for (size_t at = 0; at < all.size(); ++at) (*data)[at] = all[at];
    *count = (unsigned int)all.size();
    return true;
}
template <class T>
inline bool sdkReadFileBlocks(const char* file, T** data, unsigned int* count, unsigned int block, unsigned int,
                              bool verbose) {
    T* into = data[block];
    const bool good = sdkReadFile(file, &into, count, verbose);
    data[block] = into;
    return good;
}
template <class T, class S>
inline bool sdkWriteFile(const char* file, const T* data, unsigned int count, const S epsilon, bool, bool append = false) {
    std::ofstream out(file, append ? std::ios::app : std::ios::trunc);
    out << "# " << epsilon << "\n";
    for (unsigned int at = 0; at < count; ++at) out << data[at] << ' ';
    out << std::endl;
    return (bool)out;
}

// Whether all but a share `threshold` of the numbers lie no further apart than epsilon.
template <class T, class S>
inline bool compareData(const T* reference, const T* data, const unsigned int count, const S epsilon,
                        const float threshold) {
    unsigned int wrong = 0;
    for (unsigned int at = 0; at < count; ++at) {
        const double apart = fabs((double)reference[at] - (double)data[at]);
        if (!(apart <= (double)epsilon)) ++wrong;
    }
    return threshold == 0.0f ? wrong == 0 : (float)count * threshold > (float)wrong;
}
template <class T, class S>
inline bool compareDataAsFloatThreshold(const T* reference, const T* data, const unsigned int count, const S epsilon,
                                        const float threshold) {
    return compareData(reference, data, count, MAX((double)epsilon, 1e-6), threshold);
}
// By the length of the difference over the length of the reference.
inline bool sdkCompareL2fe(const float* reference, const float* data, const unsigned int count, const float epsilon) {
    double error = 0, length = 0;
    for (unsigned int at = 0; at < count; ++at) {
        const double apart = (double)reference[at] - (double)data[at];
        error += apart * apart;
        length += (double)reference[at] * (double)reference[at];
    }
    return length > 1e-7 && sqrt(error) / sqrt(length) < (double)epsilon;
}
inline bool sdkComparePGM(const char* data, const char* reference, const float epsilon, const float threshold, bool = false) {
    unsigned char *a = NULL, *b = NULL;
    unsigned int aw = 0, ah = 0, ac = 0, bw = 0, bh = 0, bc = 0;
    const bool read = __loadPPM(reference, &a, &aw, &ah, &ac) && __loadPPM(data, &b, &bw, &bh, &bc);
    const bool good = read && aw == bw && ah == bh && ac == bc && compareData(a, b, aw * ah * ac, epsilon, threshold);
    free(a);
    free(b);
    return good;
}
inline bool sdkComparePPM(const char* data, const char* reference, const float epsilon, const float threshold,
                          bool verbose = false) {
    return sdkComparePGM(data, reference, epsilon, threshold, verbose);
}
inline bool sdkCompareL2fe(const float* reference, const float* data, const unsigned int count, const float epsilon, bool) {
    return sdkCompareL2fe(reference, data, count, epsilon);
}

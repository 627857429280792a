/* Unpacks the page's program while it comes (web/index.html). It is packed by zstd, whose window sees all of it: a fifth smaller
   than by gzip, which is what browsers unpack themselves.

     unpack_take(size)   so many bytes lie at unpack_input(), kUnpackRoom at most
     unpack_give()       the number of bytes that lie at unpack_output(), to be called until it is 0; -1: what was taken is damaged */
#include <stddef.h>
#include <zstd.h>

enum { kUnpackRoom = 1 << 16 };

static unsigned char input[kUnpackRoom], output[kUnpackRoom];
static ZSTD_inBuffer taken;
static ZSTD_DCtx* context;

unsigned char* unpack_input(void) { return input; }
unsigned char* unpack_output(void) { return output; }
int unpack_room(void) { return kUnpackRoom; }

void unpack_take(int size) {
    taken.src = input;
    taken.size = (size_t)size;
    taken.pos = 0;
}

int unpack_give(void) {
    ZSTD_outBuffer made = {output, kUnpackRoom, 0};
    if (context == NULL) context = ZSTD_createDCtx();
    if (context == NULL) return -1;
    if (ZSTD_isError(ZSTD_decompressStream(context, &made, &taken))) return -1;
    return (int)made.pos;
}

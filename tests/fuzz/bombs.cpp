// bombs FOLDER: writes the full-sized recordings of tests/unit/bombs.h, for bombs.sh.
#include "tests/unit/bombs.h"

#include <cstdio>
#include <string>

#include "core/trace/file.h"

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    for (const tilescope::Bomb& bomb : tilescope::bombs()) {
        const std::string path = std::string(argv[1]) + "/" + bomb.name + ".tsc";
        if (const auto written = tilescope::trace::write_file(tilescope::made_of(bomb), path); !written) {
            std::fprintf(stderr, "%s\n", written.error().message.c_str());
            return 1;
        }
    }
    return 0;
}

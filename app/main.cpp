// tilescope: see app/cli/cli.h for the commands.
#include "app/cli/cli.h"

int main(int argc, char** argv) { return tilescope::cli::run(argc, argv); }

// tilescope: see app/cli/command.h for the commands.
#include "app/cli/command.h"

int main(int argc, char** argv) { return tilescope::cli::run(argc, argv); }

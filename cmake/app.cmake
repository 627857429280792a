# The program.

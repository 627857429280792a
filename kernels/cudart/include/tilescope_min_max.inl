// CUDA's min and max, for every pair of types that is not ambiguous there: TILESCOPE_MIN_MAX(A, B, R, LEAST, MOST) is
// expanded for each, with the result's type and what gives the least and the most of two values of it.
#define TILESCOPE_LESSER(a, b) ((a) < (b) ? (a) : (b))
#define TILESCOPE_GREATER(a, b) ((a) > (b) ? (a) : (b))
#define TILESCOPE_INTEGERS(A, B, R) TILESCOPE_MIN_MAX(A, B, R, TILESCOPE_LESSER, TILESCOPE_GREATER)
#define TILESCOPE_OF_SIZE(S, U)   \
    TILESCOPE_INTEGERS(S, S, S)   \
    TILESCOPE_INTEGERS(U, U, U)   \
    TILESCOPE_INTEGERS(S, U, U)   \
    TILESCOPE_INTEGERS(U, S, U)
TILESCOPE_OF_SIZE(int, unsigned int)
TILESCOPE_OF_SIZE(long, unsigned long)
TILESCOPE_OF_SIZE(long long, unsigned long long)
#undef TILESCOPE_OF_SIZE
#undef TILESCOPE_INTEGERS
// A NaN beside a number gives the number.
TILESCOPE_MIN_MAX(float, float, float, __builtin_fminf, __builtin_fmaxf)
TILESCOPE_MIN_MAX(double, double, double, __builtin_fmin, __builtin_fmax)
TILESCOPE_MIN_MAX(float, double, double, __builtin_fmin, __builtin_fmax)
TILESCOPE_MIN_MAX(double, float, double, __builtin_fmin, __builtin_fmax)
#undef TILESCOPE_LESSER
#undef TILESCOPE_GREATER
#undef TILESCOPE_MIN_MAX

/* The clock of the runner: the processor time of this thread, which stands still while others have the
   processor. */

#define CAML_NAME_SPACE
#include <caml/mlvalues.h>
#include <time.h>

/* Nanoseconds since some moment, as native code calls it. */
intnat cycloid_clock(value unit)
{
    struct timespec now;
    (void)unit;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* The same for bytecode. */
value cycloid_clock_boxed(value unit)
{
    return Val_long(cycloid_clock(unit));
}

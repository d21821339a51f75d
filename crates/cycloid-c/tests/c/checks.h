/* What the test programs share: each expectation names its line if it does not hold. */
#ifndef CHECKS_H
#define CHECKS_H

#include <cycloid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Expects an error code, and prints what came instead. */
#define CODE(expected, call)                                                                       \
    do {                                                                                           \
        cycloid_error code_ = (call);                                                              \
        if (code_ != (expected)) {                                                                 \
            fprintf(stderr, "%s:%d: %d (%s) from %s\n", __FILE__, __LINE__, code_,                 \
                    cycloid_error_text(code_), #call);                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define OK(call) CODE(CYCLOID_OK, call)

#endif

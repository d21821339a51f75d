/* A program that runs operations of a library in C by name, as the runner does for Cycloid. */

#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "vectors.h"

/* An operation: returns whether its result is right, after count() of its main function. */
struct operation {
    const char *name;
    bool (*run)(void);
};

/* The operations of the library; the last has no name. */
extern const struct operation operations[];

/* Runs a function between the plugin's marks, and notes the stack and the heap that it uses. */
void count(void (*function)(void));

/* Memory for libraries that allocate. */
void *allocate(size_t number, size_t size);
void release(void *memory);

/* Numbers that look random, the same in every run. */
int repeatable(void *state, unsigned char *output, size_t length);

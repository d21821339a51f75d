/*
 * The start of a program in C on the emulated Cortex-M4, output by semihosting, and the marks for
 * the plugin. The names of operations are the program's arguments; for each it writes a line
 * `name scratch stack heap`, in bytes. Scratch is 0: the libraries take none from the caller.
 */

#include "program.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of stack that are painted below an operation, and the paint. */
#define PAINTED (96 << 10)
#define PAINT 0xc0de57ac

/* Bytes between the stack pointer and the highest painted word: the frame of count(). */
#define MARGIN 64

enum { WRITE0 = 0x04, GET_CMDLINE = 0x15, EXIT = 0x18, SUCCESS = 0x20026, FAILURE = 0x20023 };

int main(void);
void start(void);
extern char initial_values[], data_start[], data_end[], bss_start[], bss_end[], end[];
extern char stack_top[];

static int request(int number, const void *argument)
{
    register int result __asm__("r0") = number;
    register const void *given __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(result) : "r"(given) : "memory");
    return result;
}

static void quit(bool success)
{
    for (;;)
        request(EXIT, (const void *)(uintptr_t)(success ? SUCCESS : FAILURE));
}

static void fault(void)
{
    request(WRITE0, "fault\n");
    quit(false);
}

void start(void)
{
    memcpy(data_start, initial_values, (size_t)(data_end - data_start));
    memset(bss_start, 0, (size_t)(bss_end - bss_start));
    quit(main() == 0);
}

/* The initial stack pointer, the entry point, and the handlers of faults. */
__attribute__((section(".vectors"), used))
static const void *const vectors[16] = {
    stack_top, start, fault, fault, fault, fault, fault, NULL,
    NULL, NULL, NULL, fault, fault, NULL, fault, fault,
};

static size_t stack, heap, heap_peak;

__attribute__((noinline)) void count(void (*function)(void))
{
    volatile uint32_t *top;
    __asm__ volatile("mov %0, sp" : "=r"(top));
    top = (volatile uint32_t *)(((uintptr_t)top & ~(uintptr_t)3) - MARGIN);
    volatile uint32_t *lowest = top - PAINTED / 4;
    for (volatile uint32_t *word = lowest; word < top; word++)
        *word = PAINT;
    size_t before = heap;
    heap_peak = heap;
    __asm__ volatile("dbg #1" ::: "memory");
    function();
    __asm__ volatile("dbg #2" ::: "memory");
    while (lowest < top && *lowest == PAINT)
        lowest++;
    stack = lowest == top ? 0 : (size_t)(top - lowest) * 4 + MARGIN;
    heap_peak -= before;
}

/* Each block of memory starts with its size. */
void *allocate(size_t number, size_t size)
{
    size_t *memory = calloc(1, number * size + 8);
    if (!memory)
        return NULL;
    *memory = number * size;
    heap += number * size;
    heap_peak = heap > heap_peak ? heap : heap_peak;
    return memory + 2;
}

void release(void *memory)
{
    if (!memory)
        return;
    size_t *block = (size_t *)memory - 2;
    heap -= *block;
    free(block);
}

/* The C library asks for more memory here. */
void *_sbrk(ptrdiff_t size)
{
    static char *top = end;
    char *before = top;
    if (top + size > end + (1 << 20))
        return (void *)-1;
    top += size;
    return before;
}

int repeatable(void *state, unsigned char *output, size_t length)
{
    static uint64_t x = 1;
    (void)state;
    for (size_t i = 0; i < length; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        output[i] = (unsigned char)(x >> 56);
    }
    return 0;
}

static void write_number(size_t number)
{
    char digits[12], *start = digits + sizeof digits;
    *--start = 0;
    do {
        *--start = (char)('0' + number % 10);
    } while (number /= 10);
    request(WRITE0, " ");
    request(WRITE0, start);
}

static const struct operation *named(const char *name)
{
    const struct operation *operation = operations;
    while (operation->name && strcmp(operation->name, name))
        operation++;
    return operation->name ? operation : NULL;
}

int main(void)
{
    static char line[1024];
    struct {
        char *memory;
        size_t length;
    } block = {line, sizeof line};
    if (request(GET_CMDLINE, &block))
        return 1;
    /* The first argument is the program. */
    strtok(line, " ");
    for (char *name; (name = strtok(NULL, " "));) {
        const struct operation *operation = named(name);
        if (!operation || !operation->run()) {
            request(WRITE0, "wrong result: ");
            request(WRITE0, name);
            request(WRITE0, "\n");
            return 1;
        }
        request(WRITE0, name);
        write_number(0);
        write_number(stack);
        write_number(heap_peak);
        request(WRITE0, "\n");
    }
    return 0;
}

/*
 * A TCG plugin for QEMU: counts the instructions between two marks and estimates their cycles on a
 * Cortex-M4.
 *
 *   qemu-system-arm ... -plugin cycles.so,out=FILE[,profile=FILE]
 *
 * The guest marks a region by the hints DBG #1 (start) and DBG #2 (end), which do nothing on a
 * processor. For each region the plugin writes a line "instructions cycles divisions code" to
 * `out`; code is the bytes of instructions that were executed, in whole lines of 64 bytes. `profile`
 * gets a line "address cycles executions" for each block of instructions.
 *
 * Instructions are exact. Cycles are an estimate from the published timings: Arm Cortex-M4
 * Technical Reference Manual (DDI 0439), sections 3.3.1 (instruction set summary), 3.3.3
 * (load/store timings) and 7.2.3 (floating point). Assumptions:
 *
 *  - Memory has no wait states, and instruction fetches never wait: no contention with data, no
 *    penalty for wide instructions at odd halfwords.
 *  - Refilling the pipeline after a taken branch takes two cycles (the manual: one to three).
 *  - A division takes its maximum, twelve cycles. They are counted, because their time depends on
 *    values.
 *  - An instruction skipped by IT counts like an executed one.
 *  - Every load or store is aligned.
 *
 * Plugin interface 1. Its header is not part of Debian's packages, so the used part is declared
 * here, from QEMU's documentation.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef struct qemu_info_t qemu_info_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
typedef void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*executed)(unsigned int cpu, void *data);
typedef void (*ended)(qemu_plugin_id_t, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, executed,
                                          enum qemu_plugin_cb_flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, executed,
                                            enum qemu_plugin_cb_flags, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, ended, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* A block of instructions without a branch, except at its end. */
struct block {
    uint64_t start, end;
    struct totals totals;
    bool branches;
    uint64_t executions, cycles;
    struct block *next;
};

/* The totals of a block up to a mark and including it. */
struct mark {
    struct block *block;
    struct totals before;
    bool starts;
};

static FILE *out;
static const char *profile;
static struct totals totals, start;
static struct block *blocks, *previous;
static bool inside;

/* The lines of 64 bytes, of the first 4 MB, that were executed in a region. */
#define LINE 64
static bool lines[(4u << 20) / LINE];
static uint64_t code_lines;

static void add_lines(const struct block *block)
{
    for (uint64_t line = block->start / LINE; line * LINE < block->end; line++) {
        if (line < sizeof lines && !lines[line]) {
            lines[line] = true;
            code_lines++;
        }
    }
}

/* Counts a whole block when it starts, and the branch that led to it. */
static void on_block(unsigned int cpu, void *data)
{
    (void)cpu;
    struct block *block = data;
    if (previous && previous->branches && block->start != previous->end) {
        totals.cycles += REFILL;
        previous->cycles += inside ? REFILL : 0;
    }
    add_totals(&totals, &block->totals);
    if (inside)
        add_lines(block);
    block->executions += inside;
    block->cycles += inside ? block->totals.cycles : 0;
    previous = block;
}

/* A region starts after its mark and ends before the other, which counts as one cycle. */
static void on_mark(unsigned int cpu, void *data)
{
    (void)cpu;
    const struct mark *mark = data;
    struct totals now = totals;
    subtract_totals(&now, &mark->block->totals);
    add_totals(&now, &mark->before);
    inside = mark->starts;
    if (mark->starts) {
        start = now;
        memset(lines, 0, sizeof lines);
        code_lines = 0;
        add_lines(mark->block);
        return;
    }
    subtract_totals(&now, &start);
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", now.instructions - 1,
            now.cycles - 1, now.divisions, code_lines * LINE);
    fflush(out);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    struct block *block = calloc(1, sizeof *block);
    struct decoded before = {.writes = NOTHING};
    size_t n = qemu_plugin_tb_n_insns(tb);
    block->start = block->end = qemu_plugin_tb_vaddr(tb);
    block->next = blocks;
    blocks = block;
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint16_t words[2] = {0, 0};
        memcpy(words, qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
        struct decoded now = decode(words);
        block->end += qemu_plugin_insn_size(insn);
        count(&block->totals, &before, &now);
        block->branches = now.branch;
        before = now;
        if (now.mark) {
            struct mark *mark = calloc(1, sizeof *mark);
            *mark = (struct mark){block, block->totals, now.mark == 1};
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, mark);
        }
    }
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
}

static void on_exit_of_guest(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    fclose(out);
    FILE *file = profile ? fopen(profile, "w") : NULL;
    for (struct block *block = blocks; file && block; block = block->next) {
        if (block->executions)
            fprintf(file, "%" PRIx64 " %" PRIu64 " %" PRIu64 "\n", block->start, block->cycles,
                    block->executions);
    }
    if (file)
        fclose(file);
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0)
            out = fopen(argv[i] + 4, "w");
        else if (strncmp(argv[i], "profile=", 8) == 0)
            profile = strdup(argv[i] + 8);
    }
    if (!out) {
        fprintf(stderr, "cycles: no file, or one that cannot be written: out=FILE\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_of_guest, NULL);
    return 0;
}

/*
 * A TCG plugin for QEMU: counts the instructions between two marks of a program on AArch64.
 *
 *   qemu-aarch64 -plugin instructions.so[,out=FILE][,profile=FILE][,trace=FILE] PROGRAM
 *
 * The program marks a region by HINT #100 (start) and HINT #101 (end), which do nothing on a
 * processor. For each region the plugin writes a line "instructions code" to `out`; code is the
 * bytes of instructions that were executed, in whole lines of 64 bytes. `profile` gets a line
 * "address instructions" for each block of instructions in the regions. `trace` gets a hash of the
 * addresses of all blocks and of all accesses to memory, in the order of their execution.
 *
 * Plugin interface 1. Its header is not part of Debian's packages, so the used part is declared
 * here, from QEMU's documentation.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
typedef struct qemu_info_t qemu_info_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
typedef void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*executed)(unsigned int cpu, void *data);
typedef uint32_t qemu_plugin_meminfo_t;
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };
typedef void (*accessed)(unsigned int cpu, qemu_plugin_meminfo_t, uint64_t address, void *data);
typedef void (*ended)(qemu_plugin_id_t, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, executed,
                                          enum qemu_plugin_cb_flags, void *data);
struct qemu_plugin_insn;
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, executed,
                                            enum qemu_plugin_cb_flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, accessed,
                                      enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw,
                                      void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, ended, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

#define START 0xd5032c9fu
#define END 0xd5032cbfu

struct block {
    uint64_t address, instructions, executions;
    /* The last region that executed it. */
    uint64_t region;
    struct block *next;
};

/* The instructions of a block after a mark. */
struct mark {
    struct block *block;
    uint64_t after;
    bool starts;
};

static FILE *out;
static const char *profile, *trace;
static struct block *blocks;
static uint64_t total, start, hash = 14695981039346656037u;

/* The current region, or 0 outside of all. */
static uint64_t region, regions;

/* The lines of 64 bytes, of the first 64 MB, that were executed in the region. */
#define LINE 64
static bool lines[(64u << 20) / LINE];
static uint64_t code_lines;

static void add_lines(struct block *block)
{
    uint64_t end = block->address + 4 * block->instructions;
    for (uint64_t line = block->address / LINE; line * LINE < end; line++) {
        if (line < sizeof lines && !lines[line]) {
            lines[line] = true;
            code_lines++;
        }
    }
    block->region = region;
}

static void on_block(unsigned int cpu, void *data)
{
    (void)cpu;
    struct block *block = data;
    total += block->instructions;
    hash = (hash ^ block->address) * 1099511628211u;
    if (region) {
        block->executions++;
        if (block->region != region)
            add_lines(block);
    }
}

/* A region starts after its mark and ends before the other. */
static void on_mark(unsigned int cpu, void *data)
{
    (void)cpu;
    const struct mark *mark = data;
    uint64_t now = total - mark->after;
    if (mark->starts) {
        start = now;
        region = ++regions;
        memset(lines, 0, sizeof lines);
        code_lines = 0;
        add_lines(mark->block);
        return;
    }
    region = 0;
    if (out)
        fprintf(out, "%" PRIu64 " %" PRIu64 "\n", now - start - 1, code_lines * LINE);
}

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    (void)cpu, (void)info, (void)data;
    hash = (hash ^ address) * 1099511628211u;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    struct block *block = calloc(1, sizeof *block);
    block->address = qemu_plugin_tb_vaddr(tb);
    block->instructions = qemu_plugin_tb_n_insns(tb);
    block->next = blocks;
    blocks = block;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
    for (size_t i = 0; i < block->instructions; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint32_t word;
        memcpy(&word, qemu_plugin_insn_data(insn), sizeof word);
        if (word == START || word == END) {
            struct mark *mark = calloc(1, sizeof *mark);
            *mark = (struct mark){block, block->instructions - i - 1, word == START};
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, mark);
        }
        if (trace)
            qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_RW, NULL);
    }
}

static FILE *opened(const char *path)
{
    FILE *file = path ? fopen(path, "w") : NULL;
    if (path && !file)
        perror(path);
    return file;
}

static void on_exit_of_guest(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    if (out)
        fclose(out);
    FILE *file = opened(trace);
    if (file) {
        fprintf(file, "%016" PRIx64 "\n", hash);
        fclose(file);
    }
    file = opened(profile);
    if (!file)
        return;
    for (struct block *block = blocks; block; block = block->next) {
        if (block->executions)
            fprintf(file, "%" PRIx64 " %" PRIu64 "\n", block->address,
                    block->instructions * block->executions);
    }
    fclose(file);
}

__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "out=", 4)) {
            out = opened(argv[i] + 4);
            if (!out)
                return -1;
        } else if (!strncmp(argv[i], "profile=", 8)) {
            profile = argv[i] + 8;
        } else if (!strncmp(argv[i], "trace=", 6)) {
            trace = argv[i] + 6;
        } else {
            return -1;
        }
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_of_guest, NULL);
    return 0;
}

/*
 * A TCG plugin for QEMU: counts the executed instructions of a program.
 *
 *   qemu-aarch64 -plugin instructions.so,out=FILE[,profile=FILE][,trace=FILE] PROGRAM
 *
 * `out` gets the number of instructions. `profile` gets a line "address instructions" for each
 * block of instructions. `trace` gets a hash of the addresses of all blocks and of all accesses to
 * memory, in the order of their execution.
 *
 * Plugin interface 1. Its header is not part of Debian's packages, so the used part is declared
 * here, from QEMU's documentation.
 */

#include <inttypes.h>
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
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, accessed,
                                      enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw,
                                      void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, ended, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

struct block {
    uint64_t address, instructions, executions;
    struct block *next;
};

static const char *out, *profile, *trace;
static struct block *blocks;
static uint64_t total, hash = 14695981039346656037u;

static void on_block(unsigned int cpu, void *data)
{
    (void)cpu;
    struct block *block = data;
    block->executions++;
    total += block->instructions;
    hash = (hash ^ block->address) * 1099511628211u;
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
    for (size_t i = 0; trace && i < block->instructions; i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
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
    FILE *file = opened(out);
    if (file) {
        fprintf(file, "%" PRIu64 "\n", total);
        fclose(file);
    }
    file = opened(trace);
    if (file) {
        fprintf(file, "%016" PRIx64 "\n", hash);
        fclose(file);
    }
    file = opened(profile);
    if (!file)
        return;
    for (struct block *block = blocks; block; block = block->next)
        fprintf(file, "%" PRIx64 " %" PRIu64 "\n", block->address,
                block->instructions * block->executions);
    fclose(file);
}

__attribute__((visibility("default"))) int
qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!strncmp(argv[i], "out=", 4))
            out = argv[i] + 4;
        else if (!strncmp(argv[i], "profile=", 8))
            profile = argv[i] + 8;
        else if (!strncmp(argv[i], "trace=", 6))
            trace = argv[i] + 6;
        else
            return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit_of_guest, NULL);
    return 0;
}

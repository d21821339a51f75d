/*
 * The cycle model: decodes an instruction of Armv7E-M and returns its cycles. See cycles.c for the
 * source and for the assumptions.
 */

#include <stdbool.h>
#include <stdint.h>

/* Cycles to refill the pipeline after a taken branch. */
#define REFILL 2

/* No register. */
#define NOTHING -1

struct totals {
    uint64_t instructions, cycles, divisions;
};

static inline void add_totals(struct totals *a, const struct totals *b)
{
    a->instructions += b->instructions;
    a->cycles += b->cycles;
    a->divisions += b->divisions;
}

static inline void subtract_totals(struct totals *a, const struct totals *b)
{
    a->instructions -= b->instructions;
    a->cycles -= b->cycles;
    a->divisions -= b->divisions;
}

enum kind { OTHER, SINGLE_LOAD, SINGLE_STORE };

struct decoded {
    enum kind kind;
    /* Cycles without an effect of the neighbours, and without those of a taken branch. */
    int cycles;
    bool branch, division;
    /* The operand of DBG if it is a mark, else 0. */
    int mark;
    /* The register that it writes: the result of data processing, or what a load loads. */
    int writes;
    /* The registers of the address of a load or store. */
    int base, index;
};

static inline int bits(unsigned word, int low, int n)
{
    return word >> low & ((1u << n) - 1);
}

static inline struct decoded data_processing(int writes)
{
    return (struct decoded){.cycles = 1, .writes = writes, .base = NOTHING, .index = NOTHING};
}

static inline struct decoded branch(int cycles)
{
    struct decoded it = data_processing(NOTHING);
    it.cycles = cycles;
    it.branch = true;
    return it;
}

/* A store with an immediate offset takes one cycle, one with a register offset two. */
static inline struct decoded single(bool load, int register_, int base, int index)
{
    struct decoded it = {.base = base, .index = index};
    it.kind = load ? SINGLE_LOAD : SINGLE_STORE;
    it.cycles = load || index != NOTHING ? 2 : 1;
    it.writes = load ? register_ : NOTHING;
    it.branch = load && register_ == 15;
    return it;
}

/* Loads or stores of several registers: one cycle, and one for each. */
static inline struct decoded multiple(unsigned registers, int base, bool load)
{
    struct decoded it = data_processing(NOTHING);
    it.cycles = 1 + __builtin_popcount(registers);
    it.branch = load && registers >> 15 & 1;
    it.base = base;
    return it;
}

static inline struct decoded decode_16(unsigned w)
{
    switch (w >> 12) {
    case 0x0: case 0x1: case 0x3:
        return data_processing(w >> 13 == 0 ? bits(w, 0, 3) : bits(w, 8, 3));
    case 0x2:
        return data_processing(bits(w, 11, 1) ? NOTHING : bits(w, 8, 3));
    case 0x4:
        if (bits(w, 11, 1))
            return single(true, bits(w, 8, 3), 15, NOTHING);
        if (!bits(w, 10, 1)) {
            int op = bits(w, 6, 4);
            return data_processing(op == 8 || op == 10 || op == 11 ? NOTHING : bits(w, 0, 3));
        } else {
            int to = bits(w, 0, 3) | bits(w, 7, 1) << 3;
            if (bits(w, 8, 2) == 3)
                return branch(1);
            if (bits(w, 8, 2) == 1)
                return data_processing(NOTHING);
            return to == 15 ? branch(1) : data_processing(to);
        }
    case 0x5:
        return single(bits(w, 9, 3) > 2, bits(w, 0, 3), bits(w, 3, 3), bits(w, 6, 3));
    case 0x6: case 0x7: case 0x8:
        return single(bits(w, 11, 1), bits(w, 0, 3), bits(w, 3, 3), NOTHING);
    case 0x9:
        return single(bits(w, 11, 1), bits(w, 8, 3), 13, NOTHING);
    case 0xa:
        return data_processing(bits(w, 8, 3));
    case 0xb:
        if ((w & 0xf600) == 0xb400) {
            bool pop = bits(w, 11, 1);
            return multiple((w & 0xff) | (unsigned)bits(w, 8, 1) << (pop ? 15 : 14), 13, pop);
        }
        if ((w & 0xf500) == 0xb100)
            return branch(1); /* CBZ, CBNZ */
        if ((w & 0xff00) == 0xb000)
            return data_processing(13);
        if ((w & 0xff00) == 0xb200 || (w & 0xff00) == 0xba00)
            return data_processing(bits(w, 0, 3));
        return data_processing(NOTHING);
    case 0xc:
        return multiple(w & 0xff, bits(w, 8, 3), bits(w, 11, 1));
    default:
        return branch(1);
    }
}

/* Floating point and its moves (section 7.2.3). */
static inline struct decoded decode_float(unsigned w, unsigned x)
{
    struct decoded it = data_processing(NOTHING);
    bool wide = bits(x, 8, 1);
    if ((w & 0xff00) == 0xee00) {
        int op = bits(w, 4, 4);
        bool divides = !bits(x, 4, 1) && ((op & 0xb) == 8 || ((op & 0xb) == 0xb && (x & 0xc0) == 0xc0
            && (w & 0xf) == 1));
        it.cycles = divides ? 14 : 1;
        it.division = divides;
        if (bits(x, 4, 1) && bits(w, 4, 1))
            it.writes = bits(x, 12, 4);
    } else if ((w & 0xffe0) == 0xec40) {
        it.cycles = 2;
    } else if (bits(w, 8, 1) && !bits(w, 5, 1)) {
        it.cycles = wide ? 3 : 2; /* VLDR, VSTR */
        it.base = w & 0xf;
    } else {
        it.cycles = 1 + (x & 0xff); /* VLDM, VSTM, VPUSH, VPOP */
        it.base = w & 0xf;
    }
    return it;
}

static inline struct decoded decode_32(unsigned w, unsigned x)
{
    if ((w & 0xfe40) == 0xe800)
        return multiple(x, w & 0xf, bits(w, 4, 1));
    if ((w & 0xfff0) == 0xe8d0 && (x & 0xffe0) == 0xf000) {
        struct decoded table = branch(4); /* TBB, TBH: with the refill six */
        table.base = w & 0xf;
        table.index = x & 0xf;
        return table;
    }
    if ((w & 0xfe40) == 0xe840) {
        bool exclusive = !(w & 0x0120);
        struct decoded pair = data_processing(NOTHING);
        pair.cycles = exclusive ? 2 : 3;
        pair.base = w & 0xf;
        return pair;
    }
    if ((w & 0xec00) == 0xec00)
        return decode_float(w, x);
    if ((w & 0xf800) == 0xf000 && x & 0x8000) {
        if ((x & 0xd000) == 0xd000 || (x & 0xd000) == 0x9000)
            return branch(1);
        if ((w & 0x380) != 0x380)
            return branch(1);
        struct decoded it = data_processing(NOTHING);
        if (w == 0xf3af && (x & 0xfff0) == 0x80f0 && (x & 0xf) - 1 < 2)
            it.mark = x & 0xf;
        if ((w & 0xffe0) == 0xf380 || (w & 0xffe0) == 0xf3e0)
            it.cycles = 2; /* MSR, MRS */
        return it;
    }
    if ((w & 0xfe00) == 0xf800) {
        bool indexed = !(w & 0x80) && (w & 0xf) != 15 && !(x & 0x800);
        return single(bits(w, 4, 1), x >> 12, w & 0xf, indexed ? (int)(x & 0xf) : NOTHING);
    }
    struct decoded it = data_processing(bits(x, 8, 4));
    if ((w & 0xff80) == 0xfb80) {
        it.division = (x & 0xf0) == 0xf0;
        it.cycles = it.division ? 12 : 1;
    } else if ((w & 0xfff0) == 0xfb00 && x >> 12 != 15) {
        it.cycles = 2; /* MLA, MLS */
    }
    /* Comparisons write no register: S is set, and the register is 15. */
    if (it.writes == 15)
        it.writes = NOTHING;
    return it;
}

static inline struct decoded decode(const uint16_t words[2])
{
    return words[0] >> 11 >= 0x1d ? decode_32(words[0], words[1]) : decode_16(words[0]);
}

/* Adds an instruction to the totals, with the effects of the one before. */
static inline void count(struct totals *totals, const struct decoded *before,
                         const struct decoded *now)
{
    int cycles = now->cycles;
    bool reads = before->writes != NOTHING
        && (before->writes == now->base || before->writes == now->index);
    /* A load or store after a single load is pipelined unless its address needs the loaded word. */
    if (before->kind == SINGLE_LOAD && now->kind != OTHER && !reads && cycles > 1)
        cycles -= 1;
    /* An address from the result of data processing waits for the register bank. */
    if (before->kind == OTHER && reads)
        cycles += 1;
    totals->instructions += 1;
    totals->cycles += cycles;
    totals->divisions += now->division;
}

/* Measures c-kzg's C code: processor time in milliseconds, the fastest of the rounds. Link it with one
   libblst and with another, and run both in turns:

   cc -O2 -DNDEBUG -w -I C-KZG/src -I PREFIX/include -o kzg kzg.c PREFIX/lib/libblst.a
   ./kzg C-KZG/src/trusted_setup.txt ROUNDS PRECOMPUTE */
#include "ckzg.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void keep_least(double *least, double start) {
    double time = now() - start;
    if (*least == 0 || time < *least) {
        *least = time;
    }
}

int main(int count, char **arguments) {
    static KZGSettings settings;
    static Blob blob;
    static Cell cells[CELLS_PER_EXT_BLOB];
    static KZGProof cell_proofs[CELLS_PER_EXT_BLOB];
    double commitment_time = 0, proof_time = 0, verification_time = 0, cells_time = 0;
    if (count != 4) {
        fprintf(stderr, "usage: kzg TRUSTED-SETUP ROUNDS PRECOMPUTE\n");
        return 2;
    }
    FILE *setup = fopen(arguments[1], "r");
    if (setup == NULL || load_trusted_setup_file(&settings, setup, atoi(arguments[3])) != C_KZG_OK) {
        fprintf(stderr, "cannot read the trusted setup\n");
        return 2;
    }
    for (size_t i = 0; i < BYTES_PER_BLOB; i++) {
        /* The first byte of each element is zero, so that it is below the group order. */
        blob.bytes[i] = i % 32 == 0 ? 0 : (uint8_t)(i * 2654435761u >> 13);
    }
    for (int round = 0; round < atoi(arguments[2]); round++) {
        KZGCommitment commitment;
        KZGProof proof;
        bool valid;
        double start = now();
        blob_to_kzg_commitment(&commitment, &blob, &settings);
        keep_least(&commitment_time, start);
        start = now();
        compute_blob_kzg_proof(&proof, &blob, &commitment, &settings);
        keep_least(&proof_time, start);
        start = now();
        verify_blob_kzg_proof(&valid, &blob, &commitment, &proof, &settings);
        keep_least(&verification_time, start);
        start = now();
        compute_cells_and_kzg_proofs(cells, cell_proofs, &blob, &settings);
        keep_least(&cells_time, start);
        if (!valid) {
            return 1;
        }
    }
    printf("commitment %.2f, blob proof %.2f, verification %.2f, cells and proofs %.1f\n",
           commitment_time, proof_time, verification_time, cells_time);
    return 0;
}

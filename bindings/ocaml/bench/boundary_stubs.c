/* Calls the operations in Rust of crates/cycloid-c/examples/boundary.rs, and reads the clock. */

#define CAML_NAME_SPACE
#include <caml/alloc.h>
#include <caml/fail.h>
#include <caml/mlvalues.h>

#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

static void *(*boundary_new)(uint32_t, uint32_t, const uint8_t *, size_t);
static void (*boundary_run)(const void *, size_t, uint8_t *);

value boundary_ocaml_load(value path) {
  void *library = dlopen(String_val(path), RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    caml_failwith(dlerror());
  *(void **)&boundary_new = dlsym(library, "boundary_new");
  *(void **)&boundary_run = dlsym(library, "boundary_run");
  if (boundary_new == NULL || boundary_run == NULL)
    caml_failwith(dlerror());
  return Val_unit;
}

/* An operation outside of the heap, as a native integer. */
value boundary_ocaml_new(value curve, value operation, value key) {
  void *run = boundary_new(Long_val(curve), Long_val(operation), (const uint8_t *)String_val(key),
                           caml_string_length(key));
  if (run == NULL)
    caml_failwith("no such operation");
  return caml_copy_nativeint((intnat)run);
}

value boundary_ocaml_run(value run, value runs, value output) {
  boundary_run((const void *)Nativeint_val(run), Long_val(runs), Bytes_val(output));
  return Val_unit;
}

/* Processor time of this thread in nanoseconds: it stands still while others have the processor. */
value boundary_ocaml_clock(value unit) {
  struct timespec now;
  (void)unit;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return Val_long(now.tv_sec * 1000000000L + now.tv_nsec);
}

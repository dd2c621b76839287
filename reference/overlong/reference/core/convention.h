/* A convention by its name: its loops, and one call of it. */
#ifndef OVERLONG_CONVENTION_H
#define OVERLONG_CONVENTION_H

#include "calls.h"
#include "loop.h"

typedef void looping(uint64_t until, loop_task *);

typedef struct {
  const char *name;  /* as in adapters/abi.py */
  looping *of_runs;  /* for sources of runs, and for sources whose strings stand alone */
  looping *of_alone;
  answer (*ask)(question);
  caller *call; /* null unless it answers in one call */
  meaning *means; /* of one call; null for streams */
} convention;

#endif
